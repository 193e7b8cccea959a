// Programs independent of their file format: opening, ordering, questions about addresses.
#include "input_file.h"
#include "program_private.h"

#include <string.h>

static int by_address(gconstpointer a, gconstpointer b) {
  guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
  return x < y ? -1 : x > y;
}

static int segment_order(gconstpointer a, gconstpointer b) {
  return by_address(&((const ProgramSegment *)a)->address, &((const ProgramSegment *)b)->address);
}

// By address; of several symbols at one address the best answer to "what is here" comes last.
static int symbol_order(gconstpointer a, gconstpointer b) {
  const ProgramSymbol *x = a, *y = b;
  int order = by_address(&x->address, &y->address);
  if (order == 0) order = (x->function > y->function) - (x->function < y->function);
  if (order == 0) order = (x->size > y->size) - (x->size < y->size);
  return order != 0 ? order : strcmp(y->name, x->name);
}

static gboolean check_segments(const Program *p, GError **error) {
  gboolean entered = FALSE;
  for (guint n = 0; n < p->segments->len; n++) {
    const ProgramSegment *s = &g_array_index(p->segments, ProgramSegment, n), *last = s - 1;
    if (n > 0 && s->address - last->address < last->size)
      return program_refuse(p, error, "segments at 0x%08x and 0x%08x overlap", last->address, s->address);
    if (s->executable && (p->entry - s->address < s->size || p->entry - s->linked < s->size)) entered = TRUE;
  }
  if (p->segments->len == 0) return program_refuse(p, error, "nothing to load: there is no loadable segment");
  if (p->entry & 3) return program_refuse(p, error, "entry address 0x%08x is not a multiple of 4", p->entry);
  if (!entered) return program_refuse(p, error, "entry address 0x%08x is in no executable segment", p->entry);
  return TRUE;
}

Program *program_open(const char *path, ProgramFormat format, GError **error) {
  g_autoptr(GError) cause = NULL;
  char *bytes;
  gsize size;
  if (!(bytes = input_file_read(path, &size, &cause))) {
    g_set_error(error, PROGRAM_ERROR, PROGRAM_ERROR_FILE, "cannot read program \"%s\": %s", path, cause->message);
    return NULL;
  }
  return program_parse(path, (guint8 *)bytes, size, format, error);
}

Program *program_parse(const char *path, guint8 *bytes, gsize size, ProgramFormat format, GError **error) {
  g_autoptr(Program) p = g_new0(Program, 1);
  p->path = g_strdup(path);
  p->file = bytes;
  p->file_size = size;
  p->segments = g_array_new(FALSE, FALSE, sizeof(ProgramSegment));
  p->symbols = g_array_new(FALSE, FALSE, sizeof(ProgramSymbol));
  if (!(format == PROGRAM_ELF ? program_read_elf(p, error) : program_read_raw(p, error))) return NULL;
  g_array_sort(p->segments, segment_order);
  g_array_sort(p->symbols, symbol_order);
  if (!check_segments(p, error)) return NULL;
  return g_steal_pointer(&p);
}

void program_free(Program *p) {
  if (p == NULL) return;
  g_clear_pointer(&p->lines, g_array_unref);
  g_clear_pointer(&p->claims, g_array_unref);
  g_clear_pointer(&p->inlined, g_hash_table_unref);
  if (p->dwarf != NULL) dwarf_end(p->dwarf);
  if (p->debug_elf != NULL) elf_end(p->debug_elf);
  if (p->elf != NULL) elf_end(p->elf);
  g_array_unref(p->segments);
  g_array_unref(p->symbols);
  g_free(p->file);
  g_free(p->expanded);
  g_free(p->note);
  g_free(p->path);
  g_free(p);
}

const char *program_path(const Program *p) {
  return p->path;
}
const char *program_note(const Program *p) {
  return p->note;
}
gboolean program_big_endian(const Program *p) {
  return p->big_endian;
}
guint16 program_machine(const Program *p) {
  return p->machine;
}
guint32 program_flags(const Program *p) {
  return p->flags;
}
void program_refuse_machine(const Program *p, guint16 machine, GError **error) {
  const char *title = "that of the processor";
  for (const Isa *const *isa = isas; isa && *isa; isa++)
    if ((*isa)->machine == machine) title = (*isa)->title;
  program_refuse(p, error, "ELF machine %u is not %s (%u)", p->machine, title, machine);
}
guint32 program_entry(const Program *p) {
  return p->entry;
}

const ProgramSegment *program_segments(const Program *p, gsize *count) {
  *count = p->segments->len;
  return (const ProgramSegment *)(void *)p->segments->data;
}

const ProgramSymbol *program_symbols(const Program *p, gsize *count) {
  *count = p->symbols->len;
  return (const ProgramSymbol *)(void *)p->symbols->data;
}

// How many lines (or symbols) are at or before an address: the last of them is the one that may cover it.
#define COUNT_UP_TO(array, type, wanted)                                                                               \
  ({                                                                                                                   \
    guint low_ = 0, high_ = (array)->len;                                                                              \
    while (low_ < high_) {                                                                                             \
      guint middle_ = low_ + (high_ - low_) / 2;                                                                       \
      if (g_array_index(array, type, middle_).address <= (wanted))                                                     \
        low_ = middle_ + 1;                                                                                            \
      else                                                                                                             \
        high_ = middle_;                                                                                               \
    }                                                                                                                  \
    low_;                                                                                                              \
  })

static const ProgramSymbol *symbol_at(const Program *p, guint32 address, gboolean code) {
  enum { NESTING = 64 }; // symbols inside a larger one that are skipped to find it
  guint end = COUNT_UP_TO(p->symbols, ProgramSymbol, address);
  for (guint n = end; n > 0 && end - n < NESTING; n--) {
    const ProgramSymbol *s = &g_array_index(p->symbols, ProgramSymbol, n - 1);
    if ((s->code || !code) && (s->size == 0 || address - s->address < s->size)) return s;
  }
  return NULL;
}

const ProgramSymbol *program_symbol_at(const Program *p, guint32 address) {
  return symbol_at(p, address, FALSE);
}

const ProgramSymbol *program_code_symbol_at(const Program *p, guint32 address) {
  return symbol_at(p, address, TRUE);
}

gboolean program_line_at(Program *p, guint32 address, const char **file, int *line) {
  if (p->lines == NULL) program_read_lines(p);
  guint end = COUNT_UP_TO(p->lines, ProgramLine, address);
  if (end == 0) return FALSE;
  const ProgramLine *found = &g_array_index(p->lines, ProgramLine, end - 1);
  if (found->line == 0) return FALSE;
  *file = found->file;
  *line = found->line;
  return TRUE;
}

static void append_place(GString *text, const char *file, int line) {
  const char *slash = strrchr(file, '/');
  g_string_append_printf(text, " %s:%d", slash != NULL ? slash + 1 : file, line);
}

char *program_describe(Program *p, guint32 address) {
  GString *text = g_string_new(NULL);
  g_string_printf(text, "0x%08x", address);
  const ProgramSymbol *s = program_symbol_at(p, address);
  if (s != NULL) g_string_append_printf(text, " <%s+0x%x>", s->name, address - s->address);
  const char *file;
  int line;
  if (program_line_at(p, address, &file, &line)) append_place(text, file, line);
  ProgramInlined inlined[PROGRAM_INLINED];
  const guint count = program_inlined_at(p, address, inlined, PROGRAM_INLINED);
  for (guint n = 0; n < count; n++) {
    g_string_append_printf(text, " in %s (inlined)%s", inlined[n].name, inlined[n].file != NULL ? "," : "");
    if (inlined[n].file != NULL) append_place(text, inlined[n].file, inlined[n].line);
  }
  return g_string_free(text, FALSE);
}
