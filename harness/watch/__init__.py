"""A page on work that is going on: `spinach watch`.

server shows a page of page/ to one user of this host.  For a run, leader drives a simulator by --interactive=json in
slices, and command joins the two.  For a study, points collects its progress, and study joins that with the server.
"""
