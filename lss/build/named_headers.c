// Makes a table of headers from what clang said of the units (dependencies.h); see named_headers.h.
#include "lss/build/named_headers.h"

#include "lss/base/library.h"
#include "lss/build/includes.h"
#include "lss/build/search_path.h"
#include "lss/emit/emit.h"

#include <string.h>

static int by_name(gconstpointer a, gconstpointer b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

// The runtime is what the version of the compiler stands for, whether it is read or linked.
static bool is_named(const Toolchain *t, GHashTable *known, const char *file) {
  g_autofree char *runtime = g_build_filename(library_home(), "lss", "", NULL);
  return !g_hash_table_contains(known, file) && !g_str_has_prefix(file, runtime) &&
         !(t->search && search_path_owns(t->search, file));
}

// The headers of all units in the order of their names, but for the machine's own files.
static GPtrArray *collect(const Toolchain *t, const GPtrArray *units, const GPtrArray *own) {
  g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  GPtrArray *headers = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < own->len; i++) g_hash_table_add(known, g_strdup(own->pdata[i]));
  for (guint i = 0; i < units->len; i++) {
    const Unit *unit = units->pdata[i];
    g_auto(GStrv) lines = g_strsplit(unit->list ? unit->list : "", "\n", -1);
    for (char **line = lines; *line && **line; line++)
      if (is_named(t, known, *line)) {
        g_ptr_array_add(headers, g_strdup(*line));
        g_hash_table_add(known, g_strdup(*line));
      }
  }
  g_ptr_array_sort(headers, by_name);
  return headers;
}

// The end of a path with so many names.
static const char *end_of(const char *path, int names) {
  const char *at = path + strlen(path);
  for (; at > path; at--)
    if (at[-1] == '/' && !--names) return at;
  return path;
}

// The shortest end of a path that no other file has: a machine is the same in another folder.
static const char *short_name(const char *path, const GPtrArray *headers, const GPtrArray *own) {
  const GPtrArray *const all[] = {headers, own};
  for (int names = 1;; names++) {
    const char *name = end_of(path, names);
    bool unique = true;
    for (int k = 0; k < 2; k++)
      for (guint i = 0; i < all[k]->len; i++) {
        const char *other = all[k]->pdata[i];
        unique &= !strcmp(other, path) || strcmp(end_of(other, names), name) != 0;
      }
    if (unique || name == path) return name;
  }
}

static void add_quoted(GHashTable *names, const char *text, gsize size) {
  g_autoptr(Includes) includes = includes_read(text, size);
  for (guint i = 0; i < includes->quoted->len; i++)
    g_hash_table_add(names, g_strdup(end_of(includes->quoted->pdata[i], 1)));
}

static void add_quoted_of(GHashTable *names, const GPtrArray *files) {
  for (guint i = 0; i < files->len; i++) {
    g_autofree char *text = NULL;
    gsize size;
    if (g_file_get_contents(files->pdata[i], &text, &size, NULL)) add_quoted(names, text, size);
  }
}

// The last names of headers that only collectors include: those observe a machine and are no part of what it is.
static GHashTable *only_observed(const Netlist *netlist, const GPtrArray *headers, const GPtrArray *own) {
  GHashTable *observed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < netlist->collectors->len; i++) {
    const Collector *collector = netlist->collectors->pdata[i];
    const char *text = collector->include ? collector->include->string : "";
    add_quoted(observed, text, strlen(text));
  }
  if (!g_hash_table_size(observed)) return observed;
  g_autoptr(GHashTable) others = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  add_quoted_of(others, headers);
  add_quoted_of(others, own);
  GHashTableIter iter;
  gpointer name;
  g_hash_table_iter_init(&iter, others);
  while (g_hash_table_iter_next(&iter, &name, NULL)) g_hash_table_remove(observed, name);
  return observed;
}

// The machine's files, each once.
static GPtrArray *own_files(const Netlist *netlist) {
  g_autoptr(GPtrArray) all = netlist_files(netlist);
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  GPtrArray *files = g_ptr_array_new();
  for (guint i = 0; i < all->len; i++)
    if (all->pdata[i] && g_hash_table_add(seen, all->pdata[i])) g_ptr_array_add(files, all->pdata[i]);
  return files;
}

Unit *named_headers(Toolchain *t, const GPtrArray *units, const Netlist *netlist) {
  g_autoptr(GPtrArray) own = own_files(netlist), headers = collect(t, units, own);
  if (!headers->len) return NULL;
  g_autoptr(GHashTable) observed = only_observed(netlist, headers, own);
  GString *text = g_string_new("const struct { const char *file, *sha256, *name; } spinach_headers[] = {\n");
  for (guint i = 0; i < headers->len; i++) {
    const char *file = headers->pdata[i];
    g_autofree char *sum = cache_sum_of_file(file, NULL);
    g_string_append(text, "  {");
    emit_c_string(text, file);
    g_string_append_printf(text, ", \"%s\", ", sum ? sum : "");
    if (g_hash_table_contains(observed, end_of(file, 1)))
      g_string_append_c(text, '0'); // no NULL without a header
    else
      emit_quoted(text, short_name(file, headers, own));
    g_string_append(text, "},\n");
  }
  g_string_append(text, "  {0}\n};\n");
  Unit *unit = g_new0(Unit, 1);
  unit->name = g_strdup("headers");
  unit->text = g_string_free(text, FALSE);
  unit->optimisation = "-O0";
  unit->repeats = true;
  return unit;
}
