// Reads files that a user names; see input_file.h.  the runtime and the compiler are built with it too.
#include "input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

void (*input_file_reads)(const char *path, gsize size);

static void refuse(GError **error, int code, const char *why) {
  g_set_error_literal(error, G_FILE_ERROR, (gint)g_file_error_from_errno(code), why);
}

// Why nothing of this kind is read, or NULL.
static const char *objection(const char *path, const struct stat *status) {
  const bool handed = g_str_has_prefix(path, "/dev/stdin") || g_str_has_prefix(path, "/dev/fd/") ||
                      g_str_has_prefix(path, "/proc/self/fd/");
  if (S_ISREG(status->st_mode)) return NULL;
  if (S_ISDIR(status->st_mode)) return "it is a folder";
  if (S_ISFIFO(status->st_mode)) return handed ? NULL : "it is a named pipe, not a file";
  if (S_ISCHR(status->st_mode) && handed) {
    int handle = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
    const bool terminal = handle >= 0 && isatty(handle);
    if (handle >= 0) close(handle);
    if (terminal) return NULL;
  }
  return "it is a device, not a file";
}

int input_file_open(const char *path, GError **error) {
  struct stat status;
  // Without waiting: between a look and the opening, a pipe could take the file's place.
  int handle = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (handle < 0 || fstat(handle, &status)) {
    const int code = errno;
    if (handle >= 0) close(handle);
    refuse(error, code, code == ENXIO ? "it is a socket, not a file" : g_strerror(code));
    return -1;
  }
  const char *why = objection(path, &status);
  if (why) {
    close(handle);
    refuse(error, S_ISDIR(status.st_mode) ? EISDIR : EINVAL, why);
    return -1;
  }
  fcntl(handle, F_SETFL, fcntl(handle, F_GETFL) & ~O_NONBLOCK);
  return handle;
}

char *input_file_read(const char *path, gsize *size, GError **error) {
  int handle = input_file_open(path, error);
  if (handle < 0) return NULL;
  struct stat status;
  gsize capacity = !fstat(handle, &status) && status.st_size > 0 ? (gsize)status.st_size + 1 : 65536, length = 0;
  if (input_file_reads) input_file_reads(path, capacity - 1);
  char *bytes = g_try_malloc(capacity);
  for (ssize_t got = 1; bytes && got != 0;) {
    if (length + 1 >= capacity) {
      char *more = capacity < G_MAXSIZE / 2 ? g_try_realloc(bytes, capacity *= 2) : NULL;
      if (!more) g_free(bytes);
      bytes = more;
      continue;
    }
    got = read(handle, bytes + length, capacity - length - 1);
    if (got < 0 && errno != EINTR) {
      refuse(error, errno, g_strerror(errno));
      g_free(bytes);
      close(handle);
      return NULL;
    }
    length += (gsize)MAX(got, 0);
  }
  close(handle);
  if (!bytes) {
    refuse(error, ENOMEM, "out of memory");
    return NULL;
  }
  bytes[length] = 0;
  if (size) *size = length;
  return bytes;
}
