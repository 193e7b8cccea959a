// Functional processors with virtual processing elements: which bits of which register can be written by whom, and
// which VPEs execute.  Fails at the first that is wrong, with its line.
#include <stdio.h>
#include <stdlib.h>

#include "mips/mvp.h"

#include "check.h"

static struct mips_mvp p;
static struct mips_system vpes[MIPS_VPES_MOST];

static uint8_t *page(void *user, uint32_t address, enum mips_access access) {
  (void)user, (void)address, (void)access;
  return NULL;
}

static uint32_t thread(void *user, const struct mips_system *m, struct mips_thread_request request) {
  return mips_mvp_thread(user, m, request);
}

static void prepare(unsigned count) {
  struct mips_system_options options = mips_system_4kec(false);
  const struct mips_environment environment = {.user = &p, .page = page, .thread = thread};
  options.vpes = (uint8_t)count;
  mips_mvp_init(&p, count);
  for (unsigned n = 0; n < count; n++) {
    options.vpe = (uint8_t)n;
    p.vpe[n] = &vpes[n];
    mips_system_init(p.vpe[n], options, environment);
  }
}

static uint32_t ask(unsigned from, unsigned to, enum mips_thread_op op, unsigned number, unsigned select,
                    uint32_t value) {
  return mips_mvp_thread(
      &p, p.vpe[from],
      (struct mips_thread_request){
          .op = (uint8_t)op, .tc = (uint8_t)to, .number = (uint8_t)number, .select = (uint8_t)select, .value = value});
}

struct expected {
  unsigned number, select;
  uint32_t reset, ones; // of VPE 0, and behind a write of ones
};

// By hand from the manual, where VPE 0 executes and is a master.
static const struct expected registers[] = {
    {0, 1, 0, 3},
    {0, 2, 0x80001c07, 0x80001c07},
    {0, 3, 0, 0},
    {1, 1, 0, 0x002080ff},
    {1, 2, 0x80000003, 0x80000003},
    {1, 3, 0, 0},
    {1, 4, 0, 0},
    {1, 5, 0, ~0u},
    {1, 6, 0, ~0u},
    {1, 7, 0, 0},
    {2, 1, 0x00002000, 0x1010b4ff},
    {2, 2, 0, 0},
    {2, 3, ~0u, ~0u},
    {2, 4, 0, 1},
    {2, 5, 0, ~0u},
    {2, 6, 0, ~0u},
    {2, 7, 0, ~0u},
    {6, 1, 0x3fffffff, 0x3fffffff},
    {6, 2, 0, 0},
    {6, 3, 0, 0},
    {6, 4, 0, 0},
    {6, 5, 0, 0},
    {16, 3, 4, 4},
};

static void bits(void) {
  for (size_t n = 0; n < sizeof registers / sizeof *registers; n++) {
    const struct expected *e = &registers[n];
    prepare(8);
    CHECK(mips_system_read_cp0(&vpes[0], e->number, e->select) == e->reset);
    mips_system_write_cp0(&vpes[0], e->number, e->select, ~0u);
    CHECK(mips_system_read_cp0(&vpes[0], e->number, e->select) == e->ones);
    mips_system_write_cp0(&vpes[0], e->number, e->select, 0);
    if (e->number != 0) continue;
    CHECK(mips_system_read_cp0(&vpes[3], e->number, e->select) == (e->select == 1 ? 0 : e->reset)); // they share it
  }
  prepare(8);
  CHECK(vpes[0].statistics.unimplemented == 0);
}

// Those of a VPE that does not execute, from the first: halted, no TC of it activated, no master.
static void others(void) {
  for (unsigned vpe = 1; vpe < 8; vpe++) {
    prepare(8);
    CHECK(ask(0, vpe, MIPS_THREAD_READ, 1, 2, 0) == (0x80000000u | vpe << 21));
    CHECK(ask(0, vpe, MIPS_THREAD_READ, 2, 1, 0) == 0 && ask(0, vpe, MIPS_THREAD_READ, 2, 4, 0) == 1);
    CHECK(ask(0, vpe, MIPS_THREAD_READ, 2, 2, 0) == (vpe << 21 | vpe));
    CHECK(ask(0, vpe, MIPS_THREAD_READ, 15, 1, 0) == (0x80000000u | vpe));
    mips_system_write_cp0(&vpes[vpe], 1, 2, ~0u); // no master writes nothing there
    CHECK(ask(0, vpe, MIPS_THREAD_READ, 1, 2, 0) == (0x80000000u | vpe << 21));
    mips_system_write_cp0(&vpes[vpe], 0, 1, ~0u);
    CHECK(p.control == 0 && mips_system_read_cp0(&vpes[vpe], 0, 1) == 0);
    ask(0, vpe, MIPS_THREAD_WRITE, 1, 2, ~0u);
    mips_system_write_cp0(&vpes[vpe], 0, 1, 2);
    CHECK(p.control == 2);
  }
}

// Which execute: those that are activated, not halted, while MVPControl.EVP is set; else the one that cleared it.
static void execution(void) {
  prepare(3);
  CHECK(mips_mvp_executes(&p, 0) && !mips_mvp_executes(&p, 1));
  for (unsigned need = 0; need < 8; need++) {
    ask(0, 1, MIPS_THREAD_WRITE, 2, 4, !(need & 1));
    ask(0, 1, MIPS_THREAD_WRITE, 2, 1, need & 2 ? MIPS_TCSTATUS_A : 0);
    ask(0, 1, MIPS_THREAD_WRITE, 1, 2, need & 4 ? 3 : 2);
    CHECK(!mips_mvp_executes(&p, 1)); // VPE 0 has the processor for itself
    CHECK(ask(0, 0, MIPS_THREAD_EVPE, 0, 1, 0) == 0);
    CHECK(mips_mvp_executes(&p, 1) == (need == 7) && mips_mvp_executes(&p, 0) && !mips_mvp_executes(&p, 2));
    CHECK(ask(0, 0, MIPS_THREAD_DVPE, 0, 1, 0) == 1);
  }
  ask(0, 0, MIPS_THREAD_EVPE, 0, 1, 0);
  CHECK(ask(1, 1, MIPS_THREAD_DVPE, 0, 1, 0) == 1 && mips_mvp_executes(&p, 1) && !mips_mvp_executes(&p, 0));
  CHECK(ask(0, 0, MIPS_THREAD_DVPE, 0, 1, 0) == 0 && mips_mvp_executes(&p, 1)); // it was cleared before
  ask(1, 1, MIPS_THREAD_EVPE, 0, 1, 0);
  ask(1, 2, MIPS_THREAD_WRITE, 2, 3, 0x80000100); // a pc for one that does not execute, none for one that does
  CHECK(vpes[2].cpu.pc == 0x80000100 && ask(0, 2, MIPS_THREAD_READ, 2, 3, 0) == 0x80000100);
  ask(1, 0, MIPS_THREAD_WRITE, 2, 3, 0x80000100);
  CHECK(vpes[0].cpu.pc == 0xbfc00000);
  vpes[2].cpu.delayed = true; // it stopped behind a branch
  CHECK(ask(0, 2, MIPS_THREAD_READ, 2, 3, 0) == 0x800000fc &&
        (ask(0, 2, MIPS_THREAD_READ, 2, 1, 0) & MIPS_TCSTATUS_TDS));
}

// An interrupt-exempt TC takes none.
static void exempt(void) {
  prepare(1);
  mips_system_write_cp0(&vpes[0], 12, 0, 0x101);
  mips_system_write_cp0(&vpes[0], 13, 0, 0x100);
  CHECK(mips_system_enables_interrupts(&vpes[0]) && mips_system_interrupted(&vpes[0]));
  mips_system_write_cp0(&vpes[0], 2, 1, MIPS_TCSTATUS_A | MIPS_TCSTATUS_IXMT);
  CHECK(!mips_system_enables_interrupts(&vpes[0]) && mips_system_interrupted(&vpes[0]));
}

int main(void) {
  bits();
  others();
  execution();
  exempt();
  return 0;
}
