// lss fmt [--check] [--width N] FILE...: rewrites files in canonical layout; "-" is standard input to standard output.
#include "emulib/program/input_file.h"
#include "lss/base/output.h"
#include "lss/build/options.h"
#include "lss/commands/commands.h"
#include "lss/front/fmt.h"
#include "lss/runtime/text/number.h"

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
    {"--width", "N", "break lines of more than N columns, from 60 to 400"},
    {0},
};
static const OptionSpec *const tables[] = {own, NULL};

enum { LEAST_WIDTH = 60, MOST_WIDTH = 400 };

typedef struct {
  bool check;
  int width; // 0: lines stay as long as they are
} FmtOptions;

static bool fmt_option(const char *command, const char *name, const char *value, gpointer data) {
  FmtOptions *options = data;
  if (!strcmp(name, "--check")) return options->check = true;
  uint64_t width;
  const char *error;
  if (!number_read_count(value, LEAST_WIDTH, MOST_WIDTH, &width, &error))
    return !usage_error(command, "%s: %s", name, error);
  options->width = (int)width;
  return true;
}

static int fmt_command(int argc, char **argv) {
  g_auto(Options) options = {0};
  FmtOptions chosen = {0};
  bool differ = false, failed = false;
  if (!options_parse(tables, argc, argv, &options, fmt_option, &chosen, NULL)) return 2;
  if (!options.machine) return usage_error(argv[0], "give at least one file: lss fmt [--check] [--width N] FILE...");
  g_ptr_array_insert(options.rest, 0, (gpointer)options.machine);
  for (guint i = 0; i < options.rest->len; i++) {
    const char *path = options.rest->pdata[i];
    g_autofree char *text = read_input(path);
    if (!text) {
      failed = true;
      continue;
    }
    g_autofree char *formatted = format_lss(text, chosen.width);
    bool same = !strcmp(text, formatted);
    if (chosen.check && !same) printf("%s\n", path);
    differ |= !same;
    if (!chosen.check && (!same || !strcmp(path, "-")) && !output_write(argv[0], path, formatted)) failed = true;
  }
  return failed ? 3 : chosen.check && differ ? 1 : 0;
}

const Command command_fmt = {"fmt", fmt_command, "FILE...", "canonical layout; - is standard input to standard output",
                             tables};
