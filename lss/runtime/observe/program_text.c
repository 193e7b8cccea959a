// Finds the executables that a machine runs, among its string parameters, and asks them for names and lines.
//
// The loader and the disassembler are emulib's.  They are linked in when a machine is built beside emulib and are done
// without otherwise.
#include "lss/runtime/observe/program_text.h"

#include "emulib/program/input_file.h"
#include "emulib/program/program.h"
#include "lss/runtime/engine/request.h"
#include "lss/runtime/engine/settings.h"
#include "lss/runtime/text/known_isas.h"

#pragma weak program_open
#pragma weak program_path
#pragma weak program_note
#pragma weak program_describe
#pragma weak program_symbol_at
#pragma weak program_machine
#pragma weak program_flags
#pragma weak program_segments
#pragma weak program_big_endian

enum { ELF_MAGIC = 0x464c457f };

static bool is_elf(const char *path) {
  int handle = input_file_open(path, NULL);
  uint32_t magic = 0;
  bool elf = handle >= 0 && pread(handle, &magic, sizeof magic, 0) == sizeof magic && magic == ELF_MAGIC;
  if (handle >= 0) close(handle);
  return elf;
}

static GPtrArray *added; // Program* that spinach_program_add() took

// Says what of a program could not be read.
static void note(const Program *program) {
  if (program_note(program)) fprintf(stderr, "%s: warning: %s\n", spinach_program, program_note(program));
}

bool spinach_program_add(const char *path) {
  g_autoptr(GError) error = NULL;
  Program *program = program_open ? program_open(path, PROGRAM_ELF, &error) : NULL;
  if (!program)
    return spinach_report_error("--symbols: %s", error ? error->message : "this simulator was built without emulib");
  note(program);
  if (!added) added = g_ptr_array_new();
  g_ptr_array_add(added, program);
  return true;
}

typedef struct {
  GPtrArray *all;    // Program*
  GPtrArray *listed; // the same in the order in which parameters name them, each as often as they do
} Programs;

static void add_program(Programs *programs, GHashTable *seen, const char *path) {
  if (!*path || !is_elf(path)) return;
  Program *program = g_hash_table_lookup(seen, path);
  if (!program && (program = program_open(path, PROGRAM_ELF, NULL))) {
    g_hash_table_insert(seen, g_strdup(path), program);
    g_ptr_array_add(programs->all, program);
    note(program);
  }
  if (program) g_ptr_array_add(programs->listed, program);
}

// A parameter may name several, with commas between them.
static const Programs *programs(void) {
  static Programs found;
  if (found.all) return &found;
  found = (Programs){g_ptr_array_new(), g_ptr_array_new()};
  const spinach_machine *machine = &spinach_machine_table;
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GHashTable) values = g_hash_table_new(g_str_hash, g_str_equal);
  for (uint32_t i = 0; program_open && i < machine->parameter_count; i++) {
    const spinach_parameter *parameter = &machine->parameters[i];
    if (parameter->kind != SPINACH_PARAMETER_STRING || parameter->target_count == 0) continue;
    const char *value = spinach_parameter_string(parameter, 0);
    if (!g_hash_table_add(values, (gpointer)value)) continue; // passed on from a parameter to another
    g_auto(GStrv) paths = g_strsplit(value, ",", is_elf(value) ? 1 : -1);
    for (guint k = 0; paths[k]; k++) add_program(&found, seen, paths[k]);
  }
  if (added) g_ptr_array_extend(found.all, added, NULL, NULL);
  return &found;
}

const char *spinach_program_path(guint index) {
  const GPtrArray *all = programs()->all;
  return index < all->len ? program_path(all->pdata[index]) : NULL;
}

// Of the programs that are listed the one with a number, or the last.
static Program *listed_program(guint number) {
  const GPtrArray *listed = programs()->listed;
  return listed->len ? listed->pdata[MIN(number, listed->len - 1)] : NULL;
}

const char *spinach_listed_path(guint number) {
  const Program *program = listed_program(number);
  return program ? program_path(program) : NULL;
}

char *spinach_describe_address(int64_t context, uint32_t address) {
  const GPtrArray *all = programs()->all;
  Program *own = context >= 0 ? listed_program((guint)context) : NULL;
  if (own && program_symbol_at(own, address)) return program_describe(own, address);
  for (guint i = 0; i < all->len; i++)
    if (program_symbol_at(all->pdata[i], address)) return program_describe(all->pdata[i], address);
  return g_strdup_printf("0x%08x", address);
}

char *spinach_disassemble(uint32_t pc, uint32_t word) {
  char text[64];
  const Program *program = NULL;
  const GPtrArray *list = programs()->all;
  for (guint i = 0; i < list->len; i++)
    if (program_symbol_at(list->pdata[i], pc)) program = list->pdata[i];
  const Isa *isa = known_isa_of_machine(program ? program_machine(program) : 0);
  if (!isa) return g_strdup_printf(".word 0x%08x", word);
  isa->text(program ? program_flags(program) : 0, pc, word, text, sizeof text);
  return g_strdup(text);
}

bool spinach_program_word(uint32_t pc, uint32_t *word) {
  const GPtrArray *list = programs()->all;
  for (guint i = 0; i < list->len; i++) {
    gsize count;
    const ProgramSegment *segments = program_segments(list->pdata[i], &count);
    for (gsize k = 0; k < count; k++) {
      const uint32_t offset = pc - segments[k].linked;
      if (!segments[k].executable || segments[k].loaded < sizeof *word || offset > segments[k].loaded - sizeof *word)
        continue;
      uint32_t stored;
      memcpy(&stored, segments[k].bytes + offset, sizeof stored);
      *word = program_big_endian(list->pdata[i]) ? GUINT32_FROM_BE(stored) : GUINT32_FROM_LE(stored);
      return true;
    }
  }
  return false;
}
