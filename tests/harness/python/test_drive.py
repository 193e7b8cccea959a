"""One module between sources and sinks: items of all kinds as Python has them, lanes, back-pressure, and mistakes."""

from pathlib import Path

import pytest

import spinach
from spinach.drive import item_of, item_text

CODE = """
phase_start() { if (self->full) send(out, self->total); else send_nothing(out); }
handler(take) { accept(in, !self->full || acked(out)); }
phase_end() {
  if (transferred(out)) self->full = false;
  if (!transferred(in)) return;
  self->total.x += data(in).x;
  self->total.y[1] = data(in).y[0];
  self->full = true;
}
"""
SUM = """
struct pair { uint32 x; int8 y[2]; };
module pair_sum {
  parameter initial = 0 : int;
  inport in : pair;
  outport out : pair;
  state { pair total; bool full; }
  phase_start -> out.data;
  handler take : out.ack -> in.ack;
  phase_end;
}
"""


MEMORY = "make a Machine with memory_source before it, and memory_state after it"
LATE = """module late {
  inport in : uint32;
  outport out : uint32;
  state { uint32 held; bool full; uint64 counted; }
  phase_start -> out.data;
  handler take : out.ack -> in.ack;
  phase_end;
  next_event;
}
"""
LATE_CODE = """phase_start() { if (self->full) send(out, self->held); else send_nothing(out); }
handler(take) { accept(in, !self->full || acked(out)); }
phase_end() {
  self->counted++;
  if (transferred(out)) self->full = false;
  if (!transferred(in)) return;
  self->held = data(in);
  self->full = true;
}
next_event() { return self->full ? cycle() : never(); }
"""


@pytest.fixture
def pair_sum(here: Path) -> None:
    (here / "pair_sum.lss").write_text(SUM)
    (here / "pair_sum.c").write_text(CODE)


def test_items_are_values_of_python(here: Path, pair_sum: None) -> None:
    items = [{"x": 1, "y": [2, -3]}, {"x": 4}, "{x=0x10 y=[5 6]}"]
    out = spinach.drive("pair_sum", {"in": items}, cycles=20, include=["."])["out"]
    assert out.columns.tolist() == ["cycle", "lane", "item"] and out.cycle.tolist() == [1, 2, 3]
    assert out.item.tolist() == [{"x": 1, "y": [0, 2]}, {"x": 5, "y": [0, 0]}, {"x": 21, "y": [0, 5]}]


def test_back_pressure_parameters_and_scripts(here: Path) -> None:
    """Of a module for any type: that of its items."""
    driven = spinach.drive("pipe", {"in": [0, -1, 2, 3]}, ready={"out": "01"}, cycles=20, depth=3)
    assert driven["out"].item.tolist() == [0, -1, 2, 3] and driven["out"].cycle.tolist() == [3, 5, 7, 9]
    assert driven.run["offer[0].items"] == driven.run["take[0].items"] == 4 and driven.run.cycles == {"clk": 20}
    assert driven.run["dut.flushed"] == 0
    (here / "script.txt").write_text("0 1.5\n7 2 once\n8 1e9 cancel  # never arrives\n")
    out = spinach.drive("pipe", {"in": "script.txt", "flush": [False]}, cycles=20)["out"]
    assert out.item.tolist() == [1.5, 2.0] and out.cycle.tolist() == [1, 8]
    assert spinach.drive("pipe", {"in": "3 true\n"}, cycles=2)["out"].empty


def test_items_of_a_named_type(here: Path, pair_sum: None) -> None:
    """Those of a struct, at a port for any type; run-time parameters of the module."""
    (here / "triple_types.lss").write_text("struct triple { uint8 a; uint8 b; uint8 c; };\n")
    items = [{"a": 1, "b": 2, "c": 3}, {"b": 7}]
    out = spinach.drive("pipe", {"in": items}, types={"in": "triple"}, imports=["triple_types"], include=["."], cycles=9)["out"]
    assert out.item.tolist() == [{"a": 1, "b": 2, "c": 3}, {"a": 0, "b": 7, "c": 0}]
    assert spinach.drive("sink", {"in": [1, 2, 3]}, cycles=20, limit=2, debug=False).run["dut.items"] == 2


def test_a_module_is_checked(here: Path) -> None:
    """A `next_event` that is wrong, which the items alone would not show."""
    (here / "late.lss").write_text(LATE)
    (here / "late.c").write_text(LATE_CODE)
    options = {"cycles": 50, "include": ["."]}
    assert spinach.drive("late", {"in": [1, 2]}, debug=False, **options)["out"].item.tolist() == [1, 2]
    with pytest.raises(spinach.RunError, match=r"dut: next_event said never\(\), and counted changed in cycle"):
        spinach.drive("late", {"in": [1, 2]}, **options)


def test_lanes(here: Path) -> None:
    out = spinach.drive("tee", {"in": [7, 8]}, ready={"out[0]": 1.0, "out[1]": "001"}, cycles=20)["out"]
    assert out.values.tolist() == [[2, 0, 7], [2, 1, 7], [5, 0, 8], [5, 1, 8]]
    out = spinach.drive("mux", {"in[0]": [1, 2], "in[1]": [3]}, cycles=20)["out"]
    assert out.item.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("kind", "text", "arguments"),
    [
        (spinach.BuildError, 'lss doc: there is no module "pip" on the search path; did you mean "pipe"?', ("pip", {"in": [1]}, {})),
        (spinach.UnknownName, "pipe has no inport 'inn'; did you mean 'in'?", ("pipe", {"inn": [1]}, {})),
        (spinach.UnknownName, "pipe has no inport 'out'; known are flush, in", ("pipe", {"out": [1]}, {})),
        (spinach.UnknownName, "pipe has no outport 'ou'; did you mean 'out'?", ("pipe", {"in": [1]}, {"ready": {"ou": 1}})),
        (spinach.SpinachError, "inputs lacks the inport 'in' of pipe (an empty list offers nothing)", ("pipe", {}, {})),
        (
            spinach.SpinachError,
            "the port 'in' of pipe takes 'a, and its items are not all numbers or all truths: name their type, types={'in': 'TYPE'}",
            ("pipe", {"in": [{"x": 1}]}, {}),
        ),
        (spinach.UnknownName, "pipe has no inport 'inn'; did you mean 'in'?", ("pipe", {"in": [1]}, {"types": {"inn": "uint8"}})),
        *[
            (spinach.SpinachError, f"the port 'in' of memory_delay is a bundle (mem(width)), and drive offers items of one port: {MEMORY}", (name, given, {}))
            for name, given in [("memory_delay", {"in.request": []}), ("memory_delay", {"in": []}), ("memory_delay", {})]
        ],
        (spinach.UnknownName, "pipe has no parameter 'dept'; did you mean 'depth'?", ("pipe", {"in": [1]}, {"dept": 3})),
    ],
)  # fmt: skip
def test_a_mistake_is_found_before_anything_is_built(here: Path, kind: type[Exception], text: str, arguments: tuple) -> None:
    module, inputs, options = arguments
    with pytest.raises(kind) as caught:
        spinach.drive(module, inputs, cycles=9, **options)
    assert str(caught.value).strip() == text and type(caught.value) is kind
    assert not (here / "build").exists()


def test_what_the_tools_say_is_the_error(here: Path, pair_sum: None) -> None:
    with pytest.raises(spinach.BuildError, match="depth"):
        spinach.drive("pipe", {"in": [1]}, cycles=9, depth=0)
    with pytest.raises(spinach.RunError, match=r"offer0\.txt:2: '{z=1}' is not a value of this port's type") as caught:
        spinach.drive("pair_sum", {"in": [{"x": 1}, {"z": 1}]}, cycles=20, include=["."])
    assert (caught.value.folder / "offer0.txt").is_file()


@pytest.mark.parametrize("item", [7, -7, True, 1.5, "add", {"op": "add", "n": {"a": [1, [2.5, False]]}}, [], {}])
def test_texts_of_items(item: object) -> None:
    assert item_of(item_text(item)) == item


def test_texts_that_python_does_not_write() -> None:
    assert item_of("{alu=sub rs=0x4 0x8000}") == {"alu": "sub", "rs": 4, "": 0x8000}
    assert item_of("0xffffffffffffffffffff") == (1 << 80) - 1
