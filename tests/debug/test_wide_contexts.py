"""Programs that one core executes at the same time, seen by gdb: each is a process, and stops and changes as on a core of its own."""

import struct

import pytest

from tests.debug.test_gdb import same_results, values
from tests.isa import riscv
from tests.isa.programs import assemble
from tests.sample import sampled, seldom

PROGRAMS = ("sha256", "list_walk")


def states(run, process: int, number: int, steps: int) -> list[tuple[int, tuple[int, ...]]]:
    """pc and registers of one of the processes wherever it stops; a0 is at first the number of its context."""
    remote, found = run.remote(), []
    remote.ask("qSupported:multiprocess+")
    if process > 1:
        assert remote.ask(f"vAttach;{process}").startswith("T05")
    assert remote.ask(f"Hgp{process}.1") == "OK"
    if number:
        assert remote.ask(f"Pa={struct.pack('<I', number).hex()}") == "OK"
    for _ in range(steps):
        registers = struct.unpack("<33I", bytes.fromhex(remote.ask("g")))
        found.append((registers[32], registers[:32]))
        assert remote.ask(f"vCont;s:p{process}.1").startswith(f"T05thread:p{process}.1")
    run.process.kill()
    run.process.wait()
    run.path.unlink(missing_ok=True)
    return found


@pytest.mark.parametrize("context", [0, 1])
def test_each_instruction_in_its_order(context: int, machine, firmware, debugged) -> None:
    programs = ",".join(str(firmware(name)) for name in PROGRAMS)
    orderly = states(debugged(machine("riscv"), "--program", firmware(PROGRAMS[context])), 1, context, 250)
    assert states(debugged(machine("contexts"), "--program", programs), context + 1, 0, 250) == orderly


SUM = """
mv s0, a0
la a1, cell
li a0, 0
{adds}
lw a2, 0(a1)
add a0, a0, a2
end: j end
.data
.balign 8
cell: .word {cell}
.text
"""


@pytest.mark.parametrize("place", sampled([0, 1, 3, 14], 4, 2))
@pytest.mark.parametrize("context", [0, 1])
def test_what_is_written_acts(context: int, place: int, machine, debugged, tmp_path) -> None:
    """On one program: a register, memory and the pc, before an instruction that adds 1. The other goes on meanwhile, and nothing of it is changed."""
    elves = [riscv.assemble(SUM.format(adds=f"addi a0, a0, {n + 1}\n" * 16, cell=7 + n), tmp_path / f"sum{n}.elf", "device") for n in range(2)]
    run = debugged(machine("contexts"), "--program", ",".join(map(str, elves)))
    thread, other, add = context + 1, 2 - context, context + 1
    text = run.gdb(
        f"""inferior {thread}
        break *((char *) &__start + {4 * (4 + place)})
        inferior 1
        continue
        delete
        print $a0
        set var $a0 = 100
        set var *(unsigned *) &cell = 50
        print *(unsigned *) &cell
        stepi
        print $a0
        set var $pc = (char *) &__start + {4 * (4 + place)}
        break *(char *) &end
        continue
        print $a0
        print (int) $s0
        delete
        inferior {other}
        print *(unsigned *) &cell
        print (int) $s0
        break *(char *) &end
        inferior 1
        continue
        print $a0"""
    )
    assert values(text) == [str(place * add), "50", str(100 + add), str(100 + add + (16 - place) * add + 50), str(context),
                            str(8 - context), str(1 - context), str(16 * (2 - context) + 8 - context)], text  # fmt: skip


SHARED = """
  lui $t0, %hi(cell)
  addiu $t0, $t0, %lo(cell)
  bnez $a0, wait
  addiu $v0, $zero, 0
add: addiu $v0, $v0, 1
  addiu $v0, $v0, 1
  sw $v0, 0($t0)
  sw $v0, 4($t0)
end: b end
  nop
wait: lw $v0, 0($t0)
  beqz $v0, wait
  nop
seen: addu $v0, $v0, $v0
done: b done
  nop
.data
.balign 64
cell: .word 0, 0
"""


@seldom
def test_one_memory(machine, debugged, tmp_path) -> None:
    """What is written through one process is there for the other, in caches as well; each has registers of its own, and is stopped where the other passes."""
    elf = assemble(SHARED, tmp_path / "shared.elf", True, "device")
    run = debugged(machine("contexts mips"), "--program", elf)
    text = run.gdb(
        """break *(char *) &add
        continue
        print $a0
        set var $v0 = 20
        inferior 2
        print $a0
        set var *(unsigned *) &cell = 5
        break *(char *) &seen
        inferior 1
        print *(unsigned *) &cell
        continue
        print $v0
        set var $v0 = 100
        stepi
        print $v0
        delete
        inferior 1
        break *(char *) &end
        continue
        print $v0
        print *(unsigned *) &cell
        inferior 2
        print *((unsigned *) &cell + 1)"""
    )
    assert values(text) == ["0", "1", "5", "5", "200", "22", "22", "22"], text


@pytest.mark.soak  # tests/debug/test_machines.py does the same with the core of one context
def test_the_run_is_not_affected(machine, firmware, debugged, run_sim, tmp_path) -> None:
    """Breakpoints at one name in two programs, stops of both, and the way back; the names are those of each one's own program."""
    programs = ",".join(str(firmware(name)) for name in PROGRAMS)
    run = debugged(machine("contexts"), "--program", programs, "--stats", "debugged.json")
    text = run.gdb(
        """break main
        info threads
        continue
        monitor where
        continue
        delete
        inferior 2
        stepi
        print $pc
        reverse-stepi
        reverse-stepi
        stepi
        stepi
        print $pc"""
    )
    assert "(core context 0)" in text and "(core context 1)" in text, text
    assert "hit Breakpoint 1.1, main () at firmware/sha256/sha256.c" in text and "hit Breakpoint 1.2, main () at firmware/list_walk/list_walk.c" in text, text
    where = [line for line in text.splitlines() if "core context" in line and "0x" in line and "main+" in line]
    assert any("sha256.c" in line for line in where) and any("list_walk.c" in line for line in where), text
    assert len(set(values(text))) == 1, text
    assert run.end()[0] == 0
    same_results(tmp_path, run_sim, machine("contexts"), "--program", programs)


def test_an_error_names_the_context(machine, run_sim, tmp_path) -> None:
    good = riscv.assemble("1: j 1b", tmp_path / "good.elf", "device")
    bad = riscv.assemble("nop\nnop\nfails: .word 0", tmp_path / "bad.elf", "device")
    done = run_sim(machine("contexts"), "--program", f"{good},{bad}", ok=False)
    text = done.err
    assert "core.core.list: context 1: reserved instruction: pc 0x" in text, text
    assert "cpu core context 0:" in text and "cpu core context 1:" in text and "<fails+0x0>" in text, text
