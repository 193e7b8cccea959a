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

// Whether a name and what was asked for have a word in common.
static bool shares_word(const char *name, const char *wanted) {
  g_auto(GStrv) words = g_strsplit_set(wanted, "-_ .", -1);
  for (int i = 0; words[i]; i++)
    if (strlen(words[i]) > 2 && strstr(name, words[i])) return true;
  return false;
}

// The nearest name, or else those with a word of it, as the end of a message.
static char *near_names(const char *wanted, GPtrArray *names) {
  const char *near = diag_suggestion(wanted, names);
  if (near) return g_strdup_printf("; did you mean \"%s\"?", near);
  g_autofree char *lower = g_ascii_strdown(wanted, -1);
  g_autoptr(GString) list = g_string_new(NULL);
  for (guint i = 0; i < names->len; i++)
    if (shares_word(names->pdata[i], lower))
      g_string_append_printf(list, "%s%s", list->len ? ", " : "", (char *)names->pdata[i]);
  return list->len ? g_strdup_printf("; near it: %s", list->str) : g_strdup("; `lss explain` lists them");
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
  for (guint i = 0; i < G_N_ELEMENTS(checks); i++) g_ptr_array_add(names, (gpointer)checks[i].name);
  for (guint i = 0; i < G_N_ELEMENTS(checks); i++) {
    if (strcmp(checks[i].name, options.machine) != 0) continue;
    printf("%s\n\n", checks[i].name);
    print_wrapped(checks[i].meaning);
    printf("\n  wrong:  %s\n  right:  %s\n", checks[i].example, checks[i].repair);
    return 0;
  }
  g_autofree char *near = near_names(options.machine, names);
  return usage_error(argv[0], "there is no check \"%s\"%s", options.machine, near);
}

const Command command_explain = {"explain", explain_command, "[CHECK]",
                                 "what a diagnostic means, with an example and its repair; without a name, all checks",
                                 tables};
