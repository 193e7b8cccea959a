/* The entry of a program on one core: a stack at the end of memory, then main(), whose result is the exit status. */
#include "registers.h"

  .cfi_sections .debug_frame
  .set noreorder
  .section .start, "ax"
  .globl _start
  .type _start, @function
_start:
  .cfi_startproc
  .cfi_undefined $31 /* no caller: a backtrace ends here */
  lui   $sp, %hi(stack_top)
  addiu $sp, $sp, %lo(stack_top)
  jal   main
  nop
  lui   $t0, %hi(MAP_CONSOLE_BASE + 4)
  sw    $v0, %lo(MAP_CONSOLE_BASE + 4)($t0)
1:b     1b
  nop
  .cfi_endproc
