// Digests of large files; see digest_cache.h.
#include "lss/runtime/files/digest_cache.h"

#include "lss/runtime/files/cache_place.h"
#include "lss/runtime/files/whole_file.h"

#include <string.h>
#include <time.h>

enum {
  DIGITS = 64,
  LEAST = 1 << 20, // bytes of a file that takes longer to read than to look up
  // Seconds after which a change has another time: some file systems count whole seconds, and a page that a process has
  // mapped and written can be written again without another time until the kernel has stored it, for half a minute.
  DISTINCT = 60
};

// Named like the entries of the compiler, which keeps the cache within its limit.
static char *entry_of(const struct stat *file, const char *kind) {
  g_autofree char *key = g_strdup_printf("%s %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT
                                         " %" G_GINT64_FORMAT ".%09ld %" G_GINT64_FORMAT ".%09ld",
                                         kind, (guint64)file->st_dev, (guint64)file->st_ino, (guint64)file->st_size,
                                         (gint64)file->st_mtim.tv_sec, file->st_mtim.tv_nsec,
                                         (gint64)file->st_ctim.tv_sec, file->st_ctim.tv_nsec);
  g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA1, key, -1), *folder = cache_place();
  g_autofree char *name = g_strconcat(sum, ".digest", NULL);
  return g_build_filename(folder, name, NULL);
}

char *digest_cache_find(const struct stat *file, const char *kind) {
  if (file->st_size < LEAST) return NULL;
  g_autofree char *path = entry_of(file, kind), *text = NULL;
  gsize length;
  if (!g_file_get_contents(path, &text, &length, NULL)) return NULL;
  if (length != DIGITS || strspn(text, "0123456789abcdef") != DIGITS) return NULL;
  return g_steal_pointer(&text);
}

void digest_cache_keep(const struct stat *file, const char *kind, const char *digest) {
  if (file->st_size < LEAST || time(NULL) - file->st_ctim.tv_sec < DISTINCT) return;
  g_autofree char *path = entry_of(file, kind), *folder = g_path_get_dirname(path);
  g_mkdir_with_parents(folder, 0777);
  whole_file_write(path, digest, DIGITS, NULL);
}

gboolean digest_cache_same(const struct stat *before, const struct stat *after) {
  return before->st_size == after->st_size && before->st_mtim.tv_sec == after->st_mtim.tv_sec &&
         before->st_mtim.tv_nsec == after->st_mtim.tv_nsec && before->st_ctim.tv_sec == after->st_ctim.tv_sec &&
         before->st_ctim.tv_nsec == after->st_ctim.tv_nsec;
}
