// What all oracles share: options, the address space, system calls, traces and reports.  An oracle's own file says what
// its instruction set adds.
#ifndef EMULIB_ORACLE_H
#define EMULIB_ORACLE_H

#include <glib.h>

#include "guest_memory.h"

typedef enum { ORACLE_RETIRED, ORACLE_SYSCALL, ORACLE_STOPPED } OracleStep;

enum { ORACLE_TEXT_SIZE = 48 }; // bytes that hold any disassembled instruction

typedef struct {
  const char *tool;           // its name, for messages
  const char *processor;      // what --help calls the programs it runs
  guint16 machine;            // of ELF files
  const char *note;           // more for --help, or NULL
  const char *const *sets;    // names of instruction sets, up to NULL
  unsigned set;               // the one that counts unless --set says otherwise
  guint32 *registers;         // of the processor, 32
  const guint32 *pc, *word;   // next instruction; last instruction fetched
  const guint64 *retired;     // instructions completed
  unsigned stack_register;    // the number of the stack pointer's register
  unsigned number_register;   // of the number of a system call; its arguments are in a0, a1, a2:
  unsigned argument_register; // the first of them
  guint32 exit_number, exit_group_number, write_number;
  void (*start)(unsigned set, gboolean big_endian, struct guest_memory memory, guint32 entry);
  OracleStep (*step)(void);
  void (*result)(guint32 value, guint32 error); // of a system call; error: 0, or an errno
  void (*resume)(void);                         // continues behind a system call
  char *(*reason)(void);                        // why it stopped, to be freed
  const char *(*where)(void);                   // what to add about the place where it stopped
  void (*text)(guint32 pc, guint32 word, char *text);
  void (*print_registers)(void);
  unsigned instructions;                 // kinds of instructions
  unsigned (*instruction)(guint32 word); // which of them a word is
  const char *(*instruction_name)(unsigned number);
} OracleIsa;

// Members whose functions have their names, and the state of the interpreter `cpu`.
#define ORACLE_INTERPRETER(cpu)                                                                                        \
  .registers = (cpu).r, .pc = &(cpu).pc, .word = &(cpu).word, .retired = &(cpu).retired, .start = start, .step = step, \
  .result = result, .resume = resume, .reason = reason, .where = where, .text = text,                                  \
  .print_registers = print_registers, .instruction = instruction, .instruction_name = instruction_name

// The whole tool.
int oracle_main(int argc, char **argv, const OracleIsa *isa);

#endif
