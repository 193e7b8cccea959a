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

static const OptionSpec *const tables[] = {NULL};

static int explain_command(int argc, char **argv) {
  g_auto(Options) options = {0};
  if (!options_parse(tables, argc, argv, &options, NULL, NULL, NULL)) return 2;
  if (!options.machine) {
    for (guint i = 0; i < G_N_ELEMENTS(checks); i++) printf("%s\n", checks[i].name);
    return 0;
  }
  if (options.rest->len) return usage_error(argv[0], "one check at a time");
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < G_N_ELEMENTS(checks); i++) {
    g_ptr_array_add(names, (gpointer)checks[i].name);
    if (strcmp(checks[i].name, options.machine) != 0) continue;
    printf("%s\n\n", checks[i].name);
    print_wrapped(checks[i].meaning);
    printf("\n  wrong:  %s\n  right:  %s\n", checks[i].example, checks[i].repair);
    return 0;
  }
  const char *near = diag_suggestion(options.machine, names);
  return usage_error(argv[0], "there is no check \"%s\"%s%s%s", options.machine, near ? "; did you mean \"" : "",
                     near ? near : "", near ? "\"?" : "");
}

const Command command_explain = {"explain", explain_command, "[CHECK]",
                                 "what a diagnostic means, with an example and its repair; without a name, all checks",
                                 tables};
