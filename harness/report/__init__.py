"""What pages of any kind are made of: parts of pages, plots, the module reference, the table of options.

page has tables, pictures and the common style (style.css); plot draws; anchors names headings; provenance says next to
a page when and where it was made; reference and options write pages of their own.
"""
