// Loads of a MIPS processor beside which others write to memory, against the interpreter that follows it.  Fails at the
// first check that does not hold, with its line.
#include "mips/lockstep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_SAID text
#include "check.h"

enum { MEMORY = 0x10000, START = 0x100, AT = 0x1000, T0 = 8, T3 = 11, LW = 0x8d0b0000 }; // lw $t3, 0($t0)

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

// What others wrote to the page in cycle 10 is taken unchecked of loads that were accepted before, and of no others;
// the load at `dropped` was accepted and given up.
static bool follows(uint64_t when, uint64_t dropped, uint32_t value) {
  struct mips_system_options options = mips_system_4kec(true);
  options.bare = true;
  mips_lockstep_init(&l, options, MEMORY);
  mips_lockstep_load(&l, T0, AT);
  mips_lockstep_load(&l, MIPS_WORD_PC, START);
  accepted(5, START);
  CHECK(loads(6, START, 7));
  mips_lockstep_external(&l, 10, AT + 0x80, 4);
  if (dropped) accepted(dropped, START + 0x40);
  accepted(when, START + 4);
  return loads(30, START + 4, value);
}

enum {
  MFTC0_HALT_T3 = 0x41025804,   // mftc0 $t3, $2, 4
  MFTC0_STATUS_T3 = 0x410c5800, // mftc0 $t3, $12, 0
  MFC0_STATUS_T3 = 0x400b6000,  // mfc0 $t3, $12
  KERNEL = (int)0x80000100,
};

// A VPE that is followed, at its second instruction.
static void follow_vpe(uint32_t target) {
  struct mips_system_options options = mips_system_4kec(true);
  options.vpes = 2;
  mips_lockstep_init(&l, options, MEMORY);
  l.cpu.cp0[MIPS_CP0_VPEControl] = target;
  CHECK(mips_lockstep_written(&l, 1, 12, 0, 0x1000, text));
}

static bool reads(uint64_t cycle, uint32_t pc, uint32_t word, uint32_t value) {
  *text = 0;
  return mips_lockstep_retire(
      &l, (struct mips_lockstep_retired){.cycle = cycle, .pc = pc, .word = word, .value = value, .destination = T3},
      text);
}

// What a register of another VPE reads is taken unchecked if it can be; that of its own is known, also when others
// write it.
static void vpes(void) {
  follow_vpe(1);
  CHECK(reads(3, (uint32_t)KERNEL, (uint32_t)MFTC0_HALT_T3, 1));
  CHECK(reads(4, (uint32_t)KERNEL + 4, (uint32_t)MFTC0_STATUS_T3, 0x12345678));
  CHECK(!reads(5, (uint32_t)KERNEL + 8, (uint32_t)MFTC0_HALT_T3, 2));
  follow_vpe(2); // there is no such TC
  CHECK(reads(3, (uint32_t)KERNEL, (uint32_t)MFTC0_HALT_T3, ~0u));
  CHECK(!reads(4, (uint32_t)KERNEL + 4, (uint32_t)MFTC0_HALT_T3, 1));
  for (uint64_t when = 2; when < 6; when++) { // a write is seen by who completes behind the next cycle
    follow_vpe(0);
    CHECK(reads(2, (uint32_t)KERNEL, (uint32_t)MFTC0_HALT_T3, 0));
    CHECK(mips_lockstep_written(&l, when, 12, 0, 0x2000, text));
    CHECK(reads(5, (uint32_t)KERNEL + 4, when & 1 ? (uint32_t)MFC0_STATUS_T3 : (uint32_t)MFTC0_STATUS_T3,
                when < 4 ? 0x2000 : 0x1000));
  }
  for (uint64_t when = 2; when < 6; when++) { // but not by one that was executed before
    follow_vpe(0);
    CHECK(reads(2, (uint32_t)KERNEL, (uint32_t)MFTC0_HALT_T3, 0));
    if (when < 3) CHECK(mips_lockstep_written(&l, when, 12, 0, 0x2000, text));
    mips_lockstep_passed(&l, 3, (uint32_t)KERNEL + 4);
    if (when >= 3) CHECK(mips_lockstep_written(&l, when, 12, 0, 0x2000, text));
    CHECK(reads(8, (uint32_t)KERNEL + 4, (uint32_t)MFC0_STATUS_T3, when < 3 ? 0x2000 : 0x1000));
    CHECK(reads(9, (uint32_t)KERNEL + 8, (uint32_t)MFC0_STATUS_T3, 0x2000));
  }
  follow_vpe(0);
  mips_lockstep_load(&l, MIPS_WORD_PC, (uint32_t)KERNEL + 0x40);
  CHECK(!reads(3, (uint32_t)KERNEL, (uint32_t)MFTC0_HALT_T3, 0));
}

// A VPE that executes has MVPControl.EVP set, unless it cleared it itself and does not execute with others.
static void mvp_control(void) {
  enum { DVPE_T3 = 0x416b0001, EVPE_T3 = 0x416b0021, MFC0_MVP_T3 = 0x400b0001, MTC0_MVP_T3 = 0x408b0001, STEPS = 7 };
  static const struct {
    uint32_t word, value;
  } steps[STEPS] = {{MFC0_MVP_T3, 1}, {DVPE_T3, 1}, {MFC0_MVP_T3, 0}, {DVPE_T3, 2},
                    {EVPE_T3, 0},     {EVPE_T3, 3}, {DVPE_T3, 1}};
  for (int wrong = -1; wrong < STEPS; wrong++) {
    follow_vpe(0);
    CHECK(reads(3, (uint32_t)KERNEL, EVPE_T3, 0)); // the first VPE begins alone
    for (int n = 0; n <= wrong || (wrong < 0 && n < STEPS); n++)
      CHECK(reads((uint64_t)n + 4, (uint32_t)KERNEL + 4 * (uint32_t)(n + 1), steps[n].word,
                  steps[n].value ^ (uint32_t)(n == wrong)) == (n != wrong));
    if (wrong >= 0) CHECK(strstr(text, "expected MVPControl.EVP to be"));
  }
  follow_vpe(0);
  l.cpu.r[T3] = 1;
  CHECK(mips_lockstep_retire(
      &l, (struct mips_lockstep_retired){.cycle = 3, .pc = (uint32_t)KERNEL, .word = (uint32_t)MTC0_MVP_T3}, text));
  CHECK(!reads(4, (uint32_t)KERNEL + 4, DVPE_T3, 0));
}

int main(void) {
  vpes();
  mvp_control();
  for (uint64_t dropped = 0; dropped < 16; dropped += 3) {
    CHECK(follows(20, dropped, 7));
    CHECK(!follows(20, dropped, 9));
    CHECK(follows(8, dropped, 9));
  }
  return 0;
}
