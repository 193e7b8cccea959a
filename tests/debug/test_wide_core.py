"""A core that executes out of order, seen by gdb: each of its stops is that of a core which executes one instruction after the other."""

import struct

import pytest

from tests.debug.test_gdb import same_results, values
from tests.isa import riscv
from tests.isa.programs import assemble
from tests.sample import sampled

STACK = 0x800000 - 256


def states(run, steps: int) -> list[tuple[int, tuple[int, ...], str]]:
    """pc, registers and the stack wherever it stops."""
    remote, found = run.remote(), []
    for _ in range(steps):
        registers = struct.unpack("<33I", bytes.fromhex(remote.ask("g")))
        found.append((registers[32], registers[:32], remote.ask(f"m{STACK:x},100")))
        assert remote.ask("vCont;s:p1.1").startswith("T05")
    return found


@pytest.fixture
def ended(debugged):
    """The states of a simulator, which is ended then."""

    def run(simulator, *options, steps: int) -> list[tuple[int, tuple[int, ...], str]]:
        one = debugged(simulator, *options)
        found = states(one, steps)
        one.process.kill()
        one.process.wait()
        one.path.unlink(missing_ok=True)  # the simulator removes it when the connection ends
        return found

    return run


@pytest.mark.parametrize("name", ["wide", "wide cached"])
def test_each_instruction_in_its_order(name: str, machine, firmware, ended) -> None:
    """Those that are committed in one cycle, too: pc and registers are as if they had been executed one by one."""
    options, steps = ["--program", firmware("sha256")], 400
    orderly = ended(machine("riscv"), *options, steps=steps + 8)
    wide = ended(machine(name), *options, steps=steps)
    assert [one[:2] for one in wide] == [one[:2] for one in orderly[:steps]]
    for n, (_, _, stack) in enumerate(wide):  # what the instruction at pc stores, and those that are committed with it, may be there
        assert stack in [after for *_, after in orderly[max(n - 1, 0) : n + 5]], n


SUM = """
la a1, cell
li a0, 0
{adds}
lw a2, 0(a1)
add a0, a0, a2
bnez a2, 1f
.word 0
1: EXIT_A0
.data
.balign 8
cell: .word 3
.text
"""


@pytest.mark.parametrize("name", ["wide", "wide cached"])
@pytest.mark.parametrize("place", sampled([0, 1, 2, 3, 5, 15], 3, 1))
def test_what_is_written_acts(name: str, place: int, machine, debugged, tmp_path) -> None:
    """Before any of the instructions that are committed together: a register, memory and the pc.  Of sixteen instructions that add 1 those behind the
    stop are executed, one of them twice."""
    elf = riscv.assemble(SUM.format(adds="addi a0, a0, 1\n" * 16), tmp_path / "sum.elf", "device")
    run = debugged(machine(name), "--program", elf)
    text = run.gdb(
        f"""break *((char *) &__start + {4 * (3 + place)})
        continue
        delete
        print $a0
        set var $a0 = 100
        print $a0
        set var *(unsigned *) &cell = 50
        print *(unsigned *) &cell
        stepi
        print $a0
        print $pc == (char *) &__start + {4 * (4 + place)}
        set var $pc = (char *) &__start + {4 * (3 + place)}
        print $pc == (char *) &__start + {4 * (3 + place)}"""
    )
    assert values(text) == [str(place), "100", "50", "101", "1", "1"], text
    assert run.end()[0] == 100 + 1 + 16 - place + 50


# Twelve instructions that add 1, four of them in delay slots of branches that are taken.
BLOCK = """
P{k}0: addiu $v0, $v0, 1
P{k}1: beq $zero, $zero, P{k}2
  addiu $v0, $v0, 1
  .word 0x0000003f
P{k}2: addiu $v0, $v0, 1
"""
SLOTS = """
  lui $a1, %hi(cell)
  addiu $a1, $a1, %lo(cell)
  addiu $v0, $zero, 0
{blocks}
P40: lw $a2, 0($a1)
  addu $v0, $v0, $a2
  mflo $a2
  addu $v0, $v0, $a2
  lui $a1, 0xffff
  sw $v0, 4($a1)
9: b 9b
  nop
.data
.balign 8
cell: .word 3
"""


@pytest.mark.parametrize("place", sampled(["00", "01", "02", "11", "20", "32"], 3, 1))
def test_what_is_written_acts_beside_delay_slots(place: str, machine, debugged, tmp_path) -> None:
    """Of MIPS, before a branch and behind its slot, too; of a step over a branch its slot is part. LO is written as well."""
    elf = assemble(SLOTS.format(blocks="".join(BLOCK.format(k=k) for k in range(4))), tmp_path / "slots.elf", True, "device")
    k, n = int(place[0]), int(place[1])
    before = 3 * k + n
    following = f"P{k}{n + 1}" if n < 2 else f"P{k + 1}0"
    run = debugged(machine("wide mips"), "--program", elf)
    text = run.gdb(
        f"""break *(char *) &P{place}
        continue
        delete
        print $v0
        set var $v0 = 100
        set var $lo = 7
        print $v0
        set var *(unsigned *) &cell = 50
        print *(unsigned *) &cell
        stepi
        print $v0
        print $pc == (char *) &{following}
        set var $pc = (char *) &P{place}
        print $pc == (char *) &P{place}"""
    )
    assert values(text) == [str(before), "100", "50", "101", "1", "1"], text
    assert run.end()[0] == 100 + 1 + 12 - before + 50 + 7


MIPS = {**{f"r{n}": n for n in range(32)}, "lo": 33, "hi": 34, "pc": 37}  # as gdb numbers them


def mips_states(run, steps: int) -> list[dict[str, int]]:
    remote, found = run.remote(), []
    for _ in range(steps):
        text = remote.ask("g")
        found.append({name: int(text[8 * n : 8 * n + 8], 16) for name, n in MIPS.items()})
        found[-1]["word"] = int(remote.ask(f"m{found[-1]['pc']:x},4"), 16)
        assert remote.ask("vCont;s:p1.1").startswith("T05")
    run.process.kill()
    run.process.wait()
    run.path.unlink(missing_ok=True)
    return found


def test_mips_with_its_delay_slots(machine, firmware, debugged) -> None:
    """Steps do not end in a delay slot.  HI and LO are what MFHI and MFLO read; who writes them does that before it leaves the core, in either core."""
    orderly = mips_states(debugged(machine("single"), "--program", firmware("hello")), 900)
    wide = mips_states(debugged(machine("wide mips"), "--program", firmware("hello")), 900)
    for n, (one, other) in enumerate(zip(wide, orderly)):
        assert [(n, name, one[name], other[name]) for name in one if name not in ("hi", "lo") and one[name] != other[name]] == []
    moved = {"mfhi": 0, "mflo": 0}
    for one, after in zip(wide, wide[1:]):
        name = {0x10: "mfhi", 0x12: "mflo"}.get(one["word"] & 0xFFFF07FF)
        if name:
            assert after[f"r{one['word'] >> 11 & 31}"] == one[name[2:]]
            moved[name] += 1
    assert min(moved.values()) > 5


def test_and_back(machine, firmware, debugged, run_sim, tmp_path) -> None:
    """The way back passes the same addresses as the way there, a breakpoint in the midst of a cycle is met from both sides, and the run does not notice."""
    run = debugged(machine("wide"), "--program", firmware("sha256"), "--stats", "debugged.json")
    steps = 40
    there = "".join("print $pc\nprint/x $t0 + $a0 + $sp\nstepi\n" for _ in range(steps))
    back = "".join("reverse-stepi\nprint $pc\nprint/x $t0 + $a0 + $sp\n" for _ in range(steps))
    seen = values(run.gdb(f"break compress\ncontinue\ndelete\n{there}{back}"))
    pairs = list(zip(seen[::2], seen[1::2]))
    assert len(pairs) == 2 * steps and len(set(pairs)) > steps // 3
    assert pairs[:steps] == pairs[steps:][::-1]
    assert run.end()[0] == 0
    same_results(tmp_path, run_sim, machine("wide"), "--program", firmware("sha256"))


def test_breakpoints_in_one_cycle(machine, firmware, debugged) -> None:
    """One at each of some instructions of which several are committed at a time: all are met, in their order and in the opposite one."""
    run = debugged(machine("wide"), "--program", firmware("sha256"))
    places = [f"*(main + {4 * n})" for n in range(8)]
    text = run.gdb("".join(f"break {place}\n" for place in places) + "continue\n" + "print (char *) $pc - (char *) main\ncontinue\n" * 8 + "reverse-continue\nprint (char *) $pc - (char *) main\n" * 8)
    assert values(text)[:8] == [str(4 * n) for n in range(8)], text
    assert values(text)[8:] == [str(4 * n) for n in reversed(range(8))], text
