"""memory_gate: one-ported memories among several requesters, the highest lane first, each answered on its own lane."""

import random

import pytest

from tests.modules.harness import Bench, Bytes, Memory, collect, happened
from tests.sample import seldom


def netlist(lanes: int, ports: int) -> str:
    joins = "".join(f"requester[{i}].memory -> gate.in;\ngate.out -> memory.port;\n" for i in range(lanes))
    return f"instance gate : memory_gate {{ ports = {ports}; }};\ninstance memory : memory_state {{ size = 256 B; }};\n{joins}{collect('gate', 'blocked(lane)')}"


@seldom
def test_the_highest_lane_goes_first(bench: Bench) -> None:
    scripts = [["4 read 4 0", "9 read 4 0"], ["4 read 4 4"], ["4 read 4 8"]]
    machine = Memory(bench, netlist(3, 1), 3)
    replies = machine.play(scripts, 30)
    assert [[a.cycle for a in lane] for lane in replies] == [[6, 9], [5], [4]]
    assert happened(machine.last, "blocked") == [(4, 0), (4, 1), (5, 0)]


def test_what_the_memory_refuses_is_not_blocked_here(bench: Bench) -> None:
    """Two lanes pass a gate of two ports, and only the gate of one port behind it holds one of them."""
    joins = "".join(f"requester[{i}].memory -> wide.in;\nwide.out -> gate.in;\ngate.out -> memory.port;\n" for i in range(2))
    text = (
        "instance wide : memory_gate { ports = 2; };\ninstance gate : memory_gate { ports = 1; };\n"
        f"instance memory : memory_state {{ size = 256 B; }};\n{joins}"
    )
    seen = {name: Memory(bench, text + collect(name, "blocked(lane)"), 2) for name in ("wide", "gate")}
    for machine in seen.values():
        assert [[a.cycle for a in lane] for lane in machine.play([["4 read 4 0"], ["4 read 4 4"]], 30)] == [[5], [4]]
    assert {name: happened(machine.last, "blocked") for name, machine in seen.items()} == {"wide": [], "gate": [(4, 0)]}


@seldom
def test_two_ports_let_two_through(bench: Bench) -> None:
    scripts = [["4 read 4 0"], ["4 read 4 4"], ["4 read 4 8"]]
    replies = Memory(bench, netlist(3, 2), 3).play(scripts, 30)
    assert [[a.cycle for a in lane] for lane in replies] == [[5], [4], [4]]


def test_one_requester_is_never_held_up(bench: Bench) -> None:
    [replies] = Memory(bench, netlist(1, 1), 1).play([[f"{k} read 4 {4 * k}" for k in range(3, 9)]], 30)
    assert [a.cycle for a in replies] == list(range(3, 9))


@pytest.mark.parametrize("seed", range(3))
def test_every_lane_gets_its_own_replies(bench: Bench, seed: int) -> None:
    rng, models = random.Random(seed), [Bytes(64) for _ in range(3)]
    scripts: list[list[str]] = [[], [], []]
    expected: list[list[tuple[int, int]]] = [[], [], []]
    for k in range(60):
        for lane in range(3):
            address, value = rng.randrange(0, 56), rng.getrandbits(64)
            if rng.random() < 0.5:
                scripts[lane].append(f"{k} write 8 {64 * lane + address} {value:#x} {k}")
                models[lane].write(address, 8, value)
                expected[lane].append((k, 0))
            else:
                scripts[lane].append(f"{k} read 8 {64 * lane + address} 0 {k}")
                expected[lane].append((k, models[lane].read(address, 8)))
    settings = {f"requester[{i}].offer": 0.4 for i in range(3)} | {f"requester[{i}].cancel": 0.2 for i in range(3)}
    replies = Memory(bench, netlist(3, 1), 3).play(scripts, 2000, settings, seed=seed)
    assert [[(a.tag, a.data) for a in lane] for lane in replies] == expected
