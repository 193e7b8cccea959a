/* The entry of all processors of a multiprocessor: kseg0 is cached, each has a stack of its own and goes on in main(number); one whose
 * main() comes back sleeps.  An exception ends the run with 128 + its code as the status: no program here expects one.
 */
#include "registers.h"

#define STACK_SHIFT 12 /* 4 KiB each, down from the end of memory */

  .cfi_sections .debug_frame
  .set noreorder
  .set mips32r2
  .section .vectors, "ax"
  b     exception /* of the TLB */
  nop
  .org  0x180
exception:
  mfc0  $k0, $13
  andi  $k0, $k0, 0x7c
  srl   $k0, $k0, 2
  ori   $k0, $k0, 128
  lui   $k1, %hi(MAP_CONSOLE_BASE)
  sw    $k0, %lo(MAP_CONSOLE_BASE + 4)($k1)
1:b     1b
  nop

  .section .start, "ax"
  .globl _start
  .type _start, @function
_start:
  .cfi_startproc
  .cfi_undefined $31 /* no caller: a backtrace ends here */
  mfc0  $t0, $16
  ori   $t0, $t0, 7
  xori  $t0, $t0, 4 /* kseg0 is cached */
  mtc0  $t0, $16
  mtc0  $zero, $12 /* exceptions go to the vectors above, and interrupts nowhere */
  ehb
  mfc0  $a0, $15, 1
  andi  $a0, $a0, 0x3ff
  sll   $t0, $a0, STACK_SHIFT
  lui   $sp, %hi(stack_top)
  addiu $sp, $sp, %lo(stack_top)
  jal   main
  subu  $sp, $sp, $t0
1:wait
  b     1b
  nop
  .cfi_endproc
  .size _start, . - _start
