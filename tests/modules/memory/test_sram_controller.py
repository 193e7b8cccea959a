"""sram_controller: burst timing, order, segments."""

import random

import pytest

from tests.modules.harness import Bench, Bytes, Memory, Requests, collect, happened
from tests.sample import sampled, seldom


def controller(bench: Bench, body: str = "", width: int = 64) -> Memory:
    return Memory(
        bench,
        f"instance controller : sram_controller {{ {body} }};\ninstance memory : memory_state {{ size = 4 KiB; }};\n"
        "requester[0].memory -> controller.in; controller.memory -> memory.port;\n"
        + collect("controller", "access(op != mem_op_read, address, size, cycles, within_burst)"),
        width=width,
    )


def stream(count: int, start: int = 0, step: int = 8, cycle: int = 0, op: str = "read") -> list[str]:
    return [f"{cycle} {op} 8 {start + step * k} 0 {k}" for k in range(count)]


@pytest.mark.parametrize(("first", "following"), sampled([(1, 1), (3, 1), (4, 2)], 3, 1))
def test_a_burst_pays_the_first_access_once(bench: Bench, first: int, following: int) -> None:
    memory = controller(bench, f"first_access = {first}; next_access = {following}; queue = 8;")
    [replies] = memory.play([stream(6)], 60, outstanding=8)
    assert [a.cycle for a in replies] == [first + following * k for k in range(6)]
    assert memory.last.counted("controller") == {"requests": 6, "continued": 5, "busy": first + 5 * following}


def test_scattered_requests_pay_it_each_time(bench: Bench) -> None:
    [replies] = controller(bench, "queue = 8;").play([stream(5, step=64)], 60, outstanding=8)
    assert [a.cycle for a in replies] == [3, 6, 9, 12, 15]


def test_a_change_of_direction_ends_a_burst(bench: Bench) -> None:
    script = ["0 read 8 0", "0 read 8 8", "0 write 8 16 1", "0 write 8 24 1", "0 read 8 32"]
    memory = controller(bench, "queue = 8;")
    [replies] = memory.play([script], 60, outstanding=8)
    assert [a.cycle for a in replies] == [3, 4, 7, 8, 11]
    told = [(3, 0, 0, 8, 3, 0), (4, 0, 8, 8, 3, 1), (7, 1, 16, 8, 5, 0), (8, 1, 24, 8, 5, 1), (11, 0, 32, 8, 7, 0)]
    assert happened(memory.last, "access") == told


@seldom
def test_bursts_have_a_length(bench: Bench) -> None:
    [replies] = controller(bench, "queue = 8; burst = 4;").play([stream(9)], 60, outstanding=16)
    assert [a.cycle for a in replies] == [3, 4, 5, 6, 9, 10, 11, 12, 15]


@seldom
@pytest.mark.parametrize(("gap", "expected"), sampled([(0, [3, 8, 13]), (2, [3, 6, 9])], 2, 1))
def test_a_burst_survives_a_gap(bench: Bench, gap: int, expected: list[int]) -> None:
    """One request at a time: each arrives two cycles after the reply to the one before."""
    [replies] = controller(bench, f"gap = {gap};").play([["0 read 8 0", "5 read 8 8", "10 read 8 16"]], 40)
    script = ["0 read 8 0", f"{5} read 8 8", f"{10 if gap == 0 else 8} read 8 16"]
    [replies] = controller(bench, f"gap = {gap};").play([script], 40)
    assert [a.cycle for a in replies] == expected


@seldom
def test_a_burst_goes_on_in_the_next_block_of_an_interleaved_bank(bench: Bench) -> None:
    """Blocks of 16 bytes, 64 bytes apart; what is between them belongs to another bank, and is no continuation."""
    script = [f"0 read 8 {address}" for address in (0, 8, 64, 72, 80, 128)]
    memory = controller(bench, "queue = 8; block = 16; stride = 64;")
    [replies] = memory.play([script], 60, outstanding=8)
    assert [a.cycle for a in replies] == [3, 4, 5, 6, 9, 12]
    assert memory.last.stat("controller", "continued") == 3


def test_a_barrier_waits_for_what_is_before_it_and_ends_a_burst(bench: Bench) -> None:
    [replies] = controller(bench, "queue = 8;").play([["0 read 8 0", "0 barrier 1 8", "0 read 8 8"]], 60, outstanding=8)
    assert [a.cycle for a in replies] == [3, 4, 7]


@seldom
def test_the_queue_bounds_what_is_held(bench: Bench) -> None:
    ran = bench.run(controller(bench, "queue = 1;").simulator, 400, {"requester[0].outstanding": 4})
    assert ran.stat("controller", "requests") == pytest.approx(100, abs=2)


def test_full_bandwidth_in_one_burst(bench: Bench) -> None:
    memory = Memory(
        bench,
        "instance controller : sram_controller { queue = 6; };\ninstance memory : memory_state { size = 4 KiB; alias = true; };\n"
        "requester[0].memory -> controller.in; controller.memory -> memory.port;",
    )
    ran = bench.run(memory.simulator, 1000, {"requester[0].outstanding": 8})
    assert ran.stat("controller", "requests") >= 996
    assert ran.stat("controller", "continued") == ran.stat("controller", "requests") - 1


SEGMENTS = """
instance controller : sram_controller {
  segments = [ { base = 0, size = 0x100 }, { base = 0x1000, size = 0x100, first_access = 6, next_access = 2, relative = true } ];
  queue = 8;
};
instance low : memory_state { size = 512 B; };
instance high : memory_state { size = 256 B; };
requester[0].memory -> controller.in;
controller.memory -> low.port;
controller.memory -> high.port;
"""


def test_segments_have_their_own_memories_and_timings(bench: Bench) -> None:
    script = [
        "0 write 8 0x10 1 1",
        "0 write 8 0x1010 2 2",
        "0 write 8 0x1018 3 3",
        "0 read 8 0x800 0 4",
        "0 read 8 0x10 0 5",
        "0 read 8 0x1010 0 6",
        "0 read 8 0xfc 0 7",
    ]
    [replies] = Memory(bench, SEGMENTS).play([script], 60, outstanding=8)
    assert [(a.cycle, a.tag, a.error, a.data) for a in replies] == [
        (3, 1, False, 0),
        (9, 2, False, 0),
        (11, 3, False, 0),
        (14, 4, True, 0),
        (17, 5, False, 1),
        (23, 6, False, 2),
        (26, 7, True, 0),
    ]


@seldom
def test_a_burst_ends_with_its_segment(bench: Bench) -> None:
    """Although the next address is the first of another one; where no memory is there is no burst."""
    beside = SEGMENTS.replace("base = 0x1000, size = 0x100, first_access = 6, next_access = 2,", "base = 0x100, size = 0x100,")
    assert beside != SEGMENTS
    script = [f"0 read 8 {address:#x}" for address in (0xF0, 0xF8, 0x100, 0x108, 0x200, 0x208)]
    [replies] = Memory(bench, beside).play([script], 60, outstanding=8)
    assert [(a.cycle, a.error) for a in replies] == [(3, False), (4, False), (7, False), (8, False), (11, True), (14, True)]


@seldom
def test_a_slow_memory_is_waited_for_in_order(bench: Bench) -> None:
    memory = Memory(
        bench,
        "instance controller : sram_controller;\ninstance delay : memory_delay;\ninstance memory : memory_state { size = 4 KiB; };\n"
        "requester[0].memory -> controller.in; controller.memory -> delay.in; delay.out -> memory.port;",
    )
    rng, model = random.Random(3), Bytes(64)
    requests = Requests(rng)
    for _ in range(80):
        requests.add(model, rng.randrange(0, 57))
    settings = {"delay.latency": 2, "delay.jitter": 3, "delay.refuse": 0.3}
    [replies] = memory.play([requests.script], 2000, settings, outstanding=8)
    assert [(a.tag, a.data) for a in replies] == requests.replies


def test_segments_and_memories_must_agree(bench: Bench) -> None:
    text = (
        "import memory_types; instance s : memory_source; instance m : memory_state { size = 64 B; };"
        "instance c : sram_controller { segments = [ { size = 1 }, { size = 2 } ]; }; s.memory -> c.in; c.memory -> m.port;"
    )
    assert "2 segments for 1 memories" in bench.refuse(text)


@pytest.mark.parametrize("controller", ["sram_controller", "dram_controller"])
def test_segments_that_overlap_are_refused(bench: Bench, controller: str) -> None:
    text = (
        "import memory_types; instance s : memory_source; instance m[3] : memory_state { size = 64 B; };"
        f"instance c : {controller} {{ segments = [ {{ size = 64 }}, {{ base = 64, size = 64 }}, {{ base = 127, size = 1 }} ]; }};"
        "s.memory -> c.in; for (i = 0; i < 3; i = i + 1) c.memory -> m[i].port;"
    )
    assert "segments 1 and 2 overlap: an address belongs to one memory" in bench.refuse(text)
