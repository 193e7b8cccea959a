"""Non-blocking caches on a system bus, beside others and a device: snoops against misses and lines that are written back, every read against
one flat memory, what processors may see of each other.  What one cache does alone is in test_mshr_controller_bus.py."""

import itertools
import random
from pathlib import Path

import pytest

from tests.modules.cache.coherent import (
    EXCLUSIVE,
    INVALID,
    LANES,
    LINE,
    MODIFIED,
    SHARED,
    alone,
    generated,
    looked_at,
    machine,
    response,
    snoop,
)
from tests.modules.harness import Bench, Memory, happened, read_items, read_replies
from tests.sample import sampled

# ---- By chance: one flat memory --------------------------------------------------------------------------------------
DRAM = "memory_controller { queue = 8; refresh_interval = 300; }"
ALONE = {"caches": 4, "wide": 0}
BESIDE = {"caches": 2, "wide": 3, "cache": "sets = 2; ways = 2;"}
MACHINES = {
    "beside caches that keep order": BESIDE,
    "smallest": BESIDE | {"cache": "sets = 1; ways = 1; write_buffer = 1;", "nonblocking": "sets = 1; ways = 1; mshrs = 1; targets = 1; write_buffer = 1;", "bus": "outstanding = 2; snoop_cycles = 1; turnaround = 0;"},
    "one set": BESIDE | {"nonblocking": "sets = 1; ways = 2; mshrs = 4; targets = 2; write_buffer = 1; replacement = cache_replacement.random;", "bus": "outstanding = 4;"},
    "banks, memory that answers out of order": BESIDE | {"nonblocking": "sets = 4; ways = 2; banks = 4; mshrs = 8; post_writes = false; fill_penalty = 2;", "bus": "width = 256;", "port": "entries = 8;", "memory": DRAM, "out": "memory"},
    "in order": ALONE | {"cache": "sets = 2; ways = 2;"},
    "in order, one write-back, writes that wait, few transactions": ALONE | {"cache": "sets = 1; ways = 2; write_buffer = 1; post_writes = false; replacement = cache_replacement.random;", "bus": "outstanding = 2; snoop_cycles = 1; turnaround = 0;"},
    "in order, memory that answers out of order": ALONE | {"cache": "sets = 4; ways = 1;", "bus": "width = 256;", "port": "entries = 8;", "memory": DRAM, "out": "memory"},
}  # fmt: skip


@pytest.mark.parametrize("name", sampled(MACHINES, 9))
def test_every_read_sees_the_last_write(bench: Bench, name: str) -> None:
    ran = bench.run(bench.build(generated(8 * LINE, **MACHINES[name])), 12000)
    seen = looked_at(ran)
    assert seen["reads"] > 500 and seen["writes"] > 500 and seen["conditionals"] > 5 and seen["transitions"] > 1000
    for what in ("upgrades", "supplied", "invalidations", "write_backs", "failed_conditionals", "joined"):
        assert MACHINES[name] | ALONE == MACHINES[name] or sum(ran.stat(f"wide[{k}]", what) for k in range(3)) > 0, what
    for i in range(MACHINES[name]["caches"] + 1 + MACHINES[name]["wide"] * LANES):
        assert ran.stat(f"requester_{i}", "requests") - ran.stat(f"requester_{i}", "replies") <= 6, "each request has one reply"


@pytest.mark.soak
@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("seed", range(2))
def test_a_million_operations(build_dir: Path, tmp_path: Path, name: str, seed: int) -> None:
    bench = Bench(build_dir / "bin" / "lss", tmp_path)
    ran = bench.run(bench.build(generated(8 * LINE * (seed + 1), **MACHINES[name])), 8_000_000, seed=seed)
    seen = looked_at(ran)
    assert seen["reads"] + seen["writes"] > 1_000_000 and seen["conditionals"] > 10_000


# ---- What processors may see of each other ---------------------------------------------------------------------------
X, Y = 0, 4 * LINE
# For each processor: writes of 1 and reads, in program order; and what must not be read, by processor, if there is a barrier between the two.
SHAPES = {
    "message passing": ([["w X", "w Y"], ["r Y", "r X"]], [(), (1, 0)]),
    "store buffering": ([["w X", "r Y"], ["w Y", "r X"]], [(0,), (0,)]),
    "load buffering": ([["r X", "w Y"], ["r Y", "w X"]], [(1,), (1,)]),
    "independent reads of independent writes": ([["w X"], ["w Y"], ["r X", "r Y"], ["r Y", "r X"]], [(), (), (1, 0), (1, 0)]),
    "write to read causality": ([["w X"], ["r X", "w Y"], ["r Y", "r X"]], [(), (1,), (1, 0)]),
}


def shape_scripts(bodies: list[list[str]], rounds: int, barrier: bool, rng: random.Random) -> list[list[str]]:
    """Each round has lines of its own, which some processors have read before, and waits of its own."""
    scripts: list[list[str]] = [[] for _ in bodies]
    for n in range(rounds):
        for k, body in enumerate(bodies):
            begin, base = 600 * n, 8 * LINE * (n % 12)
            where = {"X": base + X, "Y": base + Y}
            warm = [(address, 2 * n + i) for i, address in enumerate(where.values()) if rng.random() < 0.5]
            scripts[k] += [f"{begin} read 8 {address} 0 {1000 + tag}" for address, tag in warm] + [f"{begin + 1} barrier 1 0 0 999"]
            at = begin + 300 + rng.randrange(24)
            for step, operation in enumerate(body):
                kind, name = operation.split()
                if step and barrier:
                    scripts[k].append(f"{at} barrier 1 0 0 999")
                scripts[k].append(f"{at} {'write' if kind == 'w' else 'read'} 8 {where[name]} {n + 1 if kind == 'w' else 0} {2000 + 2 * n + step}")
    return scripts


def outcomes(bench: Bench, bodies: list[list[str]], barrier: bool, seed: int, rounds: int = 24) -> list[tuple[tuple[int, ...], ...]]:
    """What each processor read in each round, in the order of its program: whether it saw the write of that round."""
    print(f"seed {seed}")
    memory = Memory(bench, machine("sets = 2; ways = 2;", caches=1, wide=len(bodies)), 2 + LANES * len(bodies))
    scripts = shape_scripts(bodies, rounds, barrier, random.Random(seed))
    lanes = [[], [], *itertools.chain(*((script, []) for script in scripts))]
    replies = memory.play(lanes, 600 * rounds + 600, outstanding=8, seed=seed)
    seen = [{a.tag: a.data for a in replies[2 + LANES * k]} for k in range(len(bodies))]
    return [tuple(tuple(int(seen[k][2000 + 2 * n + step] == n + 1) for step, operation in enumerate(body) if operation[0] == "r") for k, body in enumerate(bodies)) for n in range(rounds)]


@pytest.mark.parametrize("barrier", [True, False], ids=["with barriers", "without"])
@pytest.mark.parametrize("name", sampled(SHAPES, 9))
def test_litmus_shapes(bench: Bench, name: str, barrier: bool) -> None:
    """Order is what barriers make; without them message passing and store buffering show that it is not there."""
    bodies, forbidden = SHAPES[name]
    found = [one for seed in range(1, 5) for one in outcomes(bench, bodies, barrier, seed)]
    assert len(set(found)) > 1
    if barrier:
        assert tuple(forbidden) not in found
    elif name in ("message passing", "store buffering"):
        assert tuple(forbidden) in found


# ---- Misses, snoops and lines on their way to memory -----------------------------------------------------------------
def test_who_waits_for_a_line_that_is_taken_away(bench: Bench) -> None:
    """Two reads on one lane wait for a line; the first gets its reply, then another agent takes the line, and the second has it fetched once more."""
    files: dict[str, str | bytes] = {
        "s": "5 read 8 0 0 1\n6 read 8 8 0 2\n7 read 8 16 0 3\n",
        "n": snoop(8, "read_shared", True) + snoop(10, "read_exclusive") + snoop(14, "read_shared", True),
        "r": response(10, shared=True, data=0x11) + response(20, shared=True, data=0x33 << 128 | 0x22 << 64),
    }
    settings: dict[str, object] = {"requester.script": "s", "requester.record": "replies", "requester.outstanding": 4, "snoop.script": "n", "response.script": "r", "request.record": "q", "answer.record": "a"}
    ran = bench.run(bench.build(alone()), 40, settings, files=files)
    assert [(a.cycle, a.tag, a.data) for a in read_replies(ran.directory / "replies")] == [(11, 1, 0x11), (21, 2, 0x22), (22, 3, 0x33)]
    assert [value.split("op=")[1].split()[0] for _, value in read_items(ran.directory / "q")] == ["read_shared"] * 2
    assert happened(ran, "transition") == [(10, 0, SHARED), (10, 0, INVALID), (20, 0, SHARED)]
    assert ran.stat("dut", "misses") == 1 and ran.stat("dut", "joined") == 2


def test_a_write_that_joins_a_read(bench: Bench) -> None:
    """Before the bus has accepted the request it asks for the line alone; behind that it has an upgrade follow, if others have copies."""
    for at, shared, asked, states in ((5, False, ["read_exclusive"], [MODIFIED]), (8, False, ["read_shared"], [EXCLUSIVE, MODIFIED]), (8, True, ["read_shared", "upgrade"], [SHARED, MODIFIED])):
        files: dict[str, str | bytes] = {
            "s": f"5 read 8 0 0 1\n{at} write 8 8 7 2\n",
            "n": snoop(9, asked[0], True) + snoop(18, "upgrade", True),
            "r": response(12, shared=shared) + response(20, filled=False),
        }
        settings: dict[str, object] = {"requester.script": "s", "requester.record": "replies", "requester.outstanding": 4, "snoop.script": "n", "response.script": "r", "request.record": "q", "request.pattern": "0" * 7 + "1" * 50}
        if len(asked) == 1:
            files |= {"n": snoop(9, asked[0], True), "r": response(12, shared=shared)}
        ran = bench.run(bench.build(alone()), 40, settings, files=files)
        assert [value.split("op=")[1].split()[0] for _, value in read_items(ran.directory / "q")] == asked
        assert [state for _, _, state in happened(ran, "transition")] == states
        assert sorted((a.tag, a.data) for a in read_replies(ran.directory / "replies")) == [(1, 0x1122), (2, 0)]


def test_a_line_is_supplied_until_memory_has_it(bench: Bench) -> None:
    """A changed line waits for the bus; another agent reads it, then takes it: the first is answered with the line, the request to write it back is taken back."""
    files: dict[str, str | bytes] = {
        "s": "5 write 8 0 7 1\n20 read 8 64 0 2\n21 read 8 128 0 3\n",
        "n": snoop(8, "read_exclusive", True) + snoop(30, "read_once") + snoop(34, "read_exclusive") + snoop(38, "read_once"),
        "r": response(10),
    }
    settings: dict[str, object] = {"requester.script": "s", "requester.record": "replies", "requester.outstanding": 4, "snoop.script": "n", "response.script": "r", "request.record": "q", "request.pattern": "1" * 22 + "0" * 30, "answer.record": "a"}
    ran = bench.run(bench.build(alone()), 50, settings, files=files)
    _, *answers = [value for _, value in read_items(ran.directory / "a")]
    assert [answer.split("result=")[1].split()[0] for answer in answers] == ["modified", "modified", "none"]
    assert "7}" in answers[0] and "7}" in answers[1]
    assert ran.stat("dut", "write_backs") == 1 and ran.stat("dut", "supplied") == 2


@pytest.mark.parametrize(("mshrs", "cycles"), sampled([(1, [18, 36, 54, 72]), (2, [18, 22, 38, 42]), (4, [18, 22, 26, 30])], 3, 1))
def test_misses_overlap_on_the_bus(mshrs: int, cycles: list[int], bench: Bench) -> None:
    """A miss takes 18 cycles: the question, an address, 4 for answers, 1 + 6 of memory, 4 for the line, the reply.  Those that overlap come as the
    bus moves their lines, 4 cycles apart; an MSHR that is free again asks when the last of these has passed."""
    memory = Memory(bench, machine(caches=1, wide=1, nonblocking=f"sets = 8; ways = 2; mshrs = {mshrs};", bus="turnaround = 0;"), 4)
    *_, replies, _ = memory.play([[], [], [f"0 read 8 {LINE * k} 0 {k}" for k in range(4)], []], 300, outstanding=8)
    found = [a.cycle for a in sorted(replies, key=lambda a: a.tag)]
    assert found == cycles
