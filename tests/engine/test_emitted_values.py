"""Parameters, constants and initial values of every kind, as the C of a module sees them."""

from collections.abc import Callable
from pathlib import Path

import pytest

MODULES = Path(__file__).parent / "modules"
TYPES = """
clock fast = 2 MHz;
enum color { red, green = 4 };
enum strings { none, some };
packed state_word : uint16 { color shade : 0..3; bool up : 4; bits(3) level : 13..15; uint8 number : 5; };
packed value : uint8 { bool word : 0; };
packed long_word(int n = 60) : uint64 { bits(n) rest : 64 - n; bits(2) low : 1; };
struct point { int8 x; uint8 y; };
struct all { bool a; int8 b; uint64 c; float32 d; color e; point f; point g[2]; uint16 h[2][2]; bits(12) i; state_word j; };
"""


def test_c_sees_every_value(build_sim: Callable, run_sim: Callable) -> None:
    """values.c compares them one by one."""
    run_sim(build_sim(TYPES + "instance v : values on fast { on_clock = fast; };", "-I", MODULES, "-O0"), "--cycles", "1")


@pytest.mark.parametrize("name", ["lists", "mixed", "record", "records", "kind", "kinds"])
def test_what_c_has_no_type_for_is_not_there(name: str, lss: Callable, tmp_path: Path) -> None:
    (tmp_path / "m.lss").write_text("""
module held {
  parameter lists = [[1, 2], [3]] : int[][];
  parameter mixed = [1, "2"] : any;
  parameter record = { a = 1 } : struct;
  parameter records = [{ a = 1 }, { a = 2 }] : struct[];
  parameter kind = bool : type;
  parameter kinds = [bool] : type[];
  phase_end;
}
instance h : held;
""")
    (tmp_path / "held.c").write_text(f"phase_end() {{\n  (void)param({name});\n}}\n")
    said = lss("check", "m.lss", ok=False).err
    first = said.splitlines()[0]
    assert first.endswith(f"/held.c:2:9: error[unknown-name]: this module has no parameter called {name}") and said.count("error") == 1
