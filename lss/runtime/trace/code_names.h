// What the addresses of simulated code are called: functions, source lines and instructions of several programs.
//
// Several programs, or what is copied over each other, may have code at one address: the instruction word that was
// executed there says which is meant.
#ifndef SPINACH_CODE_NAMES_H
#define SPINACH_CODE_NAMES_H

#include <glib.h>
#include <stdbool.h>

typedef struct CodeNames CodeNames;

// A function that the compiler put in place of a call; its name is the same pointer wherever it is.
typedef struct {
  const char *function;
  const char *file; // where the call is; NULL: not known
  int line;
} CodeInlined;

typedef struct {
  const char *function; // that has the symbol; NULL: not known
  guint32 offset;       // from its beginning
  const char *file;     // NULL: not known
  int line;
  guint inlined_count;
  CodeInlined *inlined; // those that the instruction belongs to, the innermost, which has the line, first
} CodePlace;

CodeNames *code_names_new(void);
void code_names_free(CodeNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CodeNames, code_names_free)

// Adds an executable, or what is none, which has no names.
void code_names_add(CodeNames *names, const char *path, const guint8 *bytes, gsize size);

// Where an instruction is; valid as long as the names.
const CodePlace *code_names_find(CodeNames *names, guint32 pc, guint32 word);

// The names of all functions that have instructions of their own, not those that are inlined wherever they are called;
// valid as long as the names.
GPtrArray *code_names_functions(const CodeNames *names);

// Whether an instruction belongs to this function, or to an inlined one of this name.
bool code_place_is_in(const CodePlace *place, const char *function);

// The instruction as assembly text.
void code_names_disassemble(CodeNames *names, guint32 pc, guint32 word, char *text, gsize size);

#endif
