# Where processor 0 begins.  The hardware starts processor i at _start + 8 * i; here is only one.  Memory is zero
# after a reset.

  .cfi_sections .debug_frame
  .set noreorder

  .section .start, "ax"
  .globl _start
  .type _start, @function
_start:
  .cfi_startproc
  .cfi_undefined $31 # no caller: a backtrace ends here
  lui   $sp, %hi(stack_top)
  addiu $sp, $sp, %lo(stack_top)
  lui   $t9, %hi(main)
  addiu $t9, $t9, %lo(main)
  jalr  $t9
  nop
  break              # main does not return: nothing is here to return to
  .cfi_endproc
  .size _start, . - _start
