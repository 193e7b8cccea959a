"""dram_controller: rows, banks, bursts and refresh in the time of the replies; order and values as in any memory."""

import random

import pytest

from tests.modules.harness import Bench, Bytes, Memory, Requests, collect, happened
from tests.sample import seldom


def controller(bench: Bench, body: str = "") -> Memory:
    return Memory(
        bench,
        f"instance controller : dram_controller {{ row = 256; banks = 2; precharge = 2; activate = 3; access = 4; queue = 16; {body} }};\n"
        "instance memory : memory_state { size = 4 KiB; };\nrequester[0].memory -> controller.in; controller.memory -> memory.port;"
        + collect("controller", "access(address, size, cycles, within_burst)", "open_row(bank, number)"),
    )


def cycles(bench: Bench, script: list[str], body: str = "") -> list[int]:
    [replies] = controller(bench, body).play([script], 400, outstanding=16)
    return [a.cycle for a in replies]


def test_a_row_is_opened_once(bench: Bench) -> None:
    """Closed bank: activate + access.  Open row: access.  Another row of the bank: precharge + activate + access."""
    script = ["0 read 8 0", "50 read 8 64", "100 read 8 0x200", "150 read 8 0x100", "200 read 8 0x240", "250 read 8 0"]
    assert [c % 50 for c in cycles(bench, script)] == [7, 4, 9, 7, 4, 9]
    # The same while the next request waits: only what follows at once continues a burst.
    assert cycles(bench, ["0 read 8 0", "0 read 8 64", "0 read 8 72", "0 read 8 64", "0 read 8 0x108", "0 read 8 80"]) == [7, 11, 12, 16, 23, 27]


def test_a_full_queue_has_room_in_the_cycle_after_a_reply(bench: Bench) -> None:
    """Sixteen wait, each for another row of the same bank; the seventeenth is taken long before the next of them is due."""
    machine = controller(bench)
    [replies] = machine.play([[f"0 read 8 {0x200 * (k % 2)}" for k in range(18)]], 400, outstanding=18)
    assert [a.cycle for a in replies] == [7 + 9 * k for k in range(18)]
    assert machine.last.stat("controller", "row_conflicts") == 17


@seldom
def test_bursts_follow_at_once_and_have_a_length(bench: Bench) -> None:
    assert cycles(bench, [f"0 read 8 {8 * k}" for k in range(6)], "burst = 4; next_access = 2;") == [
        7,
        9,
        11,
        13,
        17,
        19,
    ]


@seldom
def test_the_end_of_a_row_ends_a_burst(bench: Bench) -> None:
    assert cycles(bench, [f"0 read 8 {0xF0 + 8 * k}" for k in range(4)], "burst = 0;") == [7, 8, 15, 16]


@seldom
def test_closed_pages_always_activate(bench: Bench) -> None:
    assert [
        c % 50 for c in cycles(bench, ["0 read 8 0", "50 read 8 64", "100 read 8 0x200"], "close_page = true;")
    ] == [7, 7, 7]


def test_turning_around_costs(bench: Bench) -> None:
    assert cycles(bench, ["0 read 8 0", "0 write 8 8 1", "0 write 8 16 1", "0 read 8 24"], "turnaround = 5;") == [
        7,
        16,
        17,
        26,
    ]


def test_a_barrier_does_not_turn_around(bench: Bench) -> None:
    script = ["0 read 8 0", "0 barrier 1 0", "0 read 8 64"]
    assert cycles(bench, script, "turnaround = 5;") == cycles(bench, script)
    machine = controller(bench)
    machine.play([script], 60, outstanding=16)
    assert machine.last.stat("controller", "barriers") == 1


def test_a_refresh_keeps_requests_waiting_and_closes_rows(bench: Bench) -> None:
    script = ["80 read 8 0", "101 read 8 0", "150 read 8 0", "350 read 8 0"]
    machine = controller(bench, "refresh_interval = 100; refresh_time = 10;")
    [replies] = machine.play([script], 400, outstanding=16)
    assert happened(machine.last, "open_row") == [(80, 0, 0), (101, 0, 0), (350, 0, 0)]
    assert happened(machine.last, "access") == [(87, 0, 8, 7, 0), (117, 0, 8, 16, 0), (154, 0, 8, 4, 0), (357, 0, 8, 7, 0)]
    assert [a.cycle for a in replies] == [87, 117, 154, 357]
    assert machine.last.counted("controller") == {"requests": 4, "busy": 7 + 16 + 4 + 7, "refreshes": 3, "row_hits": 1, "row_misses": 3}


@pytest.mark.parametrize("seed", range(2))
def test_values_and_order(bench: Bench, seed: int) -> None:
    rng, model = random.Random(seed), Bytes(1024)
    requests = Requests(rng)
    for _ in range(200):
        requests.add(model, rng.randrange(0, 128) * 8)
    machine = controller(bench, "refresh_interval = 100; refresh_time = 10;")
    [replies] = machine.play([requests.script], 6000, outstanding=8, seed=seed)
    assert [(a.tag, a.data) for a in replies] == requests.replies
    parts = [machine.last.stat("controller", name) for name in ("continued", "row_hits", "row_misses", "row_conflicts")]
    assert sum(parts) == 200 and all(part > 0 for part in parts[1:])


SEGMENTS = """
instance controller : dram_controller {
  row = 256; banks = 2; precharge = 2; activate = 3; access = 4; queue = 16;
  segments = [ { base = 0, size = 0x1000 },
    { base = 0x1000, size = 0x1000, row = 64, precharge = 5, activate = 6, access = 7, next_access = 3, burst = 2, relative = true } ];
};
instance low : memory_state { size = 4 KiB; };
instance high : memory_state { size = 4 KiB; };
requester[0].memory -> controller.in; controller.memory -> low.port; controller.memory -> high.port;
"""


@seldom
def test_segments_have_rows_and_timings_of_their_own(bench: Bench) -> None:
    """The first segment has the controller's timing, the second one its own: rows of 64 B, bursts of 2; banks are not shared."""
    script = ["0 read 8 0", "50 read 8 0x1000", "100 read 8 0x1008", "150 read 8 0x1080", "200 read 8 8", "250 read 8 0x1040"]
    script += [f"300 read 8 {0x1050 + 8 * k:#x}" for k in range(4)]
    [replies] = Memory(bench, SEGMENTS).play([script], 400, outstanding=16)
    assert [a.cycle % 50 for a in replies[:6]] == [7, 13, 7, 18, 4, 13]
    assert [a.cycle - 300 for a in replies[6:]] == [7, 10, 17, 20]


def test_segments_may_see_addresses_of_their_own(bench: Bench) -> None:
    script = ["0 write 8 0x1010 5", "50 read 8 0x1010", "100 read 8 0x10", "150 read 8 0x2000"]
    [replies] = Memory(bench, SEGMENTS).play([script], 300, {"high.image": "h.bin"}, files={"h.bin": bytes(64)})
    assert [(a.data, a.error) for a in replies] == [(0, False), (5, False), (0, False), (0, True)]


@seldom
def test_what_is_not_in_one_segment_reaches_no_memory(bench: Bench) -> None:
    """Over the end of a segment, whether another one follows or none, although each memory is as large as both."""
    script = [f"{50 * k} write {size} {address:#x} 0x5555" for k, (size, address) in enumerate([(8, 0xFFC), (2, 0xFFF), (4, 0xFFC), (8, 0x1FFC), (8, 0x1FF8)])]
    [replies] = Memory(bench, SEGMENTS.replace("size = 4 KiB", "size = 8 KiB")).play([script], 300)
    assert [a.error for a in replies] == [True, True, False, True, False]


@seldom
def test_a_burst_ends_with_its_segment(bench: Bench) -> None:
    """Although the next address has the same number of a row: it is one of another memory, which is closed."""
    halves = "segments = [ { base = 0, size = 0x80 }, { base = 0x80, size = 0x80 } ];"
    text = SEGMENTS[: SEGMENTS.index("segments")] + halves + SEGMENTS[SEGMENTS.index("\n};") :]
    [replies] = Memory(bench, text).play([[f"0 read 8 {address:#x}" for address in (0x70, 0x78, 0x80, 0x88)]], 100, outstanding=8)
    assert [(a.cycle, a.error) for a in replies] == [(7, False), (8, False), (15, False), (16, False)]


def test_rows_of_segments_are_powers_of_two(bench: Bench) -> None:
    text = SEGMENTS.replace("row = 64", "row = 65").replace("requester[0].memory", "requester.memory")
    assert "a power of two in bytes, not 65" in bench.refuse(f"import memory_types; instance requester : memory_source; {text}")
