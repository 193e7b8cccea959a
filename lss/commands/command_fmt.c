// lss fmt [--check] FILE...: rewrites files in canonical layout; "-" is standard input to standard output.
#include "emulib/program/input_file.h"
#include "lss/base/output.h"
#include "lss/build/options.h"
#include "lss/commands/commands.h"
#include "lss/front/fmt.h"

#include <stdio.h>
#include <string.h>

static char *read_input(const char *path) {
  g_autoptr(GError) error = NULL;
  char *text = input_file_read(strcmp(path, "-") ? path : "/dev/stdin", NULL, &error);
  if (!text) fprintf(stderr, "lss fmt: cannot read \"%s\": %s\n", path, error->message);
  return text;
}

static const OptionSpec own[] = {
    {"--check", NULL, "change nothing; name the files that would change, and exit with 1 if there are any"},
    {0},
};
static const OptionSpec *const tables[] = {own, NULL};

static bool fmt_option(const char *command, const char *name, const char *value, gpointer data) {
  (void)command, (void)name, (void)value;
  return *(bool *)data = true;
}

static int fmt_command(int argc, char **argv) {
  g_auto(Options) options = {0};
  bool check = false, differ = false, failed = false;
  if (!options_parse(tables, argc, argv, &options, fmt_option, &check, NULL)) return 2;
  if (!options.machine) return usage_error(argv[0], "give at least one file: lss fmt [--check] FILE...");
  g_ptr_array_insert(options.rest, 0, (gpointer)options.machine);
  for (guint i = 0; i < options.rest->len; i++) {
    const char *path = options.rest->pdata[i];
    g_autofree char *text = read_input(path);
    if (!text) {
      failed = true;
      continue;
    }
    g_autofree char *formatted = format_lss(text);
    bool same = !strcmp(text, formatted);
    if (check && !same) printf("%s\n", path);
    differ |= !same;
    if (!check && (!same || !strcmp(path, "-")) && !output_write(argv[0], path, formatted)) failed = true;
  }
  return failed ? 3 : check && differ ? 1 : 0;
}

const Command command_fmt = {"fmt", fmt_command, "FILE...", "canonical layout; - is standard input to standard output",
                             tables};
