// mips_system.h: what an instruction means to the system control, and why one fails; functions of the instruction
// alone.  See mips_system.lss.
#ifndef MIPS_SYSTEM_H
#define MIPS_SYSTEM_H

#include "core/core_control.h"
#include "mips/mt.h"

// The numbers of what rdhwr reads.
enum { MIPS_HWR_CPU, MIPS_HWR_SYNCI_STEP, MIPS_HWR_COUNT, MIPS_HWR_COUNT_DIVIDER, MIPS_HWR_USER_LOCAL = 29 };

// Whether user mode may execute it only where Status.CU0 says so.  All words of the opcode of coprocessor 0 are of that
// kind, also those that are no instruction.
static inline bool mips_is_privileged(uint32_t word) {
  enum { COP0 = 0x10, CACHE = 0x2f };
  return word >> 26 == COP0 || word >> 26 == CACHE;
}

// The coprocessor that a word names which is there for no mode.
static inline uint32_t mips_unusable_unit(uint32_t word) {
  return (word >> 26 & 3) == 2 ? 2 : 1;
}

// What a CACHE instruction asks of a cache.  Tags that are stored are those of invalid lines; what is for caches that
// software does not manage, loads a tag or fills a line only translates the address.
static inline cache_operation mips_cache_operation(uint32_t word) {
  enum { CACHE_I, CACHE_D };
  enum {
    INDEX_INVALIDATE,
    INDEX_LOAD_TAG,
    INDEX_STORE_TAG,
    HIT_INVALIDATE = 4,
    HIT_WRITE_BACK_INVALIDATE,
    HIT_WRITE_BACK
  };
  const uint32_t cache = mips_rt(word) & 3, what = mips_rt(word) >> 2;
  const cache_operation side = cache_operation_of_side(cache == CACHE_I ? cache_side_instructions : cache_side_data);
  const bool data = cache == CACHE_D;
  if (!data && cache != CACHE_I) return side;
  switch (what) {
  case INDEX_INVALIDATE:
    return side | cache_operation_of_by_index(true) | cache_operation_of_write_back(data) |
           cache_operation_of_invalidate(true);
  case INDEX_STORE_TAG: return side | cache_operation_of_by_index(true) | cache_operation_of_invalidate(true);
  case HIT_INVALIDATE: return side | cache_operation_of_invalidate(true);
  case HIT_WRITE_BACK_INVALIDATE:
    return data ? side | cache_operation_of_write_back(true) | cache_operation_of_invalidate(true) : side;
  case HIT_WRITE_BACK: return data ? side | cache_operation_of_write_back(true) : side;
  default: return side;
  }
}

// The control word of a request to maintain a cache, of an instruction whose own was c.
static inline control_word mips_maintaining(control_word c) {
  return CORE_CONTROL_IDLE | control_word_of_mem(memory_access_maintain) | control_word_of_size(1) |
         control_word_of_slot(control_word_slot(c)) | control_word_of_serializes(true);
}

// Why an instruction fails.
struct mips_failure {
  enum mips_exception code;
  bool addressed;  // BadVAddr becomes `address`
  bool translated; // and Context and EntryHi its page
  bool refill;     // no entry matched
  uint32_t address;
  uint32_t unit;   // of an unusable coprocessor
  uint32_t thread; // what VPEControl says of a thread exception
};

enum mips_reference { MIPS_REFERENCE_FETCH, MIPS_REFERENCE_LOAD, MIPS_REFERENCE_STORE };

static inline struct mips_failure mips_failure_of_fault(mem_fault fault, enum mips_reference reference,
                                                        uint32_t address) {
  const bool store = reference == MIPS_REFERENCE_STORE;
  struct mips_failure failure = {.addressed = true, .translated = true, .address = address};
  switch (fault) {
  case mem_fault_bus:
    return (struct mips_failure){.code = reference == MIPS_REFERENCE_FETCH ? MIPS_EXCEPTION_IBE : MIPS_EXCEPTION_DBE};
  case mem_fault_address:
    failure.code = store ? MIPS_EXCEPTION_ADES : MIPS_EXCEPTION_ADEL;
    failure.translated = false;
    return failure;
  case mem_fault_modified: failure.code = MIPS_EXCEPTION_MOD; return failure;
  default:
    failure.code = store ? MIPS_EXCEPTION_TLBS : MIPS_EXCEPTION_TLBL;
    failure.refill = fault == mem_fault_refill;
    return failure;
  }
}

// Of an instruction that the pipeline found to fail before its memory request, or that this mode may not execute.
static inline struct mips_failure mips_failure_of(core_executed in, bool privileged) {
  const trap_cause trap = control_word_trap(in.control);
  struct mips_failure failure = {.code = MIPS_EXCEPTION_RI};
  switch (trap) {
  case trap_cause_fetch: return mips_failure_of_fault((mem_fault)in.result, MIPS_REFERENCE_FETCH, in.pc);
  case trap_cause_syscall: failure.code = MIPS_EXCEPTION_SYS; return failure;
  case trap_cause_breakpoint: failure.code = MIPS_EXCEPTION_BP; return failure;
  case trap_cause_overflowed: failure.code = MIPS_EXCEPTION_OV; return failure;
  case trap_cause_taken: failure.code = MIPS_EXCEPTION_TR; return failure;
  case trap_cause_coprocessor:
    failure.code = MIPS_EXCEPTION_CPU;
    failure.unit = mips_unusable_unit(in.word);
    return failure;
  default:
    if (!privileged && mips_is_privileged(in.word)) failure.code = MIPS_EXCEPTION_CPU;
    return failure;
  }
}

#endif
