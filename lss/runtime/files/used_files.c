// Which files a run uses; see used_files.h.
#include "lss/runtime/files/used_files.h"

#include "lss/runtime/files/whole_file.h"
#include "lss/runtime/text/refusal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

// What tells a file from others: itself, or where it will be, which is a name below a folder that is there.
typedef struct {
  dev_t device;
  ino_t inode;
  char *below; // NULL: it is there
} Identity;

typedef struct {
  Identity identity;
  FileUse use;
  char *path, *user;
} UsedFile;

static GArray *used; // of UsedFile

// The names of a path without "." and with ".." taken back, as far as it is not there.
static char *join_names(GPtrArray *names) {
  g_autoptr(GPtrArray) kept = g_ptr_array_new();
  for (guint i = names->len; i--;) {
    const char *name = names->pdata[i];
    if (!*name || !strcmp(name, ".")) continue;
    if (!strcmp(name, "..") && kept->len)
      g_ptr_array_set_size(kept, (gint)kept->len - 1);
    else
      g_ptr_array_add(kept, names->pdata[i]);
  }
  g_ptr_array_add(kept, NULL);
  return g_strjoinv("/", (char **)kept->pdata);
}

// Of a file that is still to be made: the innermost folder on the way that is there, and the names below it.
static bool identify_place(const char *path, Identity *identity) {
  g_autofree char *folder = file_path_resolve(path);
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  struct stat status;
  for (bool first = true; first || stat(folder, &status); first = false) {
    char *outer = g_path_get_dirname(folder);
    if (!first && !strcmp(outer, folder)) {
      g_free(outer);
      return false;
    }
    g_ptr_array_add(names, g_path_get_basename(folder));
    g_free(folder);
    folder = outer;
  }
  *identity = (Identity){status.st_dev, status.st_ino, join_names(names)};
  return true;
}

// False for what is no file of one use: written in place, or nothing that can be written at all, which is said later.
static bool identify(const char *path, FileUse use, Identity *identity) {
  struct stat status;
  int handle;
  if (!*path || !strcmp(path, "-")) return false;
  if (use >= FILE_IS_WRITTEN && file_path_is_handed(path, &handle) && handle <= STDERR_FILENO) return false;
  if (stat(path, &status)) return errno == ENOENT && identify_place(path, identity);
  *identity = (Identity){status.st_dev, status.st_ino, NULL};
  return S_ISREG(status.st_mode) || S_ISSOCK(status.st_mode);
}

// Whether a folder takes the cases of letters for the same: a file that is made there is found by its other name.
static bool ignores_case(const UsedFile *file) {
  g_autofree char *resolved = file_path_resolve(file->path);
  FilePlace place;
  if (!file_place_find(&place, resolved, NULL)) return false;
  char made[] = ".case.XXXXXX", other[] = ".CASE.XXXXXX";
  g_autofree char *random = file_place_temporary(&place);
  memcpy(made + strlen(made) - 6, random + strlen(random) - 6, 6);
  memcpy(other + strlen(other) - 6, random + strlen(random) - 6, 6);
  struct stat status;
  const int handle = openat(place.folder, made, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const bool same = handle >= 0 && !fstatat(place.folder, other, &status, 0);
  if (handle >= 0) close(handle), unlinkat(place.folder, made, 0);
  file_place_clear(&place);
  return same;
}

static bool is_same(const UsedFile *a, const UsedFile *b) {
  if (a->identity.device != b->identity.device || a->identity.inode != b->identity.inode) return false;
  const char *one = a->identity.below, *other = b->identity.below;
  if (!one || !other) return one == other;
  if (!strcmp(one, other)) return true;
  g_autofree char *low = g_utf8_validate(one, -1, NULL) ? g_utf8_casefold(one, -1) : g_ascii_strdown(one, -1);
  g_autofree char *down = g_utf8_validate(other, -1, NULL) ? g_utf8_casefold(other, -1) : g_ascii_strdown(other, -1);
  return !strcmp(low, down) && ignores_case(a);
}

static bool refuse(const UsedFile *file, const UsedFile *before, GError **error) {
  static const char *const verbs[] = {"reads", "reads", "executes", "writes", "writes"};
  const UsedFile *written = file->use >= FILE_IS_WRITTEN ? file : before, *other = written == file ? before : file;
  g_autofree char *name = strcmp(file->path, before->path) ? g_strdup_printf(", as \"%s\"", other->path) : g_strdup("");
  return spinach_refuse(error, "cannot write \"%s\" for %s: %s %s it too%s (name another file)", written->path,
                        written->user, other->user, verbs[other->use], name);
}

static void clear(UsedFile *file) {
  g_free(file->identity.below);
  g_free(file->path);
  g_free(file->user);
}

static bool go_together(FileUse one, FileUse other) {
  const bool restored = one == FILE_IS_RESTORED || other == FILE_IS_RESTORED;
  const bool saved = one == FILE_IS_SAVED || other == FILE_IS_SAVED;
  return (one < FILE_IS_WRITTEN && other < FILE_IS_WRITTEN) || (restored && saved);
}

static bool add(Identity identity, const char *path, FileUse use, const char *user, bool again, GError **error) {
  UsedFile file = {identity, use, g_strdup(path), g_strdup(user)};
  if (!used) used = g_array_new(FALSE, FALSE, sizeof(UsedFile));
  for (guint i = 0; i < used->len; i++) {
    const UsedFile *before = &g_array_index(used, UsedFile, i);
    if (go_together(use, before->use) || !is_same(&file, before)) continue;
    const bool fine = again && before->use == use && !strcmp(before->user, user);
    if (!fine) refuse(&file, before, error);
    clear(&file);
    return fine;
  }
  g_array_append_val(used, file);
  return true;
}

bool used_files_add(const char *path, FileUse use, const char *user, GError **error) {
  Identity identity;
  return !identify(path, use, &identity) || add(identity, path, use, user, false, error);
}

bool used_files_add_saved(const char *path, const char *user, GError **error) {
  Identity identity;
  return !identify(path, FILE_IS_SAVED, &identity) || add(identity, path, FILE_IS_SAVED, user, true, error);
}

bool used_files_add_standard(GError **error) {
  static const char *const names[] = {"standard input", "standard output", "standard error"};
  for (int i = STDERR_FILENO; i >= STDIN_FILENO; i--) {
    struct stat status, out;
    if (fstat(i, &status) || !S_ISREG(status.st_mode)) continue;
    if (i == STDOUT_FILENO && !fstat(STDERR_FILENO, &out) && out.st_dev == status.st_dev && out.st_ino == status.st_ino)
      continue; // both to one file, as 2>&1 has it
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", i);
    g_autofree char *name = g_file_read_link(path, NULL);
    if (!add((Identity){status.st_dev, status.st_ino, NULL}, name ? name : path,
             i == STDIN_FILENO ? FILE_IS_READ : FILE_IS_WRITTEN, names[i], false, error))
      return false;
  }
  return true;
}
