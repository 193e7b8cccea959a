// Keeps the cache within its limit; see cache_trim.h.  An entry is all files whose names begin with the same hash, or a
// folder named by one; its age is that of its last use.
#include "lss/build/cache_trim.h"

#include "lss/build/cache_lock.h"
#include "lss/runtime/files/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HASH_LENGTH = 40 };
static const guint64 DEFAULT_LIMIT = G_GUINT64_CONSTANT(2) << 30;

typedef struct {
  GPtrArray *paths; // char*
  guint64 bytes;
  gint64 used; // microseconds
  bool simulator, object;
} Entry;

static void entry_free(gpointer data) {
  Entry *entry = data;
  g_ptr_array_unref(entry->paths);
  g_free(entry);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where) {
  (void)info, (void)kind, (void)where;
  return remove(path) && errno != ENOENT;
}

void cache_remove(const char *path) {
  nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static bool is_entry(const char *name) {
  // What simulators that become a variant of themselves keep here while they start (runtime/observe/variant.c).
  if (g_str_has_prefix(name, "variant-")) return true;
  return strspn(name, "0123456789abcdef") == HASH_LENGTH && (!name[HASH_LENGTH] || name[HASH_LENGTH] == '.');
}

static void add_file(Entry *entry, const char *path) {
  struct stat info;
  if (lstat(path, &info)) return;
  entry->bytes += (guint64)info.st_size;
  entry->used = MAX(entry->used, (gint64)info.st_mtim.tv_sec * G_USEC_PER_SEC + info.st_mtim.tv_nsec / 1000);
}

static void add_path(GHashTable *entries, const char *folder, const char *name) {
  g_autofree char *stem = g_strndup(name, strcspn(name, ".")), *path = g_build_filename(folder, name, NULL);
  Entry *entry = g_hash_table_lookup(entries, stem);
  if (!entry) {
    entry = g_new0(Entry, 1);
    entry->paths = g_ptr_array_new_with_free_func(g_free);
    g_hash_table_insert(entries, g_steal_pointer(&stem), entry);
  }
  entry->object |= g_str_has_suffix(name, ".o");
  g_autoptr(GDir) inside = g_dir_open(path, 0, NULL);
  if (inside) entry->simulator = true;
  for (const char *file; inside && (file = g_dir_read_name(inside));) {
    g_autofree char *full = g_build_filename(path, file, NULL);
    add_file(entry, full);
  }
  if (!inside) add_file(entry, path);
  g_ptr_array_add(entry->paths, g_steal_pointer(&path));
}

// All entries, by their hash; NULL when the folder cannot be read.
static GHashTable *read_entries(const char *folder) {
  g_autoptr(GDir) names = g_dir_open(folder, 0, NULL);
  if (!names) return NULL;
  GHashTable *entries = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, entry_free);
  for (const char *name; (name = g_dir_read_name(names));)
    if (is_entry(name)) add_path(entries, folder, name);
  return entries;
}

static guint64 limit_of(const char *folder) {
  g_autofree char *path = g_build_filename(folder, "limit", NULL), *text = NULL;
  guint64 limit;
  if (!g_file_get_contents(path, &text, NULL, NULL)) return DEFAULT_LIMIT;
  return g_ascii_string_to_unsigned(g_strstrip(text), 10, 0, G_MAXUINT64, &limit, NULL) ? limit : DEFAULT_LIMIT;
}

static guint64 bytes_of(GHashTable *entries) {
  guint64 bytes = 0;
  GHashTableIter iter;
  gpointer entry;
  g_hash_table_iter_init(&iter, entries);
  while (g_hash_table_iter_next(&iter, NULL, &entry)) bytes += ((Entry *)entry)->bytes;
  return bytes;
}

static gint oldest_first(gconstpointer a, gconstpointer b) {
  const Entry *first = *(Entry *const *)a, *second = *(Entry *const *)b;
  return (first->used > second->used) - (first->used < second->used);
}

// Removes what was not used for longest, and not since `keep`, until there are at most `aim` bytes, and returns how
// many there are.
static guint64 remove_oldest(GHashTable *entries, guint64 bytes, guint64 aim, gint64 keep) {
  g_autoptr(GPtrArray) order = g_ptr_array_new();
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init(&iter, entries);
  while (g_hash_table_iter_next(&iter, NULL, &value)) g_ptr_array_add(order, value);
  g_ptr_array_sort(order, oldest_first);
  for (guint i = 0; i < order->len && bytes > aim; i++) {
    const Entry *entry = order->pdata[i];
    if (entry->used >= keep) break;
    for (guint k = 0; k < entry->paths->len; k++) cache_remove(entry->paths->pdata[k]);
    bytes -= entry->bytes;
  }
  return bytes;
}

// ---- How large the cache is, at most -------------------------------------------------------------------------------
// Looking at every entry after each build that adds one would take longer than the build.  A file of numbers, a line
// each, adds up to what the entries had when they were last looked at, and what was added since.

static char *sizes_path(const char *folder) {
  return g_build_filename(folder, "sizes", NULL);
}

void cache_add_size(const char *folder, guint64 bytes) {
  g_autofree char *path = sizes_path(folder), *line = g_strdup_printf("%" G_GUINT64_FORMAT "\n", bytes);
  const int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  // Without the file, which says what there was before, the entries are looked at.
  struct stat info;
  if (file < 0 || fstat(file, &info) || !info.st_size || write(file, line, strlen(line)) != (ssize_t)strlen(line))
    unlink(path);
  if (file >= 0) close(file);
}

static void write_size(const char *folder, guint64 bytes) {
  g_autofree char *path = sizes_path(folder), *line = g_strdup_printf("%" G_GUINT64_FORMAT "\n", bytes);
  if (!whole_file_write(path, line, -1, NULL)) unlink(path);
}

// False when nobody knows.
static bool read_sizes(const char *folder, guint64 *bytes) {
  g_autofree char *path = sizes_path(folder), *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL)) return false;
  g_auto(GStrv) lines = g_strsplit(g_strchomp(text), "\n", -1);
  *bytes = 0;
  for (guint i = 0; lines[i]; i++) {
    guint64 size;
    if (!g_ascii_string_to_unsigned(lines[i], 10, 0, G_MAXINT64, &size, NULL)) return false;
    *bytes += size;
  }
  return lines[0] != NULL;
}

// Beyond the limit a tenth more than necessary goes, so that not every build has to trim.
static void trim(const char *folder, gint64 keep) {
  guint64 bytes;
  const guint64 limit = limit_of(folder);
  if (read_sizes(folder, &bytes) && bytes <= limit) return;
  g_autoptr(GHashTable) entries = read_entries(folder);
  if (!entries) return;
  bytes = bytes_of(entries);
  if (bytes > limit) bytes = remove_oldest(entries, bytes, limit - limit / 10, keep);
  write_size(folder, bytes);
}

static bool has_leftovers(const char *scratches) {
  g_autoptr(GDir) names = g_dir_open(scratches, 0, NULL);
  return names && g_dir_read_name(names);
}

void cache_tidy(const char *folder, bool grown, gint64 keep) {
  g_autofree char *scratches = g_build_filename(folder, "tmp", NULL);
  if (!grown && !has_leftovers(scratches)) return;
  int lock = cache_lock(folder, LOCK_EX | LOCK_NB);
  if (lock < 0) return; // the last of the builds that are at work does it
  cache_remove(scratches);
  if (grown) trim(folder, keep);
  close(lock);
}

// ---- For the command ---------------------------------------------------------------------------------------------

static bool refuse(const char *folder, const char *why) {
  fprintf(stderr, "lss cache: cannot change %s: %s\n", folder, why);
  return false;
}

CacheUse cache_use(void) {
  g_autofree char *folder = cache_folder();
  CacheUse use = {.limit = limit_of(folder)};
  g_autoptr(GHashTable) entries = read_entries(folder);
  if (!entries) return use; // nothing was built yet
  use.bytes = bytes_of(entries);
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init(&iter, entries);
  while (g_hash_table_iter_next(&iter, NULL, &value)) {
    use.objects += ((Entry *)value)->object;
    use.simulators += ((Entry *)value)->simulator;
  }
  return use;
}

bool cache_set_limit(guint64 limit) {
  g_autofree char *folder = cache_folder(), *path = g_build_filename(folder, "limit", NULL);
  g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT "\n", limit);
  g_autoptr(GError) error = NULL;
  if (g_mkdir_with_parents(folder, 0777) != 0) return refuse(folder, g_strerror(errno));
  if (!whole_file_write(path, text, -1, &error)) return refuse(folder, error->message);
  cache_tidy(folder, true, G_MAXINT64);
  return true;
}

bool cache_clean(void) {
  g_autofree char *folder = cache_folder();
  if (!g_file_test(folder, G_FILE_TEST_IS_DIR)) return true;
  int lock = cache_lock(folder, LOCK_EX); // waits for builds at work
  if (lock < 0) return refuse(folder, g_strerror(errno));
  g_autofree char *scratches = g_build_filename(folder, "tmp", NULL);
  cache_remove(scratches);
  g_autofree char *sizes = sizes_path(folder);
  cache_remove(sizes);
  g_autoptr(GHashTable) entries = read_entries(folder);
  GHashTableIter iter;
  gpointer value;
  if (entries) g_hash_table_iter_init(&iter, entries);
  while (entries && g_hash_table_iter_next(&iter, NULL, &value))
    for (guint k = 0; k < ((Entry *)value)->paths->len; k++) cache_remove(((Entry *)value)->paths->pdata[k]);
  close(lock);
  return true;
}
