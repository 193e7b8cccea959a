// The functional system executes one instruction: fetch, decode, and the bodies of bodies.h, system_bodies.h and
// mt_bodies.h; see system.h.
#include "arithmetic.h"
#include "system_code.h"
#include "system_private.h"
#include "unaligned.h"

#define CP0(name) m->cpu.cp0[MIPS_CP0_##name]

static void set_register(struct mips_system *m, unsigned n, uint32_t value) {
  m->destination = (uint8_t)n;
  if (n != 0) m->cpu.r[n] = value;
}

static inline bool load(struct mips_system *m, uint32_t address, unsigned size, uint32_t *value) {
  const struct mips_window *w = mips_window_of(m, address, MIPS_LOAD);
  if (!mips_window_serves(w, address, size)) return mips_read(m, address, size, MIPS_LOAD, value);
  *value = mips_get(w->bytes + address % MIPS_PAGE, size, m->options.big_endian);
  return true;
}

static void report_store(struct mips_system *m, uint32_t address, unsigned size, uint32_t value) {
  m->store_address = address;
  m->store_value = value;
  m->stored = (uint8_t)size;
}

static inline bool store(struct mips_system *m, uint32_t address, unsigned size, uint32_t value) {
  const struct mips_window *w = mips_window_of(m, address, MIPS_STORE);
  if (size < 4) value &= (1u << 8 * size) - 1;
  if (mips_window_serves(w, address, size))
    mips_put(w->bytes + address % MIPS_PAGE, size, m->options.big_endian, value);
  else if (!mips_write(m, address, size, value))
    return false;
  report_store(m, address, size, value);
  return true;
}

// References to a part of a word fault with the address that the program formed.
static bool load_part(struct mips_system *m, bool left, uint32_t address, uint32_t old, uint32_t *result) {
  struct mips_translation found;
  uint32_t first, value;
  unsigned count;
  if (!mips_physical(m, address, MIPS_LOAD, &found)) return false;
  mips_unaligned_part(m->options.big_endian, left, address, &first, &count);
  if (!mips_read(m, first, count, MIPS_LOAD, &value)) return false;
  *result = mips_unaligned_loaded(left, count, old, value);
  return true;
}

static bool store_part(struct mips_system *m, bool left, uint32_t address, uint32_t value) {
  struct mips_translation found;
  uint32_t first;
  unsigned count;
  if (!mips_physical(m, address, MIPS_STORE, &found)) return false;
  mips_unaligned_part(m->options.big_endian, left, address, &first, &count);
  value = mips_unaligned_stored(left, count, value);
  if (!mips_write(m, first, count, value)) return false;
  report_store(m, first, count, value);
  return true;
}

static bool load_linked(struct mips_system *m, uint32_t address, uint32_t *value) {
  struct mips_translation found;
  if (!load(m, address, 4, value) || !mips_physical(m, address, MIPS_LOAD, &found)) return false;
  m->cpu.linked = true;
  m->cpu.link = found.physical & (0u - MIPS_LINK_LINE);
  return true;
}

static bool store_conditional(struct mips_system *m, uint32_t address, uint32_t value, uint32_t *done) {
  struct mips_translation found;
  if (address & 3) {
    mips_raise_fault(m, MIPS_FAULT_ADDRESS, address, MIPS_STORE);
    return false;
  }
  if (!mips_physical(m, address, MIPS_STORE, &found)) return false;
  const bool linked = m->cpu.linked && m->cpu.link == (found.physical & (0u - MIPS_LINK_LINE));
  *done = m->following ? m->given.stores : linked;
  if (*done && !store(m, address, 4, value)) return false;
  m->cpu.linked = false;
  return true;
}

void mips_system_written(struct mips_system *m, uint32_t address) {
  if (m->cpu.link == (address & (0u - MIPS_LINK_LINE))) m->cpu.linked = false;
}

static void annul(struct mips_system *m) {
  m->cpu.pc = m->cpu.next_pc;
  m->cpu.next_pc += 4;
}

static bool privileged(struct mips_system *m) {
  if (!m->user_mode || (CP0(Status) & MIPS_STATUS_CU0)) return true;
  mips_raise_unusable(m, 0);
  return false;
}

static bool maintain(struct mips_system *m, uint32_t address) {
  struct mips_translation found;
  return mips_physical(m, address, MIPS_LOAD, &found);
}

static void wait(struct mips_system *m) {
  m->cpu.waiting = true;
  m->deadline = 0;
}

static uint32_t thread(struct mips_system *m, uint32_t word, uint32_t value) {
  struct mips_thread_request request;
  mips_thread_request_of(word, m->options.vpe, CP0(VPEControl), value, &request);
  return mips_ask_thread(m, request);
}

static uint32_t enable_threads(struct mips_system *m, bool enabled) {
  const uint32_t old = CP0(VPEControl), bit = MIPS_VPECONTROL_TE;
  CP0(VPEControl) = enabled ? old | bit : old & ~bit;
  return old;
}

enum {
  RAISED_OVERFLOW = MIPS_EXCEPTION_OV,
  RAISED_TRAP = MIPS_EXCEPTION_TR,
  RAISED_BREAKPOINT = MIPS_EXCEPTION_BP,
  RAISED_SYSCALL = MIPS_EXCEPTION_SYS,
};

#define MACHINE    struct mips_system
#define STATE      m->cpu
#define BRANCHES() m->cpu.delayed = true
#define TRY(action)                                                                                                    \
  do {                                                                                                                 \
    if (!(action)) return;                                                                                             \
  } while (0)
#define RAISE(kind)                                                                                                    \
  do {                                                                                                                 \
    mips_raise(m, (enum mips_exception)RAISED_##kind);                                                                 \
    return;                                                                                                            \
  } while (0)
#include "binding.h"

#include "bodies.h"

#define PRIVILEGED() TRY(privileged(m))
#define UNUSABLE(n)                                                                                                    \
  do {                                                                                                                 \
    mips_raise_unusable(m, n);                                                                                         \
    return;                                                                                                            \
  } while (0)
#define CP0_SELECTED        mips_rd(word), word & 7
#define READ_CP0            mips_system_read_cp0(m, CP0_SELECTED)
#define WRITE_CP0(v)        mips_system_write_cp0(m, CP0_SELECTED, v)
#define HARDWARE_REGISTER   LOADED(mips_hardware_register(m, mips_rd(word), &v_))
#define STATUS              CP0(Status)
#define SET_STATUS(v)       mips_write_status(m, v)
#define INTERRUPTS_ENABLED  ((uint32_t)MIPS_STATUS_IE)
#define TLB_READ()          mips_tlb_read(m)
#define TLB_PROBE()         mips_tlb_probe(m)
#define TLB_WRITE_INDEXED() mips_tlb_write(m, CP0(Index) % m->options.tlb_entries)
#define TLB_WRITE_RANDOM()  mips_tlb_write_random(m)
#define EXCEPTION_RETURN()  mips_exception_return(m)
#define WAIT()              wait(m)
#define MAINTAIN()          TRY(maintain(m, ADDRESS))
#include "system_bodies.h"

#define READ_THREAD       thread(m, word, 0)
#define WRITE_THREAD(v)   thread(m, word, v)
#define ENABLE_THREADS(b) enable_threads(m, b)
#define ENABLE_VPES()     thread(m, word, 0)
#define FORK()            TRY(!mips_raise_thread(m, MIPS_THREAD_OVERFLOW))
#define YIELD(v)          TRY(!mips_raise_thread(m, mips_yield(v, CP0(VPEControl), CP0(TCStatus))))
#include "mt_bodies.h"

// All words of coprocessor 0 are its own, also those that are no instruction.
static void do_reserved(struct mips_system *m, uint32_t word) {
  enum { COP0 = 16 };
  if (word >> 26 == COP0) PRIVILEGED();
  mips_raise(m, MIPS_EXCEPTION_RI);
}

static void do_marker(struct mips_system *m, uint32_t word) {
  mips_code_leave(m);
  if (m->environment.marker != NULL) m->environment.marker(m->environment.user, mips_unsigned(word));
}

typedef void body_function(struct mips_system *m, uint32_t word);
#define ENTRY(name) [MIPS_##name] = do_##name,
static body_function *const bodies[MIPS_INSTRUCTIONS] = {[MIPS_reserved] = do_reserved, MIPS_EACH_INSTRUCTION(ENTRY)};

static struct mips_decoded decode(const struct mips_system *m, uint32_t word) {
  const enum mips_instruction i =
      mips_find(m->options.vpes > 0 ? MIPS_SET_mips32r2_mt : MIPS_SET_mips32r2_system, word);
  const bool marker = i == MIPS_lui && mips_rt(word) == 0 && mips_unsigned(word) != 0;
  return (struct mips_decoded){.word = word, .body = marker ? do_marker : bodies[i]};
}

void mips_forget_decoded(struct mips_system *m) {
  for (unsigned n = 0; n < MIPS_DECODED; n++) m->decoded[n] = decode(m, 0);
}

uint32_t mips_execute(struct mips_system *m) {
  const uint32_t pc = m->cpu.pc;
  uint32_t word = 0;
  m->at = pc;
  m->in_delay_slot = m->cpu.delayed;
  m->cpu.delayed = false;
  m->cpu.cycle++;
  const struct mips_window *w = mips_window_of(m, pc, MIPS_FETCH);
  if (__builtin_expect(mips_window_serves(w, pc, 4), true))
    word = mips_get(w->bytes + pc % MIPS_PAGE, 4, m->options.big_endian);
  else if (!mips_read(m, pc, 4, MIPS_FETCH, &word))
    return word;
  m->cpu.pc = m->cpu.next_pc;
  m->cpu.next_pc += 4;
  struct mips_decoded *d = &m->decoded[pc / 4 % MIPS_DECODED];
  if (__builtin_expect(d->word != word, false)) *d = decode(m, word);
  d->body(m, word);
  return word;
}
