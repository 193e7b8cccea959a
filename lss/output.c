// Files that a command writes; see output.h.
#include "lss/output.h"

#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>

bool output_write(const char *command, const char *path, const char *text) {
  if (!strcmp(path, "-")) {
    if (fputs(text, stdout) >= 0 && fflush(stdout) == 0) return true;
    fprintf(stderr, "lss %s: cannot write to standard output: %s\n", command, g_strerror(errno));
    return false;
  }
  g_autoptr(GError) error = NULL;
  GFileSetContentsFlags flags = G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE;
  if (g_file_set_contents_full(path, text, -1, flags, 0666, &error)) return true;
  fprintf(stderr, "lss %s: cannot write \"%s\": %s\n", command, path, error->message);
  return false;
}
