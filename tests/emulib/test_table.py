"""The instruction table guards itself: overlaps, contradictions and missing bodies stop the build with a line."""

import subprocess
import sys
from pathlib import Path

import pytest

EMULIB = Path(__file__).resolve().parents[2] / "emulib" / "mips"


def generate(table: Path, bodies: list[Path], output: Path) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, EMULIB.parent / "generate.py", table, *bodies, output], capture_output=True, text=True)


@pytest.fixture
def edited(tmp_path: Path):
    """Runs the generator on an edited table."""

    def run(edit, bodies=lambda text: text) -> subprocess.CompletedProcess:
        (tmp_path / "instructions.def").write_text(edit((EMULIB / "instructions.def").read_text()))
        (tmp_path / "bodies.h").write_text(bodies((EMULIB / "bodies.h").read_text()))
        out = tmp_path / "out"
        out.mkdir()
        done = generate(tmp_path / "instructions.def", [tmp_path / "bodies.h", EMULIB / "system_bodies.h", EMULIB / "mt_bodies.h"], out)
        assert (done.returncode == 0) == (len(list(out.iterdir())) == 2), "half-written output"
        return done

    return run


def test_the_table_is_consistent(edited):
    assert edited(lambda text: text).returncode == 0


BAD = {
    "an overlap within a set": (
        "odd prijoff 0x0000000b 0xfc0007ff rd,rs,rt rs,rt rd alu alu=or a=rs b=zero dest=rd",
        "odd overlaps pri",
    ),
    "the same encoding under a wider mask": ("wide mips1 0x00000021 0xfc00003f rs,rt rs,rt - alu -", "wide overlaps addu"),
    "a name twice": ("addu mips2 0x74000000 0xffffffff - - - system -", "addu is already on line"),
    "bits outside the mask": ("odd mips1 0x74000001 0xfc000000 - - - system -", "has bits outside mask"),
    "an unknown set": ("odd mips9 0x74000000 0xfc000000 - - - system -", "there is no set 'mips9'"),
    "an unknown class": ("odd mips1 0x74000000 0xfc000000 - - - vector -", "there is no class 'vector'"),
    "an unknown operand": ("odd mips1 0x74000000 0xfc000000 rq - - system -", "there is no operand 'rq'"),
    "a register that is not read": ("odd mips1 0x74000000 0xfc000000 rs - - alu -", "disagree about rs"),
    "a fixed register field": ("odd mips1 0x74000000 0xffffffff rs rs - alu -", "its mask fixes that field"),
    "a result without dest": ("odd mips1 0x74000000 0xfc0007ff rd - rd alu alu=add", "dest is absent"),
    "an unknown control word": ("odd mips1 0x74000000 0xfc000000 - - - system alu=mul", "control 'alu=mul'"),
    "a name for a word of no set": ("alias nothing mips9 0x00000000", "declared as 'alias NAME SET WORD'"),
    "a name for a word that is no instruction": ("alias nothing mips1 0xffffffff", "alias nothing: 0xffffffff is no instruction of set mips1"),
    "a missing column": ("odd mips1 0x74000000 0xfc000000 - - -", "9 columns"),
    "a missing body": ("odd mips1 0x74000000 0xfc000000 - - - system -", "has no body"),
}


@pytest.mark.parametrize(("line", "message"), [("isa vax", "known are mips, rv32i"), ("", "must begin with 'isa NAME'")])
def test_the_instruction_set_is_named_first(line: str, message: str, edited):
    done = edited(lambda text: text.replace("isa mips\n", line + "\n"))
    assert done.returncode == 1 and message in done.stderr and "Traceback" not in done.stderr, done.stderr


@pytest.mark.parametrize("defect", BAD)
def test_defects_are_named_with_their_line(defect: str, edited):
    line, message = BAD[defect]
    done = edited(lambda text: text + line + "\n")
    number = len((EMULIB / "instructions.def").read_text().splitlines()) + 1
    assert done.returncode == 1 and message in done.stderr, done.stderr
    assert f"instructions.def:{number}: " in done.stderr or "bodies.h: " in done.stderr
    assert "Traceback" not in done.stderr


def test_the_same_encoding_may_serve_two_sets(edited):
    """PRI's encoding is MOVN's in another set: no overlap, and both decode."""
    odd = "odd other 0x0000000b 0xfc0007ff rd,rs,rt rs,rt rd alu alu=or a=rs b=zero dest=rd"
    done = edited(lambda text: text.replace("set prijoff", "set other : mips2\nset prijoff") + odd + "\n",
                  lambda text: text + "BODY(odd) { SET_RD(RS); }\n")
    assert done.returncode == 0, done.stderr
