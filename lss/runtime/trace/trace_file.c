// A file without a name until it is whole; see trace_file.h.
#include "lss/runtime/trace/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(GError **error, int code) {
  g_set_error_literal(error, G_FILE_ERROR, (gint)g_file_error_from_errno(code), g_strerror(code));
  return false;
}

bool trace_file_open(TraceFile *file, const char *path, GError **error) {
  struct stat status;
  *file = (TraceFile){.path = path};
  if (!stat(path, &status) && !S_ISREG(status.st_mode)) {
    g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "it is no regular file");
    return false;
  }
  g_autofree char *folder = g_path_get_dirname(path);
  file->handle = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (file->handle >= 0) return true;
  if (errno != EOPNOTSUPP && errno != EISDIR) return fail(error, errno);
  file->temporary = g_strconcat(path, ".XXXXXX", NULL);
  file->handle = g_mkstemp_full(file->temporary, O_RDWR | O_CLOEXEC, 0666);
  return file->handle >= 0 || fail(error, errno);
}

void trace_file_write(TraceFile *file, const void *bytes, gsize size) {
  for (const char *at = bytes; size && !file->failure;) {
    const ssize_t n = write(file->handle, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      file->failure = errno;
      return;
    }
    at += n;
    size -= (gsize)n;
  }
}

// A name beside its own: a link cannot replace what has a name, a rename can.
static bool name_it(TraceFile *file) {
  g_autofree char *self = g_strdup_printf("/proc/self/fd/%d", file->handle);
  for (guint try = 0; try < 100; try++) {
    file->temporary = g_strdup_printf("%s.%08x", file->path, g_random_int());
    if (!linkat(AT_FDCWD, self, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW)) return true;
    g_clear_pointer(&file->temporary, g_free);
    if (errno != EEXIST) return false;
  }
  return false;
}

bool trace_file_close(TraceFile *file, GError **error) {
  int code = file->failure;
  if (!code && fsync(file->handle)) code = errno;
  if (!code && !file->temporary && !name_it(file)) code = errno;
  if (!code && rename(file->temporary, file->path)) code = errno;
  if (!code) g_clear_pointer(&file->temporary, g_free);
  trace_file_abandon(file);
  return !code || fail(error, code);
}

void trace_file_abandon(TraceFile *file) {
  if (file->temporary) unlink(file->temporary);
  g_clear_pointer(&file->temporary, g_free);
  close(file->handle);
}
