/* The entry of all cores: a stack in the private scratchpad, a number by load-linked and store-conditional, then
 * main(number); a core whose main() comes back waits for ever.
 */
#include "registers.h"

  .cfi_sections .debug_frame
  .set noreorder
  .section .start, "ax"
  .globl _start
  .type _start, @function
_start:
  .cfi_startproc
  .cfi_undefined $31 /* no caller: a backtrace ends here */
  lui   $sp, %hi(MAP_STACK_BASE + MAP_STACK_SIZE)
  addiu $sp, $sp, %lo(MAP_STACK_BASE + MAP_STACK_SIZE)
  lui   $t0, %hi(cores)
  addiu $t0, $t0, %lo(cores)
1:ll    $a0, 0($t0)
  addiu $t1, $a0, 1
  sc    $t1, 0($t0)
  beqz  $t1, 1b
  nop
  jal   main
  nop
2:b     2b
  nop
  .cfi_endproc
  .size _start, . - _start
