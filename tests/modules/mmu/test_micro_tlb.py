"""micro_tlb: segments, pages, faults as replies, what is dropped when the TLB or the address space changes, order, barriers."""

import random

import pytest

from tests.modules.harness import Bench, Memory, collect, happened, read_monitor
from tests.modules.mmu.pages import KIB, Pair, first_match, operation
from tests.modules.wide import Wide, value_of
from tests.sample import sampled, seldom

KERNEL = "(address_context){.kernel = true, .k0 = 3}"
FAULTS = ["bus", "address", "refill", "invalid", "modified"]
SLOW = "instance far : memory_delay { width = 32; latency = 6; };\ndut.uncached -> far.in;\nfar.out -> outside.port;\n"


def micro_tlb(bench: Bench, context: str = KERNEL, body: str = "", tlb: str = "", way: str = "dut.uncached -> outside.port;\n") -> Memory:
    """Behind both ways are the same physical addresses; each memory knows only what was written there."""
    return Memory(
        bench,
        f"""import mmu_types;
        instance dut : micro_tlb {{ {body} }};
        instance joint : tlb {{ {tlb} }};
        instance operations : source {{ generate = <<< return (tlb_request){{.op = index % 3}}; >>>; }};
        instance context : source {{ generate = <<< return {context}; >>>; }};
        instance inside : memory_state {{ width = 32; size = 1 MiB; }};
        instance outside : memory_state {{ width = 32; size = 1 MiB; }};
        requester[0].memory -> dut.in;
        dut.cached -> inside.port;
        {way}
        dut.lookup -> joint.lookup;
        joint.changed -> dut.changed;
        context.out -> dut.context : address_context;
        operations.out -> joint.operate.request : tlb_request;
        instance replied : sink;
        joint.operate.reply -> replied.in : tlb_reply;
        """
        + collect("dut", "refused(address, fault)"),
        width=32,
    )


def play(machine: Memory, script: list[str], writes: list[tuple[int, int, Pair]], cycles: int = 100, settings: dict[str, object] | None = None, seed: int = 1):
    """Plays requests while pairs are written to the joint TLB: (cycle, index, pair)."""
    lines = [f"{cycle} {operation('write', index, pair.entry())} once\n" for cycle, index, pair in writes]
    [replies] = machine.play([script], cycles, {"operations.script": "operations"} | (settings or {}), files={"operations": "".join(lines)}, seed=seed)
    return replies


@seldom
def test_segments_of_the_kernel_pass_within_the_cycle(bench: Bench) -> None:
    machine = micro_tlb(bench)
    script = ["3 write 4 0x80000100 7", "4 read 4 0x80000100", "5 read 4 0xa0000100", "6 write 4 0xa0000100 9", "7 read 4 0xa0000100", "8 read 4 0x80000100"]
    replies = play(machine, script, [])
    assert [(a.cycle, a.data) for a in replies] == [(3, 0), (4, 7), (5, 0), (6, 0), (7, 9), (8, 7)]
    assert machine.last.counted("dut") == {"requests": 6}


@seldom
def test_kseg0_is_cached_as_config_says(bench: Bench) -> None:
    machine = micro_tlb(bench, "(address_context){.kernel = true, .k0 = index / 4 & 7}")
    script = ["0 write 4 0xa0000040 5", *(f"{4 * k + 2} read 4 0x80000040" for k in range(8))]
    replies = play(machine, script, [])
    assert [a.data for a in replies[1:]] == [5 if k in (2, 7) else 0 for k in range(8)]


@pytest.mark.parametrize("cycles", sampled([0, 1, 3], 3, 1))
def test_a_page_is_looked_up_once(bench: Bench, cycles: int) -> None:
    """The request waits for lookup_cycles + 1; of a larger page each 4 KiB are looked up."""
    machine = micro_tlb(bench, tlb=f"lookup_cycles = {cycles};")
    pair = Pair(0x400000, size=16 * KIB, frames=(0x10000, 0x20000))
    script = ["10 write 4 0x400104 3", "10 read 4 0x400104", "10 read 4 0x403ffc", "30 write 4 0x404104 4", "30 read 4 0x404104", "40 read 4 0x80010104", "40 read 4 0x80020104"]
    replies = play(machine, script, [(2, 0, pair)])
    at = 10 + cycles + 1
    assert [a.cycle for a in replies[:5]] == [at, at + 1, at + cycles + 3, 30 + cycles + 1, 30 + cycles + 2]
    assert [a.data for a in replies] == [0, 3, 0, 0, 4, 3, 4]
    assert machine.last.counted("dut") == {"requests": 7, "lookups": 3}


@seldom
def test_the_page_that_was_looked_up_first_makes_room(bench: Bench) -> None:
    machine = micro_tlb(bench, body="entries = 2;")
    pairs = [Pair(k << 16, frames=(k << 14, 0)) for k in range(1, 4)]
    script = [f"{20 * k} read 4 {page << 16}" for k, page in enumerate([1, 2, 1, 3, 2, 1], 1)]
    replies = play(machine, script, [(k, k, pair) for k, pair in enumerate(pairs)], 160)
    assert [a.cycle % 20 for a in replies] == [2, 2, 0, 2, 0, 2]


def test_pages_are_cached_as_their_entries_say(bench: Bench) -> None:
    machine = micro_tlb(bench)
    pairs = [Pair(0x10000 * k, frames=(0, 0x1000), cacheability=k) for k in range(8)]
    script = ["0 write 4 0xa0001000 5", *(f"{10 * k + 20} read 4 {pair.page + 0x1000}" for k, pair in enumerate(pairs))]
    replies = play(machine, script, [(k, k, pair) for k, pair in enumerate(pairs)])
    assert [a.data for a in replies[1:]] == [5 if k in (2, 7) else 0 for k in range(8)]


def test_what_cannot_be_translated_gets_an_error_in_the_cycle_in_which_it_is_known(bench: Bench) -> None:
    machine = micro_tlb(bench)
    clean = Pair(0x4000, frames=(0x1000, 0x2000), valid=(True, False), dirty=(False, True))
    script = ["10 write 4 0x4000 1", "11 read 4 0x4000", "20 read 4 0x5000", "21 write 4 0x5000 1", "30 read 4 0x6000", "31 write 4 0x6000 2", "40 read 4 0xc0000000", "50 store_conditional 4 0x4000 2"]
    replies = play(machine, script, [(0, 3, clean)])
    assert [(a.cycle, a.error) for a in replies] == [(12, True), (13, False), (22, True), (23, True), (32, True), (33, True), (42, True), (50, True)]
    assert [FAULTS[a.data] for a in replies if a.error] == ["modified", "invalid", "invalid", "refill", "refill", "refill", "modified"]
    assert [(address, FAULTS[fault]) for _, address, fault in happened(machine.last, "refused")][:2] == [(0x4000, "modified"), (0x5000, "invalid")]
    assert machine.last.counted("dut")["faults"] == 7


@seldom
def test_users_have_their_own_segment_only(bench: Bench) -> None:
    machine = micro_tlb(bench, "(address_context){.k0 = 3}")
    script = [f"{k} read 4 {address}" for k, address in enumerate((0x80000000, 0xA0000000, 0xC0000000, 0xFFFFFFFC))]
    replies = play(machine, script, [])
    assert [(a.cycle, FAULTS[a.data]) for a in replies] == [(k, "address") for k in range(4)]


@seldom
def test_with_erl_the_users_segment_is_memory(bench: Bench) -> None:
    machine = micro_tlb(bench, "(address_context){.kernel = true, .erl = true, .k0 = 3}")
    replies = play(machine, ["0 write 4 0x1000 6", "1 read 4 0xa0001000", "2 read 4 0xc0000000"], [])
    assert [(a.cycle, a.data) for a in replies] == [(0, 0), (1, 6), (4, FAULTS.index("refill"))]


def test_a_missing_entry_is_known_until_the_tlb_is_written(bench: Bench) -> None:
    machine = micro_tlb(bench)
    script = ["5 read 4 0x4000", "10 read 4 0x4ffc", "19 read 4 0x4004", "21 read 4 0x4008"]
    replies = play(machine, script, [(19, 0, Pair(0x4000))])
    assert [(a.cycle, a.error) for a in replies] == [(7, True), (10, True), (19, True), (23, False)]
    assert machine.last.counted("dut")["lookups"] == 2


@seldom
def test_another_address_space_has_other_pages(bench: Bench) -> None:
    machine = micro_tlb(bench, "(address_context){.kernel = true, .asid = index < 20 ? 1 : 2, .k0 = 3}")
    script = ["10 write 4 0x4000 1", "19 read 4 0x4000", "20 read 4 0x4000", "30 read 4 0x80001000"]
    replies = play(machine, script, [(0, 0, Pair(0x4000, 1, frames=(0x1000, 0))), (1, 1, Pair(0x4000, 2, frames=(0x2000, 0)))])
    assert [(a.cycle, a.data) for a in replies] == [(12, 0), (19, 1), (22, 0), (30, 1)]


@pytest.mark.parametrize("cycles", [0, 1, 4])
def test_a_lookup_that_a_write_overtakes_is_repeated(bench: Bench, cycles: int) -> None:
    machine = micro_tlb(bench, tlb=f"lookup_cycles = {cycles};")
    written = 10 + max(cycles - 1, 0)
    replies = play(machine, ["10 read 4 0x4000"], [(0, 0, Pair(0x4000, frames=(0x1000, 0))), (written, 0, Pair(0x8000))])
    [reply] = replies
    assert reply.error and FAULTS[reply.data] == "refill"
    assert machine.last.counted("dut")["lookups"] == 2


@seldom
def test_a_request_waits_for_those_that_went_the_other_way(bench: Bench) -> None:
    machine = micro_tlb(bench, way=SLOW)
    script = ["0 write 4 0xa0000000 1 1", "1 read 4 0xa0000000 0 2", "2 read 4 0x80000000 0 3", "3 read 4 0x4000 0 4", "4 read 4 0x80000004 0 5"]
    [replies] = machine.play([script], 60, outstanding=8)
    assert [a.tag for a in replies] == [1, 2, 3, 4, 5]
    assert replies[2].cycle == replies[1].cycle + 1 and machine.last.counted("dut")["held"] > 0


def test_a_barrier_goes_along_both_ways(bench: Bench) -> None:
    machine = micro_tlb(bench, way=SLOW)
    [replies] = machine.play([["0 write 4 0xa0000000 1 1", "1 barrier 1 0 0 2", "2 read 4 0xa0000000 0 3"]], 60, outstanding=8)
    assert [(a.tag, a.error) for a in replies] == [(1, False), (2, False), (3, False)]
    assert replies[2].data == 1 and replies[1].cycle > replies[0].cycle + 6
    for cycles in range(2, 18):  # at each end of a run, debug builds count what is held
        machine.play([["1 barrier 1 0 0 2"]], cycles, outstanding=8)


@seldom
def test_the_instruction_cache_is_maintained_on_its_own_way(bench: Bench) -> None:
    """Whatever the page: cached or not; what has no translation is a fault as for a load."""
    caches = """
        instance instructions : cache { line = 16; sets = 4; fill_width = 32; };
        instance behind : memory_state { width = 32; size = 1 MiB; };
        dut.maintain -> instructions.in;
        instructions.memory -> behind.port;
        """
    machine = micro_tlb(bench, way="dut.uncached -> outside.port;\n" + caches + collect("dut", "maintained(address, operation)"))
    pair = Pair(0x4000, frames=(0x1000, 0x2000), dirty=(False, False), cacheability=2)
    script = ["10 maintain 1 0x4010 8", "20 maintain 1 0x4010 9", "30 maintain 1 0xa0005010 9", "40 maintain 1 0x6000 8", "50 maintain 1 0x4010 8"]
    replies = play(machine, script, [(0, 0, pair)])
    assert [(a.error, a.cycle) for a in replies] == [(False, 13), (False, 20), (False, 30), (True, 42), (False, 51)]
    assert [operation for _, _, operation in happened(machine.last, "maintained")] == [8, 9, 9, 8, 8]
    assert machine.last.counted("instructions.controller") == {"bypassed": 2}


@seldom
def test_what_is_accelerated_may_be_combined(bench: Bench) -> None:
    way = """
        instance watch : monitor;
        dut.uncached.request -> watch.in;
        watch.out -> outside.port.request;
        outside.port.reply -> dut.uncached.reply;
        """
    machine = micro_tlb(bench, "(address_context){.kernel = true, .k0 = 7}", way=way)
    play(machine, ["0 write 4 0x80000000 1", "1 write 4 0xa0000000 1"], [], settings={"watch.record": "seen"})
    seen = [line.value for line in read_monitor(machine.last.directory / "seen") if line.transferred]
    assert ["combine=true" in value for value in seen] == [True, False]


def expected(pair: Pair | None, address: int, write: bool) -> str | None:
    """The fault of a request to the user's segment."""
    if not pair:
        return "refill"
    odd = address & pair.size != 0
    return "invalid" if not pair.valid[odd] else "modified" if write and not pair.dirty[odd] else None


@pytest.mark.parametrize("cycles", sampled([0, 1, 3], 3, 1))
@pytest.mark.parametrize("seed", [1, 2])
def test_random_requests_while_the_tlb_is_written(bench: Bench, cycles: int, seed: int) -> None:
    """Memory replies in the cycle of a request, so each is translated by what was written before the cycle of its reply."""
    rng = random.Random(seed)
    writes: list[tuple[int, int, Pair]] = []
    for cycle in range(1500):
        if rng.random() < 0.1:
            size = rng.choice([4, 16]) * KIB
            page = rng.randrange(0x20000) & ~(2 * size - 1)
            frames = (rng.randrange(0x40) << 12, rng.randrange(0x40) << 12)
            flags = [tuple(rng.random() < 0.8 for _ in range(2)) for _ in range(2)]
            pair = Pair(page, rng.randrange(2), size, frames, flags[0], flags[1], rng.choice([2, 3]), rng.random() < 0.3)
            writes.append((cycle, rng.randrange(16), pair))
    asked = [(k, rng.choice(["read", "write"]), rng.randrange(0x20000) & ~3) for k in range(600)]
    machine = micro_tlb(bench, "(address_context){.kernel = true, .asid = (index / 64) & 1, .k0 = 3}", tlb=f"lookup_cycles = {cycles};")
    script = [f"{2 * k} {op} 4 {address} {k} {k}" for k, op, address in asked]
    replies = play(machine, script, writes, 4900, {"requester[0].offer": 0.7, "requester[0].cancel": 0.2}, seed)
    assert len(replies) == len(asked)
    memories: dict[bool, dict[int, int]] = {True: {}, False: {}}
    outcomes = set()
    for reply, (k, op, address) in zip(replies, asked, strict=True):
        known = {index: pair for cycle, index, pair in writes if cycle < reply.cycle}
        pair = first_match(known, address, reply.cycle // 64 & 1)
        fault = expected(pair, address, op == "write")
        outcomes.add(fault)
        assert (reply.tag, reply.error) == (k, fault is not None), (reply, hex(address), pair)
        if fault or not pair:
            assert FAULTS[reply.data] == fault
            continue
        memory, physical = memories[pair.cacheability == 2], pair.physical(address)
        assert reply.data == (memory.get(physical, 0) if op == "read" else 0)
        if op == "write":
            memory[physical] = k
    assert outcomes == {None, "refill", "invalid", "modified"}


@seldom
def test_ports_of_any_width(bench: Bench) -> None:
    """As fetch of several instructions has them: faults are in the lowest bits of a reply; behind a lookup that is replied to at once the request
    passes in the next cycle, though nothing else moves."""
    mem = {f"{name}.{part}": ("in" if (part == "request") == (name == "in") else "out", 1, f"mem_{part}(128)") for name in ("in", "cached", "uncached") for part in ("request", "reply")}
    ports = mem | {"lookup.request": ("out", 1, "translation_request"), "lookup.reply": ("in", 1, "translation_reply"), "context": ("in", 1, "address_context"), "changed": ("in", 1, "uint32")}
    device = Wide(bench, "micro_tlb", ports, "width = 128;")
    request, number = {"op": "read", "size": 16, "address": 0x1010, "tag": 3}, (1 << 127) + 5
    page = {"hit": 1, "valid": 1, "cacheability": 3, "mask": 0xFFF, "frame": 0x7000}
    seen = device.play({
        "in_request": {2: request, 3: request, 5: request | {"op": "write"}, 7: request | {"address": 0x80000000}}, "context": dict.fromkeys(range(12), {"k0": 3}),
        "lookup_reply": {2: page}, "cached_reply": {3: {"tag": 3, "data": hex(number)}},
    }, 12)  # fmt: skip
    assert [(cycle, one["address"], one["size"]) for cycle, one in enumerate(seen["cached_request"]) if one] == [(3, 0x7010, 16)]
    replies = [(cycle, one["error"], one["data"]) for cycle, one in enumerate(seen["in_reply"]) if one]
    assert replies == [(3, 0, number), (5, 1, FAULTS.index("modified")), (7, 1, FAULTS.index("address"))]


SEVERAL = 3


def several(bench: Bench, cycles: int, entries: int) -> Memory:
    """Contexts with a joint TLB each, whose address spaces change: 1 and 2 in turn, each context in its own rhythm."""
    parts = "".join(f"""
        instance context{c} : source {{ generate = <<< return (address_context){{.kernel = {str(c != 1).lower()}, .asid = 1 + (index / {40 + 8 * c} & 1), .k0 = 3}}; >>>; }};
        context{c}.out -> dut.context : address_context;
        dut.lookup -> joint[{c}].lookup;
        joint[{c}].changed -> dut.changed;
        operations[{c}].out -> joint[{c}].operate.request : tlb_request;
        joint[{c}].operate.reply -> replied[{c}].in : tlb_reply;
        """ for c in range(SEVERAL))  # fmt: skip
    return Memory(
        bench,
        f"""import mmu_types;
        instance dut : micro_tlb {{ contexts = {SEVERAL}; entries = {entries}; context_bit = 20; }};
        instance joint[{SEVERAL}] : tlb {{ lookup_cycles = {cycles}; }};
        instance operations[{SEVERAL}] : source {{ generate = <<< return (tlb_request){{.op = index % 3}}; >>>; }};
        instance replied[{SEVERAL}] : sink;
        instance inside : memory_state {{ width = 32; size = 1 MiB; }};
        instance outside : memory_state {{ width = 32; size = 1 MiB; }};
        requester[0].memory -> dut.in;
        dut.cached -> inside.port;
        dut.uncached -> outside.port;
        {parts}""",
        width=32,
    )


@seldom
@pytest.mark.parametrize("cycles", sampled([0, 2], 2, 1))
def test_pages_are_of_a_context(bench: Bench, cycles: int) -> None:
    """One page of each lies in frames of its own, and another of its joint TLB is written now and then, so that what is kept of it alone goes.  Each frame
    holds its address."""
    apart, count = 12, 300
    for seed, entries in ((1, 2), (2, 6)):
        machine, r = several(bench, cycles, entries), random.Random(seed)
        frames = {(c, asid): 0x10000 * (c + 1) + 0x4000 * asid for c in range(SEVERAL) for asid in (1, 2)}
        pairs = {key: Pair(0x00400000, key[1], frames=(frame, frame + 0x1000)) for key, frame in frames.items()}
        tables = ["".join(f"{k} {operation('write', k, pairs[c, asid].entry())} once\n" for k, asid in enumerate((1, 2))) for c in range(SEVERAL)]
        fill, script, expected = [f"{20 + 2 * k} write 4 {0x80000000 + frame + 0x1000 * odd:#x} {frame + 0x1000 * odd}" for k, (frame, odd) in enumerate((f, o) for f in frames.values() for o in (0, 1))], [], []
        first = 20 + 4 * len(frames) + 20
        for k in range(count):
            c, odd, cycle = r.randrange(SEVERAL), r.randrange(2), first + apart * k
            if r.random() < 0.1:
                tables[c] += f"{cycle + 2} {operation('write', 8, Pair(0x00600000, 1).entry())} once\n"
            script.append(f"{cycle} read 4 {0x00400000 + 0x1000 * odd:#x} 0 {c << 20 | 4096 + k}")
            expected.append((c, cycle, odd))
        replies = machine.play([[*fill, *script]], first + apart * count + 50, {f"operations[{c}].script": f"o{c}" for c in range(SEVERAL)}, files={f"o{c}": text for c, text in enumerate(tables)}, seed=seed)[0][len(fill) :]
        assert [one.tag for one in replies] == [c << 20 | 4096 + k for k, (c, *_) in enumerate(expected)]
        for reply, (c, cycle, odd) in zip(replies, expected, strict=True):
            spaces = {1 + (at // (40 + 8 * c) & 1) for at in (cycle, reply.cycle)}  # the request may wait while that changes
            assert reply.data in {frames[c, asid] + 0x1000 * odd for asid in spaces} and not reply.error, (c, cycle, odd)
        assert machine.last.stat("dut", "lookups") < count


@seldom
@pytest.mark.parametrize("latency", sampled([0, 5], 2, 1))
def test_writes_are_shown_until_their_replies(bench: Bench, latency: int) -> None:
    """From the cycle in which the cache takes them, or memory past it; reads are not."""
    way = "dut.cached -> far.in; far.out -> inside.port;" if latency else "dut.cached -> inside.port;"
    machine = Memory(
        bench,
        f"""import mmu_types;
        instance dut : micro_tlb; instance joint : tlb; instance operations : source {{ generate = <<< return (tlb_request){{.op = index % 3}}; >>>; }}; instance replied : sink; instance inside : memory_state {{ width = 32; size = 1 MiB; }};
        instance context : source {{ generate = <<< return {KERNEL}; >>>; }}; instance outside : memory_state {{ width = 32; size = 1 MiB; }}; instance watch : monitor; instance end : sink;
        {f"instance far : memory_delay {{ width = 32; latency = {latency}; }};" if latency else ""}
        requester[0].memory -> dut.in; {way} dut.uncached -> outside.port; dut.lookup -> joint.lookup; joint.changed -> dut.changed; dut.written -> watch.in; watch.out -> end.in;
        context.out -> dut.context : address_context; operations.out -> joint.operate.request : tlb_request; joint.operate.reply -> replied.in : tlb_reply;
        """,
        width=32,
    )  # fmt: skip
    script = ["5 read 4 0x80000040 0 0", "20 write 2 0x80000042 7 1", "40 write 4 0xa0000040 9 2", "60 store_conditional 4 0x80000050 1 3"]
    [replies] = machine.play([script], 90, {"watch.record": "seen"})
    done = {one.tag: one.cycle for one in replies}
    seen = [(line.cycle, line.value) for line in read_monitor(machine.last.directory / "seen")]
    expected = [(cycle, text) for first, tag, text in ((20, 1, "{address=0x42 size=0x2 tag=0xffffffff}"), (40, 2, "{address=0x40 size=0x4 tag=0xffffffff}"), (60, 3, "{address=0x50 size=0x4 tag=0xffffffff}")) for cycle in range(first, done[tag] + 1)]
    assert [cycle for cycle, _ in seen] == [cycle for cycle, _ in expected], seen
    assert done[1] - 20 == latency or latency == 0
    assert [value_of(value) for _, value in seen] == [value_of(text) for _, text in expected]


def test_ports_of_each_context(bench: Bench) -> None:
    with pytest.raises(AssertionError, match="each of 2 contexts has a joint TLB and an address space: a port to them has 1 lanes"):
        micro_tlb(bench, body="contexts = 2;")
