"""The site: the documentation as pages that a browser shows and searches without a server and without a network.

stage copies README.md, docs/ and all that they link to into a folder of plain Markdown, with reference's page for each
module and glossary's marks; it knows no generator. __main__ gives that folder to MkDocs, which mkdocs.yml sets up;
harness.lexer colours LSS. `make docs` runs it with the packages of pinned.txt, in an environment that serves nothing
else.
"""
