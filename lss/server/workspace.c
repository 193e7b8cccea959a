// The files of a workspace; see workspace.h.
#include "lss/server/workspace.h"

#include "lss/base/source.h"
#include "lss/server/document.h"

#include <string.h>

enum { MOST_ENTRIES = 200000, DEEPEST = 64 };

static GPtrArray *folders; // char*, canonical

static void add_folder(const char *uri) {
  if (!uri) return;
  char *path = uri_path(uri);
  // A root that is the whole disk says that nothing in particular is open.
  if (strcmp(path, "/") != 0)
    g_ptr_array_add(folders, path);
  else
    g_free(path);
}

void workspace_open(JsonValue *params) {
  workspace_clear();
  folders = g_ptr_array_new_with_free_func(g_free);
  JsonValue *list = json_at(params, "workspaceFolders", NULL);
  const bool several = json_object_is_type(list, json_type_array);
  for (size_t i = 0; several && i < json_object_array_length(list); i++)
    add_folder(json_text(json_at(json_object_array_get_idx(list, i), "uri", NULL)));
  if (!folders->len) add_folder(json_text(json_at(params, "rootUri", NULL)));
}

void workspace_clear(void) {
  g_clear_pointer(&folders, g_ptr_array_unref);
}

// Adds the files below a folder; `left` counts down the entries that may still be looked at.
static void add_files(GHashTable *files, const char *folder, int depth, int *left) {
  g_autoptr(GDir) dir = depth < DEEPEST ? g_dir_open(folder, 0, NULL) : NULL;
  for (const char *name; dir && *left > 0 && (name = g_dir_read_name(dir));) {
    if (*name == '.' || !strcmp(name, "node_modules")) continue;
    --*left;
    g_autofree char *path = g_build_filename(folder, name, NULL);
    if (g_str_has_suffix(name, ".lss")) {
      if (g_file_test(path, G_FILE_TEST_IS_REGULAR)) g_hash_table_add(files, source_canonical(path));
    } else if (g_file_test(path, G_FILE_TEST_IS_DIR) && !g_file_test(path, G_FILE_TEST_IS_SYMLINK)) {
      add_files(files, path, depth + 1, left);
    }
  }
}

static int by_name(gconstpointer a, gconstpointer b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

GPtrArray *workspace_files(const Query *query) {
  g_autoptr(GHashTable) files = g_hash_table_new(g_str_hash, g_str_equal);
  int left = MOST_ENTRIES;
  for (guint i = 0; folders && i < folders->len; i++) add_files(files, folders->pdata[i], 0, &left);
  if (!folders || !folders->len) {
    g_autofree char *folder = g_path_get_dirname(query->path);
    add_files(files, folder, 0, &left);
  }
  if (left <= 0) {
    query_refuse("the workspace has more than %d files: open a smaller folder", MOST_ENTRIES);
    return NULL;
  }
  g_autoptr(GList) open = documents();
  for (const GList *i = open; i; i = i->next) g_hash_table_add(files, g_strdup(((const Document *)i->data)->path));
  GPtrArray *sorted = g_ptr_array_new();
  GHashTableIter iter;
  gpointer path;
  g_hash_table_iter_init(&iter, files);
  while (g_hash_table_iter_next(&iter, &path, NULL)) g_ptr_array_add(sorted, path);
  g_ptr_array_sort(sorted, by_name);
  return sorted;
}
