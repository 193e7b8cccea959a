# Entries of both processors, and the dispatch loop.
#
# Everything is loaded into SRAM; what is hot is copied from there into the processor's scratchpad and runs there.
# k0 holds the enabled events, k1 the dispatch table, gp the working state; s7 the registers, s6 the dispatch loop.

#define __ASSEMBLER__ 1
#include "registers.h"

  .set noreorder
  .set noat

# PRI rd, rs, rt: 1 + index of the highest bit of rs & rt, or 0.  JOFF rs, rt: jump to rs + 8 * rt, with a delay slot.
.macro pri rd, rs, rt
  .word (\rs << 21) | (\rt << 16) | (\rd << 11) | 0x0b
.endm
.macro joff rs, rt
  .word (\rs << 21) | (\rt << 16) | 0x0a
.endm

# Copies words: from \from to \to, up to \end.
.macro copy from, to, end
  lui   $t0, %hi(\from)
  addiu $t0, $t0, %lo(\from)
  lui   $t1, %hi(\to)
  addiu $t1, $t1, %lo(\to)
  lui   $t2, %hi(\end)
  addiu $t2, $t2, %lo(\end)
1:
  beq   $t1, $t2, 2f
  nop
  lw    $t3, 0($t0)
  addiu $t0, $t0, 4
  sw    $t3, 0($t1)
  b     1b
  addiu $t1, $t1, 4
2:
.endm

.macro clear from, end
  lui   $t1, %hi(\from)
  addiu $t1, $t1, %lo(\from)
  lui   $t2, %hi(\end)
  addiu $t2, $t2, %lo(\end)
1:
  beq   $t1, $t2, 2f
  nop
  sw    $zero, 0($t1)
  b     1b
  addiu $t1, $t1, 4
2:
.endm

  .section .start, "ax"
  .globl _start
_start:
  copy  hot_load, hot_start, hot_end
  clear hot_zero_start, hot_zero_end
  clear zero_start, zero_end
  lui   $gp, %hi(hot_state)
  addiu $gp, $gp, %lo(hot_state)
  lui   $sp, %hi(stack_top)
  addiu $sp, $sp, %lo(stack_top)
  move  $k0, $zero
  lui   $t9, %hi(start)
  addiu $t9, $t9, %lo(start)
  jr    $t9
  nop

  .globl second_start
second_start:
  copy  second_load, second_text_start, second_text_end
  lui   $sp, %hi(second_stack_top)
  addiu $sp, $sp, %lo(second_stack_top)
  lui   $t9, %hi(second_main)
  addiu $t9, $t9, %lo(second_main)
  jr    $t9
  nop

  .section .hot.text, "ax"

# Event handlers return to the loop through ra.
  .globl dispatch
  .type dispatch, @function
dispatch:
  lui   $s7, %hi(MAP_REGISTERS_BASE)
  lui   $k1, %hi(dispatch_table)
  addiu $k1, $k1, %lo(dispatch_table)
  lui   $ra, %hi(dispatch_loop)
  addiu $ra, $ra, %lo(dispatch_loop)
  .globl dispatch_loop
dispatch_loop:
  lw    $t0, REGISTERS_EVENT_A($s7)
  pri   8, 8, 26                     # t0 = highest of t0 & k0
  joff  27, 8
  nop
  .size dispatch, . - dispatch

# The same with a step of the DMA rings before every event.
  .globl dispatch_and_drive_rings
  .type dispatch_and_drive_rings, @function
dispatch_and_drive_rings:
  lui   $s7, %hi(MAP_REGISTERS_BASE)
  lui   $k1, %hi(dispatch_table)
  addiu $k1, $k1, %lo(dispatch_table)
dispatch_and_drive_rings_loop:
  jal   drive_rings
  nop
  lui   $ra, %hi(dispatch_and_drive_rings_loop)
  lw    $t0, REGISTERS_EVENT_A($s7)
  addiu $ra, $ra, %lo(dispatch_and_drive_rings_loop)
  pri   8, 8, 26
  joff  27, 8
  nop
  .size dispatch_and_drive_rings, . - dispatch_and_drive_rings

# Entry n + 1 is for event n; entry 0 for none.
.macro event handler
  j     \handler
  nop
.endm
.macro no_event count
  .rept \count
  jr    $ra
  nop
  .endr
.endm
  .balign 8
  .globl dispatch_table
  .type dispatch_table, @function
dispatch_table:
  no_event 1
  no_event 4                         # 0 to 3
  event send                         # 4
  no_event 1
  event receive                      # 6
  no_event 7                         # 7 to 13
  event dma_write_done               # 14
  event dma_read_done                # 15
  no_event 3                         # 16 to 18
  event dma_write_attention          # 19
  event dma_read_attention           # 20
  no_event 1
  event mailbox                      # 22
  event report_sent                  # 23
  event report_received              # 24
  event mac_attention                # 25
  event mac_attention                # 26
  no_event 1
  event timer                        # 28
  no_event 3
  .size dispatch_table, . - dispatch_table
