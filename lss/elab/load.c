// Files: the search path, imports, and the declarations that files bring into the one space of global names.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/base/library.h"
#include "lss/base/source.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"

#include <stdlib.h>
#include <string.h>

// Where a declaration of a file is known.
static Scope *scope_of(SourceFile *file, const Node *node) {
  if (!node_is_private(node)) return compile->globals;
  if (!file->own) {
    file->own = scope_new(compile->globals, NULL);
    scope_keep(file->own);
  }
  return file->own;
}

static bool is_reserved(const Node *node) {
  if (*node->name != '_' || node_is_private(node)) return false;
  problem(
      node->place, "reserved-name",
      "the %s cannot be called `%s`: names that begin with `_` are for functions, constants and aliases of one file",
      node_kind_name(node->kind), node->name);
  return true;
}

static void declare_name(SourceFile *file, Node *node) {
  if (type_builtin(node->name) || !strcmp(node->name, "int") || !strcmp(node->name, "float")) {
    problem(node->place, "duplicate-name", "`%s` is the name of a built-in type", node->name);
    return;
  }
  if (is_reserved(node)) return;
  Symbol *symbol = scope_declare(scope_of(file, node), SYMBOL_DECLARATION, node->name, node->place);
  if (!symbol) return;
  symbol->node = node;
  for (guint a = 0; node->kind == NODE_FUNCTION && a < node->arguments->len; a++) {
    Node *argument = node->arguments->pdata[a];
    for (guint b = 0; b < a; b++)
      if (!strcmp(((Node *)node->arguments->pdata[b])->name, argument->name))
        problem(argument->place, "duplicate-name", "the argument `%s` is declared twice", argument->name);
  }
  symbol->file = file;
  if (node_is_family(node) || node->kind == NODE_ENUM) check_c_type_name(node->name, node->place);
}

static void declare_names(SourceFile *file) {
  for (guint i = 0; i < file->nodes->len; i++) {
    Node *node = file->nodes->pdata[i];
    if (node_is_global(node) && node->kind != NODE_IMPORT) declare_name(file, node);
  }
}

// A file of nearly that name; NULL when there is none.
static const char *found_instead(const char *name, const char *importer) {
  g_autoptr(GPtrArray) folders = library_folders(compile->options, importer);
  g_autoptr(GPtrArray) names = library_all_names(folders);
  const char *near = diag_suggestion(name, names);
  return near ? arena_strdup(near) : NULL;
}

static void import(SourceFile *importer, Node *node) {
  bool example;
  g_autofree char *path = library_find_import(compile->options, importer->path, node->name, &example);
  if (!path) {
    diag_error(node->place, "import-missing", "there is no %s.lss on the search path%s", node->name,
               did_you_mean(found_instead(node->name, importer->path)));
    diag_note(NOWHERE, "looked in the folder of this file, the folders of -I and LSS_PATH, and the installed library");
    return;
  }
  SourceFile *file = load_file(path, node->place);
  if (example && file && !file_is_machine(file)) {
    g_autofree char *folder = g_path_get_dirname(path);
    diag_error(node->place, "import-missing", "there is no %s.lss on the search path%s", node->name, "");
    diag_note(NOWHERE, "there is one in %s, which -I would name", folder);
  }
  if (file && file_is_machine(file) && !g_hash_table_contains(compile->globals->names, node->name))
    declare_machine(file);
}

static void report_cycle(SourceFile *file, Location where) {
  for (guint i = 0; i < compile->loading->len; i++) {
    if (compile->loading->pdata[i] != file) continue;
    g_autoptr(GString) cycle = g_string_new(NULL);
    for (; i < compile->loading->len; i++) {
      g_autofree char *base = g_path_get_basename(((SourceFile *)compile->loading->pdata[i])->path);
      g_string_append_printf(cycle, "%s -> ", base);
    }
    g_autofree char *base = g_path_get_basename(file->path);
    diag_error(where, "import-cycle", "files import each other in a cycle: %s%s", cycle->str, base);
    return;
  }
}

SourceFile *load_file(const char *path, Location where) {
  while (g_str_has_prefix(path, "./") && path[2]) path += 2;
  // A file without a name of its own (an open memory file) goes by the path that was given.
  g_autofree char *canonical = source_canonical(path);
  SourceFile *known = g_hash_table_lookup(compile->files, canonical);
  if (known) {
    report_cycle(known, where);
    return known;
  }
  if (strchr(canonical, '\n')) { // it could not be printed in a message, nor to the C compiler
    g_autofree char *shown = g_strescape(path, NULL);
    diag_error(where, "import-missing", "cannot read %s: there is a line break in its path", shown);
    return NULL;
  }
  g_autofree char *text = NULL;
  gsize length;
  g_autoptr(GError) error = NULL;
  if (!(text = source_read(path, &length, &error))) {
    diag_error(where, "import-missing", "cannot read %s: %s", path,
               g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT) ? "there is no such file" : error->message);
    return NULL;
  }
  SourceFile *file = parse_text(path, text, length);
  g_hash_table_insert(compile->files, arena_strdup(canonical), file);
  g_ptr_array_add(compile->netlist->sources, (gpointer)file->path);
  g_ptr_array_add(compile->loading, file);
  for (guint i = 0; i < file->nodes->len; i++) {
    Node *node = file->nodes->pdata[i];
    if (node->kind == NODE_IMPORT) import(file, node);
  }
  load_extended(file);
  g_ptr_array_set_size(compile->loading, (int)compile->loading->len - 1);
  declare_names(file);
  return file;
}

Symbol *load_module(const char *name) {
  const SourceFile *requesting = compile->reading ? compile->reading : compile->running ? compile->running->file : NULL;
  const char *importer = requesting ? requesting->path : NULL;
  // A file that is read already does not hold it: a machine may be called like a module that it uses.
  g_autoptr(GPtrArray) folders = library_folders(compile->options, importer);
  g_autofree char *path = NULL;
  for (guint i = 0; i < folders->len && !path; i++) {
    g_autoptr(GPtrArray) folder = g_ptr_array_new();
    g_ptr_array_add(folder, folders->pdata[i]);
    g_autofree char *found = library_find(folder, name);
    g_autofree char *canonical = found ? source_canonical(found) : NULL;
    if (canonical && !g_hash_table_contains(compile->files, canonical)) path = g_steal_pointer(&found);
  }
  if (!path) return NULL;
  SourceFile *file = load_file(path, NOWHERE);
  if (!file) return NULL;
  Symbol *symbol = g_hash_table_lookup(compile->globals->names, name);
  return !symbol && file_is_machine(file) ? declare_machine(file) : symbol;
}
