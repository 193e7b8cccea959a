# Entry of the benchmark program: a stack at the top of a 64 KiB scratchpad, then main(), then a loop that stays in place.
  .set noreorder
  .section .text.start, "ax"
  .globl _start
_start:
  lui   $sp, %hi(stack_top)
  addiu $sp, $sp, %lo(stack_top)
  jal   main
  nop
finished:
  b     finished
  nop
