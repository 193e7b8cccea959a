"""What two and four processors with coherent caches may see of each other, and what `sync` forbids; counters by LL and SC: on one bus, and
with a level 2 for every other processor."""

import subprocess
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.isa.litmus import (
    FIRST,
    LOAD_X,
    LOAD_Y,
    MOST,
    ROUNDS,
    SECOND,
    STORE_X,
    STORE_Y,
    assembled,
    parts,
    program,
    relaxed,
)
from tests.memory_model import CORES, SHAPES, agree, table
from tests.sample import sampled, seldom

LONG = 200  # runs of a program, of MOST rounds each: 100,000

# Caches in which lines make room for others.
SMALL = ["-Ddcache_size=4KiB", "-Dicache_size=4KiB", "-Dways=2", "-Dl2_size=8KiB", "-Dl2_ways=4", "-Dmemory=1MiB"]
# A processor's store waits for its line while its load finds the other word in its own copy.
COPIES = "lw $t0, 0($s2)\n  lw $t0, 0($s3)"


@pytest.fixture(scope="session")
def machine(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory, optimising) -> Callable[..., Path]:
    """machine(4): the simulator with so many processors, built once, optimised if it is run `often`, above `clusters` caches of level 2. A program
    for fewer leaves the others where they are."""
    built: dict[tuple[int, str, bool, int], Path] = {}

    def build(cpus: int = 4, endian: str = "little", often: bool = False, clusters: int = 0) -> Path:
        if (cpus, endian, often, clusters) not in built:
            output = tmp_path_factory.mktemp("smp") / f"smp{cpus}"
            options = [f"-Dprocessors={cpus}", f"-Dclusters={clusters}", f"-Dbig_endian={str(endian == 'big').lower()}", *SMALL]
            with optimising() if often else nullcontext():
                subprocess.run([build_dir / "bin" / "lss", "build", root / "examples/multiprocessor/multiprocessor.lss", "-o", output, *options], check=True)
            built[cpus, endian, often, clusters] = output
        return built[cpus, endian, often, clusters]

    return build


@pytest.fixture(
    params=[
        pytest.param((4, 1, 0), id="short", marks=pytest.mark.soak),
        pytest.param((4, 1, 2), id="level 2, short"),
        pytest.param((2, LONG, 0), id="long", marks=pytest.mark.soak),
        pytest.param((2, LONG, 1), id="one level 2, long", marks=pytest.mark.soak),
        pytest.param((2, LONG, 2), id="two of level 2, long", marks=pytest.mark.soak),
    ]
)
def pair(request: pytest.FixtureRequest, machine: Callable[..., Path]) -> tuple[Path, int]:
    """A machine for two processors, and how many times a program is run there."""
    return machine(request.param[0], often=request.param[1] > 1, clusters=request.param[2]), request.param[1]


def run(simulator: Path, text: str, directory: Path, big: bool = False, cycles: int = 30_000_000) -> list[str]:
    """What the processors printed, a line a round."""
    raw = assembled(text, directory, big)
    done = subprocess.run([simulator, "--program", raw, "--cycles", str(cycles), "--quiet"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "all cycles were simulated" not in done.stderr, done.stdout[-300:] + done.stderr[-1500:]
    return done.stdout.split()


def seen(simulator: Path, seeds: int, bodies: list[list[str]], directory: Path, **options: str) -> Counter:
    """How often each outcome was seen: the values of each processor's two loads."""
    outcomes: Counter = Counter()
    rounds = MOST if seeds == LONG else ROUNDS
    for seed in range(seeds):
        for line in run(simulator, program(bodies, rounds, seed=97 * seed + 1, **options), directory):
            outcomes[tuple((value & 1, value >> 1) for value in (ord(letter) - 97 for letter in line))] += 1
    assert outcomes.total() == seeds * rounds
    return outcomes


def test_message_passing(pair: tuple[Path, int], tmp_path: Path) -> None:
    """Who sees the flag sees the message: stores are seen in their order, with and without `sync`."""
    for order in ([], ["sync"]):
        bodies = [[STORE_X, *order, STORE_Y], [LOAD_Y.format(FIRST), *order, LOAD_X.format(SECOND)]]
        outcomes = Counter(o[1] for o in seen(*pair, bodies, tmp_path).elements())
        agree("in order", "MP", bool(order), outcomes[1, 0])
        assert outcomes[0, 0] > 0 and outcomes[1, 1] > 0, outcomes


@seldom
def test_store_buffering(pair: tuple[Path, int], tmp_path: Path) -> None:
    """Both processors may miss the other's store, which waits for its line; never behind `sync`."""
    for order in ([], ["sync"]):
        bodies = [[STORE_X, *order, LOAD_Y.format(FIRST)], [STORE_Y, *order, LOAD_X.format(FIRST)]]
        outcomes = Counter((o[0][0], o[1][0]) for o in seen(*pair, bodies, tmp_path, warm=COPIES).elements())
        agree("in order", "SB", bool(order), outcomes[0, 0])
        assert outcomes[0, 1] and outcomes[1, 0], outcomes


@seldom
def test_load_buffering(pair: tuple[Path, int], tmp_path: Path) -> None:
    """No load sees a store that comes after it in the program of the one who waits for that load's."""
    bodies = [[LOAD_X.format(FIRST), STORE_Y], [LOAD_Y.format(FIRST), STORE_X]]
    for warm in ("", COPIES):
        outcomes = Counter((o[0][0], o[1][0]) for o in seen(*pair, bodies, tmp_path, warm=warm).elements())
        agree("in order", "LB", False, outcomes[1, 1])
        assert outcomes[0, 1] and outcomes[1, 0], outcomes


@seldom
@pytest.mark.parametrize("clusters", sampled([0, 2], 2, 1))
@pytest.mark.parametrize("runs", [3, pytest.param(LONG, marks=pytest.mark.soak)])
def test_four_processors_agree_on_an_order(machine: Callable[..., Path], runs: int, clusters: int, tmp_path: Path) -> None:
    """Two store, two look at both words in opposite orders: they never see the stores in opposite orders."""
    bodies = [[STORE_X], [STORE_Y], [LOAD_X.format(FIRST), LOAD_Y.format(SECOND)], [LOAD_Y.format(FIRST), LOAD_X.format(SECOND)]]
    for warm in ("", COPIES):
        outcomes = Counter((o[2], o[3]) for o in seen(machine(often=runs == LONG, clusters=clusters), runs, bodies, tmp_path, warm=warm).elements())
        agree("in order", "IRIW", False, outcomes[(1, 0), (1, 0)])
        assert any(o[0] == (1, 0) for o in outcomes) and any(o[1] == (1, 0) for o in outcomes), outcomes


@seldom
def test_two_reads_of_a_word(pair: tuple[Path, int], tmp_path: Path) -> None:
    """Who has seen a store does not see the word as it was before, be the other's copy there or not."""
    outcomes = Counter(o[1] for o in seen(*pair, parts("CoRR", 2, False), tmp_path, warm=COPIES).elements())
    agree("in order", "CoRR", False, outcomes[1, 0])
    assert outcomes[0, 0] and outcomes[1, 1], outcomes


@pytest.mark.soak
@pytest.mark.parametrize("sync", [False, True], ids=["", "sync"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("cpus", "clusters"), [(4, 0), (4, 4), (8, 2), (8, 4), (16, 3), (16, 4)])
def test_many_processors(machine: Callable[..., Path], cpus: int, clusters: int, shape: str, sync: bool, tmp_path: Path) -> None:
    """Several have the same part, in turn on each of the caches of level 2."""
    count = 0
    for warm in ("", COPIES):
        outcomes = seen(machine(cpus, often=True, clusters=clusters), 6, parts(shape, cpus, sync), tmp_path, warm=warm)
        count += sum(times for outcome, times in outcomes.items() if relaxed(shape, outcome))
        assert len(outcomes) > 3, "all rounds go alike"
    agree("in order", shape, sync, count)


def test_each_cell_of_the_page_says_something() -> None:
    assert set(table()) == {(core, shape, sync) for core in CORES for shape in SHAPES for sync in (False, True)}
    assert set(table().values()) == {"allowed", "forbidden", "not tested"}
    assert {core for (core, shape, _), said in table().items() if said == "not tested" or shape not in SHAPES} == {"wide"}


# The processors count in one word; the first one prints how far they came, less what it should be, as a letter.
COUNT = ["ll $t0, 0($s0)", "addiu $t0, $t0, 1", "sc $t0, 0($s0)", "beq $t0, $zero, body{k}", "nop"]


@pytest.mark.parametrize("clusters", [0, 2])
@pytest.mark.parametrize(
    ("cpus", "endian", "runs"), [(4, "little", 1), pytest.param(2, "big", 1, marks=pytest.mark.soak), pytest.param(4, "little", LONG, marks=pytest.mark.soak)]
)
def test_nothing_is_lost_between_ll_and_sc(machine: Callable[..., Path], tmp_path: Path, cpus: int, endian: str, runs: int, clusters: int) -> None:
    """Counts of all processors; a long run's are 400,000."""
    rounds = MOST if runs == LONG else 20
    bodies = [[line.format(k=k) for line in COUNT] for k in range(cpus)]
    last = f"  lw $t0, 0($s0)\n  addiu $t0, $t0, {ord('A') - cpus * rounds}\n  sb $t0, 0($t3)\n"
    for seed in range(runs):
        text = program(bodies, rounds, seed=97 * seed + 1, last=last)
        assert run(machine(cpus, endian, runs == LONG, clusters), text, tmp_path, endian == "big") == ["a" * cpus] * rounds + ["A"]
