// Files written whole or not at all; see whole_file.h.
#include "lss/runtime/files/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = 100 };

static bool fail(GError **error, int code) {
  g_set_error_literal(error, G_FILE_ERROR, (gint)g_file_error_from_errno(code), g_strerror(code));
  return false;
}

// Writes everything; 0, or the error.
static int write_all(int handle, const char *bytes, size_t length) {
  while (length) {
    const ssize_t n = write(handle, bytes, length);
    if (n < 0 && errno != EINTR) return errno;
    if (n < 0) continue;
    bytes += n;
    length -= (size_t)n;
  }
  return 0;
}

bool whole_file_append(int handle, const void *bytes, gsize length, GError **error) {
  const int code = write_all(handle, bytes, length);
  return !code || fail(error, code);
}

bool whole_file_begin(WholeFile *file, const char *path, GError **error) {
  *file = (WholeFile){.handle = -1};
  if (!file_place_find(&file->place, path, error)) return false;
  for (int i = 0; i < TRIES && file->handle < 0; i++) {
    g_free(file->temporary);
    file->temporary = file_place_temporary(&file->place);
    file->handle = openat(file->place.folder, file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file->handle < 0 && errno != EEXIST) break;
  }
  if (file->handle >= 0) {
    file_place_keep(&file->place, file->handle);
    return true;
  }
  const int code = errno;
  g_clear_pointer(&file->temporary, g_free);
  file_place_clear(&file->place);
  return fail(error, code);
}

bool whole_file_complete(WholeFile *file, GError **error) {
  const int folder = file->place.folder;
  if (fsync(file->handle) || renameat(folder, file->temporary, folder, file->place.name)) return fail(error, errno);
  g_clear_pointer(&file->temporary, g_free);
  return true;
}

void whole_file_remove(const WholeFile *file) {
  if (file->temporary) unlinkat(file->place.folder, file->temporary, 0);
}

void whole_file_end(WholeFile *file) {
  whole_file_remove(file);
  g_clear_pointer(&file->temporary, g_free);
  file_place_clear(&file->place);
}

char *whole_file_growing(const WholeFile *file) {
  const char *slash = strrchr(file->place.path, '/');
  g_autofree char *folder = g_strndup(file->place.path, slash ? (gsize)(slash - file->place.path + 1) : 0);
  return g_strconcat(folder, file->temporary, NULL);
}

typedef bool Fill(FILE *out, void *data);

// Fills what a descriptor leads to, which stays open; 0, or the error.
static int fill_handle(int handle, Fill *fill, void *data) {
  const int own = fcntl(handle, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  FILE *out = own < 0 ? NULL : fdopen(own, "w");
  int code = out ? 0 : errno;
  if (out && (!fill(out, data) || fflush(out))) code = errno;
  if (out && fclose(out) && !code) code = errno;
  if (!out && own >= 0) close(own);
  return code;
}

static bool fill_in_place(const char *path, Fill *fill, void *data, GError **error) {
  if (!strcmp(path, "-")) return fill(stdout, data), true; // what is lost there is said at the end
  struct stat status;
  if (!stat(path, &status) && S_ISDIR(status.st_mode)) return fail(error, EISDIR);
  fflush(stdout); // which it may be by another name
  const int handle = file_path_open_in_place(path);
  if (handle < 0) return fail(error, errno);
  int code = fill_handle(handle, fill, data);
  if (close(handle) && !code) code = errno;
  return !code || fail(error, code);
}

bool whole_file_fill(const char *path, Fill *fill, void *data, GError **error) {
  if (file_path_in_place(path)) return fill_in_place(path, fill, data, error);
  WholeFile file;
  if (!whole_file_begin(&file, path, error)) return false;
  const int code = fill_handle(file.handle, fill, data);
  const bool fine = !code ? whole_file_complete(&file, error) : fail(error, code);
  close(file.handle);
  whole_file_end(&file);
  return fine;
}

typedef struct {
  const char *text;
  size_t length;
} Text;

static bool fill_text(FILE *out, void *data) {
  const Text *all = data;
  return fwrite(all->text, 1, all->length, out) == all->length;
}

bool whole_file_write(const char *path, const char *text, gssize length, GError **error) {
  Text all = {text, length < 0 ? strlen(text) : (size_t)length};
  return whole_file_fill(path, fill_text, &all, error);
}

// The folder of a path, or with `folders` the nearest outer one that is there; a descriptor or -1 with errno.
static int open_folder(const char *path, bool folders) {
  g_autofree char *folder = g_path_get_dirname(path);
  for (;;) {
    const int handle = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (handle >= 0 || errno != ENOENT || !folders) return handle;
    char *outer = g_path_get_dirname(folder);
    g_free(folder);
    folder = outer;
  }
}

bool whole_file_possible(const char *path, bool folders, GError **error) {
  struct stat status;
  if (!stat(path, &status) && S_ISDIR(status.st_mode)) return fail(error, EISDIR);
  if (file_path_in_place(path)) return true;
  g_autofree char *resolved = file_path_resolve(path);
  const int folder = open_folder(resolved, folders);
  int code = folder < 0 || faccessat(folder, ".", W_OK | X_OK, 0) ? errno : 0;
  if (folder >= 0) close(folder);
  FilePlace place;
  GError *reason = NULL;
  if (!code && !folders && !file_place_find(&place, path, &reason)) {
    g_propagate_error(error, reason);
    return false;
  }
  if (!code && !folders) file_place_clear(&place);
  return !code || fail(error, code);
}
