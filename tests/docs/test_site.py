"""The site that `make docs` makes: its bytes, its warnings, and its search and accessibility in a browser, from disk.

In the soak, since the generator and the browser take minutes to install; test_stage.py checks all pages that go into it.
"""

import os
import re
import shutil
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PAGES = [
    "index.html", "running.html", "glossary.html", "language.html", "host.html", "reference/index.html",
    "reference/cache/cache.html", "source/modules/cache/cache.lss.html", "source/examples/host/index.html",
]  # fmt: skip
WIDTHS = [390, 1000, 1400]
pytestmark = pytest.mark.soak


def make(build_dir: Path, folder: Path, *options: str) -> subprocess.CompletedProcess:
    """Runs what `make docs` runs, for a build folder of the test's own."""
    python = build_dir / "venv-docs/bin/python"
    if not python.exists():
        pytest.skip(f"there is no {python}: `make docs` makes it, from the package index")
    (folder / "bin").parent.mkdir(exist_ok=True)
    if not (folder / "bin").exists():
        (folder / "bin").symlink_to(build_dir / "bin")
    return subprocess.run(
        [python, "-m", "harness.site", "--build", str(folder), *options], cwd=ROOT, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def site(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = make(build_dir, folder)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert re.fullmatch(rf"{folder}/site/index.html: \d+ pages, \d+\.\d MB\n", done.stdout)
    return folder / "site"


def test_pages_hold_no_stray_marks_and_colour_lss(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 500 and sum(file.stat().st_size for file in site.rglob("*") if file.is_file()) <= 30e6
    assert not [page for page in pages if "```" in page.read_text()]
    tour = (site / "tour.html").read_text()
    assert '<span class="kd">instance</span>' in tour and '<span class="kd">inport</span>' in tour
    assert '<abbr title="' in tour and 'href="glossary.html#' in tour


def test_the_same_pages_are_not_made_again_and_give_the_same_bytes(build_dir: Path, site: Path) -> None:
    files = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(site.rglob("*")) if path.is_file()}
    assert make(build_dir, site.parent).returncode == 0
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files} == files
    (site.parent / "site.digest").unlink()
    assert make(build_dir, site.parent).returncode == 0
    assert {path: path.read_bytes() for path in sorted(site.rglob("*")) if path.is_file()} == {path: content for path, (content, _) in files.items()}


def test_each_warning_of_the_generator_is_a_line_and_an_error(build_dir: Path, site: Path, tmp_path: Path) -> None:
    """Of pages that were staged, and then changed: the generator checks them, too."""
    pages = tmp_path / "pages"
    shutil.copytree(site.parent / "site-pages", pages, ignore=shutil.ignore_patterns("source", "modules"))
    for page in pages.glob("reference/*/[!i]*.md"):
        page.unlink()
    (pages / "lost.md").write_text("# Lost\n\n[x](tour.md#none)\n")
    (pages / "renamed.md").unlink()
    code = "import sys; from pathlib import Path; from harness.site.__main__ import generate; sys.exit(generate(*map(Path, sys.argv[1:])))"
    python = build_dir / "venv-docs/bin/python"
    done = subprocess.run([python, "-c", code, pages, tmp_path / "site"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stdout  # False
    lines = done.stderr.splitlines()
    assert all(line.startswith("docs: ") for line in lines)
    for words in ("lost.md", "'renamed.md'", "tour.md"):
        assert any(words in line for line in lines), words


def test_the_site_is_served_on_this_machine(build_dir: Path, site: Path) -> None:
    command = [build_dir / "venv-docs/bin/python", "-m", "harness.site", "--build", site.parent, "--serve", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            server.stdout.readline()
            address = server.stdout.readline().split()[0]
            assert address.startswith("http://127.0.0.1:")
            with urllib.request.urlopen(f"{address}index.html", timeout=30) as page:
                assert b"Spinach</title>" in page.read()
        finally:
            server.terminate()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = make(build_dir, site.parent, "--serve", str(port))
    assert done.returncode == 1
    assert done.stderr == f"docs: cannot serve on 127.0.0.1:{port}: [Errno 98] Address already in use (choose another port with SERVE=PORT)\n"


@pytest.fixture(scope="module")
def browser() -> Iterator:
    playwright = pytest.importorskip("playwright.sync_api", reason="there is no Playwright")
    if not BROWSER:
        pytest.skip("there is no Chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        yield browser
        browser.close()


@pytest.mark.parametrize("words", ["checkpoint", "userpoint", "mshr_cache"])
def test_search_works_from_disk(browser, site: Path, words: str) -> None:
    page, requests, errors = browser.new_page(), [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((site / "tour.html").as_uri())
    page.click("[name=query]")
    page.keyboard.type(words)
    hit = page.locator(".md-search-result__item").first
    hit.wait_for()
    assert words in hit.inner_text().lower() and len(hit.inner_text()) > len(words) + 40  # an excerpt
    assert hit.locator("mark").count()
    hit.locator("a").first.click()
    page.wait_for_load_state()
    assert words in page.locator("main").inner_text().lower()
    assert not errors and len(requests) > 5
    assert not [url for url in requests if not url.startswith("file:")]
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_pages_are_accessible_and_fit(browser, site: Path, width: int, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="there is no axe-core").Axe()
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 1000})
    page, found = context.new_page(), []
    for name in PAGES:
        page.goto((site / name).as_uri())
        page.wait_for_function("document.querySelector('.md-search').getAttribute('aria-label')")
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        for violation in axe.run(page).response["violations"]:
            if violation["impact"] in ("serious", "critical"):
                found += [(name, violation["id"], node["html"][:100]) for node in violation["nodes"]]
    context.close()
    assert not found
