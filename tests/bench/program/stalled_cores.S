# A loop of several processors that hardly ever do anything but wait for their turn on the bus: each fetches its
# instructions past its caches, and changes the words of a table of its own in memory.
  .set noreorder
  .globl __start
__start:
  mfc0 $t0, $15, 1
  andi $t0, $t0, 0x3ff
  sll $t0, $t0, 14
  lui $t1, 0x8020
  addu $t1, $t1, $t0
  ori $s0, $t0, 0x1
1:
  sll $t2, $s0, 13
  xor $s0, $s0, $t2
  srl $t2, $s0, 17
  xor $s0, $s0, $t2
  sll $t2, $s0, 5
  xor $s0, $s0, $t2
  andi $t2, $s0, 0x3ffc
  addu $t2, $t1, $t2
  lw $t3, 0($t2)
  addu $t3, $t3, $s0
  sw $t3, 0($t2)
  b 1b
  addiu $s1, $s1, 1
