// Instruction sets as tools see them that know several: assembly text, calls and returns, registers, addresses.  Each
// has a row here that lies in its own folder.
#ifndef EMULIB_ISAS_H
#define EMULIB_ISAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
  ISA_FLOW_OTHER,
  ISA_FLOW_CALL,   // goes on elsewhere, if it is taken, and keeps the address to return to
  ISA_FLOW_RETURN, // goes to such an address
} IsaFlow;

// Where a debugger finds a register of a processor.
typedef enum {
  ISA_GENERAL, // in the register file, in the order of these here
  ISA_ZERO,    // likewise, and it never changes
  ISA_PC,
  ISA_NAMED,  // where a debug view says, as a role of this name; or the element of the register file that the view says
              // as  a property NAME_register
  ISA_ABSENT, // gdb wants it, and no model has it
} IsaRegisterKind;

typedef struct {
  const char *name; // gdb's; NULL ends the list
  uint32_t number;  // likewise
  IsaRegisterKind kind;
  const char *feature;    // of gdb, that begins with this register; NULL: the one before goes on
  const char *attributes; // in gdb's description, beyond its name, size and number; NULL: none
} IsaRegister;

// What is known of a processor's state that translates addresses.
typedef struct {
  const void *of;
  uint32_t (*value)(const void *of, unsigned number); // of what `states` lists
  uint32_t entries;                                   // of the TLB; 0: addresses are those of memory
  uint32_t (*entry)(const void *of, uint32_t entry, const char *member);
} IsaAddressing;

typedef struct {
  const char *name;  // as debug views name the set
  const char *title; // in messages
  uint16_t machine;  // e_machine of its ELF files

  // One instruction as the largest set that goes with these e_flags has it, cut to `size` bytes with the final zero.
  void (*text)(uint32_t flags, uint32_t pc, uint32_t word, char *text, size_t size);

  IsaFlow (*flow)(uint32_t word);  // what an instruction is for those who follow calls
  uint32_t delay_slots;            // instructions after a branch, call or return that are executed before its target
  bool (*branches)(uint32_t word); // whether an instruction has those; NULL: none has

  const char *architecture; // as gdb calls it
  const IsaRegister *registers;

  const char *const *states; // roles of debug views that translation needs, up to NULL; the view of the TLB is `tlb`
  bool (*translate)(const IsaAddressing *addressing, uint32_t address,
                    uint32_t *physical);   // false: nothing is there
  uint32_t (*unmapped)(uint32_t physical); // an address at which programs find that in any case; itself: there is none
} Isa;

// Up to NULL; the first is for programs that do not say what they are made for.
extern const Isa *const isas[];

#endif
