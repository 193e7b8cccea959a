"""register_file: what is written is read from the next cycle on, by all readers; register 0 is 0."""

import random

from tests.modules.harness import Bench
from tests.modules.wide import Wide

PORTS = {"port.numbers": ("in", 3, "register_numbers"), "port.values": ("out", 3, "register_values"), "write": ("in", 2, "result")}


def test_values_are_those_of_the_cycle_before(bench: Bench) -> None:
    device = Wide(bench, "register_file", PORTS, "registers = 40;")
    r, held, cycles = random.Random(1), [0] * 40, 200
    inputs: dict[str, dict[int, object]] = {f"{port}[{i}]": {} for port, n in (("port_numbers", 3), ("write", 2)) for i in range(n)}
    expected: list[list] = []
    for cycle in range(cycles):
        row = []
        for i in range(3):
            numbers = [r.randrange(40), r.randrange(40)] if r.random() < 0.7 else None
            if numbers:
                inputs[f"port_numbers[{i}]"][cycle] = {"of": numbers}
            row.append(numbers and {"of": [held[n] for n in numbers]})
        expected.append(row)
        written = r.sample(range(1, 40), 2)
        for i, dest in enumerate(written):
            if r.random() < 0.7:
                held[dest] = r.getrandbits(32)
                inputs[f"write[{i}]"][cycle] = {"dest": dest, "value": held[dest]}
    seen = device.play(inputs, cycles)
    assert [[seen[f"port_values[{i}]"][cycle] for i in range(3)] for cycle in range(cycles)] == expected


def test_the_same_value_again_and_again(bench: Bench) -> None:
    """Nothing changes at the ports meanwhile but what is read."""
    device = Wide(bench, "register_file", {
        "port.numbers": ("in", 1, "register_numbers"), "port.values": ("out", 1, "register_values"), "write": ("in", 1, "result"),
    })  # fmt: skip
    seen = device.play({"write": dict.fromkeys(range(4), {"dest": 9, "value": 7}), "port_numbers": dict.fromkeys(range(4), {"of": [9, 0]})}, 4)
    assert [one["of"] for one in seen["port_values"]] == [[0, 0], [7, 0], [7, 0], [7, 0]]


def test_register_0_is_not_written(bench: Bench) -> None:
    device = Wide(bench, "register_file", {
        "port.numbers": ("in", 1, "register_numbers"), "port.values": ("out", 1, "register_values"), "write": ("in", 1, "result"),
    })  # fmt: skip
    seen = device.play({"write": {0: {"dest": 0, "value": 7}}, "port_numbers": {1: {"of": [0, 0]}}}, 3)
    assert seen["port_values"] == [None, {"of": [0, 0]}, None]


def test_each_context_finds_its_number(bench: Bench) -> None:
    """In one register of its program, before any is named anew."""
    device = Wide(bench, "register_file", PORTS, "contexts = 3; logical = 8; numbered = 5; registers = 40;")
    seen = device.play({"port_numbers[0]": {0: {"of": [5, 12]}, 1: {"of": [19, 6]}}}, 2)
    assert [one["of"] for one in seen["port_values[0]"]] == [[0, 1], [2, 0]]
    text = "import wide_types;\ninstance dut : register_file { logical = 8; numbered = 8; }; instance s[2] : source; instance k : sink;\n"
    text += "s[0].out -> dut.port.numbers; dut.port.values -> k.in; s[1].out -> dut.write;"
    assert "programs have 8 registers: none has the number 8" in bench.refuse(text)
