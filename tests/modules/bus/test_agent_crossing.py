"""agent_crossing: caches and a device on clocks of their own stay coherent, and what it takes."""

import random

import pytest

from tests.modules.cache.coherent import LINE, ORDERED, generated, looked_at, machine
from tests.modules.harness import Bench, Bytes, Memory, Requests
from tests.sample import seldom

CLOCKS = "clock cpu_clk = {cpu} MHz;\nclock bus_clk = {bus} MHz;\n"


@seldom
@pytest.mark.parametrize(("cpu", "bus", "stages"), [(175, 87.5, 1), pytest.param(100, 133, 2, marks=pytest.mark.soak)])
def test_words_of_a_line_belong_to_different_processors(bench: Bench, cpu: float, bus: float, stages: int) -> None:
    """Two caches and a device, each with words of its own in lines that all use: everybody reads what it wrote."""
    rng = random.Random(cpu)
    requests = [Requests(rng) for _ in range(3)]
    for lane in range(3):
        model = Bytes(8 * LINE)
        for _ in range(100):
            requests[lane].add(model, rng.randrange(8) * LINE + 8 * lane)
    text = machine("sets = 2; ways = 2;", caches=2, crossing=f"stages = {stages};")
    memory = Memory(bench, text, 3, 64, before=CLOCKS.format(cpu=cpu, bus=bus), on="cpu_clk")
    replies = memory.play([r.script for r in requests], 30000)
    assert [[(a.tag, a.data) for a in lane] for lane in replies] == [r.replies for r in requests]


@seldom
@pytest.mark.parametrize("slow", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_what_others_do_meanwhile_is_seen(bench: Bench, slow: bool) -> None:
    """Requests are on their way while the line, or the link, is lost: upgrades become reads, store_conditionals and write-backs are withdrawn."""
    text = generated(4 * LINE, 4, 0, device=False, cache="sets = 1; ways = 2;", crossing="stages = 1;").replace(": memory_source;", ": memory_source on cpu_clk;")
    clocks = CLOCKS.format(cpu=60 if slow else 200, bus=100)
    ran = bench.run(bench.build(text.replace("instance", clocks + "instance", 1)), 12000)
    seen = looked_at(ran)
    assert seen["reads"] > 300 and seen["writes"] > 300 and seen["conditionals"] > 3
    assert ran.stat("bus", "withdrawals") > 3


LINKED = """<<<
  typeof_port(memory_request) request = {.op = index % 2 ? mem_op_store_conditional : mem_op_load_linked, .size = 4, .tag = (uint32_t)index};
  return request;
>>>"""


@seldom
@pytest.mark.parametrize("misses", [ORDERED, pytest.param("", marks=pytest.mark.soak)], ids=["one miss", "several misses"])
@pytest.mark.parametrize("interval", [120, *(pytest.param(n, marks=pytest.mark.soak) for n in range(5, 160, 15))])
def test_a_store_conditional_fails_for_one_that_stores(bench: Bench, misses: str, interval: int) -> None:
    """Six caches, each of which links one word and stores to it, again and again: a store makes one of each other cache fail at most, as one that fails on its way to the bus ends no link."""
    caches = 6
    text = machine("sets = 1; ways = 2;", caches=caches, crossing="stages = 2;", misses=misses).replace(f"requester[{caches}].memory", "idle.memory")
    text = f"import memory_types;\n{CLOCKS.format(cpu=200, bus=100)}instance requester[{caches}] : memory_source on cpu_clk {{ interval = {interval}; generate = {LINKED}; }};\ninstance idle : memory_source on cpu_clk {{ count = 0; }};\n{text}"
    ran = bench.run(bench.build(text), 20000)
    attempts = sum(ran.stat(f"requester[{i}]", "replies") // 2 for i in range(caches))
    failed = sum(ran.stat(f"cache[{i}]", "failed_conditionals") for i in range(caches))
    assert failed > 100 and ran.stat("bus", "failed_conditionals") > 10
    assert failed <= (caches - 1) * (attempts - failed + 1)


def test_timing(bench: Bench) -> None:
    """With one clock: a cycle more for the request, two for the answers to the snoop, one for the response."""
    alone = Memory(bench, machine(caches=1), 2, 64)
    crossed = Memory(bench, machine(caches=1, bus="snoop_cycles = 6;", crossing="stages = 1;"), 2, 64, before="clock bus_clk = 100 MHz; clock cpu_clk = 100 MHz;\n", on="cpu_clk")
    cycles = [m.play([["10 read 8 0"], []], 100)[0][0].cycle for m in (alone, crossed)]
    assert cycles[1] - cycles[0] == 1 + 2 + 1


@seldom
def test_room_that_is_missing_is_reported(bench: Bench) -> None:
    """A crossing for fewer transactions than the bus has, to an agent that is slow."""
    text = machine(caches=2, port="entries = 8;", bus="turnaround = 0;", crossing="transactions = 1;")
    memory = Memory(bench, text, 3, 64, before=CLOCKS.format(cpu=10, bus=100), on="cpu_clk")
    reads = [f"0 read 8 {LINE * k}" for k in range(8)]
    memory.play([reads, reads, reads], 2000, outstanding=8, ok=False)
    assert "has no room for what the bus sends it" in memory.last.err
