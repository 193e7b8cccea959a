# Where processor 0 begins.  The hardware starts processor i at _start + 8 * i; here is only one.  Memory is zero
# after a reset.

  .set noreorder

  .section .start, "ax"
  .globl _start
_start:
  lui   $sp, %hi(stack_top)
  addiu $sp, $sp, %lo(stack_top)
  lui   $t9, %hi(main)
  addiu $t9, $t9, %lo(main)
  jr    $t9
  nop
