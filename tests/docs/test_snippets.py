"""What the documentation tells people to type does work: every marked block is executed.

In README.md and docs/*.md a fence ```sh run``` is executed by `sh -e`, and one ```LANGUAGE file=NAME``` is written to
NAME, in the order of the page and in one empty directory per page, with the built tools on PATH.  ```sh run fails```
must fail.  A block marked ```output``` after a run must appear in what that run printed, line for line; `…` stands for
anything.
"""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(?P<info>[^\n`]+)\n(?P<body>.*?)^```$", re.M | re.S)


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


PAGES = [
    p for p in [ROOT / "README.md", *found(ROOT / "docs", "*.md")] if any("run" in b.info for b in blocks(p))
]


def shown(expected: str, printed: str) -> bool:
    """True when every line of expected occurs in printed, in that order; an ellipsis matches anything."""
    lines = iter(printed.splitlines())
    for line in filter(None, map(str.strip, expected.splitlines())):
        pattern = re.compile(".*".join(map(re.escape, line.split("…"))))
        if not any(pattern.search(candidate) for candidate in lines):
            return False
    return True


LONG = ("tutorial_study.md",)  # simulates more than it builds


@pytest.mark.parametrize("page", [pytest.param(p, marks=[pytest.mark.optimised] * (p.name in LONG), id=p.name) for p in PAGES])
def test_page(page: Path, build_dir: Path, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PATH": f"{build_dir / 'bin'}:{build_dir / 'venv' / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "SPINACH": str(ROOT),
        "SPINACH_PYTHON": str(build_dir / "venv/bin/python"),  # so that `make install` fetches nothing
    }
    printed = ""
    for block in blocks(page):
        if block.file:
            (tmp_path / block.file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / block.file).write_text(block.body)
        elif "run" in block.info:
            done = subprocess.run(
                ["sh", "-e", "-c", block.body],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                timeout=600,
            )
            printed = done.stdout + done.stderr
            assert (done.returncode != 0) == ("fails" in block.info), (
                f"{block.place}: status {done.returncode}\n{printed}"
            )
        elif block.info == ["output"]:
            assert shown(block.body, printed), f"{block.place}: expected\n{block.body}\nprinted\n{printed}"


def test_ellipsis_matches_anything() -> None:
    assert shown("a … c\nlast", "x\na b c\ny\nlast line")
    assert not shown("b\na", "a\nb")
