"""Makes the site: python -m harness.site [--build DIR] [--serve PORT], in the environment of pinned.txt; see --help.

A warning of the generator is an error here.  The files are the same bytes whenever the pages are the same.
"""

import argparse
import functools
import hashlib
import http.server
import logging
import os
import re
import shutil
import sys
from pathlib import Path

from harness import lexer
from harness.site import reference
from harness.site.reference import ReferenceError
from harness.site.stage import StageError, stage

ROOT = Path(__file__).resolve().parents[2]
# MkDocs dates its files with this; a site of the same pages is the same whenever it is made.
ENVIRONMENT = {"SOURCE_DATE_EPOCH": "0", "DISABLE_MKDOCS_2_WARNING": "true"}

PREFORMATTED = re.compile(r"(<pre.*?</pre>)", re.DOTALL)
PLAIN = re.compile(r'<span class="(?:n|p|w)">([^<]*)</span>')  # names, punctuation and space have the colour of code


class Warnings(logging.Handler):
    """Prints what the generator warns of, a line each, and counts it."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += 1
        print(f"docs: {' '.join(record.getMessage().split())}", file=sys.stderr)


def digest(pages: Path) -> str:
    """What a site is made from: the staged pages, and all that makes a site of them."""
    whole, here = hashlib.sha256(), Path(__file__).parent
    for folder in pages, here:
        for file in sorted(file for file in folder.rglob("*") if file.is_file() and file.suffix != ".pyc"):
            content = file.read_bytes()
            whole.update(f"{file.relative_to(folder)} {len(content)}\n".encode() + content)
    return whole.hexdigest()


def with_modules(nav: list, pages: Path) -> list:
    """The navigation with the pages of a family's modules below the family."""
    made = []
    for entry in nav:
        [(title, goal)] = entry.items() if isinstance(entry, dict) else [("", entry)]
        if isinstance(goal, list):
            goal = with_modules(goal, pages)
        elif title and goal.startswith(f"{reference.FOLDER}/"):
            family = sorted((pages / goal).parent.glob("*.md"), key=lambda page: (page.name != "index.md", page.name))
            goal = [str(page.relative_to(pages)) for page in family]
        made.append({title: goal} if title else goal)
    return made


def generate(pages: Path, site: Path) -> bool:
    """Makes the site from staged pages; True when there was no warning."""
    os.environ.update(ENVIRONMENT)
    from mkdocs.commands.build import build  # which reads the environment
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort, ConfigurationError

    lexer.register()
    warnings = Warnings()
    logging.getLogger("mkdocs").addHandler(warnings)
    shutil.rmtree(site, ignore_errors=True)
    try:
        config = load_config(
            str(Path(__file__).with_name("mkdocs.yml")), docs_dir=str(pages), site_dir=str(site), strict=True
        )
        config.nav = with_modules(config.nav or [], pages)
        config.plugins.on_startup(command="build", dirty=False)
        build(config)
        config.plugins.on_shutdown()
    except (Abort, ConfigurationError) as error:
        if not warnings.count:
            print(f"docs: {error}", file=sys.stderr)
        return False
    trim(site)
    return not warnings.count


def trim(site: Path) -> None:
    """Removes bytes that no reader sees, 40 % of all: marks of code without a colour, and space around elements."""
    for pattern in "sitemap.xml*", "assets/**/*.map", "assets/javascripts/lunr":  # no address, no debugger, English
        for unused in site.glob(pattern):
            shutil.rmtree(unused) if unused.is_dir() else unused.unlink()
    for page in site.rglob("*.html"):
        parts = PREFORMATTED.split(PLAIN.sub(r"\1", page.read_text()))
        parts[::2] = [re.sub(r"\n\s+", "\n", part) for part in parts[::2]]
        page.write_text("".join(parts))


def serve(site: Path, port: int) -> int:
    """Serves the site on this machine until it is interrupted."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), functools.partial(Quiet, directory=site))
    except (OSError, OverflowError) as error:
        print(f"docs: cannot serve on 127.0.0.1:{port}: {error} (choose another port with SERVE=PORT)", file=sys.stderr)
        return 1
    with server:
        print(f"http://127.0.0.1:{server.server_address[1]}/ (Ctrl-C ends)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m harness.site", description=(__doc__ or "").split(":", 1)[0])
    parser.add_argument("--root", type=Path, default=ROOT, metavar="DIR", help="the source tree")
    parser.add_argument("--build", type=Path, default=Path("build"), metavar="DIR", help="where DIR/site is written")
    parser.add_argument("--serve", type=int, metavar="PORT", help="then serve the site on 127.0.0.1 (0: any port)")
    options = parser.parse_args()
    pages, site = options.build / "site-pages", options.build / "site"
    try:
        count = stage(options.root, pages, options.build / "bin/lss")
    except (StageError, ReferenceError) as error:
        for line in str(error).splitlines():
            print(f"docs: {line}", file=sys.stderr)
        return 1
    made, now = options.build / "site.digest", digest(pages)
    if not (site / "index.html").exists() or not made.exists() or made.read_text() != now:
        made.unlink(missing_ok=True)
        if not generate(pages.absolute(), site.absolute()):
            return 1
        made.write_text(now)
    size = sum(file.stat().st_size for file in site.rglob("*") if file.is_file())
    print(f"{site / 'index.html'}: {count} pages, {size / 1e6:.1f} MB")
    return serve(site, options.serve) if options.serve is not None else 0


if __name__ == "__main__":
    sys.exit(main())
