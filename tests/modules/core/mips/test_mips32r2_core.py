"""mips32r2_core: what exceptions, returns, interrupts and serialising instructions cost, and what it is connected to.  What they do
is the business of tests/isa."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.isa.system_core import KSEG0_CACHED, boot
from tests.modules.core.mips import timeline
from tests.modules.core.mips.timeline import assemble, build
from tests.modules.harness import Bench
from tests.sample import sampled, seldom

MEM_TO_MEM = 4  # cycles from the memory stage to the memory stage; next to each other, instructions have one


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory, root: Path, build_dir: Path) -> Path:
    return build(root, build_dir, tmp_path_factory.mktemp("core"), "pipeline.writeback")


class Timeline(timeline.Timeline):
    """When instructions were in the memory stage, the cycle before that in which they left write-back."""

    def last(self, kind: str, label: str) -> int:
        return super().last(kind, label) - (kind == "retire")


EXCEPTIONS = {
    "syscall": ("syscall", "general"), "break": ("break", "general"), "overflow": ("add $t3, $t2, $t2", "general"), "trap": ("teq $zero, $zero", "general"),
    "reserved": (".word 0x7000003e", "general"), "coprocessor unusable": (".word 0xc4880010", "general"), "misaligned load": ("lw $t3, 1($t0)", "general"),
    "misaligned store": ("sh $t3, 1($t0)", "general"), "load refill": ("lw $t3, 0($t1)", "refill"), "store refill": ("sw $t3, 0($t1)", "refill"),
    "store conditional refill": ("sc $t3, 0($t1)", "refill"),
}  # fmt: skip


@pytest.mark.parametrize("name", sampled(EXCEPTIONS, 2))
def test_an_exception_takes_four_cycles(name: str, machine: Path, tmp_path: Path) -> None:
    code, vector = EXCEPTIONS[name]
    ran = Timeline(machine, tmp_path, code)
    assert ran.last("retire", vector) - ran.last("exception", "X") == MEM_TO_MEM


def test_a_return_takes_four_cycles(machine: Path, tmp_path: Path) -> None:
    ran = Timeline(machine, tmp_path, "syscall")
    assert ran.last("retire", "Y") - ran.last("retire", "returns") == MEM_TO_MEM


def test_a_taken_interrupt_takes_four_cycles(machine: Path, tmp_path: Path) -> None:
    """The store makes it pending; it is enabled in the instruction before X."""
    enable = "LI $t3, 0x10000101\nLI $t4, 0x00800100\nmtc0 $t4, $13\nmtc0 $t3, $12"
    ran = Timeline(machine, tmp_path, "nop", enable)
    taken = next(cycle for what, cycle, pc in reversed(ran.seen) if what == "interrupt")
    assert ran.last("retire", "interrupt") - taken == MEM_TO_MEM


SERIALISING = {
    "mtc0": "mtc0 $zero, $11", "tlbwi": "tlbwi", "tlbwr": "tlbwr", "tlbr": "tlbr", "tlbp": "tlbp", "di": "di", "ei": "ei", "sync": "sync", "wait": "wait",
    "cache, data": "cache 0x15, 0($t0)", "cache, instructions": "cache 0x10, 0($t0)", "synci": "synci 0($t0)",
}  # fmt: skip


@seldom
@pytest.mark.parametrize("name", sampled(SERIALISING, 2))
def test_behind_a_serialising_instruction_the_next_takes_four_cycles(name: str, machine: Path, tmp_path: Path) -> None:
    """From the cycle in which it leaves the memory stage.  The one that waits does so with an interrupt pending, which is not enabled."""
    pending = "LI $t3, 0x10000100\nmtc0 $t3, $12\nLI $t3, 0x100\nmtc0 $t3, $13"
    ran = Timeline(machine, tmp_path, SERIALISING[name], pending if name == "wait" else "")
    assert ran.last("retire", "Y") - ran.last("retire", "X") == MEM_TO_MEM


@seldom
@pytest.mark.parametrize("code", ["mfc0 $t3, $12", "rdhwr $t3, $2", "ehb", "ssnop", ".word 0x41c95800", ".word 0x41495800", "ll $t3, 0($t0)", "sc $t3, 0($t0)"])
def test_others_take_one(code: str, machine: Path, tmp_path: Path) -> None:
    """Loads, from lines that are there."""
    ran = Timeline(machine, tmp_path, code, "lw $t3, 0($t0)")
    assert ran.last("retire", "Y") - ran.last("retire", "X") == 1


def test_a_processor_that_waits_costs_no_time(machine: Path, tmp_path: Path) -> None:
    """Until the timer's interrupt, a round of Count later: more than eight thousand million cycles."""
    timer = "LI $t3, 0x10008000\nmtc0 $t3, $12\nmfc0 $t3, $9\naddiu $t3, $t3, -1\nmtc0 $t3, $11"
    elf = assemble(tmp_path / "x.elf", "wait", timer, 1)
    done = subprocess.run([machine, *boot(elf, tmp_path, False, KSEG0_CACHED), "--cycles", "10000000000"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "the program exited" in done.stderr, done.stderr
    idle = re.search(r"idle_cycles +(\d+)", done.stdout)
    assert idle and 2 * 2**32 - 100 < int(idle[1]) < 2 * 2**32


@pytest.mark.parametrize("size", ["512 KiB", "4 KiB", "24 KiB"])
def test_the_sets_of_a_cache(size: str, bench: Bench) -> None:
    """Registers cannot show other numbers of sets."""
    with pytest.raises(AssertionError, match="a way of a cache needs a power-of-two number of lines, at least 64, and at most 65536 bytes"):
        bench.build(f"instance core : mips32r2_core {{ dcache_size = {size}; }};")


@pytest.mark.parametrize("prid", ["0x00019000", "0x00019655"])
def test_processors_without_large_ways(prid: str, bench: Bench) -> None:
    """Software of a 4KEc does not read Config7, so it would expect aliases."""
    said = bench.refuse(f"instance core : mips32r2_core {{ dcache_size = 32 KiB; prid = {prid}; }};")
    assert "at most 4096 bytes on this processor" in said and "32 KiB with 4 ways has 8192 bytes in each" in said
    assert "set prid to 0x00019300 (24K) or 0x00019500 (34K), or leave it at its default, or set ways = 8" in said
