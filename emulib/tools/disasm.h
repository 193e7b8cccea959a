// What all disassemblers share; one of them says what its instruction set adds.
#ifndef EMULIB_DISASM_H
#define EMULIB_DISASM_H

#include <glib.h>

enum { DISASM_TEXT_SIZE = 48 }; // bytes that hold any disassembled instruction

typedef struct {
  const char *tool;        // its name, for messages
  const char *processor;   // what --help calls the instructions
  guint16 machine;         // of ELF files
  const char *const *sets; // names of instruction sets, up to NULL
  unsigned set;            // the one that counts unless --set says otherwise
  void (*text)(unsigned set, guint32 pc, guint32 word, char *text);
} DisasmIsa;

// The whole tool.
int disasm_main(int argc, char **argv, const DisasmIsa *isa);

#endif
