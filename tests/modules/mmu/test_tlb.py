"""tlb: pages of all sizes, address spaces and global pairs, lookups of several micro TLBs, reads, writes and probes."""

import random

import pytest

from tests.modules.harness import Bench, collect, happened, read_monitor
from tests.modules.mips import BundleDevice, struct
from tests.modules.mmu.pages import KIB, MISSING, Pair, first_match, operation
from tests.sample import sampled

IMPORTS = "import mmu_types;\n"
def tlb(bench: Bench, lanes: int = 1, body: str = "", after: str = "") -> BundleDevice:
    ports = {
        "lookup.request": ("in", lanes, "translation_request"), "lookup.reply": ("out", lanes, "translation_reply"),
        "operate.request": ("in", 1, "tlb_request"), "operate.reply": ("out", 1, "tlb_reply"), "changed": ("out", 1, "uint32"),
    }  # fmt: skip
    return BundleDevice(bench, "tlb", ports, body, before=IMPORTS, after=after)


def ask(address: int, asid: int = 0) -> str:
    return struct(address=address, asid=asid)


def test_a_lookup_takes_a_cycle_and_sees_what_was_written_before(bench: Bench) -> None:
    pair = Pair(0x10000, 5, frames=(0x7000, 0x9000), dirty=(True, False))
    tlb(bench).check_table(
        f"""
        operate_request                    | lookup_request    | lookup_reply             | changed
        {operation("write", 3, pair.entry())} | {ask(0x10123, 5)} | .                        | 0
        .                                  | {ask(0x10123, 5)} | {MISSING}                   | 1
        .                                  | {ask(0x11FFF, 5)} | {pair.found(0x10123)} | 1
        .                                  | {ask(0x10123, 6)} | {pair.found(0x11FFF)} | 1
        .                                  | {ask(0x12000, 5)} | {MISSING}                   | 1
        .                                  | .                 | {MISSING}                   | 1
        .                                  | .                 | .                        | 1
        """
    )


@pytest.mark.parametrize("cycles", sampled([0, 1, 3], 3, 1))
def test_lanes_are_served_lowest_first_unless_all_at_once(bench: Bench, cycles: int) -> None:
    one, other = ask(0x1000), ask(0x3000)
    rows = ["lookup_request[0] | lookup_request[1] | lookup_request.ack | lookup_request[1].ack | lookup_reply[0] | lookup_reply[1]"]
    asked = [(one, other), (".", other), (".", "."), (".", "."), (".", "."), (".", ".")]
    for at, (first, second) in enumerate(asked):
        replies = [MISSING if at == cycles else ".", MISSING if at == cycles + 1 or (not cycles and not at) else "."]
        acks = ["1" if first != "." else "-", ("1" if not cycles or at else "0") if second != "." else "-"]
        rows.append(" | ".join((first, second, *acks, *replies)))
    table = "\n".join(rows)
    tlb(bench, 2, f"lookup_cycles = {cycles};").check_table(table)


def test_probe_and_read(bench: Bench) -> None:
    low, high = Pair(0x400000, 7, 16 * KIB, (0x123000, 0x127000)), Pair(0x400000, 7, frames=(0x5000, 0x6000))
    everywhere = Pair(0x800000, 9, frames=(0x1000, 0x2000), everywhere=True)
    halfway = struct(mask=0, hi=0xC00000, lo0=everywhere.lo(0), lo1=low.lo(1))
    kept = struct(mask=0x6000, hi=0x400007, lo0=0x120 << 6 | 0x1E, lo1=0x124 << 6 | 0x1E)
    wanted = struct(mask=0, hi=0x800003, lo0=0, lo1=0)
    tlb(bench).check_table(
        f"""
        operate_request                              | operate_reply
        {operation("probe", 0, low.entry())}         | {operation_reply(0x80000000)}
        {operation("write", 9, low.entry())}         | {operation_reply(0)}
        {operation("write", 10, high.entry())}       | {operation_reply(0)}
        {operation("probe", 0, high.entry())}        | {operation_reply(9)}
        {operation("read", 25)}                      | {operation_reply(0, kept)}
        {operation("write", 1, everywhere.entry())}  | {operation_reply(0)}
        {operation("probe", 0, wanted)}              | {operation_reply(1)}
        {operation("write", 1, halfway)}             | {operation_reply(0)}
        {operation("read", 1)}                       | {operation_reply(0, struct(mask=0, hi=0xC00000, lo0=everywhere.lo(0) & ~1, lo1=low.lo(1)))}
        """
    )


def test_entries_are_read_and_written_from_outside(bench: Bench) -> None:
    """As by the processor."""
    ports = {
        "lookup.request": ("in", 1, "translation_request"), "lookup.reply": ("out", 1, "translation_reply"), "changed": ("out", 1, "uint32"),
        "operate.request": ("in", 1, "tlb_request"), "operate.reply": ("out", 1, "tlb_reply"),
        "access.request": ("in", 1, "tlb_request"), "access.reply": ("out", 1, "tlb_reply"),
    }  # fmt: skip
    pair = Pair(0x10000, 5, frames=(0x7000, 0x9000), dirty=(True, False))
    BundleDevice(bench, "tlb", ports, before=IMPORTS, after=collect("dut", "written(index)")).check_table(
        f"""
        access_request                        | operate_request        | lookup_request    | access_reply                       | operate_reply | lookup_reply          | changed
        {operation("write", 3, pair.entry())} | .                      | .                 | -                                  | .             | .                     | 0
        {operation("read", 3)}                | .                      | {ask(0x10123, 5)} | {operation_reply(0, pair.entry())} | .             | .                     | 1
        .                                     | {operation("read", 3)} | .                 | .                                  | {operation_reply(0, pair.entry())} | {pair.found(0x10123)} | 1
        """
    )


def operation_reply(index: int, entry: str | None = None) -> str:
    return struct(index=index, entry=entry or struct(mask=0, hi=0, lo0=0, lo1=0))


@pytest.mark.parametrize(("seed", "entries"), [(1, 16), (2, 16), (3, 128)])
def test_random_entries_are_found_as_the_architecture_says(bench: Bench, seed: int, entries: int) -> None:
    """The model is a list that is searched from its beginning."""
    rng = random.Random(seed)
    known: dict[int, Pair] = {}
    writes, asks, right = [], [], []
    for cycle in range(400):
        address, asid = rng.choice([0, 0x10000, 0x40000000]) + rng.randrange(0x40000), rng.randrange(3)
        match = first_match(known, address, asid)
        asks.append(f"{cycle} {ask(address, asid)} once")
        right.append(match.found(address) if match else MISSING)
        if rng.random() < 0.3:
            size = rng.choice([4, 16, 64]) * KIB
            pair = Pair(
                (rng.choice([0, 0x10000, 0x40000000]) + rng.randrange(0x40000)) & ~(2 * size - 1), rng.randrange(3), size,
                (rng.randrange(1 << 18) << 12, rng.randrange(1 << 18) << 12), (rng.random() < 0.8, rng.random() < 0.8),
                (rng.random() < 0.5, rng.random() < 0.5), rng.randrange(8), rng.random() < 0.2,
            )  # fmt: skip
            index = rng.randrange(entries)
            known[index] = pair
            writes.append(f"{cycle} {operation('write', index, pair.entry())} once")
    device = tlb(bench, body=f"entries = {entries};", after=collect("dut", "written(index)"))
    settings = {
        "lookup_request_source[0].script": "asks", "operate_request_source[0].script": "writes",
        "lookup_reply_monitor[0].record": "replies",
    }  # fmt: skip
    files = {"asks": "\n".join(asks) + "\n", "writes": "\n".join(writes) + "\n"}
    ran = bench.run(device.simulator, 402, settings, files=files)
    seen = [line.value for line in read_monitor(ran.directory / "replies")]
    assert seen == right, "lookups with replies of their own cycle"
    assert [told[0] for told in happened(ran, "written")] == [int(line.split()[0]) for line in writes]
    missed = sum(one == MISSING for one in right)
    assert ran.counted("dut") == {"lookups": 400, "misses": missed} and 40 < missed < 360
