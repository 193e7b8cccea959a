// Decoded code of the functional system: each page of guest code that was executed as an array of operations, whose
// handlers (system_threaded.c) call one another.
//
// Decoded code is never trusted across a moment in which anybody else could have written to memory.  A page belongs to
// the current visit only after its bytes were compared with those that were decoded; a visit ends when the run ends,
// and with each call of the environment (mips_code_leave()).  Stores of the processor itself are seen: store windows of
// a page with code are marked, so that no fast path uses them, and what was stored to is decoded anew.
//
// Compilers for system_code.c and system_threaded.c need tail calls that are guaranteed (clang's musttail).
#ifndef EMULIB_MIPS_SYSTEM_CODE_H
#define EMULIB_MIPS_SYSTEM_CODE_H

#include "system.h"

#if __has_attribute(preserve_none)
#define MIPS_HANDLER __attribute__((preserve_none))
#else
#define MIPS_HANDLER
#endif

struct mips_op;

// Executes `op`, after which `next` is to be executed; `left` more instructions fit before the deadline.  The pair
// (op, next) is the architecture's (pc, next_pc).
typedef MIPS_HANDLER void mips_handler(struct mips_system *m, const struct mips_op *op, const struct mips_op *next,
                                       uint64_t left);

struct mips_op {
  mips_handler *handler;
  uint32_t word;
  uint8_t rs, rt, rd, shift; // fields of the word
};

// Beyond the last word of a page: a branch there and its delay slot are executed before the next page is looked up.
enum { MIPS_PAGE_OPS = MIPS_PAGE / 4, MIPS_OPS_BEYOND = 4 };

// The code of a page of host memory, as it is at one virtual address.
struct mips_code_page {
  const uint8_t *bytes;
  uint32_t address; // virtual
  uint32_t visit;   // in which the bytes were compared last
  struct mips_code_page *chain;
  uint8_t decoded[MIPS_PAGE]; // the bytes as they were when they were compared
  struct mips_op ops[MIPS_PAGE_OPS + MIPS_OPS_BEYOND];
};

// Code pages are aligned to this, so that an operation leads to its page.
enum { MIPS_CODE_ALIGNMENT = 1 << 15 };
_Static_assert(sizeof(struct mips_code_page) <= MIPS_CODE_ALIGNMENT, "an operation leads to its page");

static inline struct mips_code_page *mips_code_of(const struct mips_op *op) {
  return (struct mips_code_page *)((uintptr_t)op & ~(uintptr_t)(MIPS_CODE_ALIGNMENT - 1));
}
static inline uint32_t mips_address_of(const struct mips_op *op) {
  const struct mips_code_page *page = mips_code_of(op);
  return page->address + (uint32_t)(op - page->ops) * 4;
}

// system_threaded.c: code that is known, for one processor: its member `code`.  It is emptied when it is full.  NULL:
// no memory.
struct mips_code *mips_code_new(void);
// system_code.c: the same with the handlers of an operation that is not decoded yet, and of one beyond the page.
struct mips_code *mips_code_allocate(mips_handler *undecoded, mips_handler *beyond);
void mips_code_free(struct mips_code *code);

// Forgets all code, after a change of what the processor is.
void mips_code_clear(struct mips_system *m);
// Memory may change now: pages are compared before they are used again.
void mips_code_leave(struct mips_system *m);
// The code at `address` belongs to the visit from now on, if a fetch window serves it.
void mips_code_enter(struct mips_system *m, uint32_t address);
// The instruction at an address is decoded anew.
void mips_code_forget(struct mips_system *m, uint32_t address);
// Whether stores to a page of host memory must be seen.
bool mips_code_has(const struct mips_code *code, const uint8_t *bytes);
// The processor stored to such a page: `size` bytes within a word at an offset.
void mips_code_written(struct mips_system *m, const uint8_t *bytes, uint32_t offset, unsigned size);

// How often that was the case.
uint64_t mips_code_stores(const struct mips_code *code);

#endif
