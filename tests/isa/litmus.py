"""Litmus tests: what processors may see of each other's loads and stores, as bare programs for examples/multiprocessor.

Every round the processors meet, wait for a while that differs, and each does its few loads and stores at words that no round
before has touched; the first one prints what all of them loaded, a letter for each processor: 'a' + the first value + twice the second.
"""

from pathlib import Path

from tests.isa.programs import HEAD, executable, target

BASE, X, Y, MEET, SEEN, CONSOLE = 0x80020000, 0x0000, 0x8000, 0x10000, 0x10100, 0xBF000000
ROUNDS = 48  # of 64 bytes each
MOST = 500  # rounds that there is room for
SCRIPT = """
ENTRY(__start)
SECTIONS {
  .text 0x80001000 : AT(0x1000) { *(.text) }
  /DISCARD/ : { *(.data .bss .MIPS.abiflags .reginfo .pdr .gnu.attributes) }
}
"""

# $s0 base, $s1 round, $s2 x, $s3 y, $s4 this processor, $s5 the chance of its waits, $t8 one; what is loaded goes to $v0 and $v1.
PROGRAM = """
.globl __start
__start:
  mfc0 $k0, $16
  ori $k0, $k0, 7
  xori $k0, $k0, 4
  mtc0 $k0, $16
  ehb
  mfc0 $s4, $15, 1
  andi $s4, $s4, 0x3ff
  sltiu $t0, $s4, {cpus}
6: beq $t0, $zero, 6b
  lui $s0, {base_high}
  addiu $s1, $zero, 0
  addiu $t8, $zero, 1
  addiu $s5, $s4, {seed}
round:
  sll $t0, $s1, 6
  addu $s2, $s0, $t0
  ori $t1, $zero, {y}
  addu $s3, $s2, $t1
  {warm}
  jal meet
  nop
  lui $t0, 0x41c6
  ori $t0, $t0, 0x4e6d
  mul $s5, $s5, $t0
  addiu $s5, $s5, 12345
  srl $t0, $s5, 16
  andi $t0, $t0, 31
1: bne $t0, $zero, 1b
  addiu $t0, $t0, -1
  addiu $v0, $zero, 0
  addiu $v1, $zero, 0
{choose}
{bodies}
done:
  sll $v1, $v1, 1
  addu $v0, $v0, $v1
  addiu $v0, $v0, 97
  lui $t0, 1
  addu $t0, $t0, $s0
  sll $t1, $s4, 5
  addu $t0, $t0, $t1
  sw $v0, 0x100($t0)
  sync
  jal meet
  nop
  bne $s4, $zero, next
  addiu $t2, $zero, {cpus}
  lui $t0, 1
  addu $t0, $t0, $s0
  lui $t3, {console_high}
2: lw $t1, 0x100($t0)
  addiu $t0, $t0, 32
  addiu $t2, $t2, -1
  bne $t2, $zero, 2b
  sb $t1, 0($t3)
  addiu $t1, $zero, 10
  sb $t1, 0($t3)
next:
  addiu $s1, $s1, 1
  addiu $t0, $zero, {rounds}
  bne $s1, $t0, round
  nop
end:
  jal meet
  nop
  bne $s4, $zero, 3f
  lui $t3, {console_high}
{last}
  sw $zero, 4($t3)
3: b 3b
  nop

# Waits until all processors are here as often as this one.
meet:
  lui $t0, 1
  addu $t0, $t0, $s0
  addiu $s6, $s6, {cpus}
4: ll $t1, 0($t0)
  addiu $t1, $t1, 1
  sc $t1, 0($t0)
  beq $t1, $zero, 4b
  nop
  sync
5: lw $t1, 0($t0)
  subu $t1, $t1, $s6
  bltz $t1, 5b
  nop
  jr $ra
  sync
"""


def program(bodies: list[list[str]], rounds: int = ROUNDS, seed: int = 1, warm: str = "", last: str = "") -> str:
    """Assembly: the body of each processor as instructions, of which those behind a branch are in its delay slot."""
    choose = "".join(f"  addiu $t0, $zero, {k}\n  beq $s4, $t0, body{k}\n  nop\n" for k in range(1, len(bodies)))
    text = "".join(f"body{k}:\n" + "".join(f"  {line}\n" for line in body) + "  b done\n  nop\n" for k, body in enumerate(bodies))
    return PROGRAM.format(base_high=BASE >> 16, console_high=CONSOLE >> 16, y=Y, cpus=len(bodies), rounds=rounds, seed=seed, warm=warm, choose=choose, bodies=text, last=last)


def assembled(text: str, directory: Path, big: bool) -> Path:
    """An ELF file, of kseg0 and loaded at the physical addresses behind."""
    source, script, linked = (directory / name for name in ("litmus.s", "litmus.ld", "litmus.elf"))
    source.write_text(f"{HEAD}.text\n{text}\n")
    script.write_text(SCRIPT)
    return executable([source], linked, target(big, "mips32r2"), "--nmagic", "-T", str(script))


# ---- Shapes -------------------------------------------------------------------------------------------------------------
STORE_X, STORE_Y, LOAD_X, LOAD_Y = "sw $t8, 0($s2)", "sw $t8, 0($s3)", "lw {}, 0($s2)", "lw {}, 0($s3)"
FIRST, SECOND = "$v0", "$v1"
# The parts of docs/memory_model.md; a processor has the part of its number modulo how many there are.
PARTS: dict[str, list[list[str]]] = {
    "SB": [[STORE_X, LOAD_Y.format(FIRST)], [STORE_Y, LOAD_X.format(FIRST)]],
    "MP": [[STORE_X, STORE_Y], [LOAD_Y.format(FIRST), LOAD_X.format(SECOND)]],
    "LB": [[LOAD_X.format(FIRST), STORE_Y], [LOAD_Y.format(FIRST), STORE_X]],
    "IRIW": [[STORE_X], [STORE_Y], [LOAD_X.format(FIRST), LOAD_Y.format(SECOND)], [LOAD_Y.format(FIRST), LOAD_X.format(SECOND)]],
    "CoRR": [[STORE_X], [LOAD_X.format(FIRST), LOAD_X.format(SECOND)]],
}


def parts(shape: str, processors: int, sync: bool) -> list[list[str]]:
    """The bodies of so many processors, with a `sync` between the two accesses of each."""
    bodies = [part[:1] + ["sync"] * (sync and len(part) > 1) + part[1:] for part in PARTS[shape]]
    return [bodies[k % len(bodies)] for k in range(processors)]


def relaxed(shape: str, outcome: tuple[tuple[int, int], ...]) -> bool:
    """Whether the values of each processor's two loads are the outcome that the page asks about: of some processors, one for each part; of LB, where one that is
    not ahead of its store may see that of another, of all."""
    by_part = [set(outcome[k :: len(PARTS[shape])]) for k in range(len(PARTS[shape]))]
    if shape == "SB":
        return all((0, 0) in seen for seen in by_part)
    if shape == "LB":
        return all(seen == {(1, 0)} for seen in by_part)
    return all((1, 0) in seen for seen in by_part[2 if shape == "IRIW" else 1 :])
