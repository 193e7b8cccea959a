// Where paths lead; see whole_file.h.
#include "lss/runtime/files/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { MOST_LINKS = 40, RANDOM = 6 }; // as the kernel follows

static bool fail(GError **error, int code) {
  g_set_error_literal(error, G_FILE_ERROR, (gint)g_file_error_from_errno(code), g_strerror(code));
  return false;
}

bool file_path_is_handed(const char *path, int *handle) {
  static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
  static const char *const names[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
  for (int i = 0; i < (int)G_N_ELEMENTS(names); i++)
    if (!strcmp(path, names[i])) return *handle = i, true;
  for (guint i = 0; i < G_N_ELEMENTS(folders); i++) {
    if (!g_str_has_prefix(path, folders[i])) continue;
    const char *digits = path + strlen(folders[i]);
    char *end;
    const long number = strtol(digits, &end, 10);
    if (!g_ascii_isdigit(*digits) || *end || number > INT_MAX) continue;
    return *handle = (int)number, true;
  }
  return false;
}

bool file_path_in_place(const char *path) {
  struct stat status;
  int handle;
  return !strcmp(path, "-") || file_path_is_handed(path, &handle) || (!stat(path, &status) && !S_ISREG(status.st_mode));
}

int file_path_open_in_place(const char *path) {
  int handle;
  if (!strcmp(path, "-")) return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (file_path_is_handed(path, &handle)) return fcntl(handle, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  return open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
}

// What a symbolic link holds; NULL with errno when it is none.
static char *link_at(const char *path) {
  char target[PATH_MAX];
  const ssize_t length = readlink(path, target, sizeof target);
  return length < 0 ? NULL : g_strndup(target, (gsize)length);
}

char *file_path_resolve(const char *path) {
  char *at = g_strdup(path);
  for (int i = 0; i < MOST_LINKS; i++) {
    g_autofree char *target = link_at(at);
    if (!target) break;
    char *next = target;
    if (!g_path_is_absolute(target)) {
      const char *slash = strrchr(at, '/');
      g_autofree char *folder = slash ? g_strndup(at, (gsize)(slash - at + 1)) : g_strdup("");
      next = g_strconcat(folder, target, NULL);
    } else {
      next = g_strdup(target);
    }
    g_free(at);
    at = next;
  }
  return at;
}

bool file_place_find(FilePlace *place, const char *path, GError **error) {
  *place = (FilePlace){.folder = -1, .path = file_path_resolve(path)};
  const char *slash = strrchr(place->path, '/');
  g_autofree char *folder = slash ? g_strndup(place->path, (gsize)(slash - place->path + 1)) : g_strdup(".");
  place->name = g_strdup(slash ? slash + 1 : place->path);
  place->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  int code = place->folder < 0 ? errno : 0;
  if (!code && !*place->name) code = *path ? EISDIR : ENOENT;
  if (!code && fstatat(place->folder, place->name, &place->before, AT_SYMLINK_NOFOLLOW) && errno != ENOENT)
    code = errno;
  else if (!code) {
    place->exists = place->before.st_mode != 0;
    if (S_ISDIR(place->before.st_mode)) code = EISDIR;
    if (S_ISLNK(place->before.st_mode)) code = ELOOP;
    if (place->exists && !code && faccessat(place->folder, place->name, W_OK, 0)) code = errno;
  }
  if (!code) return true;
  file_place_clear(place);
  return fail(error, code);
}

void file_place_clear(FilePlace *place) {
  if (place->folder >= 0) close(place->folder);
  place->folder = -1;
  g_clear_pointer(&place->path, g_free);
  g_clear_pointer(&place->name, g_free);
}

void file_place_keep(const FilePlace *place, int handle) {
  struct stat status;
  if (!place->exists || fstat(handle, &status)) return;
  const bool same = status.st_uid == place->before.st_uid && status.st_gid == place->before.st_gid;
  if (!same && fchown(handle, place->before.st_uid, place->before.st_gid)) errno = 0; // only root may give files away
  fchmod(handle, place->before.st_mode & 07777);
}

char *file_place_temporary(const FilePlace *place) {
  static const char alphabet[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  unsigned char random[RANDOM];
  if (getrandom(random, sizeof random, 0) != sizeof random) memset(random, 0, sizeof random);
  GString *name = g_string_new(place->name);
  g_string_truncate(name, MIN(name->len, NAME_MAX - RANDOM - 1)); // a name of its own may be as long as names can be
  g_string_append_c(name, '.');
  for (int i = 0; i < RANDOM; i++) g_string_append_c(name, alphabet[random[i] % (sizeof alphabet - 1)]);
  return g_string_free(name, FALSE);
}
