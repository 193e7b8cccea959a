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

int command_fmt(int argc, char **argv) {
  bool check = false, differ = false, failed = false;
  int files = 0;
  for (int i = 1; i < argc; i++) {
    const char *path = argv[i];
    if (!strcmp(path, "--check")) {
      check = true;
      continue;
    }
    if (path[0] == '-' && path[1])
      return usage_error(argv[0], "there is no option \"%s\"; write lss fmt [--check] FILE...", path);
    files++;
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
  if (!files) return usage_error(argv[0], "give at least one file: lss fmt [--check] FILE...");
  return failed ? 3 : check && differ ? 1 : 0;
}
