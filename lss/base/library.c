// Where modules are found: the search path, and the tree that the compiler belongs to.
#include "lss/base/library.h"

#include "lss/base/source.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#ifndef SPINACH_SOURCE_TREE
#define SPINACH_SOURCE_TREE "."
#endif

static bool is_home(const char *folder) {
  g_autofree char *modules = g_build_filename(folder, "modules", NULL);
  return g_file_test(modules, G_FILE_TEST_IS_DIR);
}

char *library_executable(void) {
  char *executable = g_file_read_link("/proc/self/exe", NULL);
  const char *called = (const char *)getauxval(AT_EXECFN); // where there is no /proc
  if (executable || !called) return executable;
  g_autofree char *real = realpath(called, NULL);
  return real ? g_strdup(real) : NULL;
}

static char *find_home(void) {
  const char *named = g_getenv("SPINACH_HOME");
  if (named && *named) return g_strdup(named); // even when it is wrong: the user asked for it
  g_autofree char *executable = library_executable();
  if (executable) {
    g_autofree char *bin = g_path_get_dirname(executable);
    const char *const beside[] = {"../share/spinach", "../.."};
    for (guint i = 0; i < G_N_ELEMENTS(beside); i++) {
      g_autofree char *folder = g_build_filename(bin, beside[i], NULL);
      if (is_home(folder)) return g_canonicalize_filename(folder, NULL);
    }
  }
  return is_home(SPINACH_SOURCE_TREE) ? g_strdup(SPINACH_SOURCE_TREE) : NULL;
}

const char *library_home(void) {
  static char *home;
  static bool known;
  if (!known) home = find_home();
  known = true;
  return home;
}

char *library_products(void) {
  g_autofree char *executable = library_executable();
  if (executable) {
    g_autofree char *bin = g_path_get_dirname(executable);
    g_autofree char *top = g_path_get_dirname(bin);
    g_autofree char *library = g_build_filename(top, "lib", "libspinach.a", NULL);
    if (g_file_test(library, G_FILE_TEST_EXISTS)) return g_steal_pointer(&top);
  }
  return library_home() ? g_build_filename(library_home(), "build", NULL) : NULL;
}

const char *library_missing(void) {
  static char *text;
  const char *home = library_home();
  if (home && is_home(home)) return "";
  if (home && !text) text = g_strdup_printf("; the library is not at SPINACH_HOME=%s: it has no modules/", home);
  g_autofree char *executable = library_executable(), *bin = executable ? g_path_get_dirname(executable) : NULL;
  if (!text)
    text = g_strdup_printf("; the library is not found at ../share/spinach or ../.. from %s, or at %s; set "
                           "SPINACH_HOME to its folder",
                           bin ? bin : "this program (its path is not known)", SPINACH_SOURCE_TREE);
  return text;
}

static int by_name(gconstpointer a, gconstpointer b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

// Appends `folder` and, in the order of their names, the folders below it.
static void add_families(GPtrArray *folders, const char *folder) {
  g_ptr_array_add(folders, g_strdup(folder));
  g_autoptr(GPtrArray) inner = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GDir) entries = g_dir_open(folder, 0, NULL);
  for (const char *entry; entries && (entry = g_dir_read_name(entries));) {
    char *path = g_build_filename(folder, entry, NULL);
    if (g_file_test(path, G_FILE_TEST_IS_DIR))
      g_ptr_array_add(inner, path);
    else
      g_free(path);
  }
  g_ptr_array_sort(inner, by_name);
  for (guint i = 0; i < inner->len; i++) add_families(folders, inner->pdata[i]);
}

// The folders of the library itself, which stay what they are while the compiler runs.
static const GPtrArray *families(void) {
  static GPtrArray *list;
  const char *home = library_home();
  if (list) return list;
  list = g_ptr_array_new_with_free_func(g_free);
  g_autofree char *modules = home ? g_build_filename(home, "modules", NULL) : NULL;
  if (modules) add_families(list, modules);
  return list;
}

const char *library_family(const char *path) {
  const GPtrArray *list = families();
  for (guint i = 1; i < list->len; i++) {
    const char *folder = list->pdata[i];
    gsize length = strlen(folder);
    if (!strncmp(path, folder, length) && path[length] == '/' && !strchr(path + length + 1, '/'))
      return folder + strlen(list->pdata[0]) + 1;
  }
  return NULL;
}

static GPtrArray *given_folders(const CompileOptions *options, const char *importing_file) {
  GPtrArray *folders = g_ptr_array_new_with_free_func(g_free);
  g_ptr_array_add(folders, importing_file ? g_path_get_dirname(importing_file) : g_strdup("."));
  for (guint i = 0; options && options->include_dirs && i < options->include_dirs->len; i++)
    g_ptr_array_add(folders, g_strdup(options->include_dirs->pdata[i]));
  const char *variable = g_getenv("LSS_PATH");
  if (variable) {
    g_auto(GStrv) parts = g_strsplit(variable, ":", -1);
    for (char **part = parts; *part; part++)
      if (**part) g_ptr_array_add(folders, g_strdup(*part));
  }
  return folders;
}

GPtrArray *library_folders(const CompileOptions *options, const char *importing_file) {
  GPtrArray *folders = given_folders(options, importing_file);
  const GPtrArray *own = families();
  for (guint i = 0; i < own->len; i++) g_ptr_array_add(folders, g_strdup(own->pdata[i]));
  return folders;
}

GPtrArray *library_machine_folders(const CompileOptions *options, const char *extending_file) {
  GPtrArray *folders = given_folders(options, extending_file);
  g_autofree char *examples = library_home() ? g_build_filename(library_home(), "examples", NULL) : NULL;
  if (examples) add_families(folders, examples);
  return folders;
}

// The path of `name` in one folder, or NULL.
static char *find_in(const char *folder, const char *name) {
  g_autofree char *file = g_strconcat(name, ".lss", NULL);
  char *path = g_build_filename(folder, file, NULL);
  if (source_exists(path)) return path;
  g_free(path);
  path = g_build_filename(folder, name, file, NULL);
  if (source_exists(path)) return path;
  g_free(path);
  return NULL;
}

char *library_find(const GPtrArray *folders, const char *name) {
  for (guint i = 0; i < folders->len; i++) {
    char *path = find_in(folders->pdata[i], name);
    if (path) return path;
  }
  return NULL;
}

char *library_find_import(const CompileOptions *options, const char *importing_file, const char *name, bool *example) {
  g_autoptr(GPtrArray) folders = library_folders(options, importing_file);
  char *path = library_find(folders, name);
  *example = !path;
  if (path) return path;
  g_autoptr(GPtrArray) machines = library_machine_folders(options, importing_file);
  return library_find(machines, name);
}

GPtrArray *library_names(const char *folder) {
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GDir) entries = g_dir_open(folder, 0, NULL);
  const char *entry;
  while (entries && (entry = g_dir_read_name(entries))) {
    g_autofree char *name = g_str_has_suffix(entry, ".lss") ? g_strndup(entry, strlen(entry) - 4) : g_strdup(entry);
    g_autofree char *path = find_in(folder, name);
    if (path) g_ptr_array_add(names, g_steal_pointer(&name));
  }
  g_ptr_array_sort(names, by_name);
  return names;
}

GPtrArray *library_all_names(const GPtrArray *folders) {
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < folders->len; i++) g_ptr_array_extend_and_steal(names, library_names(folders->pdata[i]));
  return names;
}
