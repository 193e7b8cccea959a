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

// What moves from stage to stage; an empty latch holds the bubble.
typedef struct {
  const Decoded *d;
  uint32_t pc;
} FetchLatch;

typedef struct {
  const Decoded *d;
  uint32_t pc, a, b;
} DecodeLatch;

typedef struct {
  const Decoded *d;
  uint32_t pc, result, b;
} ExecuteLatch;

typedef struct {
  const Decoded *d;
  uint32_t pc, value;
} MemoryLatch;

typedef struct {
  uint32_t pc;     // next word to fetch
  uint32_t target; // where to go after the delay slot, when `redirect`
  bool redirect;
  bool annul; // the next instruction in decode is an annulled delay slot
  FetchLatch skid, f;
  DecodeLatch x;
  ExecuteLatch m;
  MemoryLatch w;
  uint32_t hi, lo;
  uint64_t hilo_ready; // first cycle in which a user of HI/LO may execute
  uint64_t cycle, retired;
  uint32_t r[NO_REGISTER + 1];
  // Scratchpad: `size` bytes from address 0, and the decoded form of each of its words.
  uint8_t *bytes;
  uint32_t size;
  const Decoded **decoded;
  bool linked; // LL/SC reservation
  uint32_t link_address;
  const char *stopped; // why, or NULL
  Decoded fault;       // stands for an instruction that must not go on
  Decoded fresh[8];    // only when every word is decoded anew: more than can be in flight
  uint32_t next_fresh;
} Core;

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

// An instruction that cannot complete: it keeps its place in the pipeline and stops the run when it retires.
static inline const Decoded *make_fault(Core *c, const Decoded *d, const char *why) {
  if (!c->stopped) c->stopped = why;
  c->fault = (Decoded){.rd = NO_REGISTER, .counts = d->counts, .stops = 1, .word = d->word};
  return &c->fault;
}

static inline uint32_t highest_set(uint32_t v) {
  return v ? 32 - (uint32_t)__builtin_clz(v) : 0;
}

// The execute stage of one instruction.  Returns the result, or reports a trap through `trapped`.
static inline __attribute__((always_inline)) uint32_t execute(Core *c, const Decoded *d, uint32_t pc, uint32_t a,
                                                              uint32_t b, bool *trapped) {
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
  case EX_LINK: return pc + 8;
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

// One clock cycle.  `anew` decodes each word every time it is fetched; `trace` prints what retires.
static inline __attribute__((always_inline)) void step(Core *c, const bool anew, FILE *trace) {
  const Decoded *fd = c->f.d, *xd = c->x.d, *md = c->m.d, *wd = c->w.d;

  // Write-back.
  c->r[wd->rd] = c->w.value;
  c->retired += wd->counts;
  if (trace && wd->counts) fprintf(trace, "%llu %08x\n", (unsigned long long)c->cycle, c->w.pc);
  if (__builtin_expect(wd->stops, 0) && !c->stopped) c->stopped = "break, syscall or unknown instruction";

  // Execute: operands come from the later latches when those hold the register's newer value.
  uint32_t a = c->x.a, b = c->x.b;
  a = xd->rs == wd->rd ? c->w.value : a;
  b = xd->rt == wd->rd ? c->w.value : b;
  a = xd->rs == md->rd ? c->m.result : a;
  b = xd->rt == md->rd ? c->m.result : b;
  bool trapped = false;
  uint32_t result = execute(c, xd, c->x.pc, a, b, &trapped);
  if (__builtin_expect(trapped, 0)) xd = make_fault(c, xd, "trap or overflow");

  // Memory.
  const bool port_taken = md->memory != MEM_NONE;
  uint32_t value = c->m.result;
  const Decoded *done = md;
  if (port_taken) {
    const char *fault = NULL;
    value = access_memory(c, md, c->m.result, c->m.b, &fault);
    if (__builtin_expect(fault != NULL, 0)) done = make_fault(c, md, fault);
  }

  // Decode: hazards, branch resolution, register read.
  const bool annulled = c->annul & (fd->counts != 0);
  if (__builtin_expect(annulled, 0)) fd = &bubble, c->annul = false;
  const bool stall = ((fd->reads & c->x.d->loads) | (fd->branch_reads & (c->x.d->writes | md->loads))) != 0 ||
                     (fd->hilo && c->cycle + 1 < c->hilo_ready);
  bool taken = false;
  uint32_t target = 0, ra = c->r[fd->rs], rb = c->r[fd->rt];
  if (fd->branch != BR_NONE && !stall) {
    uint32_t va = fd->rs == md->rd ? c->m.result : ra, vb = fd->rt == md->rd ? c->m.result : rb, pc = c->f.pc + 4;
    target = pc + (uint32_t)fd->immediate;
    switch ((BranchOp)fd->branch) {
    case BR_NONE: break;
    case BR_EQ: taken = va == vb; break;
    case BR_NE: taken = va != vb; break;
    case BR_LEZ: taken = (int32_t)va <= 0; break;
    case BR_GTZ: taken = (int32_t)va > 0; break;
    case BR_LTZ: taken = (int32_t)va < 0; break;
    case BR_GEZ: taken = (int32_t)va >= 0; break;
    case BR_J: taken = true, target = (pc & 0xf0000000u) | (uint32_t)fd->immediate; break;
    case BR_JR: taken = true, target = va; break;
    case BR_JOFF: taken = true, target = va + 8 * vb; break;
    }
    c->annul = fd->likely & !taken;
  }

  // Fetch.
  FetchLatch fetched = {&bubble, c->pc};
  const bool wanted = c->skid.d == &bubble && !port_taken;
  if (wanted) {
    uint32_t index = c->pc >> 2 | c->pc << 30; // out of range and unaligned in one comparison
    if (__builtin_expect(index >= c->size >> 2, 0)) {
      fetched.d = make_fault(c, &bubble, "fetch outside the scratchpad");
    } else if (anew) {
      Decoded *d = &c->fresh[c->next_fresh++ & 7];
      decode_word(load32(c->bytes + c->pc), d);
      fetched.d = d;
    } else {
      fetched.d = c->decoded[index];
      if (__builtin_expect(fetched.d == &undecoded, 0))
        fetched.d = c->decoded[index] = decode_interned(load32(c->bytes + c->pc));
    }
    c->pc = c->redirect ? c->target : c->pc + 4;
    c->redirect = false;
  }
  if (taken) {
    if (wanted || c->skid.d != &bubble)
      c->pc = target;
    else
      c->redirect = true, c->target = target;
  }

  // All latches move at the end of the cycle.
  c->w = (MemoryLatch){done, c->m.pc, value};
  c->m = (ExecuteLatch){xd, c->x.pc, result, b};
  if (stall) {
    c->x = (DecodeLatch){&bubble, c->f.pc, 0, 0};
    if (c->skid.d == &bubble) c->skid = fetched;
  } else {
    c->x = (DecodeLatch){fd, c->f.pc, ra, rb};
    c->f = c->skid.d == &bubble ? fetched : c->skid;
    c->skid.d = &bubble;
  }
  c->cycle++;
}

#endif
