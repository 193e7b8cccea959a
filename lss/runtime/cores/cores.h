// The processors of the machine, or the programs that one executes at the same time, as debug views declare them
// (docs/language.md): the one place that says where their program counters, registers and memories are.
#ifndef SPINACH_CORES_H
#define SPINACH_CORES_H

#include "lss/runtime/engine/machine.h"
#include "lss/runtime/text/known_isas.h"

#include <glib.h>

// An integer of the state; `at` is NULL where the view does not name it.
typedef struct {
  const struct spinach_type *type;
  uint8_t *at;
} CoreValue;

// A stretch of addresses; see spinach_debug_region.
typedef struct {
  const spinach_debug_region *declared;
  uint8_t *bytes;
  uint64_t size; // of the state, in bytes
  uint32_t word; // bytes of one of its integers
} CoreRegion;

// Writes on their way to memory: rings of requests, or of what is in them in arrays of their own.
typedef struct {
  const struct spinach_type *request; // NULL: there are arrays
  const uint8_t *requests;
  CoreValue address, size, data; // of the first
  CoreValue first, count;        // of the first ring: where it begins, and how many are in it
  uint32_t rings, places;        // how many, and of each
} CoreWrites;

// A cache.
typedef struct {
  CoreValue number, valid, dirty; // of the first line; the others follow
  uint8_t *bytes;
  uint32_t lines, line;   // how many, bytes of each
  const uint8_t *changed; // a bit for each byte of a dirty line that is newer than memory; NULL: all are
  CoreValue filling, fill_number, fill_set, fill_way; // the line that is fetched, and its place
  CoreValue victim_dirty, victim_number,
      victim_read;                    // the line that makes room for it, and how much of it was read out,
  const uint8_t *victim;              // in beats
  uint32_t ways, beat, victim_stride; // bytes of a beat, and from one to the next
} CoreCache;

// A stage that fetches; a processor that executes several instructions at a time may have one for each.
typedef struct {
  CoreValue pc, pc_set, branch_pending, halt, in_flight, fetching;
  CoreValue halt_behind;    // instructions that are still fetched when it is halted
  CoreValue in_flight_from; // what `in_flight` is when nothing is in flight
} CoreFetch;

// State that a debug view names as its role, as the instruction set wants it: a register beside the file, or what
// translates addresses.
typedef struct {
  const char *name;
  CoreValue value;
  uint32_t element; // of the register file that holds it, where it is renamed, too; 0: none
} CoreNamed;

typedef struct {
  uint32_t number;  // from 1, in the order of the machine
  const char *path; // of the module that holds it
  int64_t context; // which of the programs it is that are executed at the same time; NO_CONTEXT (roles.h): there is one
  const char *name; // the path, and the context where there are several
  const Isa *isa;
  bool big_endian;
  CoreValue pc, retired; // the address of the instruction that left the pipeline last, how many did
  GArray *fetches;       // CoreFetch
  GArray *holding;       // CoreValue: 0 where nothing is in flight, beside the stages that fetch
  const spinach_debug_role *registers;
  uint32_t register_count;
  const struct spinach_type *retiring; // a ring of what retires, several at a time; NULL: they retire one by one
  const uint8_t *retiring_ring;
  uint32_t retiring_places;
  CoreValue retiring_first; // the next
  uint32_t retiring_step;   // by which that counts
  uint32_t memory_base;     // what is added to addresses of the program to have those of memory
  uint64_t memory_size;     // how many of them there are; 0: all
  uint32_t memory_behind;   // cycles by which a write is in memory or a buffer later than its instruction retires
  GArray *named;            // CoreNamed: what translates addresses, as the instruction set lists that, then registers
  const struct spinach_type *tlb_entry; // and its entries; NULL: there is none, and addresses are those of memory
  const uint8_t *tlb;
  uint32_t tlb_entries;
  GArray *regions; // CoreRegion, inner ones first
  GArray *caches;  // CoreCache
  GArray *writes;  // CoreWrites, the older ones first
} Core;

// All processors (Core*) whose view says enough: pc, retired, registers and an isa that is known.  Valid to the end of
// the process.
const GPtrArray *spinach_cores(void);
guint core_count(void);
const Core *core_of(guint number);   // from 1
uint64_t core_retired(guint number); // instructions
// The processor that an instance belongs to, by their paths; 0: none.
guint core_around(const char *path);

int64_t core_get(const CoreValue *value);
void core_set(const CoreValue *value, int64_t number);
// Its value when so many more instructions have retired, of those that will in the next instant.
uint32_t core_register(const Core *core, uint32_t number, uint32_t behind);
void core_set_register(const Core *core, uint32_t number, uint32_t value);

// The address of the instruction that retired so many before the last, of those of one instant; and of that which
// retires so many behind the next.
uint32_t core_retired_pc(const Core *core, uint64_t before);
uint32_t core_retiring_pc(const Core *core, uint32_t behind);

// An integer that is a member of a struct, or else of a struct in that; 0: it has none of that name.
int64_t core_number_in(const struct spinach_type *type, const uint8_t *value, const char *name);

// ---- translate.c: the address in memory of one that programs use; false: there is none.
bool core_translate(const Core *core, uint32_t address, uint32_t *physical);
// An address at which programs find what has this one in memory.
uint32_t core_unmapped(const Core *core, uint32_t physical);

// ---- The start of the pipeline.  Stages that fetch at a distance from the first are kept at it.
bool core_has_fetch_pc(const Core *core);
uint32_t core_fetch_pc(const Core *core); // what is fetched next
void core_set_fetch_pc(const Core *core, uint32_t pc);
bool core_can_halt(const Core *core); // the machine says how
bool core_is_halted(const Core *core);
// Fetches nothing more, or goes on; or, where the machine can, fetches so many instructions more.
void core_halt(const Core *core, bool halt);
bool core_halt_behind(const Core *core, uint32_t instructions);
bool core_is_empty(const Core *core); // nothing is fetched or in the pipeline

// The state of this name, as the instruction set's row has it.
const CoreNamed *core_named(const Core *core, const char *name);

// ---- memory.c: what a processor finds at its addresses, those that programs use

// The bytes at an address as the processor finds them now, those included that are only in its caches and write
// buffers.  Returns how many could be read before the first address where there is nothing.
uint32_t core_read(const Core *core, uint32_t address, uint8_t *bytes, uint32_t count);
// Whether it is part of a device register, which is as it is stored: no write on its way to it counts.
bool core_is_of_device(const Core *core, uint32_t address);
// An instruction; false: there is nothing.
bool core_instruction(const Core *core, uint32_t pc, uint32_t *word);
// Whether the instruction at `pc` is in the delay slot of the one at `before`, which was executed just before it: gdb
// is then shown the branch, since it cannot know from a delay slot where the program goes.
bool core_in_delay_slot(const Core *core, uint32_t before, uint32_t pc);
// Whether two stretches of its addresses have a byte in common, which may have several addresses.
bool core_overlap(const Core *core, uint32_t one, uint32_t one_count, uint32_t other, uint32_t other_count);
// Whether all of a stretch is there.
bool core_reaches(const Core *core, uint32_t address, uint32_t count);
// Writes memory and every copy of it in the caches of all processors.
void core_write(const Core *core, uint32_t address, const uint8_t *bytes, uint32_t count);
// Whether all that the processor wrote has arrived in memory.
bool core_writes_are_done(const Core *core);
// Whether no cache of any processor fetches or writes back a part of it now, so that core_write() reaches every copy.
bool core_is_quiescent(const Core *core, uint32_t address, uint32_t count);

#endif
