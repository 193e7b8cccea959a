// What the format readers fill in and the queries of program.c read.
#ifndef EMULIB_PROGRAM_PRIVATE_H
#define EMULIB_PROGRAM_PRIVATE_H

#include <elfutils/libdw.h>
#include <gelf.h>

#include "isas.h"
#include "program.h"

#pragma weak isas // where it is not linked in, programs are of one set that is known

typedef struct {
  guint32 address;
  int line;         // 0: nothing is known from here on
  const char *file; // owned by libdw
} ProgramLine;

struct Program {
  char *path;
  guint8 *file; // the whole file; segments point into it
  gsize file_size;
  gboolean big_endian;
  guint16 machine; // as ELF numbers them
  guint32 flags;   // of an ELF file, for that machine
  guint32 entry;
  GArray *segments;    // ProgramSegment
  GArray *symbols;     // ProgramSymbol; names point into the file through libelf
  GArray *lines;       // ProgramLine, made on the first question, else NULL
  GArray *claims;      // made with them: which unit says of what code that it is its own, by address
  GHashTable *inlined; // by unit, made on the first question
  Elf *elf;
  Elf *debug_elf;   // of a copy with its debug information expanded, or NULL
  guint8 *expanded; // that copy
  char *note;       // what of the file is left out, or NULL
  Dwarf *dwarf;
};

// Each reads program->file.
gboolean program_read_elf(Program *program, GError **error);
gboolean program_read_raw(Program *program, GError **error);
void program_read_lines(Program *program);
// The compilation unit to which code belongs, by the place of its entry; FALSE: none.
gboolean program_unit_at(Program *program, guint32 address, Dwarf_Off *unit);
// The source file that an attribute of an entry names (DW_AT_decl_file), or NULL.
const char *program_file_of(Dwarf_Die *die, unsigned attribute);
gboolean program_loads(const Program *program, guint32 address);
// Whether a symbol at address 0 has this name.
gboolean program_has_function_at_zero(const Program *program, const char *name);
// An ELF file whose debug information is compressed in a way that libelf may not know: the same, expanded; else NULL.
Elf *program_expand(Program *program);

// Sets a FORMAT error "path: text".
gboolean program_refuse(const Program *program, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);

#endif
