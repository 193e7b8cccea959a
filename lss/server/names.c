// Names in a file; see names.h.
#include "lss/server/names.h"

#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/base/library.h"
#include "lss/base/source.h"
#include "lss/front/reference.h"

#include <string.h>

// ---- Files ---------------------------------------------------------------------------------------------------------

static SourceFile *read_file(Names *names, const char *path);

// The file that a file imports, or where a module would be looked up; NULL when there is none.
static SourceFile *read_named(Names *names, const char *name, const char *importer) {
  g_autoptr(GPtrArray) folders = library_folders(names->options, importer);
  g_autofree char *path = library_find(folders, name);
  return path ? read_file(names, path) : NULL;
}

static SourceFile *read_file(Names *names, const char *path) {
  const char *canonical = arena_strdup(path);
  gsize length;
  SourceFile *file = g_hash_table_lookup(names->files, canonical);
  if (file) return file;
  g_autofree char *text = source_read(path, &length, NULL);
  if (!text) return NULL;
  file = parse_text(path, text, length);
  g_hash_table_insert(names->files, (gpointer)canonical, file);
  if (!names->main) names->main = file;
  for (guint i = 0; i < file->nodes->len; i++) {
    const Node *node = file->nodes->pdata[i];
    if (node->kind == NODE_IMPORT)
      read_named(names, node->name, file->path);
    else if (node->name && (file == names->main || !node_is_private(node)) &&
             !g_hash_table_contains(names->globals, node->name))
      g_hash_table_insert(names->globals, (gpointer)node->name, (gpointer)node);
  }
  return file;
}

Names *names_read(const char *path, const CompileOptions *options) {
  Names *names = arena_new(Names);
  *names = (Names){.options = options, .files = arena_table(), .globals = arena_table()};
  read_file(names, path);
  return names;
}

const char *names_text(Location where) {
  g_autoptr(GString) text = g_string_new(NULL);
  for (int line = where.line; line <= where.end_line; line++) {
    int length;
    const char *from = source_line(where.file, line, &length);
    if (!from) break;
    const int begin = line == where.line ? MIN(where.column - 1, length) : 0;
    const int end = line == where.end_line ? CLAMP(where.end_column - 1, begin, length) : length;
    g_string_append_len(text, from + begin, end - begin);
    if (line < where.end_line) g_string_append_c(text, '\n');
  }
  return arena_strndup(text->str, text->len);
}

// ---- Places --------------------------------------------------------------------------------------------------------

typedef struct {
  int line, column;
} Place;

static bool covers(Location where, Place at) {
  const bool after = where.line < at.line || (where.line == at.line && where.column <= at.column);
  const bool before = at.line < where.end_line || (at.line == where.end_line && at.column <= where.end_column);
  return where.line > 0 && after && before;
}

static void enclose(const GPtrArray *nodes, Place at, GPtrArray *around) {
  for (guint i = 0; nodes && i < nodes->len; i++) {
    const Node *node = nodes->pdata[i];
    if (!covers(node->location, at)) continue;
    g_ptr_array_add(around, (gpointer)node);
    enclose(node->arguments, at, around);
    enclose(node->body, at, around);
    enclose(node->other, at, around);
    return;
  }
}

GPtrArray *names_around(const Names *names, int line, int column) {
  GPtrArray *around = arena_array();
  if (names->main) enclose(names->main->nodes, (Place){line, column}, around);
  return around;
}

static const Expr *expr_at(const Expr *expr, Place at);

static const Expr *exprs_at(const GPtrArray *list, Place at) {
  const Expr *found = NULL;
  for (guint i = 0; list && i < list->len && !found; i++) found = expr_at(list->pdata[i], at);
  return found;
}

// The innermost name, field, string or record at a place.  The text of C between its ${} has no place of its own.
static const Expr *expr_at(const Expr *expr, Place at) {
  if (!expr || !covers(expr->location, at)) return NULL;
  if (expr->kind == EXPR_FIELD && covers(expr->place, at)) return expr;
  const Expr *found = expr_at(expr->left, at);
  if (!found) found = expr_at(expr->right, at);
  if (!found) found = expr_at(expr->third, at);
  for (guint i = 0; expr->items && i < expr->items->len && !found; i++) {
    const Expr *item = expr->items->pdata[i];
    if (expr->kind != EXPR_CODE || item->kind != EXPR_STRING) found = expr_at(item, at);
  }
  if (found) return found;
  return expr->kind == EXPR_NAME || expr->kind == EXPR_STRING || expr->kind == EXPR_RECORD ? expr : NULL;
}

static const Expr *expr_in(const Node *node, Place at) {
  const Expr *const single[] = {node->type, node->value, node->target, node->clock, node->range, node->within};
  const GPtrArray *const lists[] = {node->dimensions, node->reads, node->writes, node->receivers};
  const Expr *found = NULL;
  for (guint i = 0; i < G_N_ELEMENTS(single) && !found; i++) found = expr_at(single[i], at);
  for (guint i = 0; i < G_N_ELEMENTS(lists) && !found; i++) found = exprs_at(lists[i], at);
  if (!found && node->first) found = expr_in(node->first, at);
  return found || !node->step ? found : expr_in(node->step, at);
}

// ---- Names ---------------------------------------------------------------------------------------------------------

void names_declared(const GPtrArray *nodes, NamesVisit visit, gpointer data) {
  for (guint i = 0; nodes && i < nodes->len; i++) {
    const Node *node = nodes->pdata[i];
    if (node_is_block(node) || node->kind == NODE_STATE) {
      names_declared(node->body, visit, data);
      names_declared(node->other, visit, data);
    } else if (node->place.line && node->kind != NODE_IMPORT && node->kind != NODE_ASSIGN &&
               node->kind != NODE_DEFAULT) {
      visit(node, data);
    }
  }
}

typedef struct {
  const char *name;
  const Node *found;
} Search;

static void compare(const Node *node, gpointer data) {
  Search *search = data;
  if (!search->found && !g_strcmp0(node->name, search->name)) search->found = node;
}

static const Node *declared(const GPtrArray *nodes, const char *name) {
  Search search = {name, NULL};
  names_declared(nodes, compare, &search);
  return search.found;
}

const Node *names_module(Names *names, const char *name) {
  const Node *node = g_hash_table_lookup(names->globals, name);
  if (!node && read_named(names, name, names->main ? names->main->path : NULL))
    node = g_hash_table_lookup(names->globals, name);
  return node;
}

const Node *names_lookup(const char *name, gpointer names) {
  const Node *node = names_module(names, name);
  return node && node->kind == NODE_MODULE ? node : NULL;
}

static bool is_wrapping(const GPtrArray *body) {
  for (guint i = 0; i < body->len; i++)
    if (((const Node *)body->pdata[i])->kind == NODE_WRAPS) return true;
  return false;
}

// What a body passes on of the modules that it wraps.
static void passed_on(Names *names, const GPtrArray *body, NamesVisit visit, gpointer data) {
  const GPtrArray *all = is_wrapping(body) ? wrapped_declarations(body, names_lookup, names) : NULL;
  for (guint i = 0; all && i < all->len; i++) visit(((const PassedOn *)all->pdata[i])->node, data);
}

static const Node *declared_or_passed_on(Names *names, const GPtrArray *body, const char *name) {
  Search search = {name, declared(body, name)};
  if (!search.found && body) passed_on(names, body, compare, &search);
  return search.found;
}

// What a name means inside the `depth` outermost of the nodes around a place.
static const Node *find_within(Names *names, const GPtrArray *around, guint depth, const char *name) {
  for (guint i = depth; i-- > 0;) {
    const Node *node = around->pdata[i], *found = NULL;
    if (node->kind == NODE_FOR_IN && !strcmp(node->name, name)) return node;
    if (node->first && !g_strcmp0(node->first->name, name)) {
      if (node->first->kind == NODE_VAR) return node->first;
      const Node *outer = find_within(names, around, i, name); // `for (i = 0; ...)` may assign to a variable outside
      const bool assigns =
          outer && (outer->kind == NODE_VAR || outer->kind == NODE_ARGUMENT || outer->kind == NODE_ASSIGN);
      return assigns ? outer : node->first;
    }
    if (node->kind == NODE_MODULE)
      found = declared_or_passed_on(names, node->body, name);
    else if (!node_makes_instances(node))
      found = declared(node->body, name);
    if (!found) found = declared(node->arguments, name);
    if (found) return found;
  }
  const Node *found = names->main ? declared_or_passed_on(names, names->main->nodes, name) : NULL;
  return found ? found : names_module(names, name);
}

const Node *names_find(Names *names, const GPtrArray *around, const char *name) {
  return find_within(names, around, around->len, name);
}

// The name of a type without its arguments, dimensions and alternatives: `mem_request` of `mem_request(64)[]`.
static const char *type_name(const Expr *type) {
  while (type && type->kind != EXPR_NAME) type = type->left;
  return type ? type->text : NULL;
}

// What the parts of a value of this declaration are declared in: a module, struct, packed word, enum or bundle.
static const Node *holder(Names *names, const Node *node) {
  for (int steps = 0; node && steps < 8; steps++) {
    if (reference_covers(node)) return node;
    const char *name = type_name(node->type);
    if (!name) return NULL;
    node = names_module(names, name);
  }
  return NULL;
}

void names_members(Names *names, const Node *node, NamesVisit visit, gpointer data) {
  const Node *inside = holder(names, node);
  if (!inside) return;
  names_declared(inside->body, visit, data);
  if (inside->kind == NODE_MODULE) passed_on(names, inside->body, visit, data);
}

const Node *names_resolve(Names *names, const GPtrArray *around, const Expr *expr) {
  if (!expr) return NULL;
  if (expr->kind == EXPR_NAME) return names_find(names, around, expr->text);
  const Node *node = names_resolve(names, around, expr->left);
  if (expr->kind != EXPR_FIELD || !node) return node;
  Search search = {expr->text, NULL};
  if (node->kind == NODE_FOR_IN) node = names_resolve(names, around, node->value);
  if (node) names_members(names, node, compare, &search);
  return search.found;
}

// ---- Tables --------------------------------------------------------------------------------------------------------

static const Expr *record_in(const Expr *expr, const char *name) {
  if (!expr) return NULL;
  const Expr *found = NULL;
  for (guint i = 0; expr->items && i < expr->items->len && !found; i++) {
    const Expr *item = expr->items->pdata[i];
    const bool names_it = expr->kind == EXPR_RECORD && !strcmp(expr->names->pdata[i], "name") &&
                          item->kind == EXPR_STRING && !strcmp(item->text, name);
    found = names_it ? expr : record_in(item, name);
  }
  if (!found) found = record_in(expr->left, name);
  return found ? found : record_in(expr->right, name);
}

// The entry of a constant table, such as one of registers, whose field `name` has this value.
static const Expr *record_named(const Names *names, const char *name) {
  const Expr *found = NULL;
  GHashTableIter iter;
  gpointer node;
  g_hash_table_iter_init(&iter, names->globals);
  while (!found && g_hash_table_iter_next(&iter, NULL, &node))
    if (((const Node *)node)->kind == NODE_CONST) found = record_in(((const Node *)node)->value, name);
  return found;
}

// The struct that has all fields of a record.
static const Node *struct_of(const Names *names, const Expr *record) {
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init(&iter, names->globals);
  while (g_hash_table_iter_next(&iter, NULL, &value)) {
    const Node *node = value;
    bool all = node_is_family(node);
    for (guint i = 0; all && i < record->names->len; i++) all = declared(node->body, record->names->pdata[i]) != NULL;
    if (all) return node;
  }
  return NULL;
}

static Meaning record_meaning(const Names *names, const Expr *record, Place at) {
  for (guint i = 0; i < record->names->len; i++) {
    const Location *place = record->places->pdata[i];
    const Node *type = covers(*place, at) ? struct_of(names, record) : NULL;
    if (type) return (Meaning){.node = declared(type->body, record->names->pdata[i]), .used = *place};
  }
  return (Meaning){0};
}

// ---- Meanings ------------------------------------------------------------------------------------------------------

static Meaning expr_meaning(Names *names, const GPtrArray *around, const Expr *expr, Place at) {
  if (expr->kind == EXPR_RECORD) return record_meaning(names, expr, at);
  if (expr->kind == EXPR_STRING) return (Meaning){.record = record_named(names, expr->text), .used = expr->location};
  return (Meaning){.node = names_resolve(names, around, expr),
                   .used = expr->kind == EXPR_FIELD ? expr->place : expr->location};
}

Meaning names_meaning(Names *names, int line, int column) {
  const Place at = {line, column};
  GPtrArray *around = names_around(names, line, column);
  const Node *node = around->len ? around->pdata[around->len - 1] : NULL;
  const Node *outer = around->len > 1 ? around->pdata[around->len - 2] : NULL;
  if (!node) return (Meaning){0};
  if (covers(node->place, at)) {
    if (node->kind == NODE_IMPORT) {
      const SourceFile *file = read_named(names, node->name, names->main->path);
      return (Meaning){.file = file ? file->path : NULL, .used = node->place};
    }
    const bool setting = node->kind == NODE_ASSIGN || node->kind == NODE_DEFAULT || node->kind == NODE_ARGUMENT;
    if (!setting || !outer || !node_makes_instances(outer)) return (Meaning){.node = node, .used = node->place};
    Search search = {node->name, NULL};
    names_members(names, outer, compare, &search);
    return (Meaning){.node = search.found, .used = node->place};
  }
  const Expr *expr = expr_in(node, at);
  return expr ? expr_meaning(names, around, expr, at) : (Meaning){0};
}

// ---- Machines ----------------------------------------------------------------------------------------------------

static bool instantiates(const GPtrArray *nodes) {
  for (guint i = 0; nodes && i < nodes->len; i++) {
    const Node *node = nodes->pdata[i];
    if (node_makes_instances(node)) return true;
    if (node->kind != NODE_MODULE && (instantiates(node->body) || instantiates(node->other))) return true;
  }
  return false;
}

bool file_instantiates(const char *path) {
  gsize length;
  g_autofree char *text = source_read(path, &length, NULL);
  return text && instantiates(parse_text(path, text, length)->nodes);
}
