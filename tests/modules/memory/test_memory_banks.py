"""memory_banks: many requesters on a memory of several banks; bandwidth, conflicts, atomic operations, announcements."""

import pytest

from tests.modules.harness import Bench, Memory, read_items
from tests.sample import sampled, seldom


def banked(lanes: int, body: str = "", extra: str = "") -> str:
    return f"instance banks : memory_banks {{ size = 4 KiB; {body} }};\nfor (i = 0; i < {lanes}; i = i + 1) requester[i].memory -> banks.in;\n{extra}"


def stride(step: int, count: int, first: int = 0) -> list[str]:
    return [f"0 read 4 {first + step * k} 0 {k}" for k in range(count)]


@pytest.mark.parametrize("banks", sampled([1, 2, 4], 3, 1))
def test_bandwidth_grows_with_the_banks(bench: Bench, banks: int) -> None:
    """Four requesters in step over all of memory: one request a cycle and bank."""
    memory = Memory(bench, banked(4, f"banks = {banks};"), 4)
    replies = memory.play([stride(8, 32, 8 * i) for i in range(4)], 400, outstanding=4)
    last = max(a.cycle for lane in replies for a in lane)
    assert 128 // banks <= last <= 128 // banks + 4
    assert [memory.last.stat(f"banks.controller[{b}]", "requests") for b in range(banks)] == [128 // banks] * banks


@seldom
def test_one_bank_for_all_is_the_worst_case(bench: Bench) -> None:
    memory = Memory(bench, banked(4), 4)
    replies = memory.play([stride(32, 16) for _ in range(4)], 400, outstanding=4)
    assert max(a.cycle for lane in replies for a in lane) == 64


@seldom
def test_segments_give_each_requester_a_bank_of_its_own(bench: Bench) -> None:
    memory = Memory(bench, banked(4, "interleave = 0;"), 4)
    replies = memory.play([stride(4, 16, 1024 * i) for i in range(4)], 100, outstanding=4)
    assert [[a.cycle for a in lane] for lane in replies] == [list(range(1, 17))] * 4


@pytest.mark.parametrize(
    ("body", "cycles"),
    [("first_access = 2; next_access = 2;", [2, 4, 6]), ("interleave = 32; first_access = 3;", [3, 4, 5])],
)
def test_banks_have_the_timing_of_their_controllers(bench: Bench, body: str, cycles: list[int]) -> None:
    [replies] = Memory(bench, banked(1, f"banks = 2; queue = 4; {body}"), 1).play(
        [stride(4 if "32" in body else 16, 3)], 40, outstanding=4
    )
    assert [a.cycle for a in replies] == cycles


@seldom
@pytest.mark.parametrize(("body", "last"), sampled([("", 66), ("first_access = 4;", 67), ("interleave = 64;", 66), ("banks = 1;", 66)], 4))
def test_a_burst_goes_on_in_every_bank(bench: Bench, body: str, last: int) -> None:
    """Requests that take turns at the banks follow each other without a pause: for each bank they are one burst."""
    netlist = banked(1, f"{'' if 'banks' in body else 'banks = 2;'} {'' if 'first' in body else 'first_access = 3;'} queue = 8; outstanding = 16; {body}")
    [replies] = Memory(bench, netlist).play([[f"0 read 8 {8 * k} 0 {k}" for k in range(64)]], 400, outstanding=16)
    assert replies[-1].cycle == last


def test_atomic_operations_count_every_requester(bench: Bench) -> None:
    """Six requesters add to one word and set bits of another, all at once: nothing is lost."""
    memory = Memory(bench, banked(6, "big_endian = true;"), 6)
    scripts = [
        [f"0 fetch_add 4 0x40 1 {k}" for k in range(20)] + [f"0 fetch_or 4 0x80 {1 << i:#x} 99"] for i in range(6)
    ]
    replies = memory.play(
        [*scripts[:5], [*scripts[5], "300 read 4 0x40 0 100", "300 read 4 0x80 0 101"]], 400, outstanding=3
    )
    assert sorted(a.data for lane in replies for a in lane if a.tag < 99) == list(range(120))
    assert [a.data for a in replies[5] if a.tag >= 100] == [120, 0x3F]


@seldom
def test_reservations_are_of_one_requester(bench: Bench) -> None:
    first = [
        "0 load_linked 4 0x10 0 1",
        "20 store_conditional 4 0x10 5 1",
        "40 load_linked 4 0x10 0 1",
        "60 store_conditional 4 0x10 6 1",
    ]
    other = ["10 write 4 0x14 1 1"]
    replies = Memory(bench, banked(2), 2).play([first, other], 80)
    assert [a.data for a in replies[0]] == [0, 0, 0, 1]


@seldom
def test_writes_are_signalled_with_the_lane_of_their_author(bench: Bench) -> None:
    memory = Memory(bench, banked(3, extra="instance heard : sink; banks.snoop -> heard.in;\n"), 3)
    memory.play([["0 write 4 0x40 1 7"], ["5 write 8 0x48 1 7"], ["9 read 4 0x40"]], 30, {"heard.record": "heard"})
    seen = read_items(memory.last.directory / "heard")
    assert [cycle for cycle, _ in seen] == [1, 6]
    assert f"tag={7 << 2}" in seen[0][1] and f"tag={7 << 2 | 1}" in seen[1][1]


def test_the_memory_is_one_address_space_with_one_image(bench: Bench) -> None:
    """Its image is a parameter of the module, over all banks; an address puts it elsewhere than at the base."""
    memory = Memory(bench, banked(1, "base = 0x100;"), 1)
    image = bytes(range(64))
    for at, settings in ((0x100, {}), (0x200, {"banks.image_address": 0x200})):
        script = [f"0 read 1 {at + k} 0 {k}" for k in range(64)]
        files = {"contents.bin": image}
        [replies] = memory.play([script], 200, {"banks.image": "contents.bin", **settings}, outstanding=4, files=files)
        assert [a.data for a in replies] == list(image)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("banks = 0;", "`banks` is 0, outside its range, 1 to 64"),
        ("banks = 3; interleave = 0;", "size must be a multiple of the number of banks that are segments: 4096 bytes, 3 banks"),
    ],
)
def test_wrong_parameters_are_refused(bench: Bench, body: str, words: str) -> None:
    assert words in bench.refuse(f"import memory_types; instance requester[1] : memory_source; {banked(1, body)}")
