"""Random programs in user mode on mapped pages, with a handler that knows every exception: the streams of streams.py with
instructions that raise exceptions among theirs, and references to 32 pages of which some are invalid or clean.

The handler fills a TLB of eight entries one after the other, makes pages valid or dirty when they are used, passes over what
raises other exceptions, and then makes another page invalid or clean and changes the address space at random.  It mixes what
it sees into a sum.  Printed are all registers, HI and LO, that sum, the number of refills, and a sum over the pages.  No
interrupt is enabled and nothing depends on time, so all processors print the same.  LL and SC are left out: whether SC
translates when its link is broken differs.
"""

from __future__ import annotations

from tests.isa.programs import HEAD
from tests.isa.streams import BASE, COUNTER, FREE, SCRATCH, STACK, Generator
from tests.isa.system import BUFFER, END, EXL, FRAMES, START, UM, USER

PAGES, AREA, SAVED = 32, 0x10000000, 0x80001000
RAISES = ["syscall", "break", "teq $zero, $zero", ".word 0x7000003e", "mfc0 $8, $12", ".word 0xc4880010", "eret", "ei", ".word 0x7c03e83b"]

KERNEL = f"""
.text
.macro MIX r
  lw $2, 16($29)
  rotr $2, $2, 27
  addu $2, $2, \\r
  sw $2, 16($29)
.endm
# The page table's pair for the address in $26, into EntryLo0 and EntryLo1; $27 becomes the pair's place
.macro PAIR
  srl $27, $26, 13
  andi $27, $27, {PAGES // 2 - 1}
  sll $27, $27, 3
  LA $1, table
  addu $27, $27, $1
  lw $1, 0($27)
  mtc0 $1, $2
  lw $1, 4($27)
  mtc0 $1, $3
.endm
.macro SAVE
  sw $26, 0($29)
  sw $27, 4($29)
  sw $1, 8($29)
  sw $2, 12($29)
.endm
.macro RESTORE
  lw $26, 0($29)
  lw $27, 4($29)
  lw $1, 8($29)
  lw $2, 12($29)
  ehb
  eret
.endm
refill:
  SAVE
  mfc0 $26, $8
  ins $26, $zero, 0, 2
  MIX $26
  mfc0 $27, $14
  MIX $27
  srl $27, $26, 28
  bnez $27, 1f
  srl $27, $26, 13
  sll $27, $27, 7
  ori $27, $27, 0x1a
  mtc0 $27, $2
  addiu $27, $27, 0x40
  b 2f
  mtc0 $27, $3
1:
  PAIR
2:
  lw $1, 20($29)
  addiu $1, $1, 1
  sw $1, 20($29)
  andi $1, $1, 7
  mtc0 $1, $0
  ehb
  tlbwi
  RESTORE
general:
  SAVE
  mfc0 $27, $13
  andi $27, $27, 0x7c
  addiu $26, $27, -16
  bgez $26, other
  addiu $1, $zero, 2
  addiu $27, $27, -4
  bnez $27, 1f
  mfc0 $26, $8
  addiu $1, $zero, 4
1: # an invalid or clean page: $1 is the bit that it lacks
  srl $27, $26, 12
  andi $27, $27, {PAGES - 1}
  sll $27, $27, 2
  lui $2, %hi(table)
  addiu $2, $2, %lo(table)
  addu $27, $27, $2
  lw $2, 0($27)
  or $2, $2, $1
  sw $2, 0($27)
  PAIR
  MIX $1
  tlbp
  ehb
  tlbwi
  RESTORE
other:
  MIX $27
  mfc0 $26, $14
  MIX $26
  LA $1, finished - 4
  beq $1, $26, finish
  mfc0 $1, $13
  srl $1, $1, 31
  MIX $1
  sll $1, $1, 2
  addu $26, $26, $1
  addiu $26, $26, 4
  mtc0 $26, $14
  addiu $1, $27, -24
  bgez $1, 1f
  mfc0 $1, $8
  MIX $1
1: # another page, another address space
  lw $1, 24($29)
  LI $2, 1103515245
  mul $1, $1, $2
  addiu $1, $1, 12345
  sw $1, 24($29)
  srl $26, $1, 12
  andi $26, $26, {(PAGES - 1) << 4:#x}
  sll $26, $26, 8
  lui $27, {AREA >> 16:#x}
  or $26, $26, $27
  srl $27, $26, 12
  andi $27, $27, {PAGES - 1}
  sll $27, $27, 2
  lui $2, %hi(table)
  addiu $2, $2, %lo(table)
  addu $27, $27, $2
  srl $1, $1, 26
  andi $1, $1, 2
  addiu $1, $1, 2
  lw $2, 0($27)
  or $2, $2, $1
  xor $2, $2, $1
  sw $2, 0($27)
  mfc0 $2, $10
  andi $2, $2, 0xff
  srl $27, $26, 13
  sll $27, $27, 13
  or $27, $27, $2
  mtc0 $27, $10
  PAIR
  ehb
  tlbp
  ehb
  mfc0 $1, $0
  bltz $1, 2f
  lw $1, 24($29)
  tlbwi
2:
  srl $1, $1, 24
  andi $1, $1, 3
  mtc0 $1, $10
  RESTORE
finish:
  LI $26, {BUFFER:#x}
{{registers}}
  lw $8, 0($29)
  sw $8, {4 * 26}($26)
  lw $8, 4($29)
  sw $8, {4 * 27}($26)
  lw $8, 8($29)
  sw $8, 4($26)
  lw $8, 12($29)
  sw $8, 8($26)
  mfhi $8
  sw $8, 0($26)
  mflo $8
  sw $8, {4 * 29}($26)
  lw $8, 16($29)
  sw $8, 128($26)
  lw $8, 20($29)
  sw $8, 132($26)
  lui $8, {0xA000 | FRAMES >> 16:#x}
  LI $9, {PAGES * 1024}
  addiu $10, $zero, 0
1:
  lw $11, 0($8)
  rotr $10, $10, 31
  addiu $9, $9, -1
  xor $10, $10, $11
  bnez $9, 1b
  addiu $8, $8, 4
  sw $10, 136($26)
  addiu $gp, $26, 140
{END}
.globl __start
__start:
  lui $8, 0x1000
  mtc0 $8, $12
  mtc0 $zero, $13
  mtc0 $zero, $5
  mtc0 $zero, $6
  mtc0 $zero, $2
  mtc0 $zero, $3
  addiu $8, $zero, 15
1:
  mtc0 $8, $0
  sll $9, $8, 13
  lui $10, 0x9000
  addu $9, $9, $10
  mtc0 $9, $10
  ehb
  tlbwi
  bnez $8, 1b
  addiu $8, $8, -1
  mtc0 $zero, $10
  LI $29, {SAVED:#x}
  sw $zero, 16($29)
  sw $zero, 20($29)
  sw $zero, 24($29)
  LI $8, {USER:#x}
  mtc0 $8, $14
  LI $8, {UM | EXL:#x}
  mtc0 $8, $12
  ehb
  eret
"""
VECTORS = """
.section .vectors, "ax", @progbits
  j refill
  nop
  .org 0x180
  j general
  nop
"""
MACROS = START[: START.index(".section .vectors")]


class UserGenerator(Generator):
    """A stream that also raises exceptions and leaves its area."""

    def __init__(self, seed: int, length: int) -> None:
        super().__init__(seed, length, "mips32r2")
        self.by_class = {kind: [i for i in found if i.name not in ("ll", "sc")] for kind, found in self.by_class.items()}

    def emit(self, line: str) -> None:
        """qemu fetches the slot of a branch-likely also when it is annulled; so it may not be the first word of a page."""
        name = line.split()[0]
        likely = name[0] == "b" and name.endswith("l") and name not in ("bltzal", "bgezal")
        if likely and sum(not text.endswith(":") for text in self.lines) % 1024 == 1023:
            super().emit("nop")
        super().emit(line)

    def plain(self) -> None:
        if self.random.random() < 0.06:
            self.emit(self.random.choice(RAISES))
        else:
            super().plain()

    def compared(self, count: int) -> list[int]:
        """qemu takes a branch whose registers say that it is never taken for no branch, and forgets its delay slot."""
        return self.random.sample(FREE, count)

    def memory(self) -> None:
        """Half of the references are to any page, some of them misaligned."""
        if self.random.random() < 0.5:
            super().memory()
            return
        i = self.random.choice([*self.by_class["load"], *self.by_class["store"]])
        size = 1 if i.control.get("part") or self.random.random() < 0.1 else int(i.control["size"])
        address = AREA + 0x1000 + self.random.randrange((PAGES - 2) * 0x1000 // size) * size
        self.emit(f"lui ${SCRATCH}, {address + 0x8000 >> 16:#x}")
        self.emit(f"{i.name} ${self.register()}, {(address & 0xFFFF ^ 0x8000) - 0x8000}(${SCRATCH})")

    def user(self) -> str:
        self.lines += [f"lui ${BASE}, {AREA + PAGES * 0x800 >> 16:#x}", f"lui ${COUNTER}, 0", f"lui ${SCRATCH}, 0", "mtlo $0", "mthi $0"]
        for n in FREE:
            value = self.random.choice([0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, self.random.getrandbits(32)])
            self.lines += [f"lui ${n}, {value >> 16:#x}", f"ori ${n}, ${n}, {value & 0xFFFF:#x}"]
        while self.budget > 0:
            self.step()
        return "\n".join([*self.lines, "break 1", "finished: nop", ""])


def random_system_program(seed: int, length: int = 3000) -> str:
    """Assembly text; to be assembled by system.assemble()."""
    generator = UserGenerator(seed, length)
    user = generator.user()
    bits = [generator.random.choice([0x18, 0x1A, 0x1E]) for _ in range(PAGES)]
    table = "\n".join(f".word {FRAMES + 4096 * (7 * n % PAGES) >> 12 << 6 | bits[n]:#x}" for n in range(PAGES))
    registers = "\n".join(f"  sw ${n}, {4 * n}($26)" for n in range(32) if n not in (1, 2, 26, 27, STACK, 0))
    return HEAD + MACROS + VECTORS + KERNEL.replace("{registers}", registers) + f".section .user, \"ax\", @progbits\n{user}.data\ntable:\n{table}\n"
