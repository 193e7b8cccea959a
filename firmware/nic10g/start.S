# Entries of the cores: core i starts at _start + 8 * i.  Its number goes to C as the argument, and picks its
# stack; the global pointer is that of the shared state.

  .cfi_sections .debug_frame
  .set noreorder
  .set noat

  .section .start, "ax"
  .globl _start
  .type _start, @function
_start:
  .cfi_startproc
  .cfi_undefined $31 # no caller: a backtrace ends here
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
  jalr  $t9
  subu  $sp, $sp, $t0
  .cfi_endproc
  .size _start, . - _start
