/* Source lines through libdw: the line tables of all compilation units, as one table ordered by address.  Debug
 * information that cannot be read leaves lines unknown; it is no reason to refuse a program. */
#include "program_private.h"

static int line_order(gconstpointer a, gconstpointer b) {
  const ProgramLine *x = a, *y = b;
  if (x->address != y->address) return x->address < y->address ? -1 : 1;
  /* The end of one sequence may be the start of the next: the start comes last and so prevails. */
  return (x->line != 0) - (y->line != 0);
}

static void add_unit(Program *p, Dwarf_Die *unit) {
  Dwarf_Lines *lines;
  size_t count;
  if (dwarf_getsrclines(unit, &lines, &count) != 0) return;
  for (size_t n = 0; n < count; n++) {
    Dwarf_Line *line = dwarf_onesrcline(lines, n);
    Dwarf_Addr address;
    bool end = true;
    int number = 0;
    if (line == NULL || dwarf_lineaddr(line, &address) != 0 || dwarf_lineendsequence(line, &end) != 0) continue;
    const char *file = dwarf_linesrc(line, NULL, NULL);
    if (!end && (file == NULL || dwarf_lineno(line, &number) != 0 || number <= 0)) continue;
    ProgramLine entry = {.address = (guint32)address, .line = end ? 0 : number, .file = file};
    g_array_append_val(p->lines, entry);
  }
}

void program_read_lines(Program *p) {
  p->lines = g_array_new(FALSE, FALSE, sizeof(ProgramLine));
  if (p->elf == NULL) return;
  p->dwarf = dwarf_begin_elf(p->elf, DWARF_C_READ, NULL);
  if (p->dwarf == NULL) return;
  Dwarf_CU *unit = NULL;
  Dwarf_Die die;
  while (dwarf_get_units(p->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) add_unit(p, &die);
  g_array_sort(p->lines, line_order);
}
