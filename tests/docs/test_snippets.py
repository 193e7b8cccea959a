"""What the documentation tells people to type does work: every block says what becomes of it, and what can be executed is.

In README.md, docs/*.md and the READMEs of folders a fence ```sh run``` is executed by `sh -e`, and one ```LANGUAGE
file=NAME``` is written to NAME, in the order of the page and in one empty directory per page, with the built tools on
PATH and `build`, `examples` and `firmware` there as in the source tree.  ```sh run fails``` must fail.  ```sh soak``` is
executed in the soak only, after all blocks before it: a network interface, or a guest for which `make linux` was made.
A variable that a block sets at the beginning of a line is there in those after it.  A block marked ```output``` after a
run must appear in what that run printed, line for line; `…` stands for anything.  ```LANGUAGE shown=REASON``` is only
shown; REASONS says why.  There are no other blocks: what is indented instead of fenced is an error.

Pages that take LONG belong to the soak as a whole.
"""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.linux_guest import guest
from tests.network.hosts import NO_TAPS, has_taps
from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.M | re.S)
ASSIGNMENT = re.compile(r"^[A-Z]+=(?:\"[^\"]*\"|\S+)$", re.M)
REASONS = {
    "fragment": "a part of a file, which means nothing alone",
    "synopsis": "names stand for what the reader has",
    "output": "what some tool prints",
    "drawing": "a picture of characters",
    "network": "it downloads",
    "minutes": "it takes minutes or hours: other tests run the same",
    "hosts": "it needs several hosts",
}


@dataclass(frozen=True)
class Block:
    """One fenced block: what its first line says, its text, and where it stands."""

    info: list[str]
    body: str
    place: str

    @property
    def file(self) -> str | None:
        return next((word.removeprefix("file=") for word in self.info if word.startswith("file=")), None)


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text()
    return [
        Block(m["info"].split(), m["body"], f"{page.name}:{text.count(chr(10), 0, m.start()) + 1}")
        for m in FENCE.finditer(text)
    ]


FOLDERS = ("docs", "lss", "modules", "harness", "firmware", "examples")
ALL_PAGES = [ROOT / "README.md", *(page for folder in FOLDERS for page in found(ROOT / folder, "*.md"))]


def pages(mark: str) -> list:
    """The pages that have blocks with it."""
    chosen = [page for page in ALL_PAGES if any(mark in block.info for block in blocks(page))]
    marks = {page: [pytest.mark.optimised, pytest.mark.soak] if page.name in LONG else [] for page in chosen}
    return [pytest.param(page, marks=marks[page], id=name_of(page)) for page in chosen]


def name_of(page: Path) -> str:
    return page.name if page.parent.name in ("docs", ROOT.name) else str(page.relative_to(ROOT))


LONG = ("tutorial_study.md", "tutorial_firmware.md", "wide-cores.md", "host.md")  # as long as all others together: the soak executes them


def unmarked(text: str) -> list[str]:
    """The first lines of blocks that do not say what becomes of them."""
    wrong = []
    for m in FENCE.finditer(text):
        info = m["info"].split()
        written, shown = (any(word.startswith(key) for word in info) for key in ("file=", "shown="))
        known = not shown or info[-1].removeprefix("shown=") in REASONS
        if ("run" in info) + ("soak" in info) + written + shown + (info == ["output"]) != 1 or not known:
            wrong.append(f"```{m['info']}")
    outside = FENCE.sub("", text)
    return wrong + re.findall(r"(?:\A|\n)(?:[ \t]*|#.*)\n( {4,}\S.*)", outside)


def test_every_block_says_what_becomes_of_it() -> None:
    wrong = {name_of(page): unmarked(page.read_text()) for page in ALL_PAGES}
    assert not {page: lines for page, lines in wrong.items() if lines}
    assert len(ALL_PAGES) > 60


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a\n\n    make x\n", ["    make x"]),
        ("# A\n    make x\n", ["    make x"]),
        ("```sh\nx\n```\n", ["```sh"]),
        ("```\nx\n```\n", ["```"]),
        ("```sh run shown=network\nx\n```\n", ["```sh run shown=network"]),
        ("```sh shown=idleness\nx\n```\n", ["```sh shown=idleness"]),
        ("```sh run\n\n    x\n```\n\n- a\n  b\n```output\nx\n```\n```c file=x.c\n```\n```sh soak\nx\n```\n", []),
    ],
)
def test_blocks_that_do_not_say_it_are_found(text: str, found: list[str]) -> None:
    assert unmarked(text) == found


def shown(expected: str, printed: str) -> bool:
    """True when every line of expected occurs in printed, in that order; an ellipsis matches anything."""
    lines = iter(printed.splitlines())
    for line in filter(None, map(str.strip, expected.splitlines())):
        pattern = re.compile(".*".join(map(re.escape, line.split("…"))))
        if not any(pattern.search(candidate) for candidate in lines):
            return False
    return True


def execute(page: Path, marks: set[str], build_dir: Path, directory: Path) -> None:
    """Does what the page says, with the blocks that have one of the marks."""
    for name in ("examples", "firmware"):
        (directory / name).symlink_to(ROOT / name)
    (directory / "build").symlink_to(build_dir.resolve())
    environment = {
        **os.environ,
        "PATH": f"{build_dir.resolve() / 'bin'}:{build_dir.resolve() / 'venv' / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT}:{ROOT}/harness/python",
        "SPINACH": str(ROOT),
        "SPINACH_PYTHON": str(build_dir / "venv/bin/python"),  # so that `make install` fetches nothing
    }
    printed = before = ""
    executed = False  # the commands before; what those would print that are not is not compared
    for block in blocks(page):
        if {"run", "soak"} & set(block.info):
            executed = bool(marks & set(block.info))
        if block.file:
            (directory / block.file).parent.mkdir(parents=True, exist_ok=True)
            (directory / block.file).write_text(block.body)
        elif marks & set(block.info):
            done = subprocess.run(
                ["sh", "-e", "-c", before + block.body],
                cwd=directory,
                env=environment,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=1800,  # the soak builds and boots guests
            )
            printed = done.stdout + done.stderr
            before += "".join(f"{line}\n" for line in ASSIGNMENT.findall(block.body))
            assert (done.returncode != 0) == ("fails" in block.info), (
                f"{block.place}: status {done.returncode}\n{printed}"
            )
        elif block.info == ["output"] and executed:
            assert shown(block.body, printed), f"{block.place}: expected\n{block.body}\nprinted\n{printed}"


@pytest.mark.parametrize("page", pages("run"))
def test_page(page: Path, build_dir: Path, tmp_path: Path) -> None:
    execute(page, {"run"}, build_dir, tmp_path)


@pytest.mark.soak
@pytest.mark.optimised
@pytest.mark.parametrize("page", pages("soak"))
def test_page_with_what_takes_long(page: Path, build_dir: Path, tmp_path: Path) -> None:
    for folder, vpes in (("build/linux", False), ("build/linux/out-vpes", True)):
        if folder in page.read_text():
            guest(build_dir, vpes)
    if "unshare -rn" in page.read_text() and not has_taps():
        pytest.skip(NO_TAPS)
    if "--hosts hosts.txt" in page.read_text() and not (build_dir / "lib/carrier").exists():
        pytest.skip("there is no MPI (apt-get install openmpi-bin libopenmpi-dev)")
    execute(page, {"run", "soak"}, build_dir, tmp_path)


def test_ellipsis_matches_anything() -> None:
    assert shown("a … c\nlast", "x\na b c\ny\nlast line")
    assert not shown("b\na", "a\nb")
