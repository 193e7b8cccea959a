// A functional MIPS32r2 processor with its system: user and kernel mode, exceptions, TLB, timer, links.  It is the
// oracle that boots an operating system, the reference that a core is compared with while it runs, and a core that is
// fast because it keeps no time but the number of instructions.
//
// Re-entrant: all state is in struct mips_system, and what programs can see of it in its member `cpu`, plain data that
// may be copied to and from another processor (mips_system_changed() after writing to it).  The owner gives memory,
// devices and interrupts:
//
//   - Pages of host memory, which are read and written directly, and functions for all else (struct mips_environment).
//     An owner that wants to see every reference gives no pages.
//   - Time is cpu.cycle.  Each instruction takes one cycle; an annulled delay slot takes none.  mips_system_run() goes
// to a cycle, and comes back earlier when the processor waits; then the owner lets time pass with mips_system_pass(),
// up to the next event that it knows of or mips_system_next_event().
//   - Levels of interrupt lines, by mips_system_interrupt(), at any time.
//
// An owner that follows another processor, instruction by instruction, sets `following` and calls mips_system_step().
// Then nothing that only time or others decide is decided here: interrupts are taken when mips_system_take_interrupt()
// says so, Count reads what `given` says, SC stores when `given` says so, Cause.TI is whatever level 7 was set to, and
// functions of the environment give what loads from devices returned.  The step reports what the instruction did.
//
// The rules are those of the MIPS32 architecture, volume III, with the choices that it leaves:
//   - two TLB entries that match: the lower counts; there is no machine check;
//   - after reset entry n is for the pair n of kseg0, which is not mapped;
//   - tlbwr's entry steps through those that are not wired by a shift register, so it does not depend on time;
//   - what a CACHE operation names is translated as by a load, and the caches are coherent: nothing else happens;
//   - a link is to a line of 32 bytes, and ends with eret, another ll, sc, or a write of another agent;
//   - sc translates its address also when there is no link;
//   - a bus error is precise, that of a store too;
//   - EntryHi and Context are changed by exceptions of the TLB only, Cause.CE by an unusable coprocessor only;
//   - lui with register 0 is a marker: it does nothing, and the owner is told its number.
#ifndef EMULIB_MIPS_SYSTEM_H
#define EMULIB_MIPS_SYSTEM_H

#include "mt.h"

enum { MIPS_TLB_LEAST = 16, MIPS_TLB_MOST = 128, MIPS_PAGE = 4096, MIPS_LINK_LINE = 32 };

// One of the pairs that the architecture calls a TLB entry, as the registers that were written: PageMask, EntryHi,
// EntryLo0 and EntryLo1.
struct mips_tlb_entry {
  uint32_t mask, hi, lo[2];
};

// The geometry of a cache, for Config1: sets 64 to 4096, lines of 16 to 128 bytes, up to 8 ways.
struct mips_cache_geometry {
  uint16_t sets;
  uint8_t ways, line;
};

// What a processor is.
struct mips_system_options {
  bool big_endian;
  bool user_local;       // Config3.ULRI: rdhwr 29 reads UserLocal
  bool bare;             // no segments and no TLB: addresses are physical, and cached
  uint8_t tlb_entries;   // MIPS_TLB_LEAST to MIPS_TLB_MOST, a power of two
  uint8_t count_divider; // cycles in which Count advances by one
  uint8_t vpes;          // MT ASE: of the processor, 1 to MIPS_VPES_MOST; 0: without
  uint8_t vpe;           // which of them this is; EBase shows it
  uint32_t prid;
  struct mips_cache_geometry icache, dcache;
};

// A 4KEc with 16 entries, Count at half the clock, and two 4-way caches of 16 KiB.
struct mips_system_options mips_system_4kec(bool big_endian);

// The architectural state.
struct mips_architecture {
  uint32_t r[32], hi, lo;
  uint32_t pc, next_pc;
  bool delayed; // pc is a delay slot
  bool waiting; // behind a wait: pc is executed once an interrupt is pending that Status.IM lets through
  bool linked;
  uint32_t link; // physical address of the line that ll read
  // As mfc0 reads them, but: Count is as it was in cycle count_cycle, TCStatus has bits of its own only, and TCRestart
  // is pc.
  uint32_t cp0[MIPS_CP0_KEPT];
  struct mips_tlb_entry tlb[MIPS_TLB_MOST];
  uint16_t random;      // shift register behind Random
  uint64_t cycle;       // now
  uint64_t count_cycle; // cycle in which Count was what cp0 says
  // Cycle in which Count becomes equal to Compare; UINT64_MAX: it stands still.  mips_system_write_cp0() computes it
  // when it writes one of them, or Cause.
  uint64_t timer_cycle;
};

enum mips_access { MIPS_FETCH, MIPS_LOAD, MIPS_STORE, MIPS_ACCESSES };

struct mips_system;

// Memory and devices.  Addresses are physical; numbers are right-justified, in the byte order of the processor.
struct mips_environment {
  void *user;
  // Host memory of the page of 4 KiB at `address`, bytes in the guest's order, or NULL: use read and write there.  It
  // stays where it is until mips_system_changed().
  uint8_t *(*page)(void *user, uint32_t address, enum mips_access access);
  // 1 to 4 bytes within a word.  False: nothing responds there, a bus error.
  bool (*read)(void *user, uint32_t address, unsigned size, bool cached, uint32_t *value);
  bool (*write)(void *user, uint32_t address, unsigned size, bool cached, uint32_t value);
  void (*marker)(void *user, uint32_t number); // may be NULL
  // From the next cycle on the processor is in user mode, or not; an interrupt: from this cycle on.  May be NULL.
  void (*mode)(void *user, bool user_mode);
  // MT ASE: does what an instruction asks of a thread context that it can reach, and returns what it reads.  The owner
  // asks mips_system_read_thread() and mips_system_write_thread() of the VPE that is meant.
  uint32_t (*thread)(void *user, const struct mips_system *m, struct mips_thread_request request);
};

// What another processor decided, for one that follows it.
struct mips_given {
  uint32_t count; // what Count reads
  bool stores;    // whether sc stores
};

// What one step did.
struct mips_step {
  bool interrupted;  // an interrupt was taken first: pc is that of the handler
  uint32_t pc, word; // word: 0 when it could not be fetched
  bool in_delay_slot;
  bool retired;                        // no exception
  uint8_t exception;                   // else: enum mips_exception; its vector is the new pc
  uint8_t destination;                 // register written, or 0
  uint32_t value;                      // what is in it now
  uint8_t stored;                      // bytes stored, or 0
  uint32_t store_address, store_value; // virtual address
};

struct mips_statistics {
  uint64_t exceptions[32]; // by code
  uint64_t refills;
  uint64_t idle;          // cycles passed while it waited
  uint64_t failed;        // instructions begun that raised an exception
  uint64_t unimplemented; // reads and writes of registers of coprocessor 0 that there are not
};

// Recent translations and decoded words: nothing that programs can see.
enum { MIPS_WINDOWS = 256, MIPS_DECODED = 16384 };
struct mips_window {
  uint32_t page; // virtual; no page's address: unused; with MIPS_WINDOW_CODE: stores must be seen
  uint8_t *bytes;
};
enum { MIPS_WINDOW_CODE = 0x800 };
// Where the decoded code of a page begins; see system_code.h.
struct mips_entry {
  uint32_t page; // virtual; no page's address: unused
  bool listed;   // among those that end with the visit
  const struct mips_op *ops;
};
struct mips_op;
struct mips_code;
struct mips_decoded {
  uint32_t word;
  void (*body)(struct mips_system *m, uint32_t word);
};

struct mips_system {
  struct mips_architecture cpu;
  struct mips_system_options options;
  struct mips_environment environment;
  struct mips_statistics statistics;
  bool following; // see above
  struct mips_given given;

  // The instruction that is executed.
  uint32_t at;
  bool in_delay_slot;
  uint8_t destination, stored, exception; // as in struct mips_step; MIPS_NO_EXCEPTION
  uint32_t store_address, store_value;

  bool user_mode;    // Status says so
  bool stopping;     // mips_system_stop() was called
  uint8_t postponed; // mips_system_postpone() was called, for this kind of reference and 1; 0: it was not
  uint64_t deadline; // cycle in which the loop must look at what is beside instructions
  struct mips_window windows[2][MIPS_ACCESSES][MIPS_WINDOWS]; // of kernel and user mode
  struct mips_decoded decoded[MIPS_DECODED];

  // Decoded code, which mips_system_run() and mips_system_run_to() use; NULL: they decode each word that they execute.
  // The owner may set it after mips_system_init().
  struct mips_code *code;
  struct mips_entry entries[2][MIPS_WINDOWS];
  // While code is executed: windows and entries of the mode; the cycle in which it ends; what is left of it after the
  // last branch; whether it ends at an address, and which was sought last (one that is no multiple of 4: none).
  const struct mips_window (*window)[MIPS_WINDOWS];
  const struct mips_entry *entry;
  uint64_t end;
  uint64_t slot_left;
  bool seeks;
  uint32_t sought;
};

enum { MIPS_NO_EXCEPTION = 255 };

// After reset: pc at the reset vector.
void mips_system_init(struct mips_system *m, struct mips_system_options options, struct mips_environment environment);
// Sets pc, with the next instruction behind it.
void mips_system_start(struct mips_system *m, uint32_t pc);
// After anything in `cpu` was written from outside, or a page moved.
void mips_system_changed(struct mips_system *m);

enum mips_pause {
  MIPS_PAUSE_CYCLE,   // cpu.cycle is what was asked for
  MIPS_PAUSE_WAITING, // the processor waits for an interrupt
  MIPS_PAUSE_STOPPED, // mips_system_stop() or mips_system_postpone()
  MIPS_PAUSE_THERE,   // pc is what mips_system_run_to() was given
};
// Executes until cpu.cycle is `until`.
enum mips_pause mips_system_run(struct mips_system *m, uint64_t until);
// The same, until pc is `pc` before that.
enum mips_pause mips_system_run_to(struct mips_system *m, uint64_t until, uint32_t pc);
// For functions of the environment: the run ends behind this instruction.
void mips_system_stop(struct mips_system *m);
// For read and write of the environment, which then return false: the run ends before this instruction, of which
// nothing was done, because what it wants is not known yet.
void mips_system_postpone(struct mips_system *m);
// Executes the instruction that was postponed, before anything else happens: what it wants is known now.
enum mips_pause mips_system_finish(struct mips_system *m);
// Executes one instruction and says what it did, unless the processor waits.
enum mips_pause mips_system_step(struct mips_system *m, struct mips_step *did);

// Sets interrupt line IP2 to IP7 (that one only in a processor that follows).
void mips_system_interrupt(struct mips_system *m, unsigned line, bool level);
// Takes an interrupt before the next instruction, whatever Status says: for one that follows.
void mips_system_take_interrupt(struct mips_system *m);
// Lets time pass in which no instruction is executed.
void mips_system_pass(struct mips_system *m, uint64_t cycles);
// The cycle in which the timer interrupts, or UINT64_MAX.
uint64_t mips_system_next_event(const struct mips_system *m);
// True when an interrupt is pending that Status.IM lets through: what ends a wait.
bool mips_system_interrupted(const struct mips_system *m);
// True when Status and TCStatus let interrupts be taken.
bool mips_system_enables_interrupts(const struct mips_system *m);
// Another agent has written to memory at a physical address.
void mips_system_written(struct mips_system *m, uint32_t address);
// Instructions completed.
uint64_t mips_system_retired(const struct mips_system *m);

enum mips_fault { MIPS_FAULT_NONE, MIPS_FAULT_ADDRESS, MIPS_FAULT_REFILL, MIPS_FAULT_INVALID, MIPS_FAULT_MODIFIED };
struct mips_translation {
  enum mips_fault fault;
  uint32_t physical;
  bool cached;
};
// What an address is for this mode and address space; changes nothing.
struct mips_translation mips_system_translate(const struct mips_system *m, uint32_t address, enum mips_access access);

// Registers of coprocessor 0 as mfc0 and mtc0 have them.
uint32_t mips_system_read_cp0(struct mips_system *m, unsigned number, unsigned select);
void mips_system_write_cp0(struct mips_system *m, unsigned number, unsigned select, uint32_t value);

// MT ASE: whether it executes unless another VPE has the processor for itself.
bool mips_system_runs(const struct mips_system *m);
// A register for another VPE's mftr or mttr, or its own; `executes`: this one does, and then general registers, HI, LO
// and TCRestart cannot be had: they read all ones.
uint32_t mips_system_read_thread(struct mips_system *m, struct mips_thread_request request, bool executes);
void mips_system_write_thread(struct mips_system *m, struct mips_thread_request request, bool executes);

#endif
