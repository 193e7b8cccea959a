/* The entry of the first virtual processing element (VPE), that of the others, and what an interrupt by software does: it is counted, in the
 * word of which TCContext has the address.  kseg0 is cached.  Another exception ends the run with 128 + its code as the status.
 *
 * Where a VPE looks whether it was interrupted and waits if it was not, an interrupt has it look again: else one that
 * comes between the two would be missed.
 */
#include "registers.h"

#define C0_TC_CONTEXT $2, 5
#define REGION        32 /* bytes of that place, and its alignment */

  .cfi_sections .debug_frame
  .set noreorder
  .set noat
  .set mips32r2
  .section .vectors, "ax"
  b     exception /* of the TLB */
  nop
  .org  0x180
exception:
  mfc0  $k0, $13
  andi  $k0, $k0, 0x7c
  bnez  $k0, 2f
  srl   $k0, $k0, 2
  mfc0  $k0, C0_TC_CONTEXT
  lw    $k1, 0($k0)
  addiu $k1, $k1, 1
  sw    $k1, 0($k0)
  mtc0  $zero, $13 /* the interrupt ends */
  lui   $k0, %hi(look)
  addiu $k0, $k0, %lo(look)
  mfc0  $k1, $14
  ori   $k1, $k1, REGION - 1
  xori  $k1, $k1, REGION - 1
  bne   $k0, $k1, 1f
  nop
  mtc0  $k0, $14
1:ehb
  eret
2:ori   $k0, $k0, 128
  lui   $k1, %hi(MAP_CONSOLE_BASE)
  sw    $k0, %lo(MAP_CONSOLE_BASE + 4)($k1)
3:b     3b
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
  lui   $sp, %hi(stack_top)
  addiu $sp, $sp, %lo(stack_top)
  lui   $t0, %hi(interrupts)
  addiu $t0, $t0, %lo(interrupts)
  mtc0  $t0, C0_TC_CONTEXT
  lui   $t0, 0x1000 /* exceptions go to the vectors above; coprocessor 0 */
  mtc0  $t0, $12
  ehb
  jal   main
  nop
1:b     1b
  nop
  .cfi_endproc
  .size _start, . - _start

/* Another VPE, which was given sp, its number in a0, and the word for its interrupts in TCContext: it says that it
 * executes, and replies to each interrupt.  s0 counts them, HI and LO have the sum of squares. */
  .globl other_start
  .type other_start, @function
other_start:
  .cfi_startproc
  .cfi_undefined $31 /* no caller: a backtrace ends here */
  move  $s2, $a0
  mfc0  $s1, C0_TC_CONTEXT
  move  $s0, $zero
  mult  $zero, $zero
  jal   reply
  nop
  li    $t0, 0x10000101 /* software interrupt 0 is enabled */
  mtc0  $t0, $12
  b     look
  nop
  .balign REGION
look:
  lw    $t0, 0($s1)
  bne   $t0, $s0, 1f
  nop
  wait
  b     look
  nop
  .balign REGION
1:addiu $s0, $s0, 1
  madd  $s0, $s0
  jal   reply
  move  $a0, $s2
  b     look
  nop
  .cfi_endproc
  .size other_start, . - other_start
