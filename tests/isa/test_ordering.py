"""`sync` and `fence`: two cores whose caches post their stores (store-buffering litmus). Each writes its own word and then reads
the other's; that both read the old value is possible, but never with a barrier between the two."""

from pathlib import Path

import pytest

from tests.isa import riscv
from tests.isa.programs import assemble
from tests.sample import sampled

MACHINE = """
import memory_types;
runtime parameter program = "" : string;
clock cpu_clk = 100 MHz;
instance start[2] : program_start;
start[0].program = program;
start[1].entry = 0x400100;
instance arbiter : memory_arbiter {{ width = 32; }};
instance controller : sram_controller {{
  width = 32; first_access = 20; next_access = 20;
  segments = [{{ base = 0, size = 0x800000 }}, {{ base = 0xffff0000, size = 8 }}];
}};
instance shared : memory_state {{ width = 32; size = 8 MiB; big_endian = {big}; image = program; }};
instance console : console;
instance core[2] : {core} {{ start_halted = true; }};
instance instructions[2] : cache {{ fill_width = 32; line = 32; sets = 64; big_endian = {big}; }};
instance data[2] : cache {{
  fill_width = 32; line = 32; sets = 64; write_buffer = 4; big_endian = {big};
  cacheable = <<< return address < 0x800000; >>>;
}};
for (i = 0; i < 2; i = i + 1) {{
  start[i].control -> core[i].control;
  core[i].fetch -> instructions[i].in;
  core[i].data -> data[i].in;
  instructions[i].memory -> arbiter.in;
  data[i].memory -> arbiter.in;
  shared.snoop -> data[i].snoop;
}}
arbiter.out -> controller.in;
controller.memory -> shared.port;
controller.memory -> console.port;
"""
ROUNDS = pytest.mark.parametrize("rounds", [100, pytest.param(10_000, marks=pytest.mark.soak)])

# The lines at `next` are for each core what it writes, its two flags, and what it read; core 1 begins at 0x400100, and comes
# later by 0 to 63 loops.
MIPS = """
  b 1f
  addiu $t0, $zero, 0
.org 0x100
  addiu $t0, $zero, 1
1: lui $s0, %hi(next)
  addiu $s0, $s0, %lo(next)
  sll $t1, $t0, 7
  addu $s1, $s0, $t1
  subu $s2, $s0, $t1
  addiu $s2, $s2, 128
  addiu $s7, $zero, ROUNDS
  addiu $t2, $zero, 0
  addiu $v0, $zero, 0
2: addiu $t2, $t2, 1
  sw $t2, 32($s1)
3: lw $t4, 32($s2)
  bne $t4, $t2, 3b
  lw $t4, 0($s2)
  andi $t5, $t2, 63
  beq $t0, $zero, 5f
  nop
4: beq $t5, $zero, 5f
  nop
  b 4b
  addiu $t5, $t5, -1
5: sw $t2, 0($s1)
  BARRIER
  lw $t6, 0($s2)
  sw $t6, 64($s1)
  sw $t2, 36($s1)
6: lw $t4, 36($s2)
  bne $t4, $t2, 6b
  nop
  lw $t7, 64($s2)
  beq $t6, $t2, 7f
  nop
  beq $t7, $t2, 7f
  nop
  addiu $v0, $v0, 1
7: bne $t2, $s7, 2b
  nop
  bne $v0, $zero, bad
  nop
  EXIT 0
bad: EXIT 9
.data
.balign 32
next: .space 256
"""
RISCV = """
  li t0, 0
  j 1f
.org 0x100
  li t0, 1
1: la s0, next
  slli t1, t0, 7
  add s1, s0, t1
  sub s2, s0, t1
  addi s2, s2, 128
  li s7, ROUNDS
  li t2, 0
  li s3, 0
2: addi t2, t2, 1
  sw t2, 32(s1)
3: lw t4, 32(s2)
  bne t4, t2, 3b
  lw t4, 0(s2)
  andi t5, t2, 63
  beqz t0, 5f
4: beqz t5, 5f
  addi t5, t5, -1
  j 4b
5: sw t2, 0(s1)
  BARRIER
  lw t6, 0(s2)
  sw t6, 64(s1)
  sw t2, 36(s1)
6: lw t4, 36(s2)
  bne t4, t2, 6b
  lw t3, 64(s2)
  beq t6, t2, 7f
  beq t3, t2, 7f
  addi s3, s3, 1
7: bne t2, s7, 2b
  bnez s3, bad
  EXIT 0
bad: EXIT 9
.data
.balign 32
next: .space 256
"""


@ROUNDS
@pytest.mark.parametrize("isa", sampled(["mips", "rv32i"], 2))
def test_no_store_is_behind_a_barrier(isa: str, rounds: int, build_sim, run_sim, tmp_path: Path) -> None:
    simulator = build_sim(MACHINE.format(core=f"{isa}_pipeline", big="true" if isa == "mips" else "false"))
    for barrier, times, status in (("sync" if isa == "mips" else "fence", rounds, 0), ("nop", 200, 9)):
        elf = tmp_path / f"{barrier}.elf"
        text = (MIPS if isa == "mips" else RISCV).replace("BARRIER", barrier).replace("ROUNDS", str(times))
        assemble(text, elf, True, "device") if isa == "mips" else riscv.assemble(text, elf, "device")
        done = run_sim(simulator, "--program", elf, "--cycles", 20_000_000, ok=None)
        assert done.status == status, f"{barrier}: {done.err}"
