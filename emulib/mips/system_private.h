// What the parts of the functional system want of one another; see system.h.
#ifndef EMULIB_MIPS_SYSTEM_PRIVATE_H
#define EMULIB_MIPS_SYSTEM_PRIVATE_H

#include <string.h>

#include "system.h"

// system_exception.c, as are mips_system_start() and mips_system_stop(): enters the exception handler, for the
// instruction at m->at.
void mips_raise(struct mips_system *m, enum mips_exception code);
// The same for coprocessor n unusable, and for a reference to `address` that cannot be translated.
void mips_raise_unusable(struct mips_system *m, unsigned unit);
void mips_raise_fault(struct mips_system *m, enum mips_fault fault, uint32_t address, enum mips_access access);
void mips_exception_return(struct mips_system *m);
// Status as di and ei write it.
void mips_write_status(struct mips_system *m, uint32_t value);
// After a change of Status: mode, interrupts.
void mips_status_changed(struct mips_system *m);
// Computes when the timer interrupts next.
void mips_timer_changed(struct mips_system *m);
// In the cycle in which it does.
void mips_timer_expired(struct mips_system *m);
// The value of Count.
uint32_t mips_count(const struct mips_system *m);

// system_cp0.c: reset.
void mips_reset_cp0(struct mips_system *m);
// The register that rdhwr names; false: this mode does not see it, an exception was raised.
bool mips_hardware_register(struct mips_system *m, unsigned number, uint32_t *value);
// A register as mtc0 writes it; `master`: one that is a master writes it.
void mips_write_cp0(struct mips_system *m, enum mips_cp0 n, uint32_t value, bool master);
uint32_t mips_read_cp0(struct mips_system *m, enum mips_cp0 n);

// system_vpe.c, as is mips_system_runs(): TCStatus and TCRestart, which are not kept as they are read; false: another
// register.
bool mips_read_vpe(const struct mips_system *m, enum mips_cp0 n, uint32_t *value);
// A register of this VPE becomes `value`, as far as that goes; `master`: one that is a master writes it.
void mips_write_vpe(struct mips_system *m, enum mips_cp0 n, uint32_t value, bool master);
// Does what an instruction asks of a thread context, and returns what it reads.
uint32_t mips_ask_thread(struct mips_system *m, struct mips_thread_request request);
// fork or yield fails; false: it does not.
bool mips_raise_thread(struct mips_system *m, enum mips_thread_failure failure);

// system_tlb.c
void mips_tlb_read(struct mips_system *m);
void mips_tlb_probe(struct mips_system *m);
void mips_tlb_write(struct mips_system *m, unsigned index);
void mips_tlb_write_random(struct mips_system *m);
// Forgets recent translations.
void mips_forget_windows(struct mips_system *m);

// system_memory.c: a reference that no window serves.  False: an exception was raised.
bool mips_read(struct mips_system *m, uint32_t address, unsigned size, enum mips_access access, uint32_t *value);
bool mips_write(struct mips_system *m, uint32_t address, unsigned size, uint32_t value);
// Translates for a reference; false: an exception was raised.
bool mips_physical(struct mips_system *m, uint32_t address, enum mips_access access, struct mips_translation *found);

// system_execute.c: executes an instruction, and returns its word.
uint32_t mips_execute(struct mips_system *m);
// Forgets which words were decoded.
void mips_forget_decoded(struct mips_system *m);
// system_threaded.c: executes decoded code until something else is due.  False: there is none at the pc.
bool mips_run_code(struct mips_system *m);

// Numbers in the guest's memory.
static inline bool mips_swaps(bool big_endian) {
  return big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}
static inline uint32_t mips_get(const uint8_t *at, unsigned size, bool big_endian) {
  uint32_t word, value = 0;
  uint16_t half;
  switch (size) {
  case 1: return *at;
  case 2: memcpy(&half, at, 2); return mips_swaps(big_endian) ? __builtin_bswap16(half) : half;
  case 4: memcpy(&word, at, 4); return mips_swaps(big_endian) ? __builtin_bswap32(word) : word;
  default:
    for (unsigned n = 0; n < size; n++) value |= (uint32_t)at[n] << 8 * (big_endian ? size - 1 - n : n);
    return value;
  }
}
static inline void mips_put(uint8_t *at, unsigned size, bool big_endian, uint32_t value) {
  const uint32_t word = mips_swaps(big_endian) ? __builtin_bswap32(value) : value;
  const uint16_t half = mips_swaps(big_endian) ? __builtin_bswap16((uint16_t)value) : (uint16_t)value;
  switch (size) {
  case 1: *at = (uint8_t)value; return;
  case 2: memcpy(at, &half, 2); return;
  case 4: memcpy(at, &word, 4); return;
  default:
    for (unsigned n = 0; n < size; n++) at[n] = (uint8_t)(value >> 8 * (big_endian ? size - 1 - n : n));
  }
}

static inline struct mips_window *mips_window_of(struct mips_system *m, uint32_t address, enum mips_access access) {
  return &m->windows[m->user_mode][access][address / MIPS_PAGE % MIPS_WINDOWS];
}
// Whether the window holds a number of `size` bytes at an address, a multiple of that.
static inline bool mips_window_serves(const struct mips_window *w, uint32_t address, unsigned size) {
  return (address & (0u - MIPS_PAGE | (size - 1))) == w->page;
}
static inline struct mips_entry *mips_entry_of(struct mips_system *m, uint32_t address) {
  return &m->entries[m->user_mode][address / MIPS_PAGE % MIPS_WINDOWS];
}

#endif
