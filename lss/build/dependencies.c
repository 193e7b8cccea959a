// Lists of what objects depend on, from clang's make rules and from the includes of what these name; see
// dependencies.h.
#include "lss/build/dependencies.h"

#include "lss/build/includes.h"
#include "lss/build/search_path.h"

#include <string.h>
#include <sys/stat.h>

enum { KEY_LENGTH = 40 };

// ---- Lists -------------------------------------------------------------------------------------------------------

// Reads one name of a make rule as clang writes them: "\ " is a space, "\#" a hash, "$$" a dollar sign.  Names with
// backslashes of their own come out wrong, so modules cannot have them (lss/plan/module_source.c).
static const char *rule_name(const char *at, GString *name) {
  for (;; at++) {
    if ((*at == '\\' && (at[1] == ' ' || at[1] == '#')) || (*at == '$' && at[1] == '$'))
      at++;
    else if (!*at || *at == ' ' || *at == '\n' || (*at == '\\' && at[1] == '\n'))
      return at;
    g_string_append_c(name, *at);
  }
}

// Paths of a make rule, without the unit itself.
static GPtrArray *rule_files(const char *rule, const char *unit) {
  GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GString) name = g_string_new(NULL);
  const char *at = g_str_has_prefix(rule, DEPENDENCIES_TARGET ":") ? rule + strlen(DEPENDENCIES_TARGET ":") : "";
  while (*at) {
    if (*at == ' ' || *at == '\n' || (*at == '\\' && at[1] == '\n')) {
      at++;
      continue;
    }
    g_string_truncate(name, 0);
    at = rule_name(at, name);
    if (strcmp(name->str, unit) != 0) g_ptr_array_add(files, g_strdup(name->str));
  }
  return files;
}

typedef struct {
  const SearchPath *search;
  const GPtrArray *files; // char*, that were read
  GHashTable *read;       // the same, as a set
  GPtrArray *places;      // char*
  bool known;
} Lister;

static void add_place(Lister *lister, char *place) {
  if (g_hash_table_contains(lister->read, place))
    g_free(place);
  else
    g_ptr_array_add(lister->places, place);
}

// An include whose name only the preprocessor knows may have been of any file that was found by the search path.
static void add_any(Lister *lister, const char *folder) {
  for (guint i = 0; i < lister->files->len; i++) {
    const char *file = lister->files->pdata[i];
    for (guint k = 0; k < lister->search->folders->len; k++) {
      const char *name = search_path_below(lister->search->folders->pdata[k], file);
      if (name) add_place(lister, g_strdup_printf("%s/%s", folder, name));
    }
  }
}

// What the text of a file in `folder` makes clang look for; NULL for a unit's, beside which there is never anything.
static void add_includes(Lister *lister, const char *folder, const char *text, gsize size) {
  g_autoptr(Includes) includes = includes_read(text, size);
  if (includes->unknown) lister->known = false;
  for (guint i = 0; i < includes->tested->len; i++) {
    const char *name = includes->tested->pdata[i];
    if (*name == '"' && folder) add_place(lister, g_build_filename(folder, name + 1, NULL));
    for (guint k = 0; k < lister->search->folders->len; k++)
      add_place(lister, g_build_filename(lister->search->folders->pdata[k], name + 1, NULL));
  }
  if (!folder) return;
  for (guint i = 0; i < includes->quoted->len; i++) {
    const char *name = includes->quoted->pdata[i];
    if (!g_path_is_absolute(name)) add_place(lister, g_strdup_printf("%s/%s", folder, name));
  }
  if (includes->computed) add_any(lister, folder);
}

// What headers of the system include and ask for is for the system to decide.
static void add_files(Lister *lister) {
  for (guint i = 0; i < lister->files->len; i++) {
    const char *file = lister->files->pdata[i];
    g_autofree char *folder = g_path_get_dirname(file), *text = NULL;
    gsize size;
    if (!search_path_owns(lister->search, file) && g_file_get_contents(file, &text, &size, NULL))
      add_includes(lister, folder, text, size);
  }
}

static char *list_text(const GPtrArray *files, const GPtrArray *places) {
  GString *list = g_string_new(NULL);
  for (guint i = 0; i < files->len; i++) g_string_append_printf(list, "%s\n", (char *)files->pdata[i]);
  if (places->len) g_string_append_c(list, '\n');
  for (guint i = 0; i < places->len; i++) g_string_append_printf(list, "%s\n", (char *)places->pdata[i]);
  return g_string_free(list, FALSE);
}

char *dependencies_list(Toolchain *t, const char *rule, const char *unit, const char *text, bool *known) {
  g_autoptr(GPtrArray) files = rule_files(rule, unit), places = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GHashTable) read = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < files->len; i++) g_hash_table_add(read, files->pdata[i]);
  Lister lister = {.search = search_path(t), .files = files, .read = read, .places = places, .known = true};
  *known = lister.search;
  if (!*known) return list_text(files, places);
  add_includes(&lister, NULL, text, strlen(text));
  add_files(&lister);
  for (guint i = 0; i < lister.search->forced->len; i++) add_place(&lister, g_strdup(lister.search->forced->pdata[i]));
  *known = lister.known;
  return list_text(files, places);
}

// ---- What is there -----------------------------------------------------------------------------------------------

static bool is_there(const char *place) {
  struct stat info;
  return !stat(place, &info) && !S_ISDIR(info.st_mode);
}

// Of a file of the system its size and date are enough, as they are for the compiler and for libraries.
static char *contents_of(const Toolchain *t, const char *path) {
  struct stat info;
  char *sum = NULL;
  if (!t->search || !search_path_owns(t->search, path))
    sum = cache_sum_of_file(path, NULL);
  else if (!stat(path, &info))
    sum = g_strdup_printf("%lld %lld.%09ld", (long long)info.st_size, (long long)info.st_mtime, info.st_mtim.tv_nsec);
  return sum ? sum : g_strdup("missing");
}

// A file's contents, and which other places it might be found at have something there, a line each.
static char *make_state(const Toolchain *t, const char *path) {
  g_autofree char *contents = contents_of(t, path);
  GString *state = g_string_new(contents);
  g_autoptr(GPtrArray) places = g_ptr_array_new_with_free_func(g_free);
  if (t->search) search_path_add_places(t->search, places, path);
  for (guint i = 0; i < places->len; i++)
    if (is_there(places->pdata[i])) g_string_append_printf(state, "\n%s", (char *)places->pdata[i]);
  return g_string_free(state, FALSE);
}

// Each file is looked at once.
static char *state_of(Toolchain *t, const char *path) {
  g_mutex_lock(&t->lock);
  char *known = g_strdup(g_hash_table_lookup(t->states, path));
  g_mutex_unlock(&t->lock);
  if (known) return known;
  char *state = make_state(t, path);
  g_mutex_lock(&t->lock);
  g_hash_table_insert(t->states, g_strdup(path), g_strdup(state));
  g_mutex_unlock(&t->lock);
  return state;
}

char *dependencies_name(Toolchain *t, const char *key, const char *list) {
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  g_checksum_update(sum, (const guchar *)key, -1);
  g_auto(GStrv) lines = g_strsplit(list, "\n", -1);
  char **line = lines;
  for (; *line && **line; line++) {
    g_autofree char *state = state_of(t, *line);
    g_checksum_update(sum, (const guchar *)state, -1);
  }
  for (; *line; line++)
    if (**line) g_checksum_update(sum, (const guchar *)(is_there(*line) ? "+" : "-"), 1);
  return g_strndup(g_checksum_get_string(sum), KEY_LENGTH);
}

// The time of the last change of a file says so, which cannot be set.
static bool is_new(const Toolchain *t, const char *path, gint64 end) {
  struct stat info;
  if (stat(path, &info) != 0) return false;
  const gint64 changed = (gint64)info.st_ctim.tv_sec * G_USEC_PER_SEC + info.st_ctim.tv_nsec / 1000;
  return changed >= t->begin && changed <= end;
}

bool dependencies_changed(Toolchain *t, const char *list) {
  const gint64 end = g_get_real_time();
  g_auto(GStrv) lines = g_strsplit(list, "\n", -1);
  char **line = lines;
  for (; *line && **line; line++) {
    g_autofree char *state = state_of(t, *line);
    g_auto(GStrv) others = g_strsplit(state, "\n", -1);
    if (!strcmp(others[0], "missing") || is_new(t, *line, end)) return true;
    for (char **other = others + 1; *other; other++)
      if (is_new(t, *other, end)) return true;
  }
  for (; *line; line++)
    if (is_new(t, *line, end)) return true;
  return false;
}
