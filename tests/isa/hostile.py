"""A program that bears an interrupt before each of its instructions, and faults: delay slots, branches that annul theirs, HI and LO
with MADD and MSUB, unaligned accesses over the border of a page, LL and SC.

Its kernel runs the body in user mode again and again, the timer set to one tick more each time, and one instruction later every
other time, until it comes too late; whatever the handler did, registers and memory must be the same at the end as of the first run,
which no interrupt disturbs.  Then so with a handler that also empties the TLB, so that the instruction that it returns to is not mapped and
its data are not; then with a timer that comes again after a random time, long enough that an instruction is completed in between.  So the same
program serves every processor with a timer, and needs nothing at its ports.

It prints words: 0, or the number of the first run that was wrong and what was wrong; how many runs of each kind there were, and interrupts in them; then the
state of the first run, registers, HI, LO and the sum of its memory, for a comparison of processors."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.isa.programs import HEAD
from tests.isa.system import CU0, END, EXL, IE, START, UM, USER, assemble

AREA, WORDS = 0x00500F00, 128  # around the border of two pages
INTERRUPTS = 0x8000  # Status.IM7
KINDS = ("one interrupt", "and all pages unmapped", "random interrupts")
FOUND = 35  # words of a state: r0 is unused, k0 and k1 are HI and LO, then the sum of the memory
RUNS = 200  # of random interrupts
LEAST = 200  # instructions of the body, and so interrupts that come in different places

VECTORS = """
.section .vectors, "ax", @progbits
refill:                         # maps every page to the frame of its address
  mfc0 $k0, $8
  srl $k0, $k0, 13
  sll $k0, $k0, 7
  ori $k0, $k0, 0x1e
  mtc0 $k0, $2
  addiu $k0, $k0, 0x40
  mtc0 $k0, $3
  ehb
  tlbwr
  eret
.org 0x180
  lui $k0, %hi(general)
  addiu $k0, $k0, %lo(general)
  jr $k0
  nop
"""
KERNEL = f"""
# What lies at `variables`: the state that is compared, then these.
.set interrupts, {4 * FOUND}
.set kind, interrupts + 4
.set runs, kind + 4
.set ticks, runs + 4
.set random, ticks + 4
.set counts, random + 4         # of runs and interrupts, of each kind
.set first, counts + {8 * len(KINDS)}
.set initial, first + {4 * FOUND}
.text
.globl __start
general:
  mfc0 $k0, $13
  andi $k0, $k0, 0x7c
  beqz $k0, interrupt
  addiu $k0, $k0, -0x20
  lui $k1, %hi(variables)
  beqz $k0, finished
  addiu $k1, $k1, %lo(variables)
  mfc0 $s0, $13                 # an exception that should not be
  b wrong
  addu $fp, $k1, $zero

interrupt:
  lui $k1, %hi(variables)
  addiu $k1, $k1, %lo(variables)
  lw $k0, interrupts($k1)
  addiu $k0, $k0, 1
  sw $k0, interrupts($k1)
  lw $k0, kind($k1)
  addiu $k0, $k0, -1
  beqz $k0, unmap
  addiu $k0, $k0, -1
  mfc0 $k1, $9
  beqz $k0, again
  addiu $k1, $k1, -1
leave:
  mtc0 $k1, $11                 # not again for a long time
  eret
unmap:
  LI $k0, 0x9001e000
  mtc0 $zero, $2
  mtc0 $zero, $3
1:
  ext $k1, $k0, 13, 4
  mtc0 $k1, $0
  mtc0 $k0, $10
  ehb
  tlbwi
  bnez $k1, 1b
  addiu $k0, $k0, -0x2000
  mtc0 $zero, $10
  mfc0 $k1, $9
  b leave
  addiu $k1, $k1, -1
again:
  lui $k1, %hi(variables)
  addiu $k1, $k1, %lo(variables)
  lw $k0, random($k1)
  sll $k1, $k0, 13
  xor $k0, $k0, $k1
  srl $k1, $k0, 17
  xor $k0, $k0, $k1
  sll $k1, $k0, 5
  xor $k0, $k0, $k1
  lui $k1, %hi(variables)
  addiu $k1, $k1, %lo(variables)
  sw $k0, random($k1)
  mfc0 $k1, $9
  andi $k0, $k0, 0xff
  addu $k1, $k1, $k0
  addiu $k1, $k1, 32
  mtc0 $k1, $11
  eret

finished:
{{save}}
  sw $zero, 0($k1)
  addu $fp, $k1, $zero
  mfhi $t0
  sw $t0, {4 * 26}($fp)
  mflo $t0
  sw $t0, {4 * 27}($fp)
  LI $t0, {0x80000000 | AREA:#x}
  LI $t1, {WORDS}
  addu $t2, $zero, $zero
1:
  lw $t3, 0($t0)
  rotr $t2, $t2, 31
  addiu $t1, $t1, -1
  xor $t2, $t2, $t3
  bnez $t1, 1b
  addiu $t0, $t0, 4
  sw $t2, {4 * (FOUND - 1)}($fp)
  lw $t0, runs($fp)
  addiu $t1, $fp, first
  addiu $t2, $fp, 0
  LI $t3, {FOUND}
  bnez $t0, compare
  addu $s0, $zero, $zero
1:
  lw $t4, 0($t2)                # the first one
  sw $t4, 0($t1)
  addiu $t1, $t1, 4
  addiu $t3, $t3, -1
  bnez $t3, 1b
  addiu $t2, $t2, 4
  b next
  nop
compare:
  lw $t4, 0($t2)
  lw $t5, 0($t1)
  addiu $t1, $t1, 4
  bne $t4, $t5, wrong
  addiu $t2, $t2, 4
  addiu $s0, $s0, 1
  bne $s0, $t3, compare
  nop
next:                           # kind 0 and 1: until no interrupt came in time
  lw $t0, runs($fp)
  lw $t1, kind($fp)
  addiu $t0, $t0, 1
  sw $t0, runs($fp)
  sll $t2, $t1, 3
  addu $t2, $t2, $fp
  lw $t3, counts($t2)
  addiu $t3, $t3, 1
  sw $t3, counts($t2)
  lw $t4, interrupts($fp)
  lw $t5, counts + 4($t2)
  addu $t5, $t5, $t4
  sw $t5, counts + 4($t2)
  lw $t6, ticks($fp)
  addiu $t6, $t6, 1
  sw $t6, ticks($fp)
  sltiu $t7, $t6, 4             # the first come in the kernel or too late, if it is slow
  bnez $t7, run
  addiu $t8, $t1, -2
  beqz $t8, 1f
  sltiu $t7, $t3, {RUNS}
  sltu $t7, $zero, $t4
1:
  bnez $t7, run
  addiu $t1, $t1, 1
  sw $t1, kind($fp)
  addiu $t8, $t1, -{len(KINDS)}
  bnez $t8, run
  sw $zero, ticks($fp)
  addu $t9, $zero, $zero
  b print
  addu $s0, $zero, $zero
wrong:                          # s0: which word, or Cause
  lw $t9, runs($fp)
  addiu $t9, $t9, 1
print:
  LI $gp, 0x80200000
  RECORD $t9
  RECORD $s0
  addiu $t0, $fp, counts
  LI $t1, {2 * len(KINDS) + FOUND}
1:
  lw $t2, 0($t0)
  RECORD $t2
  addiu $t1, $t1, -1
  bnez $t1, 1b
  addiu $t0, $t0, 4
{END}

__start:
  LI $t0, {CU0:#x}
  mtc0 $t0, $12
  mtc0 $zero, $13
  mtc0 $zero, $5
  mtc0 $zero, $6
  mtc0 $zero, $2
  mtc0 $zero, $3
  LI $t0, 0x9001e000
1:
  ext $t1, $t0, 13, 4
  mtc0 $t1, $0
  mtc0 $t0, $10
  ehb
  tlbwi
  bnez $t1, 1b
  addiu $t0, $t0, -0x2000
  mtc0 $zero, $10
  LA $fp, variables
run:                            # the same memory and registers each time
  LI $t0, {0x80000000 | AREA:#x}
  LI $t1, {WORDS}
  LI $t2, 0x9e3779b9
  addu $t3, $zero, $zero
1:
  sw $t3, 0($t0)
  addu $t3, $t3, $t2
  addiu $t1, $t1, -1
  bnez $t1, 1b
  addiu $t0, $t0, 4
  sw $zero, interrupts($fp)
  LI $t0, {USER:#x}
  mtc0 $t0, $14
  LI $t0, {UM | EXL | IE | INTERRUPTS:#x}
  mtc0 $t0, $12
  mtc0 $zero, $9
  lw $t0, runs($fp)
  lw $t1, ticks($fp)
  bnez $t0, 1f
  addiu $t0, $t1, 1
  addiu $t0, $zero, -1          # no interrupt in the first
1:
  srl $t0, $t0, 1
  addiu $t0, $t0, 20            # ticks of what follows
  andi $t1, $t1, 1
  addu $k1, $fp, $zero
  mtc0 $t0, $11
  beqz $t1, 1f
  mtc0 $zero, $9
  nop
1:
{{load}}
  eret
.data
variables:
  .space random
  .word 0x2545f491
  .space initial - random - 4
  .word {{initial}}
"""

BODY = f"""
.section .user, "ax", @progbits
  lui $s0, {AREA >> 16:#x}
  ori $s0, $s0, {AREA & 0xffff:#x}
  addiu $s7, $zero, 2
body:
  addiu $s1, $zero, 3           # HI and LO
  mthi $s7
  mtlo $t0
1:
  addiu $s1, $s1, -1
  madd $s1, $t0
  bnez $s1, 1b
  madd $t1, $t2
  maddu $t2, $t3
  mult $t0, $t1
  mflo $t3
  b 2f
  mfhi $t4
  nop
2:
  mul $t5, $t3, $t1
  msub $t5, $t4
  b 3f
  msubu $t4, $t3
  madd $t0, $t0
3:
  mfhi $t6
  divu $zero, $t6, $s7
  mflo $t6
  div $zero, $t1, $s0
  madd $t6, $t2
  mfhi $v0
  addiu $s2, $s0, 0xfe           # over the border of a page
  lwl $t5, 0($s2)
  lwr $t5, 3($s2)
  lwl $t6, 3($s2)
  b 4f
  lwr $t6, 0($s2)
  nop
4:
  swl $t5, 1($s2)
  swr $t6, 2($s2)
  beq $s0, $s0, 5f
  swl $t4, -2($s2)
  sw $zero, 0($s0)
5:
  lwl $a0, 1($s2)
  lwl $a0, 1($s2)
  lwr $a0, -1($s2)
6:
  ll $t7, 0x40($s0)             # links
  addiu $t7, $t7, 1
  sc $t7, 0x40($s0)
  beqz $t7, 6b
  lwr $a1, 0x41($s0)
7:
  ll $t7, 0x44($s0)
  addu $t7, $t7, $s7
  b 8f
  sc $t7, 0x44($s0)
  nop
8:
  beqz $t7, 7b
  sw $a1, 0x48($s0)
  addiu $s3, $zero, 4           # branches that annul their slots
9:
  addiu $s3, $s3, -1
  lw $t8, 0x80($s0)
  addiu $t8, $t8, 1
  bnezl $s3, 9b
  sw $t8, 0x80($s0)
  bgtzl $s3, body
  madd $t8, $t8
  blezl $s3, 10f
  madd $t8, $t1
  sw $t8, 0x84($s0)
10:
  bltzl $s0, body
  sw $zero, 0x40($s0)
  bal 11f                       # links of branches
  addu $a2, $ra, $zero
  b 12f
  sb $a2, 0x91($s0)
11:
  lh $a3, 0x92($s0)
  sh $a3, 0x9a($s0)
  jr $ra
  madd $a3, $ra
12:
  lui $t9, %hi(13f)
  addiu $t9, $t9, %lo(13f)
  jalr $v1, $t9
  lbu $a3, 0x91($s0)
13:
  teq $zero, $s0
  b 14f
  tne $zero, $zero
14:
  movz $t0, $t8, $zero
  movn $t1, $t8, $zero
  ins $t2, $t8, 5, 9
  ext $t3, $t2, 3, 17
  addu $t1, $t1, $t3
  sync
  pref 0, 0($s0)
  sw $t1, 0xa0($s0)
  b 15f
  lw $t2, 0xa0($s0)
15:
  addu $t2, $t2, $t2
  seb $t3, $t2
  j 16f
  rotr $t3, $t3, 7
.org 0xffc
16:
  bne $t3, $s0, 17f             # the last word of a page
  madd $t3, $t2                 # its slot, the first of the next
  nop
17:
  addiu $s7, $s7, -1
  bnez $s7, body
  sw $s7, 0x180($s0)
  mfhi $t4
  mflo $t5
  syscall
"""


def hostile_text() -> str:
    saved = [n for n in range(1, 32) if n not in (26, 27)]
    initial = [n * 0x01234567 + 0x89 & 0xFFFFFFFF for n in range(32)]
    kernel = KERNEL.replace("{save}", "\n".join(f"  sw ${n}, {4 * n}($k1)" for n in saved))
    kernel = kernel.replace("{load}", "\n".join(f"  lw ${n}, initial + {4 * n}($k1)" for n in saved))
    return HEAD + START[: START.index(".section .vectors")] + VECTORS + kernel.replace("{initial}", ", ".join(map(hex, initial))) + BODY


def hostile_program(output: Path, big: bool) -> Path:
    return assemble(hostile_text(), output, big)


def checked(done: subprocess.CompletedProcess) -> list[int]:
    """The final state that a run printed, if it is right in all else."""
    assert done.returncode == 0, done.stderr
    wrong, what, *rest = (int(word, 16) for word in done.stdout.split())
    assert wrong == 0, f"run {wrong} ends otherwise than the first: word {what} of its state, or Cause of an exception"
    counts, state = rest[: 2 * len(KINDS)], rest[2 * len(KINDS) :]
    assert len(state) == FOUND
    for kind, runs, interrupts in zip(KINDS, counts[::2], counts[1::2], strict=True):
        assert runs >= LEAST and interrupts >= runs - 4 or kind == "random interrupts" and interrupts > runs == RUNS, (kind, runs, interrupts)
    return state
