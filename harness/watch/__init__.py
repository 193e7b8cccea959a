"""A page on a run that is going on: `spinach watch`.

leader drives a simulator by --interactive=json in slices, server shows the page of page/ to one user of this host, and
command joins the two.
"""
