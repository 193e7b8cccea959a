// lss list [-I DIR]: every module that an import or an instance would find, one line each, by family.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/base/library.h"
#include "lss/build/options.h"
#include "lss/commands/commands.h"
#include "lss/front/reference.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  const char *family; // of the library; NULL for other folders, which come first
  const char *name, *kind, *summary;
} Entry;

static int by_family(gconstpointer a, gconstpointer b) {
  const Entry *left = a, *right = b;
  int order = g_strcmp0(left->family, right->family);
  return order ? order : strcmp(left->name, right->name);
}

// Adds the modules of one folder; `seen` holds the names that an earlier folder has taken.  False after errors.
static bool list_folder(GPtrArray *folder_only, GArray *entries, GHashTable *seen) {
  bool fine = true;
  g_autoptr(GPtrArray) names = library_names(folder_only->pdata[0]);
  for (guint i = 0; i < names->len; i++) {
    const char *name = names->pdata[i];
    if (g_hash_table_contains(seen, name)) continue;
    g_hash_table_add(seen, arena_strdup(name));
    g_autofree char *path = library_find(folder_only, name);
    g_autofree char *text = NULL;
    gsize length;
    if (!path || !g_file_get_contents(path, &text, &length, NULL)) continue;
    SourceFile *file = parse_text(path, text, length);
    fine &= !file->failed;
    const Node *module = reference_module(file, name);
    if (!module) continue; // a machine, or a file of types
    Entry entry = {library_family(path), module->name,
                   module->crossing            ? "crossing"
                   : module->part              ? "part"
                   : reference_is_leaf(module) ? "leaf"
                                               : "hierarchical",
                   reference_summary(module->doc)};
    g_array_append_val(entries, entry);
  }
  return fine;
}

static const OptionSpec *const tables[] = {folder_options, NULL};

static int list_command(int argc, char **argv) {
  g_auto(Options) options = {0};
  if (!options_parse(tables, argc, argv, &options, NULL, NULL, NULL)) return 2;
  if (options.machine) return usage_error(argv[0], "takes no argument, only -I DIR");
  g_autoptr(GPtrArray) folders = library_folders(&options.compile, NULL);
  g_autoptr(GArray) entries = g_array_new(FALSE, FALSE, sizeof(Entry));
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  bool fine = true;
  for (guint i = 0; i < folders->len; i++) {
    g_autoptr(GPtrArray) one = g_ptr_array_new();
    g_ptr_array_add(one, folders->pdata[i]);
    fine &= list_folder(one, entries, seen);
  }
  g_array_sort(entries, by_family);
  int width = 0;
  for (guint i = 0; i < entries->len; i++) width = MAX(width, (int)strlen(g_array_index(entries, Entry, i).name));
  for (guint i = 0; i < entries->len; i++) {
    const Entry *entry = &g_array_index(entries, Entry, i);
    if (entry->family && (i == 0 || g_strcmp0(entry->family, entry[-1].family))) printf("%s/\n", entry->family);
    printf("%s%-*s  %-12s  %s\n", entry->family ? "  " : "", width, entry->name, entry->kind, entry->summary);
  }
  arena_release();
  return fine ? 0 : 1;
}

const Command command_list = {"list", list_command, "", "modules on the search path by family, one line each", tables};
