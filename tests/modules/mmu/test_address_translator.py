"""address_translator: what is plain memory, for every segment, mode and page."""

import random

import pytest

from tests.modules.harness import Bench
from tests.modules.mmu.pages import Pair, operation
from tests.modules.wide import Wide

PORTS = {
    "port.query": ("in", 1, "address_query"),
    "port.reply": ("out", 1, "address_reply"),
    "context": ("in", 1, "address_context"),
}
JOINT = """
instance joint : tlb { lookup_cycles = 0; };
instance operations : source;
instance replied : sink;
instance number : sink;
dut.lookup -> joint.lookup;
operations.out -> joint.operate.request : tlb_request;
joint.operate.reply -> replied.in : tlb_reply;
joint.changed -> number.in;
"""
PAIRS = [
    Pair(0x00400000, 5, frames=(0x10000, 0x11000), dirty=(True, False)), Pair(0x00402000, 6, frames=(0x20000, 0x21000)),
    Pair(0x00404000, 5, frames=(0x30000, 0x31000), valid=(False, True)), Pair(0xC0000000, frames=(0x40000, 0x41000), everywhere=True),
    Pair(0x00408000, 5, frames=(0x50000, 0x51000), cacheability=2), Pair(0x0040A000, 5, frames=(0x60000, 0x61000), cacheability=7),
]  # fmt: skip


def plain(address: int, writes: bool, context: dict[str, int]) -> int | None:
    """The physical address, if it may be used at any time."""
    if address < 0x80000000 and context["erl"] or address >= 0x80000000 and not context["kernel"]:
        return None
    if 0x80000000 <= address < 0xC0000000:
        return address & 0x1FFFFFFF if address < 0xA0000000 and context["k0"] not in (2, 7) else None
    pair = next((one for one in PAIRS if one.matches(address, context["asid"])), None)
    odd = address >> 12 & 1
    if pair is None or not pair.valid[odd] or (writes and not pair.dirty[odd]) or pair.cacheability in (2, 7):
        return None
    return pair.physical(address)


@pytest.mark.parametrize("seed", [1, 2])
def test_addresses(seed: int, bench: Bench) -> None:
    device = Wide(bench, "address_translator", PORTS, after=JOINT)
    r, first, cycles = random.Random(seed), 10, 300
    script = "".join(f"{k} {operation('write', k, pair.entry())} once\n" for k, pair in enumerate(PAIRS))
    queries, contexts = {}, {}
    for cycle in range(first, cycles):
        base = r.choice([0x00400000, 0x00400000, 0x80000000, 0xA0000000, 0xC0000000, 0xE0000000])
        queries[cycle] = {"address": base + r.randrange(0xC000), "writes": r.getrandbits(1)}
        contexts[cycle] = {
            "asid": r.choice([5, 6]),
            "kernel": r.getrandbits(1),
            "erl": int(r.random() < 0.1),
            "k0": r.choice([2, 3, 3, 7]),
        }
    seen = device.play(
        {"port_query": queries, "context": contexts},
        cycles,
        settings={"operations.script": "operations"},
        files={"operations": script},
    )["port_reply"]
    found = [seen[cycle]["physical"] if seen[cycle]["plain"] else None for cycle in range(first, cycles)]
    wanted = [
        plain(queries[cycle]["address"], bool(queries[cycle]["writes"]), contexts[cycle])
        for cycle in range(first, cycles)
    ]
    assert found == wanted and seen[0] is None
    assert 20 < sum(one is not None for one in wanted) < 200
