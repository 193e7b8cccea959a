"""address_translator: what is plain memory, for every segment, mode and page."""

import random

import pytest

from tests.modules.harness import Bench
from tests.modules.mmu.pages import Pair, operation
from tests.modules.wide import Wide
from tests.sample import sampled

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


@pytest.mark.parametrize("seed", sampled([1, 2], 2))
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


def test_each_context_has_a_tlb_and_an_address_space(bench: Bench) -> None:
    """The same page lies elsewhere for each of three contexts, and one that may use the kernel's segments lets no other use them."""
    contexts, cycles, r = 3, 200, random.Random(3)
    joints = f"instance joint[{contexts}] : tlb {{ lookup_cycles = 0; }}; instance operations[{contexts}] : source; instance replied[{contexts}] : sink; instance number[{contexts}] : sink;\n"
    for c in range(contexts):
        joints += f"dut.lookup -> joint[{c}].lookup; operations[{c}].out -> joint[{c}].operate.request : tlb_request; joint[{c}].operate.reply -> replied[{c}].in : tlb_reply; joint[{c}].changed -> number[{c}].in;\n"
    device = Wide(bench, "address_translator", PORTS | {"context": ("in", contexts, "address_context")}, f"contexts = {contexts};", after=joints)
    pairs = [Pair(0x00400000, 5, frames=(0x10000 * (c + 1), 0x10000 * (c + 1) + 0x1000), dirty=(c != 1, True)) for c in range(contexts)]
    kernels = [{"asid": 5 if c < 2 else 6, "kernel": int(c == 0), "erl": 0, "k0": 3} for c in range(contexts)]
    queries = {cycle: {"address": r.choice([0x00400000, 0x80000000]) + r.randrange(0x2000), "context": r.randrange(contexts), "writes": r.getrandbits(1)} for cycle in range(10, cycles)}
    seen = device.play(
        {"port_query": queries} | {f"context[{c}]": dict.fromkeys(range(cycles), kernels[c]) for c in range(contexts)}, cycles,
        settings={f"operations[{c}].script": f"operations{c}" for c in range(contexts)},
        files={f"operations{c}": f"0 {operation('write', 0, pairs[c].entry())} once\n" for c in range(contexts)},
    )["port_reply"]  # fmt: skip
    for cycle, query in queries.items():
        address, c = query["address"], query["context"]
        if address >= 0x80000000:
            expected = address & 0x1FFFFFFF if c == 0 else None
        else:
            expected = pairs[c].physical(address) if c < 2 and (pairs[c].dirty[address >> 12 & 1] or not query["writes"]) else None
        assert (seen[cycle]["physical"] if seen[cycle]["plain"] else None) == expected, (cycle, query)


def test_ports_of_each_context(bench: Bench) -> None:
    with pytest.raises(AssertionError, match="each of 2 contexts has a joint TLB and an address space: a port to them has 1 lanes"):
        Wide(bench, "address_translator", PORTS, "contexts = 2;", after=JOINT)
