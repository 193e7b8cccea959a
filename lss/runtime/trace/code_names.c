// Names of code from the symbols and line tables of its programs, each place looked up once; see code_names.h.
#include "lss/runtime/trace/code_names.h"

#include "emulib/program/program.h"
#include "lss/runtime/text/known_isas.h"

#include <string.h>

#pragma weak program_parse
#pragma weak program_free
#pragma weak program_segments
#pragma weak program_symbols
#pragma weak program_code_symbol_at
#pragma weak program_line_at
#pragma weak program_inlined_at
#pragma weak program_machine
#pragma weak program_flags
#pragma weak program_big_endian

struct CodeNames {
  GPtrArray *programs; // Program*
  GHashTable *places;  // CodePlace* by pc and word
};

static void free_place(gpointer data) {
  CodePlace *place = data;
  g_free(place->inlined);
  g_free(place);
}

CodeNames *code_names_new(void) {
  CodeNames *names = g_new0(CodeNames, 1);
  names->programs = g_ptr_array_new();
  names->places = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_place);
  return names;
}

void code_names_free(CodeNames *names) {
  if (!names) return;
  for (guint i = 0; i < names->programs->len; i++) program_free(names->programs->pdata[i]);
  g_ptr_array_unref(names->programs);
  g_hash_table_unref(names->places);
  g_free(names);
}

void code_names_add(CodeNames *names, const char *path, const guint8 *bytes, gsize size) {
  Program *program = program_parse ? program_parse(path, g_memdup2(bytes, size), size, PROGRAM_ELF, NULL) : NULL;
  if (program) g_ptr_array_add(names->programs, program);
}

// Whether the program has this instruction at this address.
static bool has_word(const Program *program, guint32 pc, guint32 word) {
  gsize count;
  const ProgramSegment *segments = program_segments(program, &count);
  for (gsize i = 0; i < count; i++) {
    const guint32 offset = pc - segments[i].linked;
    guint32 there;
    if (segments[i].loaded < sizeof there || offset > segments[i].loaded - sizeof there) continue;
    memcpy(&there, segments[i].bytes + offset, sizeof there);
    if ((program_big_endian(program) ? GUINT32_FROM_BE(there) : GUINT32_FROM_LE(there)) == word) return true;
  }
  return false;
}

// The program of an instruction: the one that has it there, else the first that has a name for the address.
static Program *program_of(const CodeNames *names, guint32 pc, guint32 word) {
  Program *named = NULL;
  for (guint i = 0; i < names->programs->len; i++) {
    Program *program = names->programs->pdata[i];
    if (!program_code_symbol_at(program, pc)) continue;
    if (has_word(program, pc, word)) return program;
    if (!named) named = program;
  }
  return named;
}

static void add_inlined(CodePlace *place, Program *program, guint32 pc) {
  ProgramInlined found[PROGRAM_INLINED];
  place->inlined_count = program_inlined_at(program, pc, found, PROGRAM_INLINED);
  if (place->inlined_count) place->inlined = g_new(CodeInlined, place->inlined_count);
  for (guint i = 0; i < place->inlined_count; i++)
    place->inlined[i] = (CodeInlined){g_intern_string(found[i].name), found[i].file, found[i].line};
}

static CodePlace *look_up(const CodeNames *names, guint32 pc, guint32 word) {
  CodePlace *place = g_new0(CodePlace, 1);
  Program *program = program_of(names, pc, word);
  if (!program) return place;
  const ProgramSymbol *symbol = program_code_symbol_at(program, pc);
  place->function = symbol->name;
  place->offset = pc - symbol->address;
  if (!program_line_at(program, pc, &place->file, &place->line)) place->file = NULL;
  add_inlined(place, program, pc);
  return place;
}

GPtrArray *code_names_functions(const CodeNames *names) {
  GPtrArray *found = g_ptr_array_new();
  for (guint i = 0; i < names->programs->len; i++) {
    gsize count;
    const ProgramSymbol *symbols = program_symbols(names->programs->pdata[i], &count);
    for (gsize k = 0; k < count; k++)
      if (symbols[k].code) g_ptr_array_add(found, (gpointer)symbols[k].name);
  }
  return found;
}

bool code_place_is_in(const CodePlace *place, const char *function) {
  bool found = !g_strcmp0(place->function, function);
  for (guint i = 0; i < place->inlined_count; i++) found |= !strcmp(place->inlined[i].function, function);
  return found;
}

const CodePlace *code_names_find(CodeNames *names, guint32 pc, guint32 word) {
  const gint64 key = (gint64)((guint64)pc << 32 | word);
  CodePlace *place = g_hash_table_lookup(names->places, &key);
  if (place) return place;
  place = look_up(names, pc, word);
  g_hash_table_insert(names->places, g_memdup2(&key, sizeof key), place);
  return place;
}

void code_names_disassemble(CodeNames *names, guint32 pc, guint32 word, char *text, gsize size) {
  const Program *program = program_of(names, pc, word);
  if (!program && names->programs->len) program = names->programs->pdata[0];
  const Isa *isa = known_isa_of_machine(program ? program_machine(program) : 0);
  if (isa)
    isa->text(program ? program_flags(program) : 0, pc, word, text, size);
  else
    g_snprintf(text, size, ".word 0x%08x", word);
}
