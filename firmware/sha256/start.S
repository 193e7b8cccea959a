/* The entry of a program on one RISC-V core: a stack at the end of memory, then main(), whose result is the exit status. */
#include "registers.h"

  .section .start, "ax"
  .globl _start
_start:
  lui   sp, %hi(stack_top)
  addi  sp, sp, %lo(stack_top)
  call  main
  lui   t0, %hi(MAP_CONSOLE_BASE + 4)
  sw    a0, %lo(MAP_CONSOLE_BASE + 4)(t0)
1:j     1b
