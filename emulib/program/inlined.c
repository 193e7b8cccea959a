// Functions that the compiler put in place of calls, from DWARF through libdw.  A unit is read on the first question
// about its code, once: a question is then a search in a table, however large the program is.
#include "program_private.h"

#include <dwarf.h>

enum { DEEPEST = 128 }; // scopes within each other that are looked into

// Code of such a function.  What is within another one has a greater depth.
typedef struct {
  guint32 low, high;
  guint depth;
  gint outer; // number of the smallest code around it that is of another function; -1: there is none
  ProgramInlined function;
} Code;

static int code_order(gconstpointer a, gconstpointer b) {
  const Code *x = a, *y = b;
  if (x->low != y->low) return x->low < y->low ? -1 : 1;
  if (x->high != y->high) return x->high > y->high ? -1 : 1;
  return (x->depth > y->depth) - (x->depth < y->depth);
}

static void add_code(Dwarf_Die *die, guint depth, GArray *codes) {
  Dwarf_Addr base, low, high;
  Dwarf_Attribute attribute;
  Dwarf_Word line = 0;
  Code code = {.depth = depth, .outer = -1, .function = {.name = dwarf_diename(die)}};
  if (code.function.name == NULL) return;
  code.function.file = program_file_of(die, DW_AT_call_file);
  if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) == 0) code.function.line = (int)line;
  for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &low, &high)) > 0;) {
    code.low = (guint32)low;
    code.high = (guint32)high;
    if (low < high) g_array_append_val(codes, code);
  }
}

// Whether a function has code: it is not the description of one that is put in place of calls only, and the linker did
// not drop it.
static gboolean is_there(const Program *p, Dwarf_Die *function) {
  Dwarf_Addr base, low, high;
  if (dwarf_ranges(function, 0, &base, &low, &high) <= 0 || low >= high) return FALSE;
  return program_loads(p, (guint32)low) && (low != 0 || program_has_function_at_zero(p, dwarf_diename(function)));
}

static void add_scopes(const Program *p, Dwarf_Die *scope, guint depth, guint level, GArray *codes) {
  Dwarf_Die die;
  if (level == DEEPEST || dwarf_child(scope, &die) != 0) return;
  do {
    switch (dwarf_tag(&die)) {
    case DW_TAG_subprogram:
      if (is_there(p, &die)) add_scopes(p, &die, 0, level + 1, codes);
      break;
    case DW_TAG_inlined_subroutine:
      add_code(&die, depth + 1, codes);
      add_scopes(p, &die, depth + 1, level + 1, codes);
      break;
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_namespace:
    case DW_TAG_structure_type:
    case DW_TAG_class_type: add_scopes(p, &die, depth, level + 1, codes); break;
    default: break;
    }
  } while (dwarf_siblingof(&die, &die) == 0);
}

static void link_outer(GArray *codes) {
  for (guint n = 0; n < codes->len; n++) {
    Code *code = &g_array_index(codes, Code, n);
    gint at = (gint)n - 1;
    for (const Code *c; at >= 0; at = c->outer) {
      c = &g_array_index(codes, Code, at);
      if (c->high > code->low && c->depth < code->depth) break;
    }
    code->outer = at;
  }
}

static const GArray *codes_of(Program *p, Dwarf_Off unit) {
  if (p->inlined == NULL) p->inlined = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
  GArray *codes = g_hash_table_lookup(p->inlined, GSIZE_TO_POINTER(unit));
  if (codes != NULL) return codes;
  codes = g_array_new(FALSE, FALSE, sizeof(Code));
  Dwarf_Die die;
  if (dwarf_offdie(p->dwarf, unit, &die) != NULL) add_scopes(p, &die, 0, 0, codes);
  g_array_sort(codes, code_order);
  link_outer(codes);
  g_hash_table_insert(p->inlined, GSIZE_TO_POINTER(unit), codes);
  return codes;
}

guint program_inlined_at(Program *p, guint32 address, ProgramInlined *inlined, guint most) {
  Dwarf_Off unit;
  if (!program_unit_at(p, address, &unit)) return 0;
  const GArray *codes = codes_of(p, unit);
  guint low = 0, high = codes->len, count = 0;
  while (low < high) { // up to the last that begins at the address or before it
    const guint middle = low + (high - low) / 2;
    if (g_array_index(codes, Code, middle).low <= address)
      low = middle + 1;
    else
      high = middle;
  }
  for (gint at = (gint)low - 1; at >= 0 && count < most;) {
    const Code *code = &g_array_index(codes, Code, at);
    if (address < code->high) inlined[count++] = code->function;
    at = code->outer;
  }
  return count;
}
