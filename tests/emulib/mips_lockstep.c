/* Loads of a MIPS processor beside which others write to memory, against the interpreter that follows it.  Fails at the
 * first check that does not hold, with its line. */
#include "mips/lockstep.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK_SAID text
#include "check.h"

enum { MEMORY = 0x10000, START = 0x100, AT = 0x1000, T0 = 8, T3 = 11, LW = 0x8d0b0000 }; /* lw $t3, 0($t0) */

static struct mips_lockstep l;
static char text[MIPS_LOCKSTEP_TEXT];

static void accepted(uint64_t cycle, uint32_t pc) {
  mips_lockstep_access(&l, (struct mips_lockstep_access){.cycle = cycle, .pc = pc});
}

static bool loads(uint64_t cycle, uint32_t pc, uint32_t value) {
  *text = 0;
  const struct mips_lockstep_retired r = {.cycle = cycle, .pc = pc, .word = LW, .value = value, .destination = T3};
  return mips_lockstep_retire(&l, r, text);
}

/* What others wrote to the page in cycle 10 is believed of loads that were accepted before, and of no others; the load
 * at `dropped` was accepted and given up. */
static bool follows(uint64_t when, uint64_t dropped, uint32_t value) {
  struct mips_system_options options = mips_system_4kec(true);
  options.bare = true;
  mips_lockstep_init(&l, options, MEMORY);
  mips_lockstep_load(&l, T0, AT);
  mips_lockstep_load(&l, MIPS_WORD_PC, START);
  accepted(5, START);
  CHECK(loads(6, START, 7));
  mips_lockstep_foreign(&l, 10, AT + 0x80, 4);
  if (dropped) accepted(dropped, START + 0x40);
  accepted(when, START + 4);
  return loads(30, START + 4, value);
}

int main(void) {
  for (uint64_t dropped = 0; dropped < 16; dropped += 3) {
    CHECK(follows(20, dropped, 7));
    CHECK(!follows(20, dropped, 9));
    CHECK(follows(8, dropped, 9));
  }
  return 0;
}
