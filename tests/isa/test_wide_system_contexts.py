"""mips32r2_wide_core with several contexts: each is a processor of its own, which its functional processor follows, and all have one memory.  Programs
that fault, are interrupted and change all that a kernel can, each in pages of its own; and one program of all, in which they see each other's stores."""

import os
import random
import re
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.isa import hostile, litmus
from tests.isa.litmus import FIRST, LOAD_X, LOAD_Y, SECOND, STORE_X, STORE_Y, parts, relaxed
from tests.isa.system_core import assemble_for, build, on_contexts
from tests.isa.system_fuzz import fuzz_program
from tests.isa.test_litmus import COPIES, COUNT
from tests.isa.test_system_hostile import MEMORIES
from tests.memory_model import SHAPES, agree
from tests.sample import seldom

SEED = int(os.environ.get("SEED", "1"))
CACHES: dict[str, dict[str, object]] = {"through": {}, "coherent": {"coherent": "true"}, "MSHRs": {"coherent": "true", "mshrs": 4, "fetch_mshrs": 4, "front_stages": 2}}
MACHINES: dict[str, dict[str, object]] = {
    "two": {"contexts": 2, "wide": 4},
    "three, tight": {"contexts": 3, "wide": 2, "entries": 8, "queue": 3, "registers": 108, **CACHES["coherent"]},
    "four, MSHRs": {"contexts": 4, "wide": 4, **CACHES["MSHRs"]},
}
QUICK = list(MACHINES)
# Every number of contexts with widths, caches and lists in turn.
MACHINES |= {
    f"{n} of {wide}, list {entries}, {cached}": {"contexts": n, "wide": wide, "entries": entries, "queue": min(entries, 16), "registers": 34 * n + 1 + max(2, entries // 2), **CACHES[cached]}
    for k, n in enumerate(range(2, 9)) for j, wide in enumerate((1, 4, 8)) for entries in [(4, 16, 64)[(j + k) % 3]] for cached in [list(CACHES)[(k + 2 * j) % 3]]
}  # fmt: skip
SOAK = [name for name in MACHINES if name not in QUICK]


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory, build_dir: Path, root: Path) -> Callable[..., Path]:
    """machine(name, options...): system_machine.lss with one of MACHINES, in lockstep."""
    directory, built = tmp_path_factory.mktemp("wide_contexts"), {}

    def get(name: str, *options: str) -> Path:
        if (name, *options) not in built:
            settings = MACHINES[name] | {"checked": "true", "memory": f"{8 * int(str(MACHINES[name]['contexts']))} MiB"}
            given = [word for key, value in settings.items() for word in ("-D", f"{key}={value}")]
            built[name, *options] = build(root, build_dir, directory / f"system{len(built)}", *given, *options)
        return built[name, *options]

    return get


def number(name: str) -> int:
    return int(str(MACHINES[name]["contexts"]))


def interrupted(name: str) -> list[str]:
    """Lines that are high by chance, seldom enough for that many contexts to go on."""
    lines = ["line", *(f"other_line[{c}]" for c in range(number(name) - 1))]
    return [word for line in lines for word in ("--set", f"{line}.count=-1", "--set", f"{line}.offer={0.004 / number(name)}")]


def fuzz(name: str, seed: int, directory: Path) -> list[Path]:
    """A program for each context, with a kernel of its own."""
    writes_back = "coherent" in MACHINES[name]
    return [assemble_for(c, fuzz_program(seed + c, write_back=writes_back), directory / f"fuzz{c}.elf", False) for c in range(number(name))]


def found(done: subprocess.CompletedProcess, name: str) -> list[int]:
    """A statistic of each context, or of each exception of each."""
    return [int(n) for n in re.findall(rf"^core\S* +{name}(?:\[\d+\])? +(\d+)", done.stdout + done.stderr, re.MULTILINE)]


def follow(name: str, seed: int, memory: str, machine: Callable[..., Path], directory: Path, cycles: int) -> None:
    done = on_contexts(machine(name), fuzz(name, seed, directory), directory, False, *interrupted(name), "--seed", str(seed), *MEMORIES[memory], cycles=cycles)
    assert done.returncode == 0, f"{name}, seed {seed}, {memory} memory: {done.stderr}"
    assert found(done, "compared") == [sum(found(done, "instructions_of"))] and min(found(done, "instructions_of")) > cycles // 100
    assert min(found(done, "refills")) > 0 and min(found(done, "user_instructions")) > 50, done.stdout


@seldom
@pytest.mark.parametrize(("name", "memory"), [("two", "random"), pytest.param("four, MSHRs", "slower", marks=[pytest.mark.soak, pytest.mark.optimised])])
def test_random_programs_under_hostile_kernels(name: str, memory: str, machine, tmp_path: Path) -> None:
    """SEED=n in the environment starts at another seed."""
    follow(name, SEED, memory, machine, tmp_path, 60_000)


@pytest.mark.soak
@pytest.mark.optimised
@pytest.mark.parametrize("name", SOAK)
def test_the_grid(name: str, machine, tmp_path: Path) -> None:
    for k in range(6):
        follow(name, SEED + 1000 + 8 * k, list(MEMORIES)[k % len(MEMORIES)], machine, tmp_path, 2_000_000)


def hostile_programs(n: int, directory: Path) -> list[Path]:
    return [assemble_for(c, hostile.hostile_text(), directory / f"hostile{c}.elf", False) for c in range(n)]


@pytest.mark.soak
@pytest.mark.optimised
@pytest.mark.parametrize("name", ["two", "three, tight", "four, MSHRs"])
def test_every_instruction_is_interrupted_and_faults(name: str, machine, tmp_path: Path) -> None:
    """Of each context, while the others go on: the state at the end is as without."""
    done = on_contexts(machine(name), hostile_programs(number(name), tmp_path), tmp_path, False, *MEMORIES["random"], cycles=200_000_000)
    assert done.returncode == 0 and "the program exited" in done.stderr, done.stderr
    states = [hostile.checked(subprocess.CompletedProcess([], 0, (tmp_path / f"printed{c}").read_text(), "")) for c in range(number(name))]
    assert len({len(state) for state in states}) == 1


@seldom
def test_one_is_interrupted_while_the_other_computes(machine, tmp_path: Path) -> None:
    """Context 1 alone has a line that is high by chance, and sets its timer."""
    computing = hostile.hostile_text().replace("mtc0 $t0, $11", "nop").replace("mtc0 $k1, $11", "nop")
    elves = [assemble_for(0, computing, tmp_path / "c.elf", False), assemble_for(1, fuzz_program(SEED), tmp_path / "f.elf", False)]
    done = on_contexts(machine("two"), elves, tmp_path, False, "--set", "other_line[0].count=-1", cycles=60_000)
    assert done.returncode == 0, done.stderr
    interrupts = {int(c): int(n) for c, n in re.findall(r"^core\.system\[(\d)\] +exceptions\[0\] +(\d+)", done.stdout, re.MULTILINE)}
    assert interrupts.get(0, 0) <= 3 and interrupts[1] > 20 and min(found(done, "instructions_of")) > 20_000


@seldom
def test_debug_builds_and_restored_runs_do_the_same(machine, tmp_path: Path) -> None:
    """Statistics and all, and from a cycle in between; each module says when it may sleep."""
    name, seen = "two", []
    elves = fuzz(name, SEED, tmp_path)
    options = [*interrupted(name), *MEMORIES["random"]]
    for build_options in ([], ["--debug"]):
        checks = ["--check-idle"] if build_options else []
        done = on_contexts(machine(name, *build_options), elves, tmp_path, False, *options, *checks, "--stats", str(tmp_path / "stats.csv"), cycles=6_000)
        assert done.returncode == 0, done.stderr
        seen.append((tmp_path / "stats.csv").read_text())
    first = on_contexts(machine(name), elves, tmp_path, False, *options, "--checkpoint", str(tmp_path / "saved"), cycles=3777)
    command = [machine(name), "--restore", tmp_path / "saved", "--cycles", "6000", "--outputs", "continue", "--stats", tmp_path / "restored.csv"]
    rest = subprocess.run([str(word) for word in command], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (first.returncode, rest.returncode) == (0, 0), rest.stderr
    seen.append((tmp_path / "restored.csv").read_text())
    assert seen[0] == seen[1] == seen[2]


# ---- One memory -----------------------------------------------------------------------------------------------------

# Each context ends its own program.
END = "3: lui $t3, 0xbf00\n  sll $t0, $s4, 16\n  addu $t3, $t3, $t0\n  sw $zero, 4($t3)\n7: b 7b\n"
# The address of the first load is there late, that of the second at once.
LATE = ["ori $t1, $zero, 7", "divu $zero, $s3, $t1", "mflo $t2", "xor $t2, $t2, $t2", "addu $t2, $t2, $s3", "lw $v0, 0($t2)", LOAD_X.format(SECOND)]
LINKED = ["1: ll $t0, 0($s2)", "addu $t0, $zero, $t8", "sc $t0, 0($s2)", "beqz $t0, 1b", "nop"]
SHORT, LONG = (1, 48), (60, litmus.MOST)
LENGTHS = pytest.mark.parametrize("length", [pytest.param(SHORT, id="short"), pytest.param(LONG, id="long", marks=pytest.mark.soak)])
SHARING = pytest.mark.parametrize("name", ["two", *(pytest.param(name, marks=pytest.mark.soak) for name in ("three, tight", "four, MSHRs", *SOAK))])


def text_of(bodies: list[list[str]], rounds: int, seed: int, **options: str) -> str:
    text = litmus.program(bodies, rounds, seed=seed, **options)
    assert text.count("3: b 3b\n") == 1
    return text.replace("3: b 3b\n", END)


def outcomes(simulator: Path, n: int, length: tuple[int, int], bodies: list[list[str]], directory: Path, **options: str) -> tuple[Counter, int]:
    """How often the loads of each context saw what, of a program for n contexts, and how many loads were executed anew."""
    counted, anew = Counter(), 0
    for seed in range(length[0]):
        elf = litmus.assembled(text_of(bodies + [["nop"]] * (n - len(bodies)), length[1], 97 * seed + 1, **options), directory, False)
        done = on_contexts(simulator, [elf] * n, directory, False, "--seed", str(seed), *MEMORIES[random.Random(seed).choice(list(MEMORIES))], cycles=60_000_000)
        assert done.returncode == 0 and "the program exited" in done.stderr, done.stderr
        printed = re.findall(r"^[a-d]+$", done.stdout, re.MULTILINE)
        assert len(printed) == length[1]
        counted.update(tuple((value & 1, value >> 1) for value in (ord(letter) - 97 for letter in line)) for line in printed)
        anew += sum(found(done, "anew"))
    return counted, anew


@LENGTHS
@SHARING
def test_message_passing(name: str, length: tuple[int, int], machine, tmp_path: Path) -> None:
    """Who sees the flag sees the message, also where the message is looked at first because its address is there first: then that load is executed anew."""
    plain, anew = [LOAD_Y.format(FIRST), LOAD_X.format(SECOND)], 0
    ways = [([STORE_X, STORE_Y], LATE, COPIES), ([*LINKED, STORE_Y], LATE, "")]
    if length == LONG:
        ways += [([STORE_X, STORE_Y], LATE, ""), ([*LINKED, STORE_Y], LATE, COPIES), ([STORE_X, STORE_Y], plain, ""), ([STORE_X, STORE_Y], plain, COPIES)]
    for sends, looks, warm in ways:
        seen, times = outcomes(machine(name), number(name), length, [sends, looks], tmp_path, warm=warm)
        counted = Counter(one[1] for one in seen.elements())
        agree("contexts", "MP", False, counted[1, 0])
        assert counted.total() == length[0] * length[1], counted
        anew += times
    # Both loads are not in a list of four one instruction wide before the address of the first is there.
    smallest = (MACHINES[name]["wide"], MACHINES[name].get("entries")) == (1, 4)
    assert anew > 0 or smallest or (length == SHORT and number(name) > 2), "so few rounds of so many may miss each other"


@seldom
@LENGTHS
@SHARING
def test_store_buffering(name: str, length: tuple[int, int], machine, tmp_path: Path) -> None:
    """Behind `sync` one of both sees the other's store; not always without."""
    for sync in (True, False) if length == LONG else (True,):
        counted = Counter((one[0][0], one[1][0]) for one in outcomes(machine(name), number(name), length, parts("SB", 2, sync), tmp_path, warm=COPIES)[0].elements())
        agree("contexts", "SB", sync, counted[0, 0])
        assert counted.total() == length[0] * length[1], counted


@seldom
@LENGTHS
@SHARING
def test_load_buffering(name: str, length: tuple[int, int], machine, tmp_path: Path) -> None:
    bodies = [[LOAD_X.format(FIRST), STORE_Y], [LOAD_Y.format(FIRST), STORE_X]]
    counted = Counter((one[0][0], one[1][0]) for one in outcomes(machine(name), number(name), length, bodies, tmp_path)[0].elements())
    agree("contexts", "LB", False, counted[1, 1])
    assert counted[0, 1] + counted[1, 0] > 0, counted


@pytest.mark.soak  # the other tests have two
@LENGTHS
@pytest.mark.parametrize("name", ["four, MSHRs", *(pytest.param(name, marks=pytest.mark.soak) for name in SOAK if number(name) >= 4)])
def test_four_contexts_agree_on_an_order(name: str, length: tuple[int, int], machine, tmp_path: Path) -> None:
    bodies = [[STORE_X], [STORE_Y], [LOAD_X.format(FIRST), LOAD_Y.format(SECOND)], [LOAD_Y.format(FIRST), LOAD_X.format(SECOND)]]
    for warm in ("",) if length == SHORT else ("", COPIES):
        counted = Counter((one[2], one[3]) for one in outcomes(machine(name), number(name), length, bodies, tmp_path, warm=warm)[0].elements())
        agree("contexts", "IRIW", False, counted[(1, 0), (1, 0)])
        assert counted.total() == length[0] * length[1], counted


@pytest.mark.soak
@pytest.mark.parametrize("sync", [False, True], ids=["", "sync"])
@pytest.mark.parametrize("shape", SHAPES)
def test_four_contexts_do_as_the_page_says(shape: str, sync: bool, machine, tmp_path: Path) -> None:
    """Also where the first of two reads of a word has its address late."""
    late = [line.replace("$s3", "$s2") for line in LATE]
    all_bodies = [parts(shape, 4, sync)] + ([[[STORE_X], late, [STORE_X], late]] if (shape, sync) == ("CoRR", False) else [])
    count = 0
    for bodies in all_bodies:
        for warm in ("", COPIES):
            counted, _ = outcomes(machine("four, MSHRs"), 4, (6, litmus.MOST), bodies, tmp_path, warm=warm)
            count += sum(times for outcome, times in counted.items() if relaxed(shape, outcome))
    agree("contexts", shape, sync, count)


@pytest.mark.parametrize(("where", "stores"), [(0, 0), (0x20, 1)])
@SHARING
def test_a_store_of_another_context_ends_a_link(name: str, where: int, stores: int, machine, tmp_path: Path) -> None:
    """To its line, not to the next one: between ll and sc of the first the second has stored there."""
    links = ["ll $t0, 0($s2)", "sw $t8, 0($s3)", "1: lw $t1, 4($s3)", "beqz $t1, 1b", "addu $v0, $zero, $t8", "sc $v0, 0($s2)"]
    writes = ["1: lw $t1, 0($s3)", "beqz $t1, 1b", "nop", f"sw $t8, {where}($s2)", "sw $t8, 4($s3)"]
    counted, _ = outcomes(machine(name), number(name), (1, 10), [links, writes], tmp_path)
    assert Counter(one[0] for one in counted.elements()) == {(stores, 0): 10}


@SHARING
def test_nothing_is_lost_between_ll_and_sc(name: str, machine, tmp_path: Path) -> None:
    """All contexts count in one word; the first one prints how far they came, less what it should be, as a letter."""
    n, rounds = number(name), 20
    last = f"  lw $t0, 0($s0)\n  addiu $t0, $t0, {ord('A') - n * rounds}\n  sb $t0, 0($t3)\n"
    elf = litmus.assembled(text_of([[line.format(k=k) for line in COUNT] for k in range(n)], rounds, SEED, last=last), tmp_path, False)
    done = on_contexts(machine(name), [elf] * n, tmp_path, False, "--quiet", cycles=10_000_000)
    assert done.returncode == 0 and done.stdout.split() == ["a" * n] * rounds + ["A"], done.stdout[:2000] + done.stderr
