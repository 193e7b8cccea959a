"""memory_width: a wide requester before a narrow memory and the reverse; numbers keep their value in either byte order."""

import random

import pytest

from tests.modules.harness import Bench, Bytes, Memory, Requests
from tests.sample import sampled


def between(bench: Bench, wide: int, narrow: int, big_endian: bool = False, held: int = 4) -> Memory:
    """A requester of `wide` bits, the adapter, a memory of `narrow` bits that refuses and replies late."""
    order = f"big_endian = {str(big_endian).lower()};"
    return Memory(
        bench,
        f"instance adapter : memory_width {{ from = {wide}; to = {narrow}; held = {held}; {order} }};\n"
        f"instance way : memory_delay {{ width = {narrow}; }};\n"
        f"instance memory : memory_state {{ width = {narrow}; size = 256 B; {order} }};\n"
        "requester[0].memory -> adapter.in;\nadapter.out -> way.in;\nway.out -> memory.port;\n",
        1,
        wide,
    )


def test_a_wide_read_takes_a_cycle_for_each_piece(bench: Bench) -> None:
    """Accepted in cycle 5; two pieces leave in 6 and 7, are answered a cycle later each, and the sum goes on in 9."""
    script = ["0 write 8 0x10 0x1122334455667788", "5 read 8 0x10", "20 read 4 0x10"]
    memory = between(bench, 64, 32)
    [replies] = memory.play([script], 400)  # and then it sleeps
    assert [(a.cycle, a.data) for a in replies[1:]] == [(9, 0x1122334455667788), (23, 0x55667788)]
    assert (memory.last.stat("adapter", "requests"), memory.last.stat("adapter", "pieces")) == (3, 5)


def test_pieces_end_at_multiples_of_the_memorys_width(bench: Bench) -> None:
    memory = between(bench, 64, 32)
    [replies] = memory.play([["0 write 6 0x13 0xaabbccddeeff", "9 read 6 0x13", "20 read 1 0x13", "30 read 4 0x14"]], 50)
    assert [a.data for a in replies] == [0, 0xAABBCCDDEEFF, 0xFF, 0xBBCCDDEE]
    assert memory.last.stat("adapter", "pieces") == 3 + 3 + 1 + 1


def test_signs_are_extended_over_the_whole_width(bench: Bench) -> None:
    script = ["0 write 8 0 0xff80808080808080", "20 read -8 0", "30 read -2 0", "40 read -4 2", "50 read -1 7"]
    [replies] = between(bench, 64, 32).play([script], 70)
    ones = 0xFFFFFFFFFFFF0000
    assert [a.data for a in replies[1:]] == [0xFF80808080808080, ones | 0x8080, 0xFFFFFFFF80808080, (1 << 64) - 1]


def test_requests_wait_their_turn_and_have_their_replies_in_order(bench: Bench) -> None:
    """One at a time is held: that there is room again is a change, although nothing is left to do."""
    script = [f"0 read 8 {8 * k} 0 {k}" for k in range(9)]
    [replies] = between(bench, 64, 32, held=1).play([script], 100, outstanding=9)
    assert [(a.cycle, a.tag) for a in replies] == [(4 + 5 * k, k) for k in range(9)]


def test_an_error_of_one_piece_is_an_error_of_the_reference(bench: Bench) -> None:
    [replies] = between(bench, 64, 32).play([["0 read 8 252 0", "20 read 4 252 0", "30 read 4 256"]], 50)
    assert [a.error for a in replies] == [True, False, True]


def test_atomic_operations_that_fit_pass_and_others_stop_the_run(bench: Bench) -> None:
    memory = between(bench, 64, 32)
    [replies] = memory.play([["0 write 4 4 5", "9 fetch_add 4 4 3", "20 read 4 4"]], 40)
    assert [a.data for a in replies] == [0, 5, 8]
    memory.play([["0 fetch_add 8 0 3"]], 40, ok=False)
    assert "a read-modify-write of 8 bytes at 0x0 does not fit into 4 bytes of memory" in memory.last.err


@pytest.mark.parametrize(
    ("wide", "narrow", "big_endian"),
    sampled([(*widths, order) for widths in [(32, 8), (128, 32), (64, 32), (64, 64), (32, 128), (32, 64), (128, 64)] for order in (False, True)], every=7, first=3),
)
def test_random_traffic_finds_the_bytes_of_a_flat_memory(bench: Bench, wide: int, narrow: int, big_endian: bool) -> None:
    rng, model = random.Random(wide * narrow + big_endian), Bytes(256, "big" if big_endian else "little")
    requests = Requests(rng)
    for _ in range(150):
        size = rng.choice([1, 2, 4, wide // 8, rng.randint(1, min(wide, max(narrow, 32)) // 8)])
        address = rng.randrange(0, 256 - size)
        if wide < narrow:
            size, address = min(size, 4), address & ~3
        requests.add(model, address, size, wide)
    settings = {"way.refuse": 0.4, "way.jitter": 3, "requester[0].offer": 0.7}
    [replies] = between(bench, wide, narrow, big_endian).play([requests.script], 6000, settings, seed=wide, outstanding=4)
    assert [(a.tag, a.data) for a in replies] == requests.replies
