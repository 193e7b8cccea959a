"""What emptying does to caches: memory has what was written, no line is here, and what others write to memory afterwards is seen."""

import random

import pytest

from tests.modules.harness import Bench, Memory
from tests.sample import sampled

LINE, SPACE = 32, 1024
GEOMETRY = f"line = {LINE}; sets = 4; ways = 2;"
RAM = "instance ram : memory_state {{ width = {width}; size = 4 KiB; }};\n{wire}requester[1].memory -> wide.in;\nwide.out -> ram.port;\n"
CACHE = "instance dut : cache {{ {geometry} {more} }};\nrequester[0].memory -> dut.in;\ndut.memory -> ram.port;\nflusher[0].out -> dut.empty : bool;\n"
AGENT = f"""
    instance dut : mshr_cache {{ width = 32; {GEOMETRY} mshrs = 1; targets = 1; total_store_order = true; }};
    requester[0].memory -> dut.in;
    flusher[0].out -> dut.empty : bool;
"""
ONE_BUS = AGENT + f"""
    instance bus : system_bus {{ line = {LINE}; }};
    instance seen : sink;
    dut.bus -> bus.agent["cpu"];
    bus.memory -> ram.port;
    bus.quiet -> seen.in;
"""
SEVERAL_MISSES = ONE_BUS.replace("mshrs = 1; targets = 1; total_store_order = true;", "mshrs = 3; write_buffer = 2;")
TWO_BUSES = AGENT + f"""
    instance above : system_bus {{ line = {LINE}; width = {8 * LINE}; snoop_cycles = 1; turnaround = 0; home = "l2"; }};
    instance l2 : inclusive_cache {{ line = {LINE}; sets = 4; ways = 4; }};
    instance below : system_bus {{ line = {LINE}; }};
    dut.bus -> above.agent["cpu"];
    above.memory -> l2.in;
    l2.above -> above.agent["l2"];
    l2.below -> below.agent["l2"];
    below.memory -> ram.port;
    flusher[1].out -> l2.empty : bool;
"""
MACHINES = {
    "write_through": (64, CACHE.format(geometry=GEOMETRY, more="write_buffer = 4;")),
    "one_bus": (8 * LINE, ONE_BUS),
    "several_misses": (8 * LINE, SEVERAL_MISSES),
    "two_buses": (8 * LINE, TWO_BUSES),
    "blocks": (8 * LINE, TWO_BUSES.replace("ways = 4; }", "ways = 4; block_lines = 4; }")),
}


@pytest.mark.parametrize("kind", sampled(MACHINES, 2))
@pytest.mark.parametrize("seed", sampled([1, 2], 2))
def test_it_is_empty(bench: Bench, kind: str, seed: int) -> None:
    width, body = MACHINES[kind]
    wide = f"instance wide : memory_width {{ from = 32; to = {width}; }};\n"
    lanes = 2 if kind in ("two_buses", "blocks") else 1
    text = RAM.format(width=width, wire=wide) + f"instance flusher[{lanes}] : source;\n" + body
    device = Memory(bench, text, sources=2, width="32", before="import memory_types;\n")
    rng, model = random.Random(seed), {}
    before, direct, after = [], [], []
    for k in range(40):  # with what is written last before
        address = rng.randrange(SPACE // 4) * 4
        if k >= 30 or rng.random() < 0.6:
            model[address] = rng.randrange(1 << 32)
            before.append(f"{0 if k < 36 else 1495 + k - 36} write 4 {address:#x} {model[address]:#x}")
        else:
            before.append(f"0 read 4 {address:#x}")
    direct += [f"3000 read 4 {address:#x}" for address in sorted(model)]
    direct += [f"3000 write 4 {address:#x} {(value ^ 0xFFFF):#x}" for address, value in sorted(model.items())]
    after = [f"4000 read 4 {address:#x}" for address in sorted(model)]
    files = {f"flush{lane}": f"{1500 + 500 * lane} true\n" for lane in range(lanes)}
    settings = {f"flusher[{lane}].script": f"flush{lane}" for lane in range(lanes)}
    [through, past] = device.play([before + after, direct], 6000, settings, files=files, outstanding=1, seed=seed)
    assert [reply.data for reply in past[: len(model)]] == [model[address] for address in sorted(model)], f"seed {seed}"
    assert [reply.data for reply in through[len(before) :]] == [model[address] ^ 0xFFFF for address in sorted(model)], f"seed {seed}"
    assert all(device.last.stat(f"flusher[{lane}]", "items") == 1 for lane in range(lanes))


@pytest.mark.parametrize(("kind", "words"), [("cache", "write-through caches"), ("mshr_cache", "caches on a bus")])
def test_a_write_back_cache_has_none(bench: Bench, kind: str, words: str) -> None:
    cache = CACHE.format(geometry=GEOMETRY, more="write_back = true;").replace("dut : cache", f"dut : {kind}")
    others = "instance requester[1] : memory_source { width = 32; };\ninstance ram : memory_state { size = 4 KiB; };\ninstance flusher[1] : source;\n"
    assert f"`empty` is for {words}" in bench.refuse("import memory_types;\n" + others + cache)
