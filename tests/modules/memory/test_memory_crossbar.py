"""memory_crossbar: banks work at once, replies keep the requester's order, every address reaches the bank that holds it."""

import random
from collections.abc import Callable

import pytest

from tests.modules.harness import Bench, Bytes, Memory, Requests, collect, happened
from tests.sample import sampled, seldom


def network(lanes: int, banks: int, body: str = "", queue: int = 2, inner: str = "") -> str:
    """Requesters, crossbar, a controller per bank, one memory with a port per bank."""
    return (
        f"instance net : memory_crossbar {{ {body} }};\n"
        f"instance bank[{banks}] : sram_controller;\n"
        "instance memory : memory_state { size = 4 KiB; };\n"
        f"for (i = 0; i < {lanes}; i = i + 1) requester[i].memory -> net.in;\n"
        f"for (b = 0; b < {banks}; b = b + 1) {{ bank[b].first_access = 1; bank[b].queue = {queue}; {inner} net.out -> bank[b].in; bank[b].memory -> memory.port; }}\n"
        f"{collect('net', 'granted(lane, bank, address, size, requests)')}"
    )


def reads(addresses: list[int], cycle: int = 0) -> list[str]:
    return [f"{cycle} read 8 {address:#x} 0 {k}" for k, address in enumerate(addresses)]


@seldom
def test_banks_work_at_once_and_one_bank_in_turn(bench: Bench) -> None:
    memory = Memory(bench, network(4, 4), 4)
    apart = memory.play([reads([8 * i]) for i in range(4)], 20)
    assert [[a.cycle for a in lane] for lane in apart] == [[1]] * 4
    assert memory.last.stat("net", "waits") == 0
    together = memory.play([reads([32 * i]) for i in range(4)], 20)
    assert [[a.cycle for a in lane] for lane in together] == [[1], [2], [3], [4]]
    assert memory.last.stat("net", "waits") == 1 + 2 + 3
    assert happened(memory.last, "granted") == [(k, k, 0, 32 * k, 8, 15 >> k << k) for k in range(4)]


@seldom
def test_one_requester_uses_all_banks(bench: Bench) -> None:
    """A request a cycle, each answered in the next."""
    [replies] = Memory(bench, network(1, 4), 1).play([reads([8 * k for k in range(12)])], 40, outstanding=4)
    assert [(a.tag, a.cycle) for a in replies] == [(k, k + 1) for k in range(12)]


def test_a_barrier_has_its_reply_behind_what_is_before_it(bench: Bench) -> None:
    """By the crossbar itself, wherever it points: no bank sees it, and no other requester waits for it."""
    memory = Memory(bench, network(4, 4), 4)
    scripts = [["0 read 8 0 0 1", "0 barrier 1 0x10000 0 2", "0 read 8 8 0 3"], ["0 read 8 16", "1 read 8 24"], [], []]
    replies = memory.play(scripts, 20, outstanding=4)
    assert [(a.tag, a.error) for a in replies[0]] == [(1, False), (2, False), (3, False)]
    assert [a.cycle for a in replies[1]] == [1, 2]


SLOW = "bank[b].first_access = b == 1 ? 9 : 1;"


@seldom
def test_an_early_reply_waits_for_an_older_one(bench: Bench) -> None:
    memory = Memory(bench, network(1, 4, inner=SLOW), 1)
    [replies] = memory.play([reads([8, 0, 16, 24, 0])], 40, outstanding=8)
    assert [(a.tag, a.cycle) for a in replies] == [(0, 9), (1, 10), (2, 11), (3, 12), (4, 13)]
    assert memory.last.stat("net", "reordered") == 4


@seldom
@pytest.mark.parametrize(("outstanding", "cycles"), sampled([(1, [1, 3, 5, 7]), (2, [1, 2, 3, 4])], 2, 1))
def test_requests_outstanding_are_limited(bench: Bench, outstanding: int, cycles: list[int]) -> None:
    memory = Memory(bench, network(1, 4, f"outstanding = {outstanding};"), 1)
    [replies] = memory.play([reads([0, 8, 16, 24])], 40, outstanding=8)
    assert [a.cycle for a in replies] == cycles


WHERE: list[tuple[str, Callable[[int], int]]] = [
    ("interleave = 8;", lambda a: a // 8 % 4),
    ("interleave = 64;", lambda a: a // 64 % 4),
    ("interleave = 16; base = 0x30;", lambda a: (a - 0x30) // 16 % 4),
    ("interleave = 0; segment = 192;", lambda a: min(a // 192, 3)),  # what lies above belongs to the last
    ("bank = <<< return (int32_t)((address >> 3 ^ address >> 5) & 3); >>>;", lambda a: (a >> 3 ^ a >> 5) & 3),
]


@pytest.mark.parametrize(("body", "bank"), sampled(WHERE, 5, 2), ids=["by 8", "by 64", "from a base", "segments", "userpoint"])
def test_the_address_says_which_bank(bench: Bench, body: str, bank: Callable[[int], int]) -> None:
    memory = Memory(bench, network(1, 4, body), 1)
    numbers = random.Random(7)
    addresses = [numbers.randrange(4, 128) * 8 for _ in range(60)]
    memory.play([reads(addresses)], 200, outstanding=4)
    found = [memory.last.stat(f"bank[{b}]", "requests") for b in range(4)]
    assert found == [sum(bank(a) == b for a in addresses) for b in range(4)]


@seldom
@pytest.mark.parametrize(
    ("body", "there"),
    [
        (
            "interleave = 16; relative = true; base = 0x100;",
            lambda a: ((a - 0x100) // 16 % 2, (a - 0x100) // 32 * 16 + (a - 0x100) % 16),
        ),
        ("interleave = 0; segment = 128; relative = true;", lambda a: (a // 128, a % 128)),
    ],
    ids=["interleaved", "segments"],
)
def test_banks_may_see_addresses_of_their_own(bench: Bench, body: str, there: Callable[[int], tuple[int, int]]) -> None:
    netlist = (
        f"instance net : memory_crossbar {{ {body} }};\nrequester[0].memory -> net.in;\n"
        "instance store[2] : memory_state;\n"
        "for (b = 0; b < 2; b = b + 1) { store[b].size = 128 B; net.out -> store[b].port[0]; requester[1 + b].memory -> store[b].port[1]; }\n"
    )
    base = 0x100 if "base" in body else 0
    addresses = list(range(base, base + 256, 8))
    looks: list[list[str]] = [[], []]
    for a in addresses:
        bank, at = there(a)
        looks[bank].append(f"100 read 8 {at:#x} 0 {a}")
    replies = Memory(bench, netlist, 3).play(
        [[f"0 write 8 {a:#x} {a + 1:#x}" for a in addresses], *looks], 400, outstanding=2
    )
    assert sorted((a.tag, a.data) for lane in replies[1:] for a in lane) == [(a, a + 1) for a in addresses]


@seldom
@pytest.mark.parametrize(
    ("policy", "order"),
    sampled([
        ("return highest(requests);", [2, 2, 1, 1, 0, 0]),
        ("return keep_last(requests, last);", [0, 0, 1, 1, 2, 2]),
        ("return keep_at_most(requests, last, served, 3);", [0, 0, 0, 1, 1, 1, 2, 2, 2, 0, 1, 2]),
        ("", [0, 1, 2, 0, 1, 2]),
    ], 4, 2),
)
def test_each_bank_follows_the_policy(bench: Bench, policy: str, order: list[int]) -> None:
    body = f"policy = <<< {policy} >>>;" if policy else ""
    each = len(order) // 3
    script = reads([16 * k for k in range(each)])
    replies = Memory(bench, network(3, 2, body), 3).play([script] * 3, 40, outstanding=each)
    assert [i for _, i in sorted((a.cycle, i) for i, lane in enumerate(replies) for a in lane)] == order


@seldom
def test_a_memory_may_reply_at_once(bench: Bench) -> None:
    """Without controllers: the reply comes in the cycle of the request."""
    netlist = (
        "instance net : memory_crossbar;\ninstance memory : memory_state { size = 1 KiB; };\n"
        "for (i = 0; i < 2; i = i + 1) { requester[i].memory -> net.in; net.out -> memory.port; }\n"
    )
    replies = Memory(bench, netlist, 2).play(
        [["0 write 8 0 5 0", "3 read 8 0 0 1"], ["0 write 8 8 6 0", "4 read 8 0 0 1"]], 20, outstanding=2
    )
    assert [[(a.cycle, a.data) for a in lane] for lane in replies] == [[(0, 0), (3, 5)], [(0, 0), (4, 5)]]


@seldom
def test_a_request_in_two_banks_stops_the_run(bench: Bench) -> None:
    memory = Memory(bench, network(2, 4), 2)
    memory.play([["0 read 8 0x14"], []], 10, ok=False)
    assert "a request of 8 bytes at 0x14 is in two banks" in memory.last.err


@seldom
def test_an_impossible_choice_stops_the_run(bench: Bench) -> None:
    memory = Memory(bench, network(2, 4, "policy = <<< return 2; >>>;"), 2)
    memory.play([reads([0]), []], 10, ok=False)
    assert "the policy chose lane 2, there are 2" in memory.last.err


@pytest.mark.parametrize("nowhere", sampled([-1, 4], 2, 1))
def test_what_no_bank_has_gets_an_error_in_order(bench: Bench, nowhere: int) -> None:
    body = f"bank = <<< return address >= 0x800 ? {nowhere} : (int32_t)(address >> 3 & 3); >>>;"
    memory = Memory(bench, network(2, 4, body, inner=SLOW) + collect("net", "unmapped(lane, address)"), 2)
    replies = memory.play([reads([8, 0x800, 0x900, 16]), reads([0x808])], 40, outstanding=4)
    assert happened(memory.last, "unmapped") == [(0, 1, 0x808), (1, 0, 0x800), (2, 0, 0x900)]
    assert [(a.tag, a.cycle, a.error) for a in replies[0]] == [(0, 9, False), (1, 10, True), (2, 11, True), (3, 12, False)]
    assert [(a.cycle, a.error) for a in replies[1]] == [(1, True)]
    assert memory.last.stat("net", "errors") == 3
    # A requester that has as much outstanding as it may waits with these, too.
    replies = memory.play([reads([8, 16, 24, 0, 0x800, 0x810]), reads([0x808])], 60, outstanding=8)
    assert [(a.tag, a.error) for a in replies[0]] == [(0, False), (1, False), (2, False), (3, False), (4, True), (5, True)]
    # As many of its own as of a bank wait for the oldest.
    replies = memory.play([reads([8, 16, 0x800]), []], 40, outstanding=4)
    assert [(a.tag, a.cycle, a.error) for a in replies[0]] == [(0, 9, False), (1, 10, False), (2, 11, True)]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("interleave = 12;", "interleave must be a power of two, not 12"),
        ("interleave = 0;", "need the bytes of a segment"),
        ("outstanding = 0;", "`outstanding` is 0, outside its range, 1 to 64"),
        ("bank = <<< return 0; >>>; relative = true;", "addresses stay as they are"),
    ],
)
def test_wrong_parameters_are_refused(bench: Bench, body: str, words: str) -> None:
    text = f"import memory_types; instance requester[1] : memory_source; {network(1, 2, body)}"
    assert words in bench.refuse(text)


@pytest.mark.parametrize("seed", range(3))
def test_everybody_gets_the_right_replies(bench: Bench, seed: int) -> None:
    """Six requesters write and read stretches of their own through banks that refuse and dawdle; cancelled requests change nothing."""
    rng = random.Random(seed)
    requests = [Requests(rng) for _ in range(6)]
    netlist = (
        "instance net : memory_crossbar { interleave = 16; };\ninstance memory : memory_state { size = 4 KiB; };\n"
        "instance way[3] : memory_delay;\nfor (i = 0; i < 6; i = i + 1) requester[i].memory -> net.in;\n"
        "for (b = 0; b < 3; b = b + 1) { net.out -> way[b].in; way[b].out -> memory.port; }\n"
    )
    for i in range(6):
        model = Bytes(128, base=128 * i)
        for _ in range(80):
            size = rng.choice([1, 2, 4, 8])
            requests[i].add(model, 128 * i + rng.randrange(0, 128 // size) * size, size)
    settings: dict[str, object] = {}
    for b in range(3):
        settings |= {f"way[{b}].latency": 1 + 3 * b, f"way[{b}].jitter": 3, f"way[{b}].refuse": 0.2}
    for i in range(6):
        settings |= {f"requester[{i}].cancel": 0.3, f"requester[{i}].offer": 0.8}
    memory = Memory(bench, netlist, 6)
    replies = memory.play([r.script for r in requests], 4000, settings, outstanding=6, seed=seed)
    assert [[(a.tag, a.data) for a in lane] for lane in replies] == [r.replies for r in requests], f"seed {seed}"
    assert memory.last.stat("net", "requests") == 480 and memory.last.stat("net", "reordered") > 0
