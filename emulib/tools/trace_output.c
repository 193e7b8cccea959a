// Traces of tools; see trace_output.h.
#include "trace_output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

// Whether both names are of one ordinary file.
static gboolean is_same(const char *one, const char *other) {
  struct stat a, b;
  return stat(one, &a) == 0 && stat(other, &b) == 0 && S_ISREG(a.st_mode) && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

FILE *trace_output_open(const char *tool, const char *path, const char *const *inputs) {
  if (strcmp(path, "-") == 0) return stderr;
  for (; *inputs != NULL; inputs++) {
    if (!is_same(path, *inputs)) continue;
    fprintf(stderr, "%s: cannot write %s: it is read too, as %s\n", tool, path, *inputs);
    return NULL;
  }
  FILE *file = fopen(path, "we");
  if (file == NULL) fprintf(stderr, "%s: cannot write %s: %s\n", tool, path, g_strerror(errno));
  return file;
}

gboolean trace_output_close(const char *tool, const char *path, FILE *file) {
  if (file == NULL) return TRUE;
  const gboolean lost = ferror(file) != 0;
  errno = 0;
  const gboolean flushed = (file == stderr ? fflush(file) : fclose(file)) == 0;
  if (flushed && !lost) return TRUE;
  fprintf(stderr, "%s: cannot write %s: %s\n", tool, path, flushed ? "some of it is lost" : g_strerror(errno));
  return FALSE;
}
