"""predictor_choice: who was right when the two differed is believed, address by address."""

import re

import pytest

from tests.modules.harness import Bench
from tests.modules.wide import Wide

PORTS = {
    "port.query": ("in", 1, "direction_query"), "port.taken": ("out", 1, "uint32"), "first.query": ("out", 1, "direction_query"), "first.taken": ("in", 1, "uint32"),
    "second.query": ("out", 1, "direction_query"), "second.taken": ("in", 1, "uint32"), "checks": ("in", 2, "direction_checks(4)"),
}  # fmt: skip


def checks(pc: int, first: bool, second: bool) -> dict[str, dict[str, object]]:
    return {f"checks[{lane}]": {"count": 1, "pc": [pc], "right": [right]} for lane, right in enumerate((first, second))}


def play(device: Wide, learned: list[tuple[int, bool, bool]], pc: int, requested: int = 1) -> list[int]:
    """What is said in each cycle while it learns; the first predictor says taken of words 0 and 1, the second of 1 and 2."""
    cycles = len(learned) + 1
    inputs: dict[str, dict[int, object]] = {"port_query": {cycle: {"pc": pc, "requested": requested, "history": 3} for cycle in range(cycles)}}
    for lane, said in enumerate((0b011, 0b110)):
        inputs[("first_taken", "second_taken")[lane]] = dict.fromkeys(range(cycles), said & requested)
        inputs[f"checks[{lane}]"] = {cycle: checks(*one)[f"checks[{lane}]"] for cycle, one in enumerate(learned)}
    seen = device.play(inputs, cycles)
    assert seen["first_query"] == seen["second_query"] and seen["first_query"][0] == {"pc": pc, "history": 3, "requested": requested}
    return seen["port_taken"]


def test_by_hand(bench: Bench) -> None:
    """From 2 on the second is believed, 3 is the largest; where both were right or wrong nothing is learned."""
    device = Wide(bench, "predictor_choice", PORTS, "entries = 16;")
    learned = [(0x40, False, True)] * 2 + [(0x40, True, True), (0x40, False, False)] + [(0x40, False, True)] * 2 + [(0x40, True, False)] * 3
    assert play(device, learned, 0x40) == [1, 1, 0, 0, 0, 0, 0, 0, 1, 1]
    assert (device.stat("differed"), device.stat("second_right")) == (7, 4)


def test_each_word_of_a_group_by_itself(bench: Bench) -> None:
    device = Wide(bench, "predictor_choice", PORTS, "entries = 16;")
    assert play(device, [(0x48, False, True)] * 2, 0x40, 0b111) == [0b011, 0b011, 0b111]


def test_what_it_cannot_be(bench: Bench) -> None:
    device = Wide(bench, "predictor_choice", PORTS)
    with pytest.raises(AssertionError, match=re.escape("the two predictors were trained with different branches")):
        device.play({"checks[0]": {0: {"count": 1}}}, 2)
    text = "import wide_types;\ninstance dut : predictor_choice {{ {} }};\ninstance q : source; q.out -> dut.port.query; instance k : sink; dut.port.taken -> k.in;\n"
    text += "instance c[2] : sink; instance t[2] : source; instance s[2] : source;\n"
    text += "".join(f"dut.{p}.query -> c[{i}].in; t[{i}].out -> dut.{p}.taken;\n" for i, p in enumerate(("first", "second")))
    assert "a choice of predictors needs a power-of-two number of counters, not 12" in bench.refuse(text.format("entries = 12;") + "s[0].out -> dut.checks; s[1].out -> dut.checks;")
    assert "there are two predictors to choose from, not 1" in bench.refuse(text.format("") + "s[0].out -> dut.checks;")
    text += "instance u : sink; instance v : source; dut.first.query -> u.in; v.out -> dut.first.taken; s[0].out -> dut.checks; s[1].out -> dut.checks;"
    assert "each predictor is asked on 1 lanes, not on 2 and 1" in bench.refuse(text.format(""))


def test_two_groups_in_a_cycle(bench: Bench) -> None:
    """Each is asked for by itself: one address has learned to believe the second predictor, the other has not."""
    device = Wide(bench, "predictor_choice", {name: (way, 2, type_) for name, (way, _, type_) in PORTS.items()}, "entries = 16;")
    inputs: dict[str, dict[int, object]] = {f"checks[{lane}]": dict.fromkeys(range(2), checks(0x40, False, True)[f"checks[{lane}]"]) for lane in range(2)}
    for lane, pc in enumerate((0x40, 0x44)):
        inputs[f"port_query[{lane}]"] = {2: {"pc": pc, "requested": 1}}
        inputs[f"first_taken[{lane}]"], inputs[f"second_taken[{lane}]"] = {2: 0}, {2: 1}
    seen = device.play(inputs, 3)
    assert (seen["port_taken[0]"][2], seen["port_taken[1]"][2]) == (1, 0)
    assert seen["first_query[1]"][2]["pc"] == seen["second_query[1]"][2]["pc"] == 0x44
