// Reads what is on standard input, a line "KIND<tab>TEXT" each, as the shared reader of numbers does, and prints what
// it comes to, or "! " and what is wrong.  Without input, with --units: the table of units.
#include "lss/runtime/text/number.h"
#include "lss/runtime/text/quantity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_units(void) {
  const UnitOfMeasure *unit;
  for (unsigned i = 0; (unit = unit_at(i)); i++)
    printf("%s\t%s\t%" PRId64 "/%" PRId64 "\n", unit->name, dimension_name(unit->dimension), unit->num, unit->den);
}

static void print(const char *kind, const char *text) {
  const char *error;
  Dimension dimension;
  int64_t integer;
  uint64_t count;
  double real;
  bool fine;
  if (!strcmp(kind, "integer")) {
    if ((fine = number_read_integer(text, &integer, &error))) printf("%" PRId64 "\n", integer);
  } else if (!strcmp(kind, "count")) {
    if ((fine = number_read_count(text, 0, UINT64_MAX, &count, &error))) printf("%" PRIu64 "\n", count);
  } else if (!strcmp(kind, "byte")) {
    if ((fine = number_read_count(text, 1, 255, &count, &error))) printf("%" PRIu64 "\n", count);
  } else if (!strcmp(kind, "real") || !strcmp(kind, "fraction")) {
    fine = *kind == 'r' ? number_read_real(text, &real, &error) : quantity_read_real(text, DIM_FRACTION, &real, &error);
    if (fine) printf("%a\n", real);
  } else {
    fine = dimension_find(kind, &dimension) && quantity_read_base(text, dimension, &integer, &error);
    if (fine) printf("%" PRId64 "\n", integer);
  }
  if (!fine) printf("! %s\n", error);
}

int main(int argc, char **argv) {
  char line[1024];
  if (argc == 2 && !strcmp(argv[1], "--units")) return print_units(), 0;
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = '\0';
    char *tab = strchr(line, '\t');
    if (!tab) return 1;
    *tab = '\0';
    print(line, tab + 1);
  }
  return 0;
}
