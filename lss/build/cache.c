// The files of the cache with their seals; see cache.h.  What is removed and when is in
// cache_trim.c.
#include "lss/build/cache.h"

#include "lss/build/cache_lock.h"
#include "lss/build/cache_trim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool refuse(const char *folder, const char *why) {
  fprintf(stderr, "lss: cannot use the cache %s: %s; LSS_CACHE names another place\n", folder, why);
  return false;
}

bool cache_open(Cache *cache) {
  *cache = (Cache){.folder = cache_folder(), .lock = -1, .begin = g_get_real_time()};
  // clang and lld put random digits in the place of every % of an output's path.
  if (strchr(cache->folder, '%')) return refuse(cache->folder, "clang writes nothing to paths with a %");
  if (g_mkdir_with_parents(cache->folder, 0777) != 0) return refuse(cache->folder, g_strerror(errno));
  cache->lock = cache_lock(cache->folder, LOCK_SH);
  if (cache->lock < 0) return refuse(cache->folder, g_strerror(errno));
  // Only under the lock: whoever is alone sweeps all scratch folders away.
  g_autofree char *all = g_build_filename(cache->folder, "tmp", NULL), *scratch = g_build_filename(all, "XXXXXX", NULL);
  if (g_mkdir_with_parents(all, 0777) != 0 || !g_mkdtemp(scratch)) return refuse(cache->folder, g_strerror(errno));
  cache->scratch = g_steal_pointer(&scratch);
  return true;
}

void cache_close(Cache *cache) {
  if (cache->scratch) cache_remove(cache->scratch);
  if (cache->lock >= 0) {
    close(cache->lock);
    cache_tidy(cache->folder, cache->grown, cache->begin);
  }
  g_free(cache->folder);
  g_free(cache->scratch);
  *cache = (Cache){.lock = -1};
}

// ---- Files -------------------------------------------------------------------------------------------------------

char *cache_sum_of_file(const char *path, gsize *size) {
  g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, NULL);
  if (!file) return NULL;
  gsize length = g_mapped_file_get_length(file);
  if (size) *size = length;
  const char *bytes = g_mapped_file_get_contents(file);
  return g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)(bytes ? bytes : ""), length);
}

static char *seal_of(const char *path) {
  return g_strconcat(path, ".seal", NULL);
}

bool cache_check(const char *path, char **note) {
  g_autofree char *seal = seal_of(path), *text = NULL;
  if (!g_file_get_contents(seal, &text, NULL, NULL)) return false;
  char *end = strchr(text, '\n');
  g_autofree char *sum = cache_sum_of_file(path, NULL);
  if (!end || !sum || (gsize)(end - text) != strlen(sum) || strncmp(text, sum, strlen(sum)) != 0) return false;
  if (note) *note = g_strdup(end + 1);
  cache_touch(path);
  return true;
}

void cache_touch(const char *path) {
  utimensat(AT_FDCWD, path, NULL, 0);
}

bool cache_keep(Cache *cache, const char *made, const char *path, const char *note) {
  gsize size;
  g_autofree char *seal = seal_of(path), *sum = cache_sum_of_file(made, &size);
  if (!sum) return false;
  g_autofree char *text = g_strconcat(sum, "\n", note ? note : "", NULL);
  cache->grown = true;
  cache_add_size(cache->folder, size + strlen(text));
  return rename(made, path) == 0 && g_file_set_contents(seal, text, -1, NULL);
}
