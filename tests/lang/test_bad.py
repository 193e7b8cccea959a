"""Wrong input: every file of bad/ fails with exactly the message in its golden file, caret and all.

The first line of an input may name the check that it fails, `// error[check]`; a line `// -D name=value` gives options.
The compiler that is built with the address and undefined-behaviour sanitizers says the same.
"""

import re
import subprocess
from pathlib import Path

import pytest

from tests.kits import Kit
from tests.tree import found

HERE = Path(__file__).resolve().parent
INPUTS = found(HERE / "bad", "*.lss")


def check(compiler: Path, source: Path) -> tuple[int, str]:
    text = source.read_text(errors="replace")
    options = [word for line in re.findall(r"^// (-\S.*)$", text, re.M) for word in line.split()]
    done = subprocess.run(
        [compiler, "check", "-I", "../../lib", source.name, *options],
        cwd=source.parent,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


@pytest.mark.parametrize("source", INPUTS, ids=lambda path: path.stem)
def test_bad(source: Path, kit: Kit, golden) -> None:
    status, text = check(kit.lss, source)
    assert status == 1, text
    first = re.search(r"(?:error|warning)\[([a-z-]+)\]", text)
    assert first, f"no diagnostic of ours:\n{text}"
    promised = re.match(r"// error\[([a-z-]+)\]", source.read_text(errors="replace"))
    if promised:
        assert f"error[{promised[1]}]" in text
    golden(source.with_suffix(".golden"), text)


def test_enough() -> None:
    assert len(INPUTS) >= 150


def test_no_golden_without_input() -> None:
    orphans = [path.name for path in found(HERE / "bad", "*.golden") if not path.with_suffix(".lss").exists()]
    assert not orphans
