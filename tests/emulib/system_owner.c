// An owner of a functional processor, who gives it no pages but sees each reference; small programs, one a check. Fails
// at the first that is wrong, with its line.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mips/system.h"

#include "check.h"

enum { WORDS = 256, T0 = 8, T1 = 9, START = (int)0x80000100 };
enum {
  NOP = 0,
  WAIT = 0x42000020,
  LL_T1 = (int)0xc1090000,      // ll $t1, 0($t0)
  SC_T1 = (int)0xe1090000,      // sc $t1, 0($t0)
  LW_T1 = (int)0x8d090000,      // lw $t1, 0($t0)
  SB_T1 = (int)0xa1090002,      // sb $t1, 2($t0)
  RDHWR_29 = 0x7c09e83b,        // rdhwr $t1, $29
  MTC0_USER_LOCAL = 0x40892002, // mtc0 $t1, $4, 2
  MARKER_7 = 0x3c000007,        // lui $zero, 7
};

static struct mips_system m;
static uint32_t memory[WORDS];
static uint32_t seen_address, marker;
static unsigned seen_size;
static bool seen_cached, refuses;

static uint8_t *page(void *user, uint32_t address, enum mips_access access) {
  (void)user, (void)address, (void)access;
  return NULL;
}

static bool read_word(void *user, uint32_t address, unsigned size, bool cached, uint32_t *value) {
  (void)user;
  if (refuses || address / 4 >= WORDS) return false;
  seen_address = address, seen_size = size, seen_cached = cached;
  *value = memory[address / 4] >> 8 * (address % 4);
  return true;
}

static bool write_word(void *user, uint32_t address, unsigned size, bool cached, uint32_t value) {
  (void)user, (void)value;
  if (refuses || address / 4 >= WORDS) return false;
  seen_address = address, seen_size = size, seen_cached = cached;
  return true;
}

static void marked(void *user, uint32_t number) {
  (void)user;
  marker = number;
}

// A processor in kernel mode whose next instructions are these.
static void prepare(struct mips_system_options options, const uint32_t *code, size_t count) {
  const struct mips_environment environment = {.page = page, .read = read_word, .write = write_word, .marker = marked};
  mips_system_init(&m, options, environment);
  memset(memory, 0, sizeof memory);
  memcpy(memory + (START & 0xfff) / 4, code, count * sizeof *code);
  mips_system_write_cp0(&m, 12, 0, 0);
  mips_system_start(&m, (uint32_t)START);
  m.cpu.r[T0] = 0x80000010;
}
#define PROGRAM(options, ...) prepare(options, (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4)

static struct mips_step step(void) {
  struct mips_step did = {0};
  CHECK(mips_system_step(&m, &did) == MIPS_PAUSE_CYCLE);
  return did;
}

// What a step reports, and how the owner sees references: physical, with their attribute.
static void references(struct mips_system_options plain) {
  PROGRAM(plain, LW_T1, SB_T1, LW_T1);
  memory[4] = 0x12345678;
  m.cpu.r[T0] = 0xa0000010;
  struct mips_step did = step();
  CHECK(did.retired && did.destination == T1 && did.value == 0x12345678 && did.stored == 0);
  CHECK(seen_address == 0x10 && seen_size == 4 && !seen_cached);
  mips_system_write_cp0(&m, 16, 0, 3); // kseg0 is cached
  m.cpu.r[T0] = 0x80000010;
  did = step();
  CHECK(did.stored == 1 && did.store_address == 0x80000012 && did.store_value == 0x78 && did.destination == 0);
  CHECK(seen_address == 0x12 && seen_size == 1 && seen_cached);
  m.cpu.r[T0] = 0x9ffff000;
  did = step();
  CHECK(!did.retired && did.exception == MIPS_EXCEPTION_DBE && did.destination == 0);
  CHECK(m.cpu.pc == 0x80000180 && m.cpu.cp0[MIPS_CP0_EPC] == 0x80000108);
  refuses = true;
  CHECK(step().exception == MIPS_EXCEPTION_IBE);
  refuses = false;
  CHECK(mips_system_retired(&m) == 2 && m.cpu.cycle == 4);
}

// A link ends when another agent writes to its line, and only then.
static void links(struct mips_system_options plain) {
  for (uint32_t written = 0; written < 0x40; written += 4) {
    PROGRAM(plain, LL_T1, SC_T1);
    step();
    mips_system_written(&m, written);
    CHECK(step().value == (written >= 0x20));
  }
  PROGRAM(plain, LL_T1, SC_T1);
  m.following = true;
  m.given.stores = false;
  step();
  CHECK(step().value == 0 && step().retired);
}

static void user_local(struct mips_system_options plain) {
  PROGRAM(plain, MTC0_USER_LOCAL, RDHWR_29);
  step();
  CHECK(step().exception == MIPS_EXCEPTION_RI && mips_system_read_cp0(&m, 16, 3) == 0);
  plain.user_local = true;
  PROGRAM(plain, MTC0_USER_LOCAL, RDHWR_29);
  m.cpu.r[T1] = 0x1234;
  step();
  m.cpu.r[T1] = 0;
  CHECK(step().value == 0x1234 && mips_system_read_cp0(&m, 16, 3) == 1 << 13);
  mips_system_write_cp0(&m, 7, 0, ~0u);
  CHECK(mips_system_read_cp0(&m, 7, 0) == 0x2000000f);
}

// A way that exceeds a page, without aliases; no other processor has Config7.
static void large_ways(struct mips_system_options plain) {
  PROGRAM(plain, NOP);
  CHECK(mips_system_read_cp0(&m, 16, 7) == 0 && m.statistics.unimplemented == 1);
  plain.dcache.sets = 2048;
  PROGRAM(plain, NOP);
  mips_system_write_cp0(&m, 16, 7, 0);
  CHECK(mips_system_read_cp0(&m, 16, 7) == 1 << 16 && m.statistics.unimplemented == 0);
  plain.icache = (struct mips_cache_geometry){.sets = 512, .ways = 2, .line = 128};
  PROGRAM(plain, NOP);
  CHECK(mips_system_read_cp0(&m, 16, 7) == (1 << 16 | 1 << 10));
  CHECK((mips_system_read_cp0(&m, 16, 1) >> 22 & 7) == 3 && (mips_system_read_cp0(&m, 16, 1) >> 13 & 7) == 5);
}

// 64 entries; translation without effect.
static void translation(struct mips_system_options plain) {
  plain.tlb_entries = 64;
  PROGRAM(plain, NOP);
  CHECK((mips_system_read_cp0(&m, 16, 1) >> 25 & 63) == 63 && mips_system_read_cp0(&m, 1, 0) == 63);
  m.cpu.tlb[60] = (struct mips_tlb_entry){.hi = 0x10000000, .lo = {0x1f, 0x5b}}; // both global, the odd one clean
  mips_system_changed(&m);
  struct mips_translation t = mips_system_translate(&m, 0x10000abc, MIPS_STORE);
  CHECK(t.fault == MIPS_FAULT_NONE && t.physical == 0xabc && t.cached);
  t = mips_system_translate(&m, 0x10001abc, MIPS_LOAD);
  CHECK(t.fault == MIPS_FAULT_NONE && t.physical == 0x1abc && t.cached);
  CHECK(mips_system_translate(&m, 0x10001abc, MIPS_STORE).fault == MIPS_FAULT_MODIFIED);
  CHECK(mips_system_translate(&m, 0x10002000, MIPS_LOAD).fault == MIPS_FAULT_REFILL);
  CHECK(mips_system_read_cp0(&m, 8, 0) == 0 && m.statistics.refills == 0);
}

// 128 entries, of which Config4 shows those that Config1 cannot.
static void many_entries(struct mips_system_options plain) {
  PROGRAM(plain, NOP);
  CHECK(mips_system_read_cp0(&m, 16, 4) == 0 && m.statistics.unimplemented == 1);
  plain.tlb_entries = 128;
  PROGRAM(plain, NOP);
  CHECK((mips_system_read_cp0(&m, 16, 1) >> 25 & 63) == 63 && mips_system_read_cp0(&m, 16, 3) == 1u << 31);
  CHECK(mips_system_read_cp0(&m, 16, 4) == (1 << 14 | 1) && m.statistics.unimplemented == 0);
  CHECK(mips_system_read_cp0(&m, 1, 0) == 127);
  m.cpu.tlb[127] = (struct mips_tlb_entry){.hi = 0x10000000, .lo = {0x1f, 0x5b}};
  mips_system_changed(&m);
  CHECK(mips_system_translate(&m, 0x10000abc, MIPS_LOAD).fault == MIPS_FAULT_NONE);
}

// Interrupts, waiting and markers as the owner sees them.
static void waiting(struct mips_system_options plain) {
  struct mips_step did;
  PROGRAM(plain, MARKER_7, WAIT, NOP, NOP);
  mips_system_write_cp0(&m, 12, 0, 0x1001); // IM4, IE
  CHECK(mips_system_run(&m, 100) == MIPS_PAUSE_WAITING && m.cpu.cycle == 2 && marker == 7);
  CHECK(mips_system_step(&m, &did) == MIPS_PAUSE_WAITING && !mips_system_interrupted(&m));
  mips_system_interrupt(&m, 3, true);
  CHECK(mips_system_run(&m, 100) == MIPS_PAUSE_WAITING);
  mips_system_pass(&m, 40);
  mips_system_interrupt(&m, 4, true);
  CHECK(mips_system_interrupted(&m) && mips_system_step(&m, &did) == MIPS_PAUSE_CYCLE);
  CHECK(did.interrupted && did.pc == 0x80000180 && m.cpu.cp0[MIPS_CP0_EPC] == 0x80000108);
  CHECK(m.cpu.cycle == 43 && mips_system_retired(&m) == 3 && m.statistics.idle == 40);
  // One that follows takes no interrupt but when it is told, and does not wait.
  PROGRAM(plain, WAIT, NOP, NOP);
  m.following = true;
  mips_system_write_cp0(&m, 12, 0, 0x1001);
  mips_system_interrupt(&m, 4, true);
  CHECK(step().retired && step().pc == 0x80000104);
  mips_system_take_interrupt(&m);
  CHECK(step().pc == 0x80000180 && m.cpu.cp0[MIPS_CP0_EPC] == 0x80000108);
  m.given.count = 99;
  CHECK(mips_system_read_cp0(&m, 9, 0) == 99);
}

// The timer: Count is equal to Compare in a cycle that the owner can know.
static void timer(struct mips_system_options plain) {
  plain.count_divider = 3;
  PROGRAM(plain, WAIT);
  mips_system_write_cp0(&m, 9, 0, 5);
  mips_system_write_cp0(&m, 11, 0, 15);
  CHECK(mips_system_next_event(&m) == 30);
  mips_system_write_cp0(&m, 12, 0, 0x8000);
  CHECK(mips_system_run(&m, 100) == MIPS_PAUSE_WAITING);
  mips_system_pass(&m, 28);
  CHECK(mips_system_read_cp0(&m, 9, 0) == 14 && mips_system_run(&m, 100) == MIPS_PAUSE_WAITING);
  mips_system_pass(&m, 1);
  CHECK(mips_system_read_cp0(&m, 9, 0) == 15 && mips_system_run(&m, 100) == MIPS_PAUSE_CYCLE && m.cpu.cycle == 100);
  CHECK(mips_system_read_cp0(&m, 13, 0) == 0x40008000);
  CHECK(mips_system_next_event(&m) == 30 + 3 * (1ull << 32));
  mips_system_write_cp0(&m, 13, 0, 0x08000000);
  CHECK(mips_system_next_event(&m) == UINT64_MAX);
}

int main(void) {
  const struct mips_system_options plain = mips_system_4kec(false);
  references(plain);
  links(plain);
  user_local(plain);
  large_ways(plain);
  translation(plain);
  many_entries(plain);
  waiting(plain);
  timer(plain);
  return 0;
}
