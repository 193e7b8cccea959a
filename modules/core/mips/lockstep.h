// lockstep.h: what cores report to emulib's functional system, which does the same beside them and tells the first
// difference: the code of their collectors `lockstep`.
#ifndef LOCKSTEP_H
#define LOCKSTEP_H

#include "emulib/mips/lockstep.h"

// For a context of a core without system, which has its number in a0 at first: addresses are physical, and memory is so
// large.
static inline void lockstep_init_bare(struct mips_lockstep *l, bool big_endian, uint32_t memory, uint32_t context) {
  struct mips_system_options options = mips_system_4kec(big_endian);
  options.bare = true;
  mips_lockstep_init(l, options, memory);
  l->cpu.r[4] = context;
}

// What mips_system raises.
static inline void lockstep_exception(struct mips_lockstep *l, uint64_t cycle, uint32_t code, uint32_t pc, uint32_t epc,
                                      uint32_t badvaddr, uint32_t word) {
  mips_lockstep_exception(
      l, (struct mips_lockstep_exception){
             .cycle = cycle, .pc = pc, .word = word, .epc = epc, .bad = badvaddr, .code = (uint8_t)code});
}

static inline void lockstep_interrupt(struct mips_lockstep *l, uint64_t cycle, uint32_t level, uint32_t pc) {
  mips_lockstep_exception(l, (struct mips_lockstep_exception){.cycle = cycle, .pc = pc, .level = (uint8_t)level});
}

// A request of core_access.
static inline void lockstep_access(struct mips_lockstep *l, uint64_t cycle, uint32_t pc, mem_op op, uint32_t address,
                                   uint8_t size, uint32_t data) {
  const bool conditional = op == mem_op_store_conditional;
  mips_lockstep_access(l, (struct mips_lockstep_access){.cycle = cycle,
                                                        .pc = pc,
                                                        .address = address,
                                                        .data = data,
                                                        .size = size,
                                                        .stores = conditional || op == mem_op_write,
                                                        .conditional = conditional});
}

// An instruction that core_writeback retires.
static inline bool lockstep_retire(struct mips_lockstep *l, uint64_t cycle, uint32_t pc, uint32_t word, uint32_t value,
                                   uint8_t destination, char text[MIPS_LOCKSTEP_TEXT]) {
  return mips_lockstep_retire(l,
                              (struct mips_lockstep_retired){
                                  .cycle = cycle, .pc = pc, .word = word, .value = value, .destination = destination},
                              text);
}

// A store-conditional of load_store_queue that was decided and has not been committed.
struct lockstep_conditional {
  bool waits;
  uint32_t address, data;
};

// A context of an out-of-order core.
struct lockstep_context {
  struct mips_lockstep follower;
  struct lockstep_conditional decided;
  uint32_t stores; // committed, and not in memory: whatever others write there, the context sees its own
};

static inline void lockstep_begin(struct lockstep_context *of, struct mips_system_options options, uint32_t context,
                                  uint32_t memory) {
  options.vpe = (uint8_t)(options.vpes > 0 ? context : 0);
  mips_lockstep_init(&of->follower, options, memory);
  of->follower.cpu.cp0[MIPS_CP0_EBase] |= context;
}

// The number of an instance among those that the contexts have.
static inline uint32_t lockstep_index(const char *path) {
  return (uint32_t)(strrchr(path, '[')[1] - '0');
}

// Others than a context wrote to memory; a number that is none's: all do not know what.
static inline void lockstep_written(struct lockstep_context *of, uint32_t contexts, uint32_t writer, uint64_t cycle,
                                    uint32_t address, uint32_t size) {
  for (uint32_t c = 0; c < contexts; c++)
    if (c != writer) mips_lockstep_external(&of[c].follower, cycle, address, size);
}

// A committed store of a context, in each cycle from that in which memory takes it to that in which it replies.
static inline void lockstep_stored(struct lockstep_context *of, uint32_t contexts, uint64_t cycle, uint32_t address,
                                   uint32_t size, uint32_t data, bool last, uint32_t context) {
  of[context].stores -= last;
  for (uint32_t c = 0; c < contexts; c++) {
    if (c == context) continue;
    mips_lockstep_external(&of[c].follower, cycle, address, size);
    if (of[c].stores == 0) mips_lockstep_know(&of[c].follower, address, size, data);
  }
}

// An instruction that active_list commits; what it stored comes with it, but for a store-conditional, which was decided
// before.  A load counts as accepted two cycles before: where others wrote earlier, it was executed anew.
static inline bool lockstep_commit(struct lockstep_context *of, uint64_t cycle, uint32_t pc, uint32_t word,
                                   uint32_t value, uint8_t destination, uint32_t address, uint8_t size,
                                   char text[MIPS_LOCKSTEP_TEXT]) {
  struct mips_lockstep *l = &of->follower;
  of->stores += size > 0;
  if (size > 0) lockstep_access(l, cycle, pc, mem_op_write, address, size, value);
  if (of->decided.waits)
    lockstep_access(l, cycle, pc, mem_op_store_conditional, of->decided.address, 4, of->decided.data);
  of->decided.waits = false;
  if (cycle > 2) lockstep_access(l, cycle - 2, pc, mem_op_read, 0, 0, 0);
  return lockstep_retire(l, cycle, pc, word, value, destination, text);
}

// What was compared of all contexts.
struct lockstep_totals {
  uint64_t instructions, raised, interrupts, unchecked, external;
};

static inline struct lockstep_totals lockstep_sum(const struct lockstep_context *of, uint32_t contexts) {
  struct lockstep_totals all = {0};
  for (uint32_t c = 0; c < contexts; c++) {
    const struct mips_lockstep *l = &of[c].follower;
    all.instructions += l->instructions;
    all.raised += l->raised;
    all.interrupts += l->interrupts;
    all.unchecked += l->unchecked;
    all.external += l->external;
  }
  return all;
}

#endif
