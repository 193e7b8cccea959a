# A loop in which every second instruction waits for memory: words past the caches of the host machine, one after another.
  .set noreorder
  .globl __start
__start:
  lui $t0, 0xa020
1:
  lw $t1, 0($t0)
  addu $s0, $s0, $t1
  lw $t1, 32($t0)
  addu $s0, $s0, $t1
  lw $t1, 64($t0)
  addu $s0, $s0, $t1
  b 1b
  sll $t2, $s0, 3
