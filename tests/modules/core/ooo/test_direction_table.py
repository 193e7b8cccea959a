"""direction_table: counters that saturate, found by the branch, by what was taken before it, or by its own past."""

import random

import pytest

from tests.modules.harness import Bench
from tests.modules.wide import Wide
from tests.sample import sampled

PORTS = {"port.query": ("in", 1, "direction_query"), "port.taken": ("out", 1, "uint32"), "train": ("in", 1, "branch_outcomes(4)"), "checks": ("out", 1, "direction_checks(4)")}


def outcome(*branches: tuple[int, bool, int], kind: str = "conditional") -> dict[str, object]:
    pcs, takens, histories = zip(*branches, strict=True)
    return {"count": len(branches), "pc": list(pcs), "taken": list(takens), "history": list(histories), "kind": [kind] * len(branches)}


def ask(pc: int, requested: int, history: int = 0) -> dict[str, int]:
    return {"pc": pc, "requested": requested, "history": history}


def test_two_bits_by_hand(bench: Bench) -> None:
    """Trained in a cycle, it answers in the next: taken from 2 on, and 3 is the largest."""
    device = Wide(bench, "direction_table", PORTS, "entries = 16;")
    takens = [True, True, True, True, False, False, False, False, True]
    train = {cycle: outcome((0x40, taken, 0)) for cycle, taken in enumerate(takens)}
    seen = device.play({"train": train, "port_query": {cycle: ask(0x40, 1) for cycle in range(11)}}, 11)
    assert seen["port_taken"] == [0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    assert [one["right"][0] for one in seen["checks"][1:10]] == [0, 0, 1, 1, 0, 0, 1, 1, 0]
    assert (device.stat("branches"), device.stat("wrong")) == (9, 5)


def test_words_of_a_group_have_counters_of_their_own(bench: Bench) -> None:
    device = Wide(bench, "direction_table", PORTS, "entries = 16; counter_bits = 1;")
    train = {0: outcome((0x44, True, 0), (0x4C, True, 0)), 1: outcome((0x48, True, 0), kind="jump")}
    seen = device.play({"train": train, "port_query": {3: ask(0x40, 0b1111), 4: ask(0x40, 0b0101), 5: ask(0x44, 0b0011)}}, 7)
    assert seen["port_taken"] == [None, None, None, 0b1010, 0, 0b01, None]
    assert device.stat("branches") == 2


INDICES = {
    "bimodal": ("history_bits = 0;", lambda pc, history, own: pc >> 2),
    "gshare": ("history_bits = 5;", lambda pc, history, own: pc >> 2 ^ history & 31),
    "local": ("history_bits = 3; local_histories = 8;", lambda pc, history, own: pc >> 2 ^ own & 7),
    "of one's own": ("history_bits = 4; index = <<< return history << 2 | (pc >> 2 & 3); >>>;", lambda pc, history, own: (history & 15) << 2 | pc >> 2 & 3),
}


@pytest.mark.parametrize("name", sampled(INDICES, 4, 1))
def test_indices(name: str, bench: Bench) -> None:
    """Random branches, against counters in Python."""
    body, index = INDICES[name]
    device = Wide(bench, "direction_table", PORTS, f"entries = 64; {body}")
    r = random.Random(2)
    counters, past, taken = [0] * 64, [0] * 8, []
    train, queries = {}, {}
    for cycle in range(400):
        pc, history = 4 * r.randrange(40), r.getrandbits(8)
        queries[cycle] = ask(pc, 1, history)
        taken.append(int(counters[index(pc, history, past[pc >> 2 & 7]) % 64] > 1))
        pc, history, goes = 4 * r.randrange(40), r.getrandbits(8), r.random() < 0.6
        train[cycle] = outcome((pc, goes, history))
        place = index(pc, history, past[pc >> 2 & 7]) % 64
        counters[place] = min(3, counters[place] + 1) if goes else max(0, counters[place] - 1)
        past[pc >> 2 & 7] = past[pc >> 2 & 7] << 1 | goes
    assert device.play({"train": train, "port_query": queries}, 400)["port_taken"] == taken
    assert 100 < sum(taken) < 300


@pytest.mark.parametrize(("body", "message"), [
    ("entries = 48;", "a table of directions needs a power-of-two number of counters, not 48"),
    ("history_bits = 2; local_histories = 3;", "the number of local histories must be a power of two, not 3"),
    ("local_histories = 4;", "local histories need at least one bit: history_bits is 0"),
])  # fmt: skip
def test_what_it_cannot_be(body: str, message: str, bench: Bench) -> None:
    text = f"import wide_types;\ninstance dut : direction_table {{ {body} }};\ninstance q : source; q.out -> dut.port.query;\n"
    text += "instance k : sink; dut.port.taken -> k.in; instance t : source; t.out -> dut.train;"
    assert message in bench.refuse(text)


def test_two_groups_in_a_cycle(bench: Bench) -> None:
    """Each is told what is known of it, also what the other asks for."""
    device = Wide(bench, "direction_table", PORTS | {"port.query": ("in", 2, "direction_query"), "port.taken": ("out", 2, "uint32")}, "entries = 16;")
    train = dict.fromkeys(range(2), outcome((0x40, True, 0)))
    seen = device.play({"train": train, "port_query[0]": {2: ask(0x40, 1), 3: ask(0x44, 3)}, "port_query[1]": {2: ask(0x44, 1), 3: ask(0x40, 3)}}, 4)
    assert (seen["port_taken[0]"][2:], seen["port_taken[1]"][2:]) == ([1, 0], [0, 1])
