// Programs for simulated processors: what an executable file puts into memory, where it starts, and how its addresses
// are called in its source.
//
// Two formats.  ELF: 32-bit statically linked executables of either byte order, with symbols and DWARF line
// tables where present.  Raw: an image behind a header of 4 version bytes, a big-endian start address and a big-endian
// load address, as firmware for network controllers is shipped; big-endian, without symbols.
//
// A malformed file is refused with one line that names the file, the place and what is wrong.
#ifndef EMULIB_PROGRAM_H
#define EMULIB_PROGRAM_H

#include <glib.h>

#define PROGRAM_ERROR (program_error_quark())
GQuark program_error_quark(void);
typedef enum {
  PROGRAM_ERROR_FILE,   // cannot be read
  PROGRAM_ERROR_FORMAT, // malformed, or not a program for this processor
} ProgramError;

typedef enum {
  PROGRAM_ELF,
  PROGRAM_RAW,
} ProgramFormat;

// A stretch of memory, at the address where it is loaded: `loaded` bytes from the file, then zeros up to `size`.
typedef struct {
  guint32 address;
  guint32 linked; // where its code believes to be, and its symbols and lines say it is
  guint32 size;   // >= 1; address + size does not wrap
  guint32 loaded; // <= size
  const guint8 *bytes;
  gboolean writable, executable;
} ProgramSegment;

typedef struct {
  const char *name;
  guint32 address, size; // size 0 where the file does not say
  gboolean function;
  gboolean code; // in a section of instructions
} ProgramSymbol;

typedef struct Program Program;

// Owns everything it returns until program_free.
Program *program_open(const char *path, ProgramFormat format, GError **error);
// The same from memory: takes `bytes` (g_free) over, in any case; `path` is for messages only.
Program *program_parse(const char *path, guint8 *bytes, gsize size, ProgramFormat format, GError **error);
void program_free(Program *program);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Program, program_free)

const char *program_path(const Program *program);
// What of the file could not be read and is left out (its source lines), as one line that names it; or NULL.
const char *program_note(const Program *program);
gboolean program_big_endian(const Program *program);
guint16 program_machine(const Program *program); // the processor, as ELF numbers it: EM_MIPS, EM_RISCV
// Sets the error of a program for another processor than `machine`.
void program_refuse_machine(const Program *program, guint16 machine, GError **error);
guint32 program_flags(const Program *program); // those of the ELF file, for its machine; 0: raw
// FALSE, with an error, when the flags of a MIPS program name a newer instruction set than `set`, a name of the table
// of instructions.  Raw images pass, and programs for other machines.
gboolean program_runs_on(const Program *program, const char *set, GError **error);
guint32 program_entry(const Program *program);
const ProgramSegment *program_segments(const Program *program, gsize *count); // in ascending address order
const ProgramSymbol *program_symbols(const Program *program, gsize *count);   // in ascending address order

// The symbol that covers an address (or, where sizes are unknown, precedes it in a segment), or NULL.
const ProgramSymbol *program_symbol_at(const Program *program, guint32 address);
// The same for an instruction: stacks and data that have its address at other times, or for others, do not count.
const ProgramSymbol *program_code_symbol_at(const Program *program, guint32 address);

// Source position of an address from DWARF; FALSE when the file has none for it.  file stays valid with the program.
gboolean program_line_at(Program *program, guint32 address, const char **file, int *line);

// A function that the compiler put in place of a call.
typedef struct {
  const char *name;
  const char *file; // where the call is, as program_line_at() has it; NULL: not known
  int line;
} ProgramInlined;

// Those to which an instruction belongs, from DWARF, the innermost first: its line is in the first one, whose call is
// in the second, and the last call is in the function that has the symbol.  Returns how many there are, at most `most`.
// What they name stays valid with the program.
guint program_inlined_at(Program *program, guint32 address, ProgramInlined *inlined, guint most);
enum { PROGRAM_INLINED = 32 }; // that anybody asks for

// "0x80001234 <main+0x10> main.c:12", as much of it as is known; of inlined functions each is named with the place of
// its call: "0x80001234 <main+0x10> ring.h:7 in next (inlined), queue.c:30 in take (inlined), main.c:12".
char *program_describe(Program *program, guint32 address);

#endif
