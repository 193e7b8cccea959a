"""mips32r2_wide_core: what exceptions, returns, interrupts, serialising instructions and those executed alone cost, that it waits for nothing at no
cost, and what it is connected to.  What they do is the business of tests/isa."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.isa.system_core import KSEG0_CACHED, boot
from tests.modules.core.mips.test_mips32r2_core import EXCEPTIONS, SERIALISING
from tests.modules.core.mips.timeline import Timeline, assemble, build
from tests.modules.harness import Bench
from tests.sample import sampled, seldom

PASSES = 6  # until all that is fetched in vain is in the cache, too
SERVED = 3  # cycles from the request for an instruction that is executed alone to its commitment
REDIRECTED = 5  # from the commitment of an instruction behind which all is dropped to that of the next


@pytest.fixture(scope="session", params=sampled([1, 4], first=1))
def wide(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture(scope="session")
def machine(wide: int, tmp_path_factory: pytest.TempPathFactory, root: Path, build_dir: Path) -> Path:
    return build(root, build_dir, tmp_path_factory.mktemp("core"), "core.core.list", "-D", f"wide={wide}")


@pytest.mark.parametrize("name", sampled(EXCEPTIONS, 3))
def test_an_exception(name: str, machine: Path, tmp_path: Path) -> None:
    """From the cycle in which the system knows of it to the commitment of its handler's first instruction, which the general one has executed alone."""
    code, vector = EXCEPTIONS[name]
    ran = Timeline(machine, tmp_path, code, passes=PASSES)
    assert ran.last("retire", vector) - ran.last("exception", "X") == 1 + REDIRECTED + (
        SERVED if vector == "general" else 0
    )
    assert ran.last("retire", "Y") - ran.last("retire", "returns") == REDIRECTED


def test_an_interrupt(machine: Path, tmp_path: Path) -> None:
    """The store makes it pending; it is enabled in the instruction before X."""
    enable = "LI $t3, 0x10000101\nLI $t4, 0x00800100\nmtc0 $t4, $13\nmtc0 $t3, $12"
    ran = Timeline(machine, tmp_path, "nop", enable, passes=PASSES)
    taken = next(cycle for what, cycle, pc in reversed(ran.seen) if what == "interrupt")
    assert ran.last("retire", "interrupt") - taken == 1 + REDIRECTED + SERVED


KEEPING = ("mtc0", "tlbp", "di", "ei", "sync")  # they change nothing that younger instructions were fetched or translated with
SPACE = "mtc0 $t3, $10"  # another in each pass


@seldom
@pytest.mark.parametrize("name", sampled([*SERIALISING, "mtc0, address space", "store past the caches"], 3))
def test_behind_what_serialises(name: str, machine: Path, tmp_path: Path) -> None:
    """All is fetched anew, or nothing; what keeps it is committed by itself."""
    pending = "LI $t3, 0x10000100\nmtc0 $t3, $12\nLI $t3, 0x100\nmtc0 $t3, $13"
    ran = Timeline(
        machine,
        tmp_path,
        (SERIALISING | {"mtc0, address space": SPACE, "store past the caches": "sw $zero, 0($t3)"})[name],
        {"wait": pending, "mtc0, address space": "move $t3, $s0", "store past the caches": "LI $t3, 0xa0300000"}.get(name, ""),
        passes=PASSES,
    )
    assert ran.last("retire", "Y") - ran.last("retire", "X") == (1 if name in KEEPING else REDIRECTED)


def counted(machine: Path, directory: Path, code: str, prepare: str = "") -> dict[str, int]:
    """What the core counted: instructions executed alone, times that all was dropped, loads that executed again, instructions compared in lockstep."""
    elf = assemble(directory / "x.elf", code, prepare, PASSES)
    done = subprocess.run(
        [machine, *boot(elf, directory, False, KSEG0_CACHED), "--cycles", "20000"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0 and "the program exited" in done.stderr, done.stderr
    seen = {(path.split(".")[-1], name): int(value) for path, name, value in re.findall(r"^core(\S*) +(\w+) +(\d+) ", done.stdout, re.MULTILINE)}
    names = [("serial", "executed"), ("serial", "dropped"), ("list", "anew"), ("list", "mistaken"), ("list", "strayed"), ("", "compared")]
    return {name: seen.get((of, name), 0) for of, name in names}


@pytest.fixture(scope="session")
def checked(tmp_path_factory: pytest.TempPathFactory, root: Path, build_dir: Path) -> Path:
    """Of width 4, in lockstep."""
    return build(root, build_dir, tmp_path_factory.mktemp("checked"), "core.core.list", "-D", "wide=4", "-D", "checked=true")


# Each reads what it wrote, in instructions that were in flight when it was written.
WRITES = {
    "TLB": "mtc0 $s0, $0\nmtc0 $s0, $2\nmtc0 $s0, $3\nmtc0 $zero, $5\ntlbwi\ntlbr\nmfc0 $t4, $2\nmfc0 $t4, $3\nmfc0 $t4, $0\ntlbp\nmfc0 $t4, $0",
    "exceptions": "mtc0 $s0, $14\nmfc0 $t4, $14\nmtc0 $s0, $30\nmfc0 $t4, $30\nmtc0 $s0, $4\nmfc0 $t4, $4",
    "timer": "mtc0 $s0, $11\nmfc0 $t4, $11\nmtc0 $s0, $7\nrdhwr $t4, $1\nmfc0 $t4, $7",
    "Wired": "mtc0 $s0, $6\nmfc0 $t4, $6\nmfc0 $t4, $1",
    "interrupts": "di\nmfc0 $t4, $12\nei\nmfc0 $t4, $12\nmfc0 $t5, $12\nori $t5, $t5, 0x400\nmtc0 $t5, $12\nmfc0 $t4, $12",
    "page pair": "sll $t3, $s0, 13\nmtc0 $t3, $10\nmfc0 $t4, $10",
    "sync": "sw $s0, 0($t0)\nsync\nlw $t4, 0($t0)",
    "ll, after a store": "sw $s0, 0($t0)\nll $t4, 0($t0)",
    "sc, and a load elsewhere": "ll $t3, 0($t0)\naddiu $t3, $t3, 1\nsc $t3, 0($t0)\nlw $t4, 64($t0)",
}


@pytest.mark.parametrize("name", WRITES)
def test_younger_instructions_stay_and_see_what_was_written(name: str, checked: Path, tmp_path: Path) -> None:
    """In lockstep, so what they see is right.  Only the write of the TLB drops them, and its reading, which may change the address space."""
    nothing, ran = (counted(checked, tmp_path, code) for code in ("nop", WRITES[name]))
    assert ran["dropped"] - nothing["dropped"] == (2 * PASSES if name == "TLB" else 0) and ran["anew"] == 0
    assert ran["executed"] > nothing["executed"] and ran["compared"] > 0


def test_a_younger_load_of_the_word_of_a_store_conditional(checked: Path, tmp_path: Path) -> None:
    """It had read before, and executes again; lockstep says that it reads what was stored."""
    ran = counted(checked, tmp_path, "ll $t3, 0($t0)\naddiu $t3, $t3, 1\nsc $t3, 0($t0)\nlw $t4, 0($t0)\naddu $t5, $t4, $t4")
    assert 0 < ran["anew"] <= PASSES and ran["compared"] > 0


# A word that the program writes in each pass: in every second one a branch, or the other word.
WRITTEN = """
  lui $t3, %hi(X)
  addiu $t3, $t3, %lo(X)
  LI $t4, 0x10000002
  andi $t5, $s0, 1
  bnez $t5, 2f
  nop
  LI $t4, {other}
2: sw $t4, 0($t3)
  synci 0($t3)
  sync
"""
OTHERS = {"addiu": 0x25CE0001, "lw": 0x8D0E0000, "div": 0x0188001A, "mfc0": 0x400E6000, "break": 0x0000000D}


@pytest.mark.parametrize("name", sampled(OTHERS, 2, first=1))
def test_a_word_that_was_a_branch(name: str, checked: Path, tmp_path: Path) -> None:
    """Fetch continues at its target once more; then the program goes on with the next word, and the predictor has forgotten it.  What raises an exception
    comes at its address, of course."""
    ran = counted(checked, tmp_path, "b 3f\nnop\naddiu $t7, $t7, 1\n3: nop", WRITTEN.format(other=f"{OTHERS[name]:#x}"))
    assert ran["compared"] > 0 and ran["strayed"] <= ran["mistaken"] <= PASSES / 2
    assert name == "break" or ran["strayed"] > 0


@seldom
@pytest.mark.parametrize(
    "code", sampled(["mfc0 $t3, $12", "rdhwr $t3, $2", ".word 0x41c95800", ".word 0x41495800", "ll $t3, 0($t0)"], 2)
)
def test_what_is_executed_alone_holds_up_commitment(code: str, wide: int, machine: Path, tmp_path: Path) -> None:
    """It is requested in the cycle in which what is before it is committed, unless no more is committed in it, and what is behind it is committed with it, or
    in the next cycle.  The line is in the cache."""
    ran = Timeline(machine, tmp_path, code, "lw $t3, 0($t0)", passes=PASSES)
    before = [cycle for what, cycle, pc in ran.seen if (what, pc) == ("retire", ran.labels["X"] - 4)][-1]
    more = int(wide == 1)  # then each is the last of its cycle
    assert (ran.last("retire", "X") - before, ran.last("retire", "Y") - ran.last("retire", "X")) == (SERVED + more, more)


@pytest.mark.parametrize("code", sampled(["ll $t4, 0($t0)", "ll $t4, 64($t0)", "tlbr", "eret"], 2, first=1))
def test_what_waits_for_a_store_that_commits_when_it_is_requested(code: str, machine: Path, tmp_path: Path) -> None:
    """Two cycles longer, for the store to reach the cache, in which its line is.  The `mfc0` lets the store and what is behind it finish before either commits."""
    prepare = "lui $t3, %hi(Y)\naddiu $t3, $t3, %lo(Y)\nmtc0 $t3, $14\nlw $t3, 0($t0)\nlw $t3, 64($t0)"
    ran = Timeline(machine, tmp_path, f"mfc0 $t5, $12\nsw $s0, 0($t0)\n{code}", prepare, passes=PASSES)
    store, waits = ([cycle for what, cycle, pc in ran.seen if (what, pc) == ("retire", ran.labels["Y"] - before)][-1] for before in (8, 4))
    assert waits - store == SERVED + 2


def test_a_processor_that_waits_costs_no_time(machine: Path, tmp_path: Path) -> None:
    """Until the timer's interrupt, a round of Count later: more than eight thousand million cycles."""
    timer = "LI $t3, 0x10008000\nmtc0 $t3, $12\nmfc0 $t3, $9\naddiu $t3, $t3, -1\nmtc0 $t3, $11"
    elf = assemble(tmp_path / "x.elf", "wait", timer, 1)
    done = subprocess.run(
        [machine, *boot(elf, tmp_path, False, KSEG0_CACHED), "--cycles", "10000000000"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0 and "the program exited" in done.stderr, done.stderr
    idle = re.search(r"idle_cycles +(\d+)", done.stdout)
    assert idle and 2 * 2**32 - 100 < int(idle[1]) < 2 * 2**32


def test_instructions_are_counted_by_mode(machine: Path, tmp_path: Path) -> None:
    """All of them, not only those that the system executes."""
    elf = assemble(tmp_path / "x.elf", "nop", "", 1)
    done = subprocess.run(
        [machine, *boot(elf, tmp_path, False, KSEG0_CACHED), "--cycles", "20000"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    counts = {
        name: int(value)
        for name, value in re.findall(r"^core\S* +(kernel_instructions|instructions) +(\d+)", done.stdout, re.MULTILINE)
    }
    assert counts["kernel_instructions"] in (counts["instructions"], counts["instructions"] - 1), (
        "the last cycle's are not told any more"
    )


@pytest.mark.parametrize("size", ["512 KiB", "4 KiB", "24 KiB"])
def test_the_sets_of_a_cache(size: str, bench: Bench) -> None:
    """Registers cannot show other numbers of sets."""
    with pytest.raises(AssertionError, match="a way of a cache needs a power-of-two number of lines, at least 64, and at most 65536 bytes"):
        bench.build(f"instance core : mips32r2_wide_core {{ dcache_size = {size}; }};")


@pytest.mark.parametrize("prid", ["0x00019000", "0x00019655"])
def test_processors_without_large_ways(prid: str, bench: Bench) -> None:
    """Software of a 4KEc does not read Config7, so it would expect aliases."""
    said = bench.refuse(f"instance core : mips32r2_wide_core {{ dcache_size = 32 KiB; prid = {prid}; }};")
    assert "at most 4096 bytes on this processor" in said and "32 KiB with 4 ways has 8192 bytes in each" in said
    assert "set prid to 0x00019300 (24K) or 0x00019500 (34K), or leave it at its default, or set ways = 8" in said


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("lockstep = 1 MiB; }; instance others : source; others.out -> core.snoop;", "connect written as well as snoop"),
        ("}; instance after : sink; core.save -> after.in;", "connect `load`"),
    ],
)
def test_ports_that_need_others(text: str, why: str, bench: Bench) -> None:
    with pytest.raises(AssertionError, match=why):
        bench.build(f"instance core : mips32r2_wide_core {{ {text}")
