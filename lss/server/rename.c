// Renaming: what would be renamed at a position, and the edits that do it.  The new name must be free wherever the old
// one is used; a bare setting `depth;` means two declarations, and is written out when one of them is renamed.
#include "lss/base/arena.h"
#include "lss/base/source.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"
#include "lss/front/reference.h"
#include "lss/front/wrapped.h"
#include "lss/server/document.h"
#include "lss/server/responses.h"
#include "lss/server/uses.h"
#include "lss/server/workspace.h"

#include <string.h>

typedef struct {
  const Query *query;
  GHashTable *parsed; // what was read
  GPtrArray *files;   // of the workspace
  const Node *target; // the declaration
  Location used;      // where it was asked for
} Rename;

// ---- What can be renamed -------------------------------------------------------------------------------------------

static bool has_own_name(const Node *node) {
  switch (node->kind) {
  case NODE_PARAMETER:
  case NODE_USERPOINT:
  case NODE_PORT:
  case NODE_INSTANCE:
  case NODE_WRAPS:
  case NODE_CONST:
  case NODE_FUNCTION:
  case NODE_LOCAL:
  case NODE_VAR:
  case NODE_CLOCK:
  case NODE_ARGUMENT:
  case NODE_FOR_IN:
  case NODE_ASSIGN: return true; // where a loop begins
  default: return false;
  }
}

static bool is_global(const Node *node) {
  return node->kind == NODE_CONST || node->kind == NODE_FUNCTION;
}

static bool in_workspace(const Rename *rename, const Node *node) {
  g_autofree char *path = source_canonical(node->place.file);
  return g_ptr_array_find_with_equal_func(rename->files, path, g_str_equal, NULL);
}

static bool can_rename(const Rename *rename, const Node *node) {
  return node && has_own_name(node) && in_workspace(rename, node);
}

static void refuse(const Node *node) {
  g_autofree char *base = g_path_get_basename(node->location.file);
  if (has_own_name(node))
    query_refuse("`%s` is declared in %s, which is not in the workspace", node->name, base);
  else
    query_refuse("the %s `%s` cannot be renamed: parameters, userpoints, ports, instances, constants, functions, "
                 "locals, variables and clocks can",
                 node_kind_name(node->kind), node->name);
}

// Finds what is at the query's position; false, with or without a reason, when nothing there can be renamed.
static bool find_target(Rename *rename, const Query *query) {
  int line, column;
  query_place(query, &line, &column);
  *rename = (Rename){.query = query, .parsed = arena_table()};
  const Meaning meaning = names_meaning(names_read_into(rename->parsed, query->path, query->options), line, column);
  const Node *any = meaning.node && meaning.node->name ? meaning.node : meaning.passed;
  rename->files = any ? workspace_files(query) : NULL;
  if (!rename->files) return false;
  rename->used = meaning.used;
  rename->target = can_rename(rename, meaning.node) ? meaning.node : meaning.passed;
  if (can_rename(rename, rename->target)) return true;
  refuse(any);
  return false;
}

JsonValue *respond_prepare_rename(const Query *query) {
  Rename rename;
  if (!find_target(&rename, query)) return NULL;
  JsonValue *result = json_object_new_object();
  json_set(result, "range", range_json(rename.used));
  json_set_text(result, "placeholder", rename.target->name);
  return result;
}

// ---- The new name --------------------------------------------------------------------------------------------------

static bool is_word_of_the_language(const char *name) {
  g_autofree char *text = g_strdup_printf("var %s = 0;\n", name);
  const SourceFile *file = parse_text("(new name)", text, strlen(text));
  return file->failed || file->nodes->len != 1;
}

static bool is_type_name(const char *name) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  type_names(names);
  return g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL) || !strcmp(name, "int") ||
         !strcmp(name, "float");
}

static bool is_name(const Node *target, const char *name) {
  int least, most;
  const bool in_c = node_is_settable(target) || target->kind == NODE_PORT || target->kind == NODE_LOCAL;
  if (!g_regex_match_simple("^[A-Za-z_][A-Za-z0-9_]*\\z", name, 0, 0))
    query_refuse("\"%s\" is no name: letters, digits and _ are, without a digit in front", name);
  else if (is_word_of_the_language(name))
    query_refuse("`%s` is a reserved word", name);
  else if (in_c && is_c_word(name))
    query_refuse("a %s cannot be called `%s`: that word has a meaning in C", node_kind_name(target->kind), name);
  else if (is_global(target) && is_type_name(name))
    query_refuse("`%s` is the name of a built-in type", name);
  else if (is_global(target) && builtin_find(name, &least, &most))
    query_refuse("`%s` is the name of a built-in function", name);
  else
    return true;
  return false;
}

// Whether a declaration that has the new name is in the way.  Modules and types share it with what is not global.
static bool is_taken_by(const Rename *rename, const Node *other) {
  if (!other || uses_same(other, rename->target)) return false;
  const bool apart = reference_covers(other) || other->kind == NODE_TYPE;
  if (apart && !is_global(rename->target) && !names_holds_type(rename->target)) return false;
  g_autofree char *base = g_path_get_basename(other->place.file);
  query_refuse("`%s` is taken by the %s at %s:%d", other->name, node_kind_name(other->kind), base, other->place.line);
  return true;
}

static bool is_taken_at(const Rename *rename, const NameUse *use) {
  if (use->kind == USE_SELECTED || use->kind == USE_BARE_SET || use->kind == USE_OPEN) return false;
  const GPtrArray *around = names_around(use->names, use->where.line, use->where.column);
  return is_taken_by(rename, names_find(use->names, around, rename->query->name));
}

// Whether a body passes the declaration on, and has the new name.
static bool is_taken_in(const Rename *rename, Names *names, const GPtrArray *body) {
  const GPtrArray *passed = wrapped_declarations(body, names_lookup, names);
  bool has_it = false;
  for (guint i = 0; i < passed->len && !has_it; i++)
    has_it = uses_same(((const PassedOn *)passed->pdata[i])->node, rename->target);
  return has_it && is_taken_by(rename, names_in_body(names, body, rename->query->name));
}

// What the new name means in a file, which may not use the old one at all.
static bool is_taken_in_file(const Rename *rename, const char *path) {
  const char *name = rename->query->name;
  g_autofree char *text = source_read(path, NULL, NULL);
  if (!text || !uses_has_word(text, name)) return false;
  const bool wraps = uses_has_word(text, "wraps");
  if (!wraps && !is_global(rename->target)) return false;
  Names *names = names_read_into(rename->parsed, path, rename->query->options);
  if (!names->main) return false;
  g_autofree char *declaring = source_canonical(rename->target->place.file);
  if (is_global(rename->target) && g_hash_table_contains(names->files, declaring) &&
      is_taken_by(rename, g_hash_table_lookup(names->globals, name)))
    return true;
  if (wraps && is_taken_in(rename, names, names->main->nodes)) return true;
  for (guint i = 0; wraps && i < names->main->nodes->len; i++) {
    const Node *node = names->main->nodes->pdata[i];
    if (node->kind == NODE_MODULE && is_taken_in(rename, names, node->body)) return true;
  }
  return false;
}

// A global name that begins with `_` is known in its file only.
static bool would_be_private(const Rename *rename, const GPtrArray *uses) {
  if (!is_global(rename->target) || *rename->query->name != '_') return false;
  for (guint i = 0; i < uses->len; i++) {
    const NameUse *use = uses->pdata[i];
    if (use->kind == USE_OPEN || !strcmp(use->where.file, rename->target->place.file)) continue;
    g_autofree char *own = g_path_get_basename(rename->target->place.file),
                    *other = g_path_get_basename(use->where.file);
    query_refuse("`%s` would be private to %s, and %s:%d uses it", rename->query->name, own, other, use->where.line);
    return true;
  }
  return false;
}

static bool is_free(const Rename *rename, const GPtrArray *uses) {
  if (would_be_private(rename, uses)) return false;
  for (guint i = 0; i < uses->len; i++)
    if (is_taken_at(rename, uses->pdata[i])) return false;
  for (guint i = 0; i < rename->files->len; i++)
    if (is_taken_in_file(rename, rename->files->pdata[i])) return false;
  return true;
}

// ---- Edits ---------------------------------------------------------------------------------------------------------

static const char *new_text(const Rename *rename, const NameUse *use) {
  const char *before = rename->target->name, *after = rename->query->name;
  switch (use->kind) {
  case USE_BARE_SET: return arena_printf("%s = %s", after, before);
  case USE_BARE_PASSED: return arena_printf("%s = %s", before, after);
  default: return after;
  }
}

static JsonValue *edits_of(const Rename *rename, const GPtrArray *uses) {
  JsonValue *result = json_object_new_object(), *changes = json_object_new_object();
  for (guint i = 0; i < uses->len; i++) {
    const NameUse *use = uses->pdata[i];
    if (use->kind == USE_OPEN) continue;
    g_autofree char *uri = path_uri(use->where.file);
    JsonValue *of_file = json_at(changes, uri, NULL);
    if (!of_file) json_set(changes, uri, of_file = json_object_new_array());
    JsonValue *edit = json_object_new_object();
    json_set(edit, "range", range_json(use->where));
    json_set_text(edit, "newText", new_text(rename, use));
    json_add(of_file, edit);
  }
  json_set(result, "changes", changes);
  return result;
}

// The C of a leaf module names what the module declares, and is not the editor's to change.
static void warn_of_c(const Rename *rename) {
  const Node *target = rename->target;
  Names *names = names_read_into(rename->parsed, target->place.file, rename->query->options);
  const GPtrArray *around = names->main ? names_around(names, target->place.line, target->place.column) : NULL;
  const Node *module = around && around->len ? around->pdata[0] : NULL;
  if (!module || module == target || module->kind != NODE_MODULE || !reference_is_leaf(module)) return;
  g_autofree char *folder = g_path_get_dirname(target->place.file);
  g_autofree char *pattern = g_strdup_printf("(?<![A-Za-z0-9])%s(?![A-Za-z0-9])", target->name);
  g_autoptr(GString) where = g_string_new(NULL);
  static const char *const suffixes[] = {".c", ".h"};
  for (guint i = 0; i < G_N_ELEMENTS(suffixes); i++) {
    g_autofree char *base = g_strconcat(module->name, suffixes[i], NULL), *path = g_build_filename(folder, base, NULL),
                    *text = source_read(path, NULL, NULL);
    if (text && g_regex_match_simple(pattern, text, 0, 0))
      g_string_append_printf(where, "%s%s", where->len ? " and " : "", base);
  }
  if (where->len) query_warn("`%s` stays in %s: rename it there, too", target->name, where->str);
}

static void warn_of_open(const Rename *rename, const GPtrArray *uses) {
  const NameUse *first = NULL;
  guint count = 0;
  for (guint i = 0; i < uses->len; i++) {
    const NameUse *use = uses->pdata[i];
    if (!use->open) continue;
    if (!count++) first = use;
  }
  if (!first) return;
  g_autofree char *base = g_path_get_basename(first->where.file);
  g_autofree char *more = count > 1 ? g_strdup_printf(" (and at %u more)", count - 1) : g_strdup("");
  query_warn("at %s:%d%s, whether `%s` is this one depends on the machine: check it", base, first->where.line, more,
             rename->target->name);
}

JsonValue *respond_rename(const Query *query) {
  Rename rename;
  if (!find_target(&rename, query)) return NULL;
  if (!strcmp(query->name, rename.target->name)) return json_object_new_object();
  if (!is_name(rename.target, query->name)) return NULL;
  const GPtrArray *uses = uses_find(query, rename.parsed, rename.files, rename.target);
  if (!is_free(&rename, uses)) return NULL;
  warn_of_c(&rename);
  warn_of_open(&rename, uses);
  return edits_of(&rename, uses);
}
