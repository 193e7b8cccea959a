// A file without a name until it is whole; see trace_file.h.
#include "lss/runtime/trace/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static bool fail(GError **error, int code) {
  g_set_error_literal(error, G_FILE_ERROR, (gint)g_file_error_from_errno(code), g_strerror(code));
  return false;
}

bool trace_file_open(TraceFile *file, const char *path, GError **error) {
  *file = (TraceFile){.path = path};
  WholeFile *whole = &file->whole;
  if (file_path_in_place(path)) {
    g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "it is no regular file");
    return false;
  }
  if (!file_place_find(&whole->place, path, error)) return false;
  whole->handle = openat(whole->place.folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (whole->handle >= 0) {
    file_place_keep(&whole->place, whole->handle);
    return true;
  }
  const int code = errno;
  file_place_clear(&whole->place);
  return code == EOPNOTSUPP || code == EISDIR ? whole_file_begin(whole, path, error) : fail(error, code);
}

void trace_file_write(TraceFile *file, const void *bytes, gsize size) {
  for (const char *at = bytes; size && !file->failure;) {
    const ssize_t n = write(file->whole.handle, at, size);
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
static bool name_it(WholeFile *whole) {
  g_autofree char *self = g_strdup_printf("/proc/self/fd/%d", whole->handle);
  for (guint try = 0; try < 100; try++) {
    whole->temporary = file_place_temporary(&whole->place);
    if (!linkat(AT_FDCWD, self, whole->place.folder, whole->temporary, AT_SYMLINK_FOLLOW)) return true;
    g_clear_pointer(&whole->temporary, g_free);
    if (errno != EEXIST) return false;
  }
  return false;
}

bool trace_file_close(TraceFile *file, GError **error) {
  const int code = file->failure ? file->failure : !file->whole.temporary && !name_it(&file->whole) ? errno : 0;
  const bool fine = code ? fail(error, code) : whole_file_complete(&file->whole, error);
  trace_file_abandon(file);
  return fine;
}

void trace_file_abandon(TraceFile *file) {
  close(file->whole.handle);
  whole_file_end(&file->whole);
}
