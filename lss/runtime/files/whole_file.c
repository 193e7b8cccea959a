// Files written whole or not at all; see whole_file.h.
#include "lss/runtime/files/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(GError **error, int code) {
  g_set_error_literal(error, G_FILE_ERROR, (gint)g_file_error_from_errno(code), g_strerror(code));
  return false;
}

static bool write_in_place(FILE *out, const char *text, size_t length, GError **error) {
  if (!out) return fail(error, errno);
  if (out == stdout) return fwrite(text, 1, length, out), true; // what is lost there is said when it is flushed last
  bool fine = fwrite(text, 1, length, out) == length && fflush(out) == 0;
  int code = errno;
  if (fclose(out) != 0 && fine) {
    fine = false;
    code = errno;
  }
  return fine || fail(error, code);
}

static bool write_and_rename(const char *path, const char *text, size_t length, GError **error) {
  g_autofree char *temporary = g_strconcat(path, ".XXXXXX", NULL);
  int handle = g_mkstemp_full(temporary, O_RDWR, 0666);
  if (handle < 0) return fail(error, errno);
  size_t written = 0;
  int code = 0;
  while (!code && written < length) {
    ssize_t n = write(handle, text + written, length - written);
    if (n >= 0)
      written += (size_t)n;
    else if (errno != EINTR)
      code = errno;
  }
  if (!code && fsync(handle)) code = errno;
  if (close(handle) && !code) code = errno;
  if (!code && rename(temporary, path)) code = errno;
  if (!code) return true;
  unlink(temporary);
  return fail(error, code);
}

bool whole_file_write(const char *path, const char *text, gssize length, GError **error) {
  size_t size = length < 0 ? strlen(text) : (size_t)length;
  struct stat status;
  if (!strcmp(path, "-")) return write_in_place(stdout, text, size, error);
  if (!stat(path, &status) && !S_ISREG(status.st_mode)) {
    if (S_ISDIR(status.st_mode)) return fail(error, EISDIR);
    return write_in_place(fopen(path, "we"), text, size, error);
  }
  return write_and_rename(path, text, size, error);
}

bool whole_file_possible(const char *path, bool folders, GError **error) {
  struct stat status;
  if (!strcmp(path, "-")) return true;
  if (!stat(path, &status)) {
    if (S_ISDIR(status.st_mode)) return fail(error, EISDIR);
    if (!S_ISREG(status.st_mode)) return true;
  }
  char *folder = g_path_get_dirname(path);
  while (folders && stat(folder, &status) && errno == ENOENT) {
    char *outer = g_path_get_dirname(folder);
    g_free(folder);
    folder = outer;
  }
  int code = stat(folder, &status)         ? errno
             : !S_ISDIR(status.st_mode)    ? ENOTDIR
             : access(folder, W_OK | X_OK) ? errno
                                           : 0;
  g_free(folder);
  return !code || fail(error, code);
}
