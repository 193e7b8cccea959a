// Files that a command writes; see output.h.
#include "lss/output.h"

#include "lss/runtime/whole_file.h"

#include <stdio.h>

bool output_write(const char *command, const char *path, const char *text) {
  g_autoptr(GError) error = NULL;
  if (whole_file_write(path, text, -1, &error)) return true;
  fprintf(stderr, "lss %s: cannot write \"%s\": %s\n", command, path, error->message);
  return false;
}
