/* The entry of a program on one RISC-V core: a stack at the end of memory, then main(), whose result is the exit status. */
#include "registers.h"

  .cfi_sections .debug_frame
  .section .start, "ax"
  .globl _start
  .type _start, @function
_start:
  .cfi_startproc
  .cfi_undefined ra /* no caller: a backtrace ends here */
  lui   sp, %hi(stack_top)
  addi  sp, sp, %lo(stack_top)
  call  main
  lui   t0, %hi(MAP_CONSOLE_BASE + 4)
  sw    a0, %lo(MAP_CONSOLE_BASE + 4)(t0)
1:j     1b
  .cfi_endproc
  .size _start, . - _start
