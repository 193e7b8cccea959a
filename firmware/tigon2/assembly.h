#What the starts of all firmware for this chip share : its two instructions, copying and clearing, dispatch loops.

#define __ASSEMBLER__ 1
#include "registers.h"

.set noreorder
  .set noat

#PRI rd, rs, rt : 1 + index of the highest bit of rs &rt, or 0. JOFF rs, rt : jump to rs + 8 * rt, with a delay slot.
.macro pri rd, rs, rt
  .word (\rs << 21) | (\rt << 16) | (\rd << 11) | 0x0b
.endm
.macro joff rs, rt
  .word (\rs << 21) | (\rt << 16) | 0x0a
.endm

#Copies words : from \from to \to, up to \end.
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

#Calls a C function that does not return, with a stack of its own.
.macro enter function, stack
  lui   $sp, %hi(\stack)
  addiu $sp, $sp, %lo(\stack)
  lui   $t9, %hi(\function)
  addiu $t9, $t9, %lo(\function)
  jr    $t9
  nop
.endm

#The dispatch loop \name : the highest enabled event of a register, through a table; handlers return through ra.
.macro dispatch_loop name, register, table
  .globl \name
  .type \name, @function
\name:
  lui   $s7, %hi(MAP_REGISTERS_BASE)
  lui   $k1, %hi(\table)
  addiu $k1, $k1, %lo(\table)
  lui   $ra, %hi(\name\()_loop)
  addiu $ra, $ra, %lo(\name\()_loop)
  .globl \name\()_loop
\name\()_loop:
  lw    $t0, \register($s7)
  pri   8, 8, 26                     # t0 = highest of t0 & k0
  joff  27, 8
  nop
  .size \name, . - \name
.endm

#The same with a step of the DMA rings before every event.
.macro dispatch_loop_with_rings name, register, table
  .globl \name
  .type \name, @function
\name:
  lui   $s7, %hi(MAP_REGISTERS_BASE)
  lui   $k1, %hi(\table)
  addiu $k1, $k1, %lo(\table)
\name\()_loop:
  jal   drive_rings
  nop
  lui   $ra, %hi(\name\()_loop)
  lw    $t0, \register($s7)
  addiu $ra, $ra, %lo(\name\()_loop)
  pri   8, 8, 26
  joff  27, 8
  nop
  .size \name, . - \name
.endm

#A table's entry n + 1 is for event n; entry 0 for none.
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
