// Two processors whose quanta are executed in turn, with different memories, translations or options, do what each does
// alone, and one asks its owner for code and words of a device.  Fails at the first that is wrong, with its name.
#include "mips/quantum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mips/cp0.h"

enum { SIZE = 0x8000, CODE = 0x100, VECTOR = 0x180, MAPPED = 0x1000, QUANTA = 40, QUANTUM = 7, S0 = 16, T0 = 8 };

static const uint32_t program[] = {
    0x8d090000, // lw $t1, 0($t0)
    0x910a0001, // lbu $t2, 1($t0)
    0x02098021, // addu $s0, $s0, $t1
    0x020a8021, // addu $s0, $s0, $t2
    0x400b4800, // mfc0 $t3, $9
    0x020b8021, // addu $s0, $s0, $t3
    0x400c7800, // mfc0 $t4, $15
    0x020c8021, // addu $s0, $s0, $t4
    0x400d8001, // mfc0 $t5, $16, 1
    0x020d8021, // addu $s0, $s0, $t5
    0xad100004, // sw $s0, 4($t0)
    0x7c0de83b, // rdhwr $t5, $29
    0x020d8021, // addu $s0, $s0, $t5
    0x1000fff2, // b program
    0x00000000,
};
// Exceptions do nothing.
static const uint32_t handler[] = {
    0x401a7000, // mfc0 $k0, $14
    0x275a0004, // addiu $k0, $k0, 4
    0x409a7000, // mtc0 $k0, $14
    0x42000018, // eret
};

struct processor {
  struct mips_system_options options;
  struct mips_architecture cpu;
  uint8_t *memory;
  uint32_t salt; // of what is in memory
};

static uint8_t memories[2][SIZE], shared[SIZE];

static void put(const struct processor *p, uint32_t address, uint32_t word) {
  for (int i = 0; i < 4; i++) p->memory[address + i] = (uint8_t)(word >> 8 * (p->options.big_endian ? 3 - i : i));
}

// A processor that reads and writes at MAPPED, which is the physical page of `frame`, under the address space 0.
static struct processor processor(uint8_t *memory, uint32_t frame) {
  struct processor p = {.options = mips_system_4kec(true), .memory = memory};
  mips_quantum_reset(&p.options, &p.cpu);
  p.cpu.cp0[MIPS_CP0_Status] = 0;
  p.cpu.cp0[MIPS_CP0_EntryHi] = 0;
  p.cpu.pc = 0x80000000u + CODE;
  p.cpu.next_pc = p.cpu.pc + 4;
  p.cpu.r[T0] = MAPPED;
  for (int k = 0; k < 2; k++) // for two address spaces
    p.cpu.tlb[k] =
        (struct mips_tlb_entry){.hi = (uint32_t)k, .lo = {0x1e, (frame ^ (uint32_t)k << 12) >> 12 << 6 | 0x1e}};
  return p;
}

static void load(const struct processor *p) {
  for (size_t i = 0; i < sizeof program / sizeof *program; i++) put(p, CODE + 4 * (uint32_t)i, program[i]);
  for (size_t i = 0; i < sizeof handler / sizeof *handler; i++) put(p, VECTOR + 4 * (uint32_t)i, handler[i]);
  for (uint32_t frame = 0x1000; frame < SIZE; frame += 0x1000) put(p, frame, frame * 0x01020304u ^ p->salt);
}

static void run(struct processor *p) {
  struct mips_quantum q = {.options = &p->options, .cpu = &p->cpu, .memory = p->memory, .size = SIZE};
  q.until = p->cpu.cycle + QUANTUM;
  mips_quantum_run(&q);
}

static bool same(const struct processor *a, const struct processor *b) {
  return memcmp(a->cpu.r, b->cpu.r, sizeof a->cpu.r) == 0 && memcmp(a->cpu.cp0, b->cpu.cp0, sizeof a->cpu.cp0) == 0 &&
         a->cpu.pc == b->cpu.pc && a->cpu.cycle == b->cpu.cycle;
}

// Each alone, then both in turn; what they write goes to pages of their own, or nobody reads it.
static void check(const char *name, struct processor a, struct processor b) {
  struct processor alone[2] = {a, b}, both[2] = {a, b};
  for (int k = 0; k < 2; k++) {
    struct mips_architecture unused;
    for (int i = 0; i < 2; i++) load(&alone[i]);
    load(&alone[k]);
    mips_quantum_reset(&alone[k].options, &unused);
    for (int n = 0; n < QUANTA; n++) run(&alone[k]);
  }
  for (int k = 1; k >= 0; k--) load(&both[k]);
  if (a.options.big_endian != b.options.big_endian && a.memory == b.memory) abort();
  for (int n = 0; n < QUANTA; n++)
    for (int k = 0; k < 2; k++) run(&both[k]);
  if (same(&both[0], &alone[0]) && same(&both[1], &alone[1]) && !same(&both[0], &both[1])) return;
  fprintf(stderr, "%s: s0 0x%08x and 0x%08x, alone 0x%08x and 0x%08x\n", name, (unsigned)both[0].cpu.r[S0],
          (unsigned)both[1].cpu.r[S0], (unsigned)alone[0].cpu.r[S0], (unsigned)alone[1].cpu.r[S0]);
  exit(1);
}

// The owner's side of a device that has the code, a word to load and a word to store: what is asked for, one after the
// other.  A request is the same until its reply is given, however often a quantum is begun meanwhile.
static void check_devices(void) {
  static const uint32_t rom[] = {0x8d090000 /* lw $t1, 0($t0) */, 0xad090004 /* sw $t1, 4($t0) */,
                                 0x91090009 /* lbu $t1, 9($t0) */, 0x25290001 /* addiu $t1, $t1, 1 */};
  static const struct mips_quantum_request wanted[] = {
      {true, MIPS_FETCH, 0x1fc00000, 0, 4}, {true, MIPS_LOAD, 0x1f000000, 0, 4},
      {true, MIPS_FETCH, 0x1fc00004, 0, 4}, {true, MIPS_STORE, 0x1f000004, 0x1234, 4},
      {true, MIPS_FETCH, 0x1fc00008, 0, 4}, {true, MIPS_LOAD, 0x1f000009, 0, 1},
      {true, MIPS_FETCH, 0x1fc0000c, 0, 4}, {true, MIPS_FETCH, 0x1fc00010, 0, 4}};
  struct processor p = processor(shared, 0x2000);
  p.cpu.pc = 0xbfc00000;
  p.cpu.next_pc = p.cpu.pc + 4;
  p.cpu.r[T0] = 0xbf000000;
  struct mips_quantum q = {.options = &p.options, .cpu = &p.cpu, .memory = shared, .size = SIZE};
  for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
    for (int again = 0; again < 2; again++) {
      q.until = p.cpu.cycle + QUANTUM;
      mips_quantum_run(&q);
      const struct mips_quantum_request r = q.request, w = wanted[k];
      if (!r.present || r.access != w.access || r.address != w.address || r.value != w.value || r.size != w.size) {
        fprintf(stderr, "request %zu: kind %d, address 0x%08x, value 0x%x\n", k, r.access, (unsigned)r.address,
                (unsigned)r.value);
        exit(1);
      }
    }
    const struct mips_quantum_reply reply = {true, false, q.request.access == MIPS_LOAD ? 0x1234 : 0};
    if (q.request.access == MIPS_FETCH)
      q.fetched = (struct mips_quantum_reply){true, false, rom[(q.request.address & 0xfff) / 4 % 4]};
    else
      q.referred = reply;
  }
  if (p.cpu.r[T0 + 1] == 0x35 && p.cpu.pc == 0xbfc00010) return;
  fprintf(stderr, "behind the device's code: t1 0x%x, pc 0x%08x\n", (unsigned)p.cpu.r[T0 + 1], (unsigned)p.cpu.pc);
  exit(1);
}

int main(void) {
  const struct processor usual = processor(memories[0], 0x2000), other = processor(memories[1], 0x2000);
  struct processor p = processor(shared, 0x4000);
  check("translations", processor(shared, 0x2000), p);
  p = processor(shared, 0x2000);
  p.cpu.cp0[MIPS_CP0_EntryHi] = 1;
  check("address spaces", processor(shared, 0x2000), p);
  p = processor(shared, 0x2000);
  p.cpu.cp0[MIPS_CP0_Status] = MIPS_STATUS_ERL; // MAPPED is physical
  check("error level", processor(shared, 0x2000), p);
  p = other;
  p.salt = 0x5a5a5a5a;
  check("memories", usual, p);
  p = other;
  p.options.big_endian = false;
  check("byte orders", usual, p);
  p = other;
  p.options.count_divider++;
  check("dividers", usual, p);
  p = other;
  p.options.user_local = !p.options.user_local;
  check("user local registers", usual, p);
  p = other;
  p.options.bare = true;
  p.cpu.pc = CODE;
  p.cpu.next_pc = CODE + 4;
  check("segments", usual, p);
  check_devices();
  return 0;
}
