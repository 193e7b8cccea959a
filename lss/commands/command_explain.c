// lss explain: what a diagnostic means, with an example and its repair, from the table of checks.
#include "lss/base/diagnostics.h"
#include "lss/build/options.h"
#include "lss/commands/commands.h"

#include <stdio.h>
#include <string.h>

static const struct {
  const char *name, *meaning, *example, *repair;
} checks[] = {
#define CHECK(name, meaning, example, repair) {name, meaning, example, repair},
#include "lss/elab/checks.def"
#undef CHECK
};

static void print_wrapped(const char *text) {
  int column = 0;
  g_auto(GStrv) words = g_strsplit(text, " ", -1);
  for (int i = 0; words[i]; i++) {
    int length = (int)strlen(words[i]);
    if (column > 0 && column + 1 + length > 100) {
      putchar('\n');
      column = 0;
    }
    column += printf("%s%s", column ? " " : "", words[i]);
  }
  putchar('\n');
}

int command_explain(int argc, char **argv) {
  if (argc == 1) {
    for (guint i = 0; i < G_N_ELEMENTS(checks); i++) printf("%s\n", checks[i].name);
    return 0;
  }
  if (argc > 2) return usage_error(argv[0], "one check at a time");
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < G_N_ELEMENTS(checks); i++) {
    g_ptr_array_add(names, (gpointer)checks[i].name);
    if (strcmp(checks[i].name, argv[1]) != 0) continue;
    printf("%s\n\n", checks[i].name);
    print_wrapped(checks[i].meaning);
    printf("\n  wrong:  %s\n  right:  %s\n", checks[i].example, checks[i].repair);
    return 0;
  }
  const char *near = diag_suggestion(argv[1], names);
  return usage_error(argv[0], "there is no check \"%s\"%s%s%s", argv[1], near ? "; did you mean \"" : "",
                     near ? near : "", near ? "\"?" : "");
}
