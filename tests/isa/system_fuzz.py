"""Random programs in user mode under a kernel that does something at random on every exception: it maps the page in question, or does so wrongly, with pages
of four sizes, by index or at random; it overwrites entries, changes the address space, what is wired, and when the timer comes; it maintains caches
and reads every register of coprocessor 0.  Pages are mapped several times, cached and not.

Nothing is printed.  What happens depends on time, so such a program is for a core in lockstep with the functional system, which follows it."""

from __future__ import annotations

from tests.isa.programs import HEAD
from tests.isa.streams import BASE, SCRATCH
from tests.isa.system import BUFFER, END, EXL, FRAMES, IE, START, UM, USER
from tests.isa.system_streams import SAVED, UserGenerator

AREA, UNCACHED_AREA, PAGES = 0x10000000, 0x20000000, 32
UNCACHED_FRAMES = FRAMES + 0x80000
INTERRUPTS = 0x8400  # the timer, and a line
PATIENCE = 6  # faults in one place before its page is mapped rightly
KEPT = (2, 8, 9, 10, 11, 26, 27, 31)
READ = ((0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (8, 0), (9, 0), (10, 0), (11, 0), (12, 0), (12, 1), (13, 0), (14, 0), (15, 0), (15, 1), (16, 0), (16, 1), (16, 2), (16, 3), (16, 7), (30, 0))

KERNEL = f"""
.section .vectors, "ax", @progbits
  j handler
  nop
.org 0x180
  j handler
  nop
.text
# $2: the next random number.
.macro RANDOM
  lw $2, 64($29)
  sll $27, $2, 13
  xor $2, $2, $27
  srl $27, $2, 17
  xor $2, $2, $27
  sll $27, $2, 5
  xor $2, $2, $27
  sw $2, 64($29)
.endm
# Goes to a label but once in 2^bits.
.macro SELDOM bits, label
  RANDOM
  srl $27, $2, 32 - \\bits
  bnez $27, \\label
  nop
.endm
# EntryHi, EntryLo0 and EntryLo1 of the pair around address $8, with PageMask; flags are those of both in $9.
.macro PAIR
  RANDOM
  srl $2, $2, 27                # of four sizes, mostly the smallest
  addiu $10, $zero, 0
  addiu $27, $2, -24
  bltz $27, 90f
  ext $2, $2, 0, 2
  sll $2, $2, 1
  addiu $10, $zero, 1
  sllv $10, $10, $2
  addiu $10, $10, -1
  sll $10, $10, 13
90:
  mtc0 $10, $5
  nor $11, $10, $zero
  srl $11, $11, 13
  sll $11, $11, 13
  and $11, $8, $11              # the pair's address
  mfc0 $27, $10
  andi $27, $27, 0xff
  or $27, $27, $11
  mtc0 $27, $10
  srl $27, $11, 28              # code is where it is
  beqz $27, 91f
  addiu $27, $27, -1
  sll $27, $27, 19              # 0, or what lies between the frames
  lui $2, {FRAMES >> 16:#x}
  addu $27, $27, $2
  ext $2, $11, 0, 19
  addu $11, $27, $2
91:
  srl $11, $11, 6
  or $11, $11, $9
  mtc0 $11, $2
  srl $10, $10, 7               # the other half
  addiu $10, $10, 0x40
  or $11, $11, $10
  mtc0 $11, $3
.endm
.macro WRITE
  RANDOM
  srl $2, $2, 27
  mtc0 $2, $0
  andi $2, $2, 16
  beqz $2, 92f
  ehb
  b 93f
  tlbwr
92:
  tlbwi
93:
.endm
handler:
{"".join(f"  sw ${n}, {4 * k}($29){chr(10)}" for k, n in enumerate(KEPT))}
  mfc0 $8, $14                  # again and again in one place: with an empty TLB, and what is right
  lw $9, 68($29)
  lw $10, 72($29)
  sw $8, 68($29)
  bne $8, $9, 1f
  addiu $10, $10, 1
  sltiu $9, $10, {PATIENCE}
  bnez $9, 3f
  nop
  jal empty
  nop
  b 3f
  addiu $10, $zero, -1
1:
  addiu $10, $zero, 0
3:
  sw $10, 72($29)
  mfc0 $8, $13
  andi $8, $8, 0x7c
  beqz $8, timer
  addiu $9, $8, -16
  bltz $9, fault
  nop
  mfc0 $8, $14
  LA $9, finished - 4
  beq $8, $9, finish
  nop
  jal pass
  nop
  b more
  nop
timer:
  RANDOM
  andi $2, $2, 0x3ff
  mfc0 $8, $9
  addu $8, $8, $2
  addiu $8, $8, 64
  mtc0 $8, $11
  b more
  nop
fault:                          # flags: uncached or not by the address; valid and dirty mostly
  mfc0 $8, $8
  RANDOM
  lw $10, 72($29)
  bltz $10, 1f
  addiu $9, $zero, 0x6
  srl $9, $2, 29
  addiu $9, $9, -2
  bgez $9, 1f
  addiu $9, $zero, 0x6
  ext $9, $2, 8, 3              # D, V and G at random
1:
  jal cached
  nop
  PAIR
  WRITE
more:                           # what has nothing to do with it
  SELDOM 2, 1f
  RANDOM                        # another page
  ext $8, $2, 0, 17
  ext $9, $2, 17, 1
  addiu $9, $9, 1
  sll $9, $9, 28
  or $8, $8, $9
  ext $9, $2, 20, 3
  jal cached
  nop
  PAIR
  WRITE
1:
  SELDOM 3, 1f
  RANDOM                        # another address space
  srl $2, $2, 30
  mtc0 $2, $10
1:
  SELDOM 4, 1f
  RANDOM
  srl $2, $2, 29
  mtc0 $2, $6
1:
  SELDOM 4, 1f
  tlbp
  ehb
  mfc0 $8, $0
  mtc0 $2, $0
  mfc0 $10, $10                 # reading an entry changes the address space
  ehb
  tlbr
  ehb
  mfc0 $8, $5
  mfc0 $8, $10
  mfc0 $8, $2
  mfc0 $8, $3
  mtc0 $10, $10
1:
  SELDOM 4, 1f
{"".join(f"  mfc0 $8, ${n}, {s}{chr(10)}" for n, s in READ)}
1:
  SELDOM 4, 1f
  RANDOM
  ext $8, $2, 0, 17
  lui $9, {0x8000 | FRAMES >> 16:#x}
  addu $8, $8, $9
  cache 0x15, 0($8)
  cache 0x11, 32($8)
  cache 0x10, 64($8)
  synci 96($8)
  cache 0x01, 0($8)
  cache 0x00, 0($8)
1:
  SELDOM 5, 1f
  mfc0 $8, $9
  addiu $8, $8, 200
  mtc0 $8, $11
  wait
  rdhwr $8, $2
  di $8
  ei $8
1:
  SELDOM 4, 1f
  RANDOM                        # the timer, if it was off
  andi $2, $2, 0xff
  mfc0 $8, $9
  addu $8, $8, $2
  addiu $8, $8, 64
  mtc0 $8, $11
1:
{"".join(f"  lw ${n}, {4 * k}($29){chr(10)}" for k, n in enumerate(KEPT))}
  ehb
  eret
# EPC goes behind the instruction, and behind the branch that it is in the slot of; $11 and $9 are lost.
pass:
  mfc0 $9, $14
  mfc0 $11, $13
  srl $11, $11, 31
  sll $11, $11, 2
  addu $9, $9, $11
  addiu $9, $9, 4
  mtc0 $9, $14
  jr $31
  nop
# $9 is lost.
empty:
  LI $9, 0x9001e000
  mtc0 $zero, $2
  mtc0 $zero, $3
  mtc0 $zero, $5
  mfc0 $8, $10
1:
  ext $11, $9, 13, 4
  mtc0 $11, $0
  mtc0 $9, $10
  ehb
  tlbwi
  bnez $11, 1b
  addiu $9, $9, -0x2000
  jr $31
  mtc0 $8, $10
# Adds to the flags in $9 how the page at $8 is cached.
cached:
  srl $27, $8, 29
  bnez $27, 1f
  nop
  jr $31
  ori $9, $9, 0x18
1:
  jr $31
  ori $9, $9, 0x10
finish:
  LI $gp, {BUFFER:#x}
{END}
.globl __start
__start:
  LI $29, {SAVED:#x}
  LI $8, {{seed}}
  sw $8, 64($29)
  sw $zero, 68($29)
  sw $zero, 72($29)
  mtc0 $zero, $13
  mtc0 $zero, $4
  mtc0 $zero, $6
  mtc0 $zero, $2
  mtc0 $zero, $3
  mtc0 $zero, $5
  mtc0 $zero, $10
  jal empty
  nop
  LI $8, {USER:#x}
  mtc0 $8, $14
  LI $8, {UM | EXL | IE | INTERRUPTS:#x}
  mtc0 $8, $12
  ehb
  eret
"""


class FuzzGenerator(UserGenerator):
    """A stream whose references go to both areas, and that has links."""

    def memory(self) -> None:
        if self.random.random() < 0.15:
            self.linked()
            return
        if self.random.random() < 0.3:
            super().memory()
            return
        i = self.random.choice([*self.by_class["load"], *self.by_class["store"]])
        size = 1 if i.control.get("part") or self.random.random() < 0.05 else int(i.control["size"])
        address = self.random.choice([AREA, UNCACHED_AREA]) + 0x1000 + self.random.randrange((PAGES - 2) * 0x1000 // size) * size
        self.emit(f"lui ${SCRATCH}, {address + 0x8000 >> 16:#x}")
        self.emit(f"{i.name} ${self.register()}, {(address & 0xFFFF ^ 0x8000) - 0x8000}(${SCRATCH})")


def fuzz_program(seed: int, length: int = 3000, write_back: bool = False) -> str:
    """Assembly text; to be assembled by system.assemble().  The kernel invalidates lines of the data cache, which has to write through, unless it writes them
    back before."""
    user = FuzzGenerator(seed, length).user()
    assert f"${BASE}" in user
    kernel = KERNEL.replace("{seed}", hex(seed * 0x9E3779B1 % 2**32 | 1))
    if write_back:
        kernel = kernel.replace("cache 0x11,", "cache 0x15,")
    return HEAD + START[: START.index(".section .vectors")] + kernel + f'.section .user, "ax", @progbits\n{user}'
