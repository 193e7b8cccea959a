// Follows a processor by what it reports of the instructions that it completes: the functional system does the same,
// and the first difference is told.
//
// The processor reports, in the order in which things happen to it: accepted references to memory, completed
// instructions, exceptions and interrupts.  Those of one cycle may be reported in any order: exceptions and interrupts
// of a cycle are behind the instruction that completes in it.  Compared are the program counter, the instruction word,
// the register written and its value, address, size and data of stores, which exception there is and the registers of
// coprocessor 0 that it sets, and all others when the program reads them.
//
// What only time or others decide is taken unchecked: when interrupts come and which wait, what Count reads, whether sc
// stores, and what loads from devices return, which is every uncached load.  Memory need not be loaded beforehand: what
// the processor reads where nothing was read or written before is taken unchecked, and remembered.  Writes of others to
// memory are reported, without what they write: that is taken unchecked when it is read next.  A load that was accepted
// no later than such a write to its page is taken unchecked, and not remembered, since it may have read what was there
// before.
//
// A virtual processing element (MT ASE) is followed alone.  What its mftr reads of others is taken unchecked when the
// register can hold it; what others write to its registers is reported.  MVPControl.EVP is checked: a VPE executes
// while it is set, or after it has cleared it itself, so each instruction that reads it knows what it is.
//
// The state is plain data without pointers, to be copied, kept and restored as it is.
#ifndef EMULIB_MIPS_LOCKSTEP_H
#define EMULIB_MIPS_LOCKSTEP_H

#include "system.h"

enum {
  MIPS_LOCKSTEP_PAGES = 4096, // pages that are remembered; of two with the same number modulo this the later one
  MIPS_LOCKSTEP_QUEUE = 8,    // references, exceptions and interrupts that wait for their turn
  MIPS_LOCKSTEP_TEXT = 512,   // bytes of a report
};

// What is known of a page of memory.
struct mips_lockstep_page {
  uint32_t number;              // of the page, and 1
  uint64_t changed;             // cycle of the latest write of others to it, or to one that had its place, and 1
  uint8_t known[MIPS_PAGE / 8]; // a bit for each byte
  uint8_t bytes[MIPS_PAGE];
};

// A reference that the memory accepted; those that do not store need not be told if nobody else writes to memory.  The
// address is virtual, of the bytes themselves; numbers are right-justified.
struct mips_lockstep_access {
  uint64_t cycle;
  uint32_t pc, address, data;
  uint8_t size;
  bool stores, conditional; // `conditional`: it may have stored
};

// When a load was accepted.
struct mips_lockstep_load {
  uint64_t cycle;
  uint32_t pc;
};

// An exception that the processor took, or an interrupt: at the instruction that failed, or in place of the one that
// would have been next.
struct mips_lockstep_exception {
  uint64_t cycle;
  uint32_t pc, word; // word: if it could be fetched
  uint32_t epc, bad; // what is in those registers; not of interrupts
  uint8_t code;      // enum mips_exception
  uint8_t level;     // of an interrupt
  // Or another VPE wrote a register of coprocessor 0.
  bool written;
  uint8_t number, select;
  uint32_t value;
};

// An instruction that was completed.
struct mips_lockstep_retired {
  uint64_t cycle;
  uint32_t pc, word, value;
  uint8_t destination; // register written; 0 or above 31: none
};

struct mips_lockstep {
  struct mips_architecture cpu;
  struct mips_system_options options;
  bool alone;      // MVPControl.EVP is 0, and others do not execute
  uint32_t memory; // physical addresses below are memory, elsewhere all loads are taken unchecked
  bool started;
  bool passing; // an instruction was executed that has yet to complete:
  uint32_t passing_pc;
  uint64_t passed; // when
  struct mips_lockstep_access accesses[MIPS_LOCKSTEP_QUEUE];
  struct mips_lockstep_exception exceptions[MIPS_LOCKSTEP_QUEUE];
  struct mips_lockstep_load loads[MIPS_LOCKSTEP_QUEUE]; // not completed, from the oldest on
  uint8_t access_count, exception_count, load_count;
  uint64_t instructions, raised, interrupts, unchecked; // compared so far; loads that were taken unchecked
  uint64_t external;                                    // writes of others
  struct mips_lockstep_page pages[MIPS_LOCKSTEP_PAGES];
};

// Begins with whatever is completed first.
void mips_lockstep_init(struct mips_lockstep *l, struct mips_system_options options, uint32_t memory);
// The processor gets another state, of which this is a word (enum mips_word); all come before it executes.  What was
// known of memory counts no more: other processors have run.  Of a VPE each word is for itself, and memory is as it
// was.
void mips_lockstep_load(struct mips_lockstep *l, uint32_t word, uint32_t value);
void mips_lockstep_access(struct mips_lockstep *l, struct mips_lockstep_access access);
// Others wrote so many bytes from this physical address on.
void mips_lockstep_external(struct mips_lockstep *l, uint64_t cycle, uint32_t address, uint32_t size);
// What is in memory from this physical address on, up to eight bytes of one aligned eight: others wrote it, as was
// reported before.
void mips_lockstep_know(struct mips_lockstep *l, uint32_t address, uint32_t size, uint32_t value);
void mips_lockstep_exception(struct mips_lockstep *l, struct mips_lockstep_exception exception);
// An instruction was executed by the system in a cycle and completes later, before any other: what others write from
// the end of that cycle on it has not seen.
void mips_lockstep_passed(struct mips_lockstep *l, uint64_t cycle, uint32_t pc);
// Another VPE has written a register of coprocessor 0 at the end of a cycle; instructions that complete behind the next
// one see it, but for one that passed before.  False: something before that was different.
bool mips_lockstep_written(struct mips_lockstep *l, uint64_t cycle, unsigned number, unsigned select, uint32_t value,
                           char text[MIPS_LOCKSTEP_TEXT]);
// False: the processor did something else than it should have; `text` says what, in one line.
bool mips_lockstep_retire(struct mips_lockstep *l, struct mips_lockstep_retired retired, char text[MIPS_LOCKSTEP_TEXT]);

#endif
