# Entries of the cores: core i starts at _start + 8 * i.  Its number goes to C as the argument, and picks its
# stack; the global pointer is that of the shared state.

  .set noreorder
  .set noat

  .section .start, "ax"
  .globl _start
_start:
  .set core, 0
  .rept 16
  b     start
  li    $a0, core
  .set core, core + 1
  .endr

start:
  lui   $sp, %hi(stack_top)
  addiu $sp, $sp, %lo(stack_top)
  lui   $gp, %hi(state_start)
  addiu $gp, $gp, %lo(state_start)
  lui   $t9, %hi(cores_main)
  addiu $t9, $t9, %lo(cores_main)
  sll   $t0, $a0, 9
  jr    $t9
  subu  $sp, $sp, $t0
