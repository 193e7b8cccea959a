"""Parameters have units of the language, and a name that says what kind of thing they are: clocks end in `clock`, frequencies in `frequency`."""

import re
from pathlib import Path

import pytest

from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]
FILES = [*found(ROOT / "modules", "*.lss"), *found(ROOT / "examples", "*.lss")]
PARAMETER = re.compile(r"\bparameter (\w+)(?: = [^;\n]*?)? : (\w+)")
UNIT = re.compile(r"_(?:[kmg]?hz|[munpf]s|[kmg]?bps|[kmg]i?b|bytes|percent)$")
KINDS = ("clock", "frequency")


def faults(text: str) -> list[str]:
    """What is wrong with the names of the parameters that a file declares."""
    wrong = [f"{name}: a unit in the name; the type says it" for name in re.findall(r"\bparameter (\w+)", text) if UNIT.search(name)]
    for name, kind in PARAMETER.findall(text):
        for one in KINDS:
            if (kind == one) != bool(re.search(rf"(?:^|_){one}$", name)):
                wrong.append(f"{name}: {kind}: a {one} and nothing else is called …_{one}")
    return wrong


def test_the_search_finds_them() -> None:
    for good in "parameter cpu_frequency = 88 MHz : frequency;", "parameter cpu_clock : clock;", "parameter clocks = 2 : int;", "runtime parameter class = 1 : int;":
        assert not faults(good), good
    for bad in "runtime parameter cpu_mhz = 88 : int;", "parameter buffer_bytes : size;", "parameter bus_clock = 66 MHz : frequency;", "parameter main : clock;", "parameter wait_us = [", "parameter frequency : int;":
        assert faults(bad), bad
    declared = [PARAMETER.findall(path.read_text()) for path in FILES]
    assert sum(kind == "frequency" for one in declared for _, kind in one) > 10 and sum(kind == "clock" for one in declared for _, kind in one) > 3


@pytest.mark.parametrize("file", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_units_are_in_types_and_kinds_in_names(file: Path) -> None:
    assert faults(file.read_text()) == []
