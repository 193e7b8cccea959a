"""pipeline_status: halted when fetch is, and nothing is anywhere; of two program counters that of the list, once it has one."""

from itertools import product

from tests.modules.harness import Bench
from tests.modules.wide import Wide, each, renamed_group

PORTS = {
    "fetch": ("in", 1, "core_status"), "room": ("in", 1, "context_numbers"), "renamed": ("in", 1, "renamed_group(4)"), "list": ("in", 1, "core_status"),
    "drained": ("in", 1, "bool"), "status": ("out", 2, "core_status"),
}  # fmt: skip


def test_all_of_it(bench: Bench) -> None:
    device = Wide(bench, "pipeline_status", PORTS, "depth = 32;")
    cases = list(product([0, 1], [31, 32], [0, 1], [0, 1], [0, 1], [0, 0x240]))
    inputs: dict[str, dict[int, object]] = {name: {} for name in PORTS if name != "status"}
    for cycle, (fetch, room, renamed, listed, drained, pc) in enumerate(cases):
        inputs["fetch"][cycle] = {"halted": fetch, "pc": 0x100 + cycle}
        inputs["room"][cycle], inputs["drained"][cycle] = each(room), drained
        inputs["renamed"][cycle] = renamed_group() | {"count": renamed}
        inputs["list"][cycle] = {"halted": listed, "slot": cycle & 1, "pc": pc}
    seen = device.play(inputs, len(cases))
    for cycle, (fetch, room, renamed, listed, drained, pc) in enumerate(cases):
        halted = fetch and room == 32 and not renamed and listed and drained
        expected = {"halted": int(bool(halted)), "fault": 0, "slot": cycle & 1, "pc": pc or 0x100 + cycle}
        assert seen["status[0]"][cycle] == seen["status[1]"][cycle] == expected, cycle
