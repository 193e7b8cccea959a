"""register_port: words of the registers of programs, wherever the map says that they are."""

import random

from tests.modules.harness import Bench
from tests.modules.wide import Wide

PORTS = {
    "in.request": ("in", 1, "mem_request(32)"), "in.reply": ("out", 1, "mem_reply(32)"), "committed": ("in", 1, "register_numbers(35)"),
    "registers.numbers": ("out", 1, "register_numbers(3)"), "registers.values": ("in", 1, "register_values(3)"), "write": ("out", 1, "result"),
}  # fmt: skip


def test_reads_and_writes(bench: Bench) -> None:
    """Register 0 reads as 0, whatever is there, and is not written; the replies come in the same cycle."""
    device = Wide(bench, "register_port", PORTS, "logical = 35; sources = 3;")
    r, places, cycles = random.Random(1), [0, *random.Random(2).sample(range(1, 128), 34)], 120
    inputs: dict[str, dict[int, object]] = {"in_request": {}, "committed": dict.fromkeys(range(cycles), {"of": places}), "registers_values": {}}
    expected = []
    for cycle in range(cycles):
        number, writes, value = r.randrange(35), r.random() < 0.5, r.getrandbits(32)
        if r.random() < 0.2:
            expected.append((None, None, 0))
            continue
        inputs["in_request"][cycle] = {"op": "write" if writes else "read", "size": 4, "address": 4 * number, "data": value, "tag": cycle}
        inputs["registers_values"][cycle] = {"of": [value, 1, 2]}
        expected.append((places[number], 0 if writes or number == 0 else value, (places[number], value) if writes and number else 0))
    seen = device.play(inputs, cycles)
    for cycle, (place, read, written) in enumerate(expected):
        numbers, reply, write = (seen[name][cycle] for name in ("registers_numbers", "in_reply", "write"))
        assert (numbers and numbers["of"][0]) == place, cycle
        assert (reply and (reply["data"], reply["tag"], reply["error"])) == (None if place is None else (read, cycle, 0)), cycle
        assert ((write["dest"], write["value"]) if write["dest"] else 0) == written, cycle


def test_what_is_no_register_is_an_error(bench: Bench) -> None:
    device = Wide(bench, "register_port", PORTS, "logical = 35; sources = 3;")
    requests = [("read", 4, 4 * 35), ("write", 4, 4 * 35), ("read", 2, 8), ("write", 4, 6), ("swap", 4, 8), ("barrier", 1, 0)]
    inputs = {
        "in_request": {cycle: {"op": op, "size": size, "address": address, "data": 7} for cycle, (op, size, address) in enumerate(requests)},
        "committed": dict.fromkeys(range(len(requests)), {"of": list(range(35))}),
    }
    seen = device.play(inputs, len(requests))
    assert [one["error"] for one in seen["in_reply"]] == [1] * len(requests) and not any(one["dest"] for one in seen["write"])
