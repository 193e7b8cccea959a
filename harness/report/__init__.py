"""What pages of any kind are made of: parts of pages, plots, the module reference, the table of options.

page has tables, pictures and the common style (style.css); plot draws, places puts names next to lines; anchors names
headings; provenance says when and where a page was made; reference and options write their own pages.
"""
