"""Values written as text, as scripts of sources hold them: each type reads what it prints, and says why what is wrong is no value."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

TYPES = """
enum color { red, green = 4, blue };
struct inner { uint8 low; int8 high; };
packed status : bits(12) { color paint : 0..3; bool ready : 4; bits(3) level : 5; };
struct all { bool flag; uint16 number; int32 whole; bits(100) wide; float32 real; color paint; inner part; uint8 list[3]; uint64 most; int64 least; float64 precise; bits(12) few; bits(64) full; bits(65) more; status now; };
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


GIVEN = "{flag=1 number=0xffff whole=-0x80000000 wide=0x00fffffffffffffffffffffffff real=1.5 paint=blue part={low=255 high=-128} list=[1, 2]"
GIVEN += " most=0xffffffffffffffff least=-9223372036854775808 precise=0.1 few=4095 full=18446744073709551615 more=0X1FFFFFFFFFFFFFFFF now={0x800 level=5 ready=0, paint=blue}}"
PRINTED = "{flag=true number=65535 whole=-2147483648 wide=0xfffffffffffffffffffffffff real=1.5 paint=blue part={low=255 high=-128} list=[1 2 0]"
PRINTED += " most=18446744073709551615 least=-9223372036854775808 precise=0.1 few=4095 full=18446744073709551615 more=0x1ffffffffffffffff now={paint=blue level=5 0x800}}"
NOTHING = "flag=false number=0 whole=0 wide=0x0 real=0 paint=red part={low=0 high=0} list=[0 0 0] most=0 least=0 precise=0 few=0 full=0 more=0x0 now={}"


def test_what_is_printed_is_read(simulator: Path, run_sim: Callable, tmp_path: Path) -> None:
    for value in (GIVEN, PRINTED):
        play(simulator, run_sim, tmp_path, value, ok=True)
        assert (tmp_path / "record").read_text() == f"0 {PRINTED}\n"


@pytest.mark.parametrize(
    "given",
    [
        "flag=false",
        "flag=true",
        "flag=0 -> flag=false",
        "flag=1 -> flag=true",
        "number=1",
        "whole=2147483647",
        "whole=-1",
        "least=9223372036854775807",
        "part={low=1 high=127}",
        "wide=7 -> wide=0x7",
        "wide=0x10 -> wide=0x10",
        "wide=18446744073709551615 -> wide=0xffffffffffffffff",
        "wide=0x0000000000000000000000000000000000 -> wide=0x0",
        "wide=0x10000000000000001",
        "wide=0xabcdef0123456789",
        "more=0x10000000000000000",
        "real=3.4e+38",
        "real=0.1",
        "real=-1e-05",
        "real=inf",
        "precise=1e+300",
        "precise=0.30000000000000004",
        "paint=blue",
        "list=[] -> list=[0 0 0]",
        "list=[1,2,3] -> list=[1 2 3]",
        "few=0x10 -> few=16",
        "now={paint=green}",
        "now={ready=true level=7}",
        "now={ready=1 paint=5} -> now={paint=blue ready=true}",
        "now={paint=red ready=false} -> now={}",
        "now=0x15 -> now={paint=blue ready=true}",
        "now={0xf0 0x705} -> now={paint=blue ready=true level=7 0x700}",
        "now={paint=blue paint=green} -> now={paint=green}",
    ],
)
def test_each_kind_of_value(given: str, simulator: Path, run_sim: Callable, tmp_path: Path) -> None:
    """What is not given is zero."""
    value, printed = given.split(" -> ") if " -> " in given else (given, given)
    play(simulator, run_sim, tmp_path, f"{{ {value} }}", ok=True)
    name = value.split("=")[0]
    fields = re.findall(r"\w+=(?:{.*?}|\[.*?\]|\S+)", NOTHING)
    expected = " ".join(printed if field.startswith(f"{name}=") else field for field in fields)
    assert (tmp_path / "record").read_text() == f"0 {{{expected}}}\n"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("{flag=}", '"" is neither true nor false'),
        ("{flag=tru}", '"tru" is neither true nor false'),
        ("{flag=falsy}", '"falsy" is neither true nor false'),
        ("{most=18446744073709551616}", "18446744073709551616 does not fit in uint64"),
        ("{least=9223372036854775808}", "9223372036854775808 does not fit in int64"),
        ("{least=-9223372036854775809}", "-9223372036854775809 does not fit in int64"),
        ("{few=4096}", "4096 does not fit in bits(12)"),
        ("{full=18446744073709551616}", "18446744073709551616 does not fit in uint64"),
        ("{more=0x20000000000000000}", "0x20000000000000000 does not fit in bits(65)"),
        ("{more=18446744073709551616}", "18446744073709551616 does not fit in bits(65)"),
        ("{more=0x}", '"0x" is not a number of type bits(65)'),
        ("{real=}", '"" is not a number'),
        ("{paint=gree}", '"gree" is none of red, green, blue'),
        ("{paint=greens}", '"greens" is none of red, green, blue'),
        ("{lis=[]}", 'all has no field "lis"'),
        ("{list=[1 256]}", "256 does not fit in uint8"),
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
        ("{now={ready=2}}", "2 does not fit in bool"),
        ("{now={ready=maybe}}", '"maybe" is neither true nor false'),
        ("{now={level=8}}", "8 does not fit in bits(3)"),
        ("{now={level=-1}}", "-1 does not fit in bits(3)"),
        ("{now={paint=16}}", "16 does not fit in color"),
        ("{now={paint=pink}}", '"pink" is none of red, green, blue'),
        ("{now={redy=1}}", 'status has no field "redy"'),
        ("{now={ready}}", 'name=value is expected at "ready}}"'),
        ("{now={0x1000}}", "0x1000 does not fit in status"),
        ("{now=4096}", "4096 does not fit in status"),
        ("{now=7up}", '"7up" is not a number of type status'),
        ("{now=ready}", "a value of status looks like {paint=...}"),
        ("{now={ready=1", "a } is missing"),
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
