"""What pages of any kind are made of: parts of pages, plots, the module reference, the table of options.

page has tables, pictures and the common style (style.css); plot draws; reference and options write pages of their own.
"""
