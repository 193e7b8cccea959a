"""pipeline_status: halted when fetch is, and nothing of the context is anywhere; of two program counters that of the list, once it has one."""

from itertools import product

import pytest

from tests.modules.harness import Bench
from tests.modules.wide import Wide, each, renamed, renamed_group

PORTS = {
    "fetch": ("in", 1, "core_status"), "room": ("in", 1, "context_numbers"), "renamed": ("in", 1, "renamed_group(4)"), "list": ("in", 1, "core_status"),
    "drained": ("in", 1, "bool"), "status": ("out", 2, "core_status"), "stopped": ("out", 1, "bool"),
}  # fmt: skip


def test_all_of_it(bench: Bench) -> None:
    device = Wide(bench, "pipeline_status", PORTS, "depth = 32;")
    cases = list(product([0, 1], [31, 32], [0, 1], [0, 1], [0, 1], [0, 0x240]))
    inputs: dict[str, dict[int, object]] = {name: {} for name in PORTS if name not in ("status", "stopped")}
    for cycle, (fetch, room, group, listed, drained, pc) in enumerate(cases):
        inputs["fetch"][cycle] = {"halted": fetch, "pc": 0x100 + cycle}
        inputs["room"][cycle], inputs["drained"][cycle] = each(room), drained
        inputs["renamed"][cycle] = renamed_group() | {"count": group}
        inputs["list"][cycle] = {"halted": listed, "slot": cycle & 1, "pc": pc}
    seen = device.play(inputs, len(cases))
    for cycle, (fetch, room, group, listed, drained, pc) in enumerate(cases):
        halted = fetch and room == 32 and not group and listed and drained
        expected = {"halted": int(bool(halted)), "fault": 0, "slot": cycle & 1, "pc": pc or 0x100 + cycle}
        assert seen["status[0]"][cycle] == seen["status[1]"][cycle] == expected, cycle
        assert seen["stopped"][cycle] == expected["halted"], cycle


def test_of_several_contexts_one(bench: Bench) -> None:
    """Whatever the others have in the buffer, or was renamed of them."""
    ports = PORTS | {"room": ("in", 1, "context_numbers(4)"), "status": ("out", 1, "core_status")}
    device = Wide(bench, "pipeline_status", ports, "depth = 32; contexts = 4; context = 2;")
    groups = [renamed_group(), renamed_group(renamed(1), renamed(7)), renamed_group(renamed(1), renamed(6))]  # the two lowest bits are the context
    cases = list(product([(0, 0, 32, 0), (32, 32, 31, 32), (1, 2, 32, 3)], groups))
    inputs: dict[str, dict[int, object]] = {
        "fetch": {cycle: {"halted": 1} for cycle in range(len(cases))}, "list": {cycle: {"halted": 1, "pc": 8} for cycle in range(len(cases))},
        "drained": dict.fromkeys(range(len(cases)), 1), "room": {cycle: each(*rooms) for cycle, (rooms, _) in enumerate(cases)},
        "renamed": {cycle: group for cycle, (_, group) in enumerate(cases)},
    }  # fmt: skip
    seen = device.play(inputs, len(cases))
    assert [one["halted"] for one in seen["status"]] == [int(rooms[2] == 32 and group is not groups[2]) for rooms, group in cases]


def test_there_is_no_such_context(bench: Bench) -> None:
    with pytest.raises(AssertionError, match="context 2 does not exist: there are 2 contexts"):
        Wide(bench, "pipeline_status", PORTS, "contexts = 2; context = 2;")
