// Source lines through libdw: the line tables of all compilation units, as one table ordered by address.  Debug
// information that cannot be read leaves lines unknown; it is no reason to refuse a program.
//
// A linker that drops a section leaves its lines in the table, from address 0 on, where they would hide those of a
// program that is linked there.  So a unit's lines count only at addresses that the unit claims (its ranges) and that
// are loaded; of several claims that begin at 0 the one is valid whose function the symbol table knows there; and lines
// of a function that was dropped do not count at all.
#include "program_private.h"

#include <dwarf.h>
#include <string.h>

// Code that a unit says is its own.
typedef struct {
  guint32 low, high;
  Dwarf_Off unit;
  gboolean named; // a function of the unit begins at `low` and is a symbol there
} Claim;

// A function without code: the lines between its declaration and the next one's.
typedef struct {
  const char *file;
  int first, end;
  guint32 high; // bytes that it had
} Dropped;

typedef struct {
  const Program *program;
  GArray *functions; // Dropped, of all functions of a unit by file and line; high is 0 for those that have code
  guint32 named;     // bytes of the function at 0 that is a symbol there
  gboolean any, known;
} Functions;

static int line_order(gconstpointer a, gconstpointer b) {
  const ProgramLine *x = a, *y = b;
  if (x->address != y->address) return x->address < y->address ? -1 : 1;
  // The end of one claim may be the start of the next: the start comes last and so prevails.
  return (x->line != 0) - (y->line != 0);
}

static int claim_order(gconstpointer a, gconstpointer b) {
  const Claim *x = a, *y = b;
  return (x->low > y->low) - (x->low < y->low);
}

static int function_order(gconstpointer a, gconstpointer b) {
  const Dropped *x = a, *y = b;
  int order = g_strcmp0(x->file, y->file);
  return order != 0 ? order : (x->first > y->first) - (x->first < y->first);
}

gboolean program_has_function_at_zero(const Program *p, const char *name) {
  for (guint n = 0; name != NULL && n < p->symbols->len; n++) {
    const ProgramSymbol *s = &g_array_index(p->symbols, ProgramSymbol, n);
    if (s->address != 0) return FALSE;
    if (strcmp(s->name, name) == 0) return TRUE;
  }
  return FALSE;
}

// As dwarf_decl_file, which takes the first file of DWARF 5, number 0, for none.
const char *program_file_of(Dwarf_Die *die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word number;
  Dwarf_Files *files;
  size_t count;
  Dwarf_Die unit;
  if (dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), &number) != 0) return NULL;
  if (dwarf_diecu(die, &unit, NULL, NULL) == NULL || dwarf_getsrcfiles(&unit, &files, &count) != 0) return NULL;
  return number < count ? dwarf_filesrc(files, number, NULL, NULL) : NULL;
}

static int add_function(Dwarf_Die *die, void *data) {
  Functions *f = data;
  Dwarf_Addr low, high;
  Dropped function = {.file = program_file_of(die, DW_AT_decl_file), .end = G_MAXINT};
  if (function.file == NULL || dwarf_decl_line(die, &function.first) != 0) return DWARF_CB_OK;
  if (dwarf_lowpc(die, &low) == 0 && low == 0 && dwarf_highpc(die, &high) == 0) {
    f->any = TRUE;
    if (program_has_function_at_zero(f->program, dwarf_diename(die))) {
      f->known = TRUE;
      f->named = (guint32)high;
    } else {
      function.high = (guint32)high;
    }
  }
  g_array_append_val(f->functions, function);
  return DWARF_CB_OK;
}

// The functions of a unit, each up to the line where the next one of its file begins.
static Functions functions_of(const Program *p, Dwarf_Die *unit) {
  Functions f = {.program = p, .functions = g_array_new(FALSE, FALSE, sizeof(Dropped))};
  dwarf_getfuncs(unit, add_function, &f, 0);
  g_array_sort(f.functions, function_order);
  for (guint n = 0; n + 1 < f.functions->len; n++) {
    Dropped *here = &g_array_index(f.functions, Dropped, n), *next = here + 1;
    if (strcmp(here->file, next->file) == 0) here->end = next->first;
  }
  return f;
}

static gboolean dropped(const Functions *f, guint32 address, const char *file, int line) {
  for (guint n = 0; n < f->functions->len; n++) {
    const Dropped *d = &g_array_index(f->functions, Dropped, n);
    if (address < d->high && line >= d->first && line < d->end && strcmp(file, d->file) == 0) return TRUE;
  }
  return FALSE;
}

gboolean program_loads(const Program *p, guint32 address) {
  for (guint n = 0; n < p->segments->len; n++) {
    const ProgramSegment *s = &g_array_index(p->segments, ProgramSegment, n);
    if (address - s->linked < s->size) return TRUE;
  }
  return FALSE;
}

// What a unit claims.  Of what begins at 0 the smallest stretch that holds its known function; nothing, when it has
// functions there and none is known: they were dropped.
static void add_claims(const Program *p, Dwarf_Die *unit, GArray *claims) {
  g_autoptr(GArray) functions = NULL;
  Functions f = functions_of(p, unit);
  functions = f.functions;
  Dwarf_Addr base, low, high;
  Claim zero = {.unit = dwarf_dieoffset(unit), .named = f.known};
  for (ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &low, &high)) > 0;) {
    Claim claim = {.low = (guint32)low, .high = (guint32)high, .unit = zero.unit};
    if (low >= high || !program_loads(p, claim.low)) continue;
    if (low != 0)
      g_array_append_val(claims, claim);
    else if (f.known ? claim.high >= f.named && (zero.high == 0 || claim.high < zero.high) : !f.any && zero.high == 0)
      zero.high = claim.high;
  }
  if (zero.high != 0) g_array_append_val(claims, zero);
}

// Leaves at most one claim that begins at 0, and none that reaches into another's code.
static void resolve_claims(GArray *claims) {
  guint32 next = G_MAXUINT32;
  for (guint n = 0; n < claims->len; n++) {
    const Claim *c = &g_array_index(claims, Claim, n);
    if (c->low != 0) next = MIN(next, c->low);
  }
  Claim best = {0};
  for (guint n = 0; n < claims->len;) {
    Claim c = g_array_index(claims, Claim, n);
    if (c.low != 0) {
      n++;
      continue;
    }
    if (c.high <= next && (best.high == 0 || c.named > best.named)) best = c;
    g_array_remove_index_fast(claims, n);
  }
  if (best.high != 0) g_array_append_val(claims, best);
}

static gboolean claimed(const GArray *claims, Dwarf_Off unit, guint32 address) {
  for (guint n = 0; n < claims->len; n++) {
    const Claim *c = &g_array_index(claims, Claim, n);
    if (c->unit == unit && address - c->low < c->high - c->low) return TRUE;
  }
  return FALSE;
}

static void add_unit(Program *p, Dwarf_Die *unit, const GArray *claims) {
  Dwarf_Lines *lines;
  size_t count;
  if (dwarf_getsrclines(unit, &lines, &count) != 0) return;
  const Functions f = functions_of(p, unit);
  for (size_t n = 0; n < count; n++) {
    Dwarf_Line *line = dwarf_onesrcline(lines, n);
    Dwarf_Addr address;
    bool end = true;
    int number = 0;
    if (line == NULL || dwarf_lineaddr(line, &address) != 0 || dwarf_lineendsequence(line, &end) != 0 || end) continue;
    const char *file = dwarf_linesrc(line, NULL, NULL);
    if (file == NULL || dwarf_lineno(line, &number) != 0 || number <= 0) continue;
    if (!claimed(claims, dwarf_dieoffset(unit), (guint32)address) || dropped(&f, (guint32)address, file, number))
      continue;
    ProgramLine entry = {.address = (guint32)address, .line = number, .file = file};
    g_array_append_val(p->lines, entry);
  }
  g_array_unref(f.functions);
}

void program_read_lines(Program *p) {
  p->lines = g_array_new(FALSE, FALSE, sizeof(ProgramLine));
  if (p->elf == NULL) return;
  if (p->note != NULL) return;
  p->dwarf = dwarf_begin_elf(p->debug_elf != NULL ? p->debug_elf : p->elf, DWARF_C_READ, NULL);
  if (p->dwarf == NULL) return;
  GArray *claims = p->claims = g_array_new(FALSE, FALSE, sizeof(Claim));
  Dwarf_CU *unit = NULL;
  Dwarf_Die die;
  while (dwarf_get_units(p->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) add_claims(p, &die, claims);
  resolve_claims(claims);
  for (unit = NULL; dwarf_get_units(p->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0;) add_unit(p, &die, claims);
  for (guint n = 0; n < claims->len; n++) {
    ProgramLine end = {.address = g_array_index(claims, Claim, n).high};
    g_array_append_val(p->lines, end);
  }
  g_array_sort(p->lines, line_order);
  g_array_sort(claims, claim_order);
}

gboolean program_unit_at(Program *p, guint32 address, Dwarf_Off *unit) {
  if (p->lines == NULL) program_read_lines(p);
  if (p->claims == NULL) return FALSE;
  guint low = 0, high = p->claims->len;
  while (low < high) {
    const guint middle = low + (high - low) / 2;
    if (g_array_index(p->claims, Claim, middle).low <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0) return FALSE;
  const Claim *claim = &g_array_index(p->claims, Claim, low - 1);
  *unit = claim->unit;
  return address < claim->high;
}
