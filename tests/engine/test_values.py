"""Values written as text, as scripts of sources hold them: each type reads what it prints, and says why what is wrong is no value."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

TYPES = """
enum color { red, green = 4, blue };
struct inner { uint8 low; int8 high; };
struct all { bool flag; uint16 number; int32 whole; bits(100) wide; float32 real; color paint; inner part; uint8 list[3]; };
instance s : source;
instance k : sink;
s.out -> k.in : all;
"""


@pytest.fixture(scope="module")
def simulator(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("values")
    (folder / "m.lss").write_text(TYPES)
    command = [build_dir / "bin" / "lss", "build", "m.lss", "--debug", "-O0", "-o", "sim"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "sim"


def play(simulator: Path, run_sim: Callable, tmp_path: Path, value: str, ok: bool):
    (tmp_path / "script").write_text(f"0 {value}\n")
    return run_sim(simulator, "--cycles", "2", "--set", f"s.script={tmp_path / 'script'}", "--set", f"k.record={tmp_path / 'record'}", ok=ok)


GIVEN = "{flag=1 number=0xffff whole=-0x80000000 wide=0x00fffffffffffffffffffffffff real=1.5 paint=blue part={low=255 high=-128} list=[1, 2]}"
PRINTED = "{flag=true number=65535 whole=-2147483648 wide=0xfffffffffffffffffffffffff real=1.5 paint=blue part={low=255 high=-128} list=[1 2 0]}"


def test_what_is_printed_is_read(simulator: Path, run_sim: Callable, tmp_path: Path) -> None:
    for value in (GIVEN, PRINTED):
        play(simulator, run_sim, tmp_path, value, ok=True)
        assert (tmp_path / "record").read_text() == f"0 {PRINTED}\n"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("{flag=2}", '"2" is neither true nor false'),
        ("{number=65536}", "65536 does not fit in uint16"),
        ("{number=-1}", "-1 does not fit in uint16"),
        ("{number=1x}", '"1x" is not a number of type uint16'),
        ("{number=}", '"" is not a number of type uint16'),
        ("{whole=0x80000000}", "0x80000000 does not fit in int32"),
        ("{whole=-2147483649}", "-2147483649 does not fit in int32"),
        ("{wide=0x10000000000000000000000000}", "0x10000000000000000000000000 does not fit in bits(100)"),
        ("{wide=0x1g}", '"0x1g" is not a number of type bits(100)'),
        ("{real=1e39}", "1e39 does not fit in float32"),
        ("{real=one}", '"one" is not a number'),
        ("{paint=pink}", '"pink" is none of red, green, blue'),
        ("{part=3}", "a value of inner looks like {low=...}"),
        ("{part={lower=3}}", 'inner has no field "lower"'),
        ("{flag}", 'name=value is expected at "flag}"'),
        ("{flag=1", "a } is missing"),
        ("{list=1}", "a value of uint8[3] looks like [1 2 3]"),
        ("{list=[1 2 3 4]}", "uint8[3] has only 3 elements"),
        ("{list=[1 2", "a ] is missing"),
        ("{flag=1} x", '"x" is too much'),
    ],
)
def test_what_is_no_value_says_why(value: str, why: str, simulator: Path, run_sim: Callable, tmp_path: Path) -> None:
    done = play(simulator, run_sim, tmp_path, value, ok=False)
    assert done.err.startswith("sim: ")
    assert done.err.endswith(f"'{value}' is not a value of this port's type: {why}\n"), done.err
