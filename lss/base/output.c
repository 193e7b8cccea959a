// Files that a command writes; see output.h.
#include "lss/base/output.h"

#include "lss/base/working.h"
#include "lss/runtime/files/whole_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool output_write(const char *command, const char *path, const char *text) {
  g_autoptr(GError) error = NULL;
  if (whole_file_write(path, text, -1, &error)) return true;
  working_end();
  fprintf(stderr, "lss %s: cannot write \"%s\": %s\n", command, path, error->message);
  return false;
}

bool output_fill(const char *command, const char *path, bool (*fill)(FILE *out, void *data), void *data) {
  g_autoptr(GError) error = NULL;
  if (whole_file_fill(path, fill, data, &error)) return true;
  fprintf(stderr, "lss %s: cannot write \"%s\": %s\n", command, path, error->message);
  return false;
}

void output_note(const char *command, const char *path, const char *note) {
  if (isatty(STDERR_FILENO) && strcmp(path, "-") != 0) fprintf(stderr, "lss %s: wrote %s%s\n", command, path, note);
}

static bool is_file(const char *path, const struct stat *file) {
  struct stat other;
  return path && !stat(path, &other) && other.st_dev == file->st_dev && other.st_ino == file->st_ino;
}

bool output_spares_sources(const char *command, const char *path, const GPtrArray *sources) {
  struct stat file;
  if (stat(path, &file)) return true;
  for (guint i = 0; i < sources->len; i++) {
    if (!is_file(sources->pdata[i], &file)) continue;
    fprintf(stderr, "lss %s: \"%s\" is a source of this machine; -o names the file to write\n", command, path);
    return false;
  }
  return true;
}
