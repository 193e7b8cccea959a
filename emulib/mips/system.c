// The functional system as a whole: reset, runs, steps, and what is between instructions; see system.h.
#include "system_code.h"
#include "system_private.h"

struct mips_system_options mips_system_4kec(bool big_endian) {
  const struct mips_cache_geometry cache = {.sets = 128, .ways = 4, .line = 32};
  return (struct mips_system_options){.big_endian = big_endian,
                                      .tlb_entries = 16,
                                      .count_divider = 2,
                                      .prid = 0x00019000,
                                      .icache = cache,
                                      .dcache = cache};
}

void mips_system_init(struct mips_system *m, struct mips_system_options options, struct mips_environment environment) {
  memset(m, 0, sizeof *m);
  m->sought = 1;
  m->options = options;
  m->environment = environment;
  m->cpu.random = MIPS_RANDOM_RESET;
  for (unsigned n = 0; n < options.tlb_entries; n++) m->cpu.tlb[n].hi = 0x80000000u + 2 * MIPS_PAGE * n;
  mips_reset_cp0(m);
  mips_system_start(m, MIPS_VECTOR_RESET);
  mips_timer_changed(m);
  mips_system_changed(m);
}

void mips_system_changed(struct mips_system *m) {
  mips_forget_windows(m);
  mips_code_clear(m);
  mips_status_changed(m);
  mips_forget_decoded(m);
}

// Begins an instruction anew that was postponed: the pc has advanced unless it could not be fetched.
static void take_back(struct mips_system *m) {
  m->cpu.cycle--;
  m->cpu.delayed = m->in_delay_slot;
  if (m->postponed != 1 + MIPS_FETCH) {
    m->cpu.next_pc = m->cpu.pc;
    m->cpu.pc = m->at;
  }
  m->postponed = 0;
}

// What is beside instructions, once the deadline has come.  True: the run ends.
static bool attend(struct mips_system *m, uint64_t until, enum mips_pause *pause) {
  if (m->postponed) take_back(m);
  if (m->cpu.cycle >= m->cpu.timer_cycle) mips_timer_expired(m);
  if (m->stopping) return *pause = MIPS_PAUSE_STOPPED, true;
  if (m->cpu.cycle >= until) return *pause = MIPS_PAUSE_CYCLE, true;
  if (m->cpu.waiting && !m->following && !mips_system_interrupted(m)) return *pause = MIPS_PAUSE_WAITING, true;
  m->cpu.waiting = false;
  if (mips_system_enables_interrupts(m) && !m->following && mips_system_interrupted(m)) mips_system_take_interrupt(m);
  m->deadline = until < m->cpu.timer_cycle ? until : m->cpu.timer_cycle;
  return false;
}

// Executes until the deadline, or until pc is what is sought.
static enum mips_pause run(struct mips_system *m, uint64_t until) {
  enum { WORTH_COMPARING = 100 }; // instructions after which decoded code is faster, although pages are compared
  enum mips_pause pause;
  m->stopping = false;
  m->deadline = 0;
  mips_code_leave(m);
  for (;;) {
    if (m->cpu.cycle >= m->deadline && attend(m, until, &pause)) return pause;
    if (m->seeks && m->cpu.pc == m->sought) return MIPS_PAUSE_THERE;
    if (m->code == NULL || m->deadline - m->cpu.cycle < WORTH_COMPARING || !mips_run_code(m)) mips_execute(m);
  }
}

enum mips_pause mips_system_run(struct mips_system *m, uint64_t until) {
  m->seeks = false;
  return run(m, until);
}

enum mips_pause mips_system_run_to(struct mips_system *m, uint64_t until, uint32_t pc) {
  m->seeks = true;
  if (m->sought != pc) {
    mips_code_forget(m, m->sought);
    mips_code_forget(m, pc);
    m->sought = pc;
  }
  return run(m, until);
}

enum mips_pause mips_system_step(struct mips_system *m, struct mips_step *did) {
  enum mips_pause pause = MIPS_PAUSE_CYCLE;
  m->stopping = false;
  m->exception = MIPS_NO_EXCEPTION;
  if (attend(m, m->cpu.cycle + 1, &pause)) return pause;
  *did = (struct mips_step){.interrupted = m->exception != MIPS_NO_EXCEPTION, .pc = m->cpu.pc};
  m->exception = MIPS_NO_EXCEPTION;
  m->destination = m->stored = 0;
  did->in_delay_slot = m->cpu.delayed;
  did->word = mips_execute(m);
  did->retired = m->exception == MIPS_NO_EXCEPTION;
  did->exception = m->exception;
  if (did->retired) {
    did->destination = m->destination;
    did->value = m->cpu.r[m->destination];
    did->stored = m->stored;
    did->store_address = m->store_address;
    did->store_value = m->store_value;
  }
  return pause;
}

void mips_system_postpone(struct mips_system *m) {
  m->postponed = 1; // which kind, whoever called says
  mips_system_stop(m);
}

enum mips_pause mips_system_finish(struct mips_system *m) {
  m->stopping = false;
  mips_execute(m);
  if (m->postponed) take_back(m);
  return m->stopping ? MIPS_PAUSE_STOPPED : MIPS_PAUSE_CYCLE;
}
