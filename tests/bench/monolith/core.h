// A five-stage in-order MIPS II core and its single-ported scratchpad as one hand-written step function: every pipeline
// latch is state and every stage is evaluated in every cycle.  This is the yardstick against which the speed of the
// structural simulator is measured, and an independent statement of the core's timing:
//   - fetch, decode, execute, memory, write-back; write-back comes before the register read of the same cycle;
//   - data accesses win the scratchpad's port, fetch tries again; fetch may run one word ahead into a skid buffer;
//   - operands are forwarded to execute from both later latches; a load's user waits one cycle;
//   - branches are resolved in decode, with forwarding of the ALU result in the memory stage: a branch waits one cycle
//     for the result just before it, two for a load; one delay slot; an annulled slot takes its cycle;
//   - multiply and divide occupy HI/LO for MULTIPLY_CYCLES and DIVIDE_CYCLES (R4000 manual), whose users wait in
//   decode.
#ifndef MONOLITH_CORE_H
#define MONOLITH_CORE_H

#include "decode.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MULTIPLY_CYCLES = 10, DIVIDE_CYCLES = 69 };

// What moves from stage to stage is the instruction, which holds the bubble where there is none, and the values that it
// has by then.  Operands are read at the end of decode, which here is the beginning of execute: what write-back writes
// in between is the value that would be forwarded.
typedef struct {
  const Decoded *skid, *f, *x, *m, *w;
  uint32_t result, stored; // of what is in memory: the result of execute, and what a store writes
  uint32_t value;          // of what is in write-back
  uint32_t pc, next;       // of the word to fetch, and of the one after it
  bool annul;              // the next instruction in decode is an annulled delay slot
  uint32_t hi, lo;
  uint64_t hilo_ready; // first cycle in which a user of HI/LO may execute
  uint64_t cycle, end, retired;
  uint32_t *r; // NO_REGISTER + 1
  // Scratchpad: `size` bytes from address 0, and the decoded form of each of its words.
  uint8_t *bytes;
  uint32_t size;
  const Decoded **decoded;
  bool linked; // LL/SC reservation
  uint32_t link_address;
  const char *stopped; // why, or NULL
  Decoded *fault;      // stands for an instruction that must not go on
  Decoded *fresh;      // FRESH, only when every word is decoded anew: more than can be in flight
  uint32_t next_fresh;
} Core;

enum { FRESH = 8 };

extern const Decoded undecoded; // marks words whose decoded form must be made anew

static inline uint32_t load32(const uint8_t *p) {
  uint32_t v;
  memcpy(&v, p, 4);
  return __builtin_bswap32(v);
}

static inline uint32_t load16(const uint8_t *p) {
  uint16_t v;
  memcpy(&v, p, 2);
  return __builtin_bswap16(v);
}

static inline void store32(uint8_t *p, uint32_t v) {
  v = __builtin_bswap32(v);
  memcpy(p, &v, 4);
}

static inline void store16(uint8_t *p, uint32_t v) {
  uint16_t h = __builtin_bswap16((uint16_t)v);
  memcpy(p, &h, 2);
}

static inline void stop(Core *c, const char *why) {
  if (!c->stopped) c->stopped = why;
  c->end = 0;
}

// An instruction that cannot complete.
static inline const Decoded *make_fault(Core *c, const Decoded *d, const char *why) {
  stop(c, why);
  *c->fault = (Decoded){.rd = NO_REGISTER, .counts = d->counts, .stops = 1, .word = d->word, .pc = d->pc};
  return c->fault;
}

static inline uint32_t highest_set(uint32_t v) {
  return v ? 32 - (uint32_t)__builtin_clz(v) : 0;
}

// The execute stage of one instruction.  Returns the result, or reports a trap through `trapped`.
static inline __attribute__((always_inline)) uint32_t execute(Core *c, const Decoded *d, uint32_t a, uint32_t b,
                                                              bool *trapped) {
  uint32_t i = (uint32_t)d->immediate, r;
  int64_t product;
  switch ((ExecuteOp)d->execute) {
  case EX_NONE: return 0;
  case EX_ADD_TRAP: *trapped = __builtin_sadd_overflow((int32_t)a, (int32_t)b, (int32_t *)&r); return r;
  case EX_ADD: return a + b;
  case EX_SUB_TRAP: *trapped = __builtin_ssub_overflow((int32_t)a, (int32_t)b, (int32_t *)&r); return r;
  case EX_SUB: return a - b;
  case EX_AND: return a & b;
  case EX_OR: return a | b;
  case EX_XOR: return a ^ b;
  case EX_NOR: return ~(a | b);
  case EX_SLT: return (int32_t)a < (int32_t)b;
  case EX_SLTU: return a < b;
  case EX_SLL: return b << i;
  case EX_SRL: return b >> i;
  case EX_SRA: return (uint32_t)((int32_t)b >> i);
  case EX_SLLV: return b << (a & 31);
  case EX_SRLV: return b >> (a & 31);
  case EX_SRAV: return (uint32_t)((int32_t)b >> (a & 31));
  case EX_ADDI_TRAP: *trapped = __builtin_sadd_overflow((int32_t)a, (int32_t)i, (int32_t *)&r); return r;
  case EX_ADDI: return a + i;
  case EX_SLTI: return (int32_t)a < (int32_t)i;
  case EX_SLTIU: return a < i;
  case EX_ANDI: return a & i;
  case EX_ORI: return a | i;
  case EX_XORI: return a ^ i;
  case EX_LUI: return i;
  case EX_LINK: return d->pc + 8;
  case EX_MULT:
    product = (int64_t)(int32_t)a * (int32_t)b;
    c->lo = (uint32_t)product, c->hi = (uint32_t)(product >> 32);
    c->hilo_ready = c->cycle + MULTIPLY_CYCLES;
    return 0;
  case EX_MULTU:
    product = (int64_t)((uint64_t)a * b);
    c->lo = (uint32_t)product, c->hi = (uint32_t)((uint64_t)product >> 32);
    c->hilo_ready = c->cycle + MULTIPLY_CYCLES;
    return 0;
  case EX_DIV: // by zero and overflow: HI and LO are undefined in the manual; these are common choices
    if (b == 0)
      c->lo = (int32_t)a >= 0 ? ~0u : 1, c->hi = a;
    else if (a == 0x80000000u && b == ~0u)
      c->lo = a, c->hi = 0;
    else
      c->lo = (uint32_t)((int32_t)a / (int32_t)b), c->hi = (uint32_t)((int32_t)a % (int32_t)b);
    c->hilo_ready = c->cycle + DIVIDE_CYCLES;
    return 0;
  case EX_DIVU:
    if (b == 0)
      c->lo = ~0u, c->hi = a;
    else
      c->lo = a / b, c->hi = a % b;
    c->hilo_ready = c->cycle + DIVIDE_CYCLES;
    return 0;
  case EX_MFHI: return c->hi;
  case EX_MFLO: return c->lo;
  case EX_MTHI: c->hi = a; return 0;
  case EX_MTLO: c->lo = a; return 0;
  case EX_PRI: return highest_set(a & b);
  case EX_TGE: *trapped = (int32_t)a >= (int32_t)b; return 0;
  case EX_TGEU: *trapped = a >= b; return 0;
  case EX_TLT: *trapped = (int32_t)a < (int32_t)b; return 0;
  case EX_TLTU: *trapped = a < b; return 0;
  case EX_TEQ: *trapped = a == b; return 0;
  case EX_TNE: *trapped = a != b; return 0;
  case EX_TGEI: *trapped = (int32_t)a >= (int32_t)i; return 0;
  case EX_TGEIU: *trapped = a >= i; return 0;
  case EX_TLTI: *trapped = (int32_t)a < (int32_t)i; return 0;
  case EX_TLTIU: *trapped = a < i; return 0;
  case EX_TEQI: *trapped = a == i; return 0;
  case EX_TNEI: *trapped = a != i; return 0;
  }
  __builtin_unreachable();
}

// The memory stage of one load or store.  Returns the loaded value, or an error through `fault`.
static inline __attribute__((always_inline)) uint32_t access_memory(Core *c, const Decoded *d, uint32_t address,
                                                                    uint32_t b, const char **fault) {
  if (__builtin_expect(address >= c->size, 0)) { // size is a multiple of 4, and what is unaligned is refused below
    *fault = "access outside the scratchpad";
    return 0;
  }
  uint8_t *p = c->bytes + address;
  uint32_t n = address & 3, word;
  switch ((MemoryOp)d->memory) {
  case MEM_NONE: return 0;
  case MEM_LB: return (uint32_t)(int8_t)*p;
  case MEM_LBU: return *p;
  case MEM_LH:
  case MEM_LHU:
    if (n & 1) break;
    word = load16(p);
    return d->memory == MEM_LH ? (uint32_t)(int16_t)word : word;
  case MEM_LL: c->linked = true, c->link_address = address; __attribute__((fallthrough));
  case MEM_LW:
    if (n) break;
    return load32(p);
  case MEM_LWL: return load32(p - n) << 8 * n | (b & ((1ull << 8 * n) - 1));
  case MEM_LWR: return load32(p - n) >> 8 * (3 - n) | (b & ~(uint32_t)(0xffffffffull >> 8 * (3 - n)));
  case MEM_SB: *p = (uint8_t)b; goto stored;
  case MEM_SH:
    if (n & 1) break;
    store16(p, b);
    goto stored;
  case MEM_SW:
    if (n) break;
    store32(p, b);
    goto stored;
  case MEM_SWL:
    word = load32(p - n);
    store32(p - n, (word & ~(0xffffffffu >> 8 * n)) | b >> 8 * n);
    goto stored;
  case MEM_SWR:
    word = load32(p - n);
    store32(p - n, (word & (uint32_t)((1ull << 8 * (3 - n)) - 1)) | b << 8 * (3 - n));
    goto stored;
  case MEM_SC:
    if (n) break;
    if (!c->linked || c->link_address != address) return 0;
    store32(p, b);
    c->linked = false;
    c->decoded[address >> 2] = &undecoded;
    return 1;
  }
  *fault = "unaligned access";
  return 0;
stored:
  if (c->linked && (c->link_address ^ address) < 4) c->linked = false;
  c->decoded[address >> 2] = &undecoded;
  return 0;
}

// What a branch or jump in decode does: whether it is taken, and where it goes.
static inline __attribute__((always_inline)) bool resolve(Core *c, const Decoded *d, uint32_t *target) {
  const Decoded *md = c->m;
  uint32_t a = d->rs == md->rd ? c->result : c->r[d->rs], b = d->rt == md->rd ? c->result : c->r[d->rt];
  *target = d->target;
  switch ((BranchOp)d->branch) {
  case BR_NONE: return false;
  case BR_EQ: return a == b;
  case BR_NE: return a != b;
  case BR_LEZ: return (int32_t)a <= 0;
  case BR_GTZ: return (int32_t)a > 0;
  case BR_LTZ: return (int32_t)a < 0;
  case BR_GEZ: return (int32_t)a >= 0;
  case BR_J: return true;
  case BR_JR: *target = a; return true;
  case BR_JOFF: *target = a + 8 * b; return true;
  }
  __builtin_unreachable();
}

static inline __attribute__((always_inline)) const Decoded *fetch(Core *c, const bool anew) {
  uint32_t index = c->pc >> 2 | c->pc << 30; // out of range and unaligned in one comparison
  if (__builtin_expect(index >= c->size >> 2, 0)) return make_fault(c, &bubble, "fetch outside the scratchpad");
  if (anew) {
    Decoded *d = &c->fresh[c->next_fresh++ % FRESH];
    decode_word(load32(c->bytes + c->pc), c->pc, d);
    return d;
  }
  const Decoded *d = c->decoded[index];
  if (__builtin_expect(d == &undecoded, 0)) d = c->decoded[index] = decode_interned(load32(c->bytes + c->pc), c->pc);
  return d;
}

// One clock cycle.  `anew` decodes each word every time it is fetched; `trace` prints what retires.
static inline __attribute__((always_inline)) void step(Core *c, const bool anew, FILE *trace) {
  const Decoded *fd = c->f, *xd = c->x, *md = c->m, *wd = c->w;

  // Write-back.
  c->r[wd->rd] = c->value;
  c->retired += wd->counts;
  if (trace && wd->counts) fprintf(trace, "%llu %08x\n", (unsigned long long)c->cycle, wd->pc);
  if (__builtin_expect(wd->stops, 0)) stop(c, "break, syscall or unknown instruction");

  // Execute: operands come from the memory latch when that holds the register's newer value.
  uint32_t a = xd->rs == md->rd ? c->result : c->r[xd->rs], b = xd->rt == md->rd ? c->result : c->r[xd->rt];
  bool trapped = false;
  uint32_t result = execute(c, xd, a, b, &trapped);
  if (__builtin_expect(trapped, 0)) xd = make_fault(c, xd, "trap or overflow");

  // Decode: hazards, after execute may have begun a product or quotient; branch resolution.
  if (__builtin_expect(c->annul, 0) && fd->counts) fd = &bubble, c->annul = false;
  const bool stall = (fd->needs & (xd->gives_soon | md->gives_late)) != 0 || (fd->hilo && c->cycle + 1 < c->hilo_ready);
  bool taken = false;
  uint32_t target = 0;
  if (fd->branch != BR_NONE && !stall) {
    taken = resolve(c, fd, &target);
    c->annul = fd->likely & !taken;
  }

  // Memory.
  const bool port_taken = md->memory != MEM_NONE;
  c->value = c->result;
  c->w = md;
  if (port_taken) {
    const char *fault = NULL;
    c->value = access_memory(c, md, c->result, c->stored, &fault);
    if (__builtin_expect(fault != NULL, 0)) c->w = make_fault(c, md, fault);
  }
  c->m = xd, c->result = result, c->stored = b;

  // Fetch, unless the port is taken or a word waits.
  const Decoded *fetched = c->skid;
  if (fetched == &bubble && !port_taken) {
    fetched = fetch(c, anew);
    c->pc = c->next;
    c->next = c->pc + 4;
  }
  // The delay slot is the word that follows, which is there or will be the next one to be fetched.
  if (taken) {
    if (fetched == &bubble)
      c->next = target;
    else
      c->pc = target, c->next = target + 4;
  }
  c->x = stall ? &bubble : fd;
  c->f = stall ? c->f : fetched;
  c->skid = stall ? fetched : &bubble;
  c->cycle++;
}

#endif
