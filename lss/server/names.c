// Names in a file; see names.h.
#include "lss/server/names.h"

#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/base/library.h"
#include "lss/base/source.h"
#include "lss/front/reference.h"
#include "lss/server/places.h"

#include <string.h>

// ---- Files ---------------------------------------------------------------------------------------------------------

static SourceFile *read_file(Names *names, const char *path);
static const Node *machine_module(Names *names, SourceFile *file, const char *name);

SourceFile *names_file(Names *names, const char *name, const char *importer) {
  bool example;
  g_autofree char *path = library_find_import(names->options, importer, name, &example);
  SourceFile *file = path ? read_file(names, path) : NULL;
  return file && (!example || file_is_machine(file)) ? file : NULL;
}

// A machine that is imported is a module.
static void read_import(Names *names, const Node *import, const SourceFile *importer) {
  SourceFile *file = names_file(names, import->name, importer->path);
  if (file && file != names->main && file_is_machine(file) && !g_hash_table_contains(names->globals, import->name))
    machine_module(names, file, import->name);
}

static SourceFile *read_file(Names *names, const char *path) {
  g_autofree char *key = source_canonical(path);
  const char *canonical = arena_strdup(key);
  gsize length;
  SourceFile *file = g_hash_table_lookup(names->files, canonical);
  if (file) return file;
  file = g_hash_table_lookup(names->parsed, canonical);
  g_autofree char *text = file ? NULL : source_read(path, &length, NULL);
  if (!file && !text) return NULL;
  if (!file) g_hash_table_insert(names->parsed, (gpointer)canonical, file = parse_text(path, text, length));
  g_hash_table_insert(names->files, (gpointer)canonical, file);
  if (!names->main) names->main = file;
  for (guint i = 0; i < file->nodes->len; i++) {
    const Node *node = file->nodes->pdata[i];
    if (node->kind == NODE_IMPORT)
      read_import(names, node, file);
    else if (node_is_global(node) && (file == names->main || !node_is_private(node)) &&
             !g_hash_table_contains(names->globals, node->name))
      g_hash_table_insert(names->globals, (gpointer)node->name, (gpointer)node);
  }
  return file;
}

Names *names_read(const char *path, const CompileOptions *options) {
  return names_read_into(arena_table(), path, options);
}

Names *names_read_into(GHashTable *parsed, const char *path, const CompileOptions *options) {
  Names *names = arena_new(Names);
  *names = (Names){.options = options, .files = arena_table(), .parsed = parsed, .globals = arena_table()};
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

// ---- Names ---------------------------------------------------------------------------------------------------------

GPtrArray *names_around(const Names *names, int line, int column) {
  GPtrArray *around = arena_array();
  if (names->main) place_enclose(names->main->nodes, (Place){line, column}, around);
  return around;
}

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

// Whether a declaration can be meant where a type, or a module, is expected; NULL where anything is.
typedef bool (*Fits)(const Node *node);

typedef struct {
  const char *name;
  Fits fits;
  const Node *found;
} Search;

// Parts of behaviour, accounts, collectors and debug views have names that no expression means.
static bool can_be_meant(const Node *node) {
  switch (node->kind) {
  case NODE_BEHAVIOUR:
  case NODE_CONSERVATION:
  case NODE_PART:
  case NODE_COLLECTOR:
  case NODE_SECTION:
  case NODE_DEBUG:
  case NODE_ROLE:
  case NODE_PROPERTY: return false;
  default: return true;
  }
}

static void compare(const Node *node, gpointer data) {
  Search *search = data;
  if (search->found || !can_be_meant(node) || g_strcmp0(node->name, search->name) != 0) return;
  if (!search->fits || search->fits(node)) search->found = node;
}

static const Node *declared(const GPtrArray *nodes, const char *name, Fits fits) {
  Search search = {name, fits, NULL};
  names_declared(nodes, compare, &search);
  return search.found;
}

// ---- Machines as modules -------------------------------------------------------------------------------------------

// The machine that a file extends, or, when it extends none, the file itself.
SourceFile *names_extended(Names *names, SourceFile *file) {
  enum { MOST_EXTENDED = 20 };
  for (int steps = 0; file && steps < MOST_EXTENDED; steps++) {
    const Node *extends = file_extends(file);
    if (!extends) return file;
    g_autoptr(GPtrArray) folders = library_machine_folders(names->options, file->path);
    g_autofree char *path = library_find(folders, extends->name);
    file = path ? read_file(names, path) : NULL;
  }
  return file;
}

// A machine that is used like a module has the statements of its file for its body.
static const Node *machine_module(Names *names, SourceFile *file, const char *name) {
  const SourceFile *bottom = names_extended(names, file);
  Node *node = bottom ? file_machine(file, bottom, arena_strdup(name)) : NULL;
  if (!node) return NULL;
  g_hash_table_insert(names->globals, (gpointer)node->name, node);
  return node;
}

const Node *names_module(Names *names, const char *name) {
  const Node *node = g_hash_table_lookup(names->globals, name);
  if (node) return node;
  g_autoptr(GPtrArray) folders = library_folders(names->options, names->main ? names->main->path : NULL);
  g_autofree char *path = library_find(folders, name);
  SourceFile *file = path ? read_file(names, path) : NULL;
  node = file ? g_hash_table_lookup(names->globals, name) : NULL;
  return node || !file || file == names->main ? node : machine_module(names, file, name);
}

// ---- Bodies --------------------------------------------------------------------------------------------------------

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

static const Node *in_body(Names *names, const GPtrArray *body, const char *name, Fits fits) {
  Search search = {name, fits, declared(body, name, fits)};
  if (!search.found && body) passed_on(names, body, compare, &search);
  return search.found;
}

const Node *names_in_body(Names *names, const GPtrArray *body, const char *name) {
  return in_body(names, body, name, NULL);
}

bool names_apart(const GPtrArray *around) {
  const Node *outermost = around->len ? around->pdata[0] : NULL;
  return outermost && (outermost->kind == NODE_MODULE || outermost->kind == NODE_FUNCTION);
}

// The statements of one of the nodes around a place that can declare what is meant there: of an `if` the branch.
static const GPtrArray *statements_around(const GPtrArray *around, guint i) {
  const Node *node = around->pdata[i];
  if (node->kind != NODE_IF) return node->body;
  gpointer inner = i + 1 < around->len ? around->pdata[i + 1] : NULL;
  return inner && node->other && g_ptr_array_find(node->other, inner, NULL) ? node->other : inner ? node->body : NULL;
}

// What a name means inside the `depth` outermost of the nodes around a place.
static const Node *find_within(Names *names, const GPtrArray *around, guint depth, const char *name, Fits fits) {
  for (guint i = depth; i-- > 0;) {
    const Node *node = around->pdata[i], *found = NULL;
    const bool index = node->kind == NODE_FOR_IN && !strcmp(node->name, name);
    if ((index || (node->kind == NODE_BEHAVIOUR && !g_strcmp0(node->index_name, name))) && (!fits || fits(node)))
      return node;
    if (node->first && !g_strcmp0(node->first->name, name) && !fits) {
      if (node->first->kind == NODE_VAR) return node->first;
      const Node *outer = find_within(names, around, i, name, NULL); // it may assign to a variable outside
      const bool assigns =
          outer && (outer->kind == NODE_VAR || outer->kind == NODE_ARGUMENT || outer->kind == NODE_ASSIGN);
      return assigns ? outer : node->first;
    }
    if (node->kind == NODE_MODULE)
      found = in_body(names, node->body, name, fits);
    else if (!node_makes_instances(node))
      found = declared(statements_around(around, i), name, fits);
    if (!found && !node_makes_instances(node)) found = declared(node->arguments, name, fits);
    if (found) return found;
  }
  const bool machine = names->main && !names_apart(around);
  const Node *found = machine ? in_body(names, names->main->nodes, name, fits) : NULL;
  if (!found) found = names_module(names, name);
  return found && (!fits || fits(found)) ? found : NULL;
}

const Node *names_find(Names *names, const GPtrArray *around, const char *name) {
  return find_within(names, around, around->len, name, NULL);
}

const Node *names_find_outside(Names *names, const GPtrArray *around, guint depth, const char *name) {
  return find_within(names, around, depth, name, NULL);
}

// ---- Names of types and modules ------------------------------------------------------------------------------------

// Whether it is declared as a value of a type, `: type`, or a module, `: module`, or a list of them.
static bool has_kind(const Node *node, const char *kind) {
  if (node->kind != NODE_PARAMETER && node->kind != NODE_ARGUMENT) return false;
  const Expr *type = node->type && node->type->kind == EXPR_LIST_TYPE ? node->type->left : node->type;
  return type && type->kind == EXPR_NAME && !strcmp(type->text, kind);
}

bool names_holds_type(const Node *node) {
  return has_kind(node, "type") || has_kind(node, "module");
}

static bool can_be_type(const Node *node) {
  return (reference_covers(node) && node->kind != NODE_MODULE) || node->kind == NODE_TYPE || has_kind(node, "type");
}

static bool can_be_module(const Node *node) {
  return node->kind == NODE_MODULE || has_kind(node, "module");
}

static bool can_be_state(const Node *node) {
  return node->kind == NODE_FIELD || node->kind == NODE_STAT;
}

// Their text does not say what they are.
static bool can_be_either(const Node *node) {
  return node->kind == NODE_CONST || node->kind == NODE_VAR || node->kind == NODE_FOR_IN;
}

// What else has the name does not hide a type or module where one is expected.
const Node *names_find_expected(Names *names, const GPtrArray *around, const char *name, Expected expected) {
  static const Fits fitting[] = {
      [EXPECT_TYPE] = can_be_type, [EXPECT_MODULE] = can_be_module, [EXPECT_STATE] = can_be_state};
  const Fits fits = fitting[expected];
  const Node *found = find_within(names, around, around->len, name, fits);
  if (found || expected == EXPECT_STATE) return found;
  return find_within(names, around, around->len, name, can_be_either);
}

// The name of a type without its arguments, dimensions and alternatives: `mem_request` of `mem_request(64)[]`.
static const char *type_name(const Expr *type) {
  while (type && type->kind != EXPR_NAME) type = type->left;
  return type ? type->text : NULL;
}

// What the parts of a value of this declaration are declared in: a module, struct, packed word, enum or bundle.
const Node *names_holder(Names *names, const Node *node) {
  for (int steps = 0; node && steps < 8; steps++) {
    if (reference_covers(node)) return node;
    const char *name = type_name(node->type);
    if (!name) return NULL;
    node = names_module(names, name);
  }
  return NULL;
}

void names_members(Names *names, const Node *node, NamesVisit visit, gpointer data) {
  const Node *inside = names_holder(names, node);
  if (!inside) return;
  names_declared(inside->body, visit, data);
  if (inside->kind == NODE_MODULE) passed_on(names, inside->body, visit, data);
}

const Node *names_resolve(Names *names, const GPtrArray *around, const Expr *expr) {
  if (!expr) return NULL;
  if (expr->kind == EXPR_NAME) return names_find(names, around, expr->text);
  const Node *node = names_resolve(names, around, expr->left);
  if (expr->kind != EXPR_FIELD || !node) return node;
  Search search = {expr->text, NULL, NULL};
  if (node->kind == NODE_FOR_IN) node = names_resolve(names, around, node->value);
  if (node) names_members(names, node, compare, &search);
  return search.found;
}

static const Node *member(Names *names, const Node *node, const char *name, Fits fits) {
  Search search = {name, fits, NULL};
  if (node) names_members(names, node, compare, &search);
  return search.found;
}

const Node *names_member(Names *names, const Node *node, const char *name) {
  return member(names, node, name, NULL);
}

const Node *names_state(Names *names, const Node *node, const char *name) {
  return member(names, node, name, can_be_state);
}

// ---- What only a machine decides -----------------------------------------------------------------------------------

typedef struct {
  Names *names;
  const Node *instance;
  bool other;
} Rivals;

static void compare_modules(const Node *node, gpointer data) {
  Rivals *rivals = data;
  if (!node_makes_instances(node) || strcmp(node->name, rivals->instance->name) != 0) return;
  rivals->other |= names_holder(rivals->names, node) != names_holder(rivals->names, rivals->instance);
}

// Whether the module of an instance comes by a value, or instances of several modules have its name, each under a
// condition.
bool names_is_open(Names *names, const GPtrArray *around, const Node *instance) {
  if (!instance || !node_makes_instances(instance)) return false;
  if (!names_holder(names, instance)) return true;
  const GPtrArray *list = names->main->nodes;
  for (guint i = around->len; i-- > 0;) {
    if (node_makes_instances(around->pdata[i])) continue;
    const GPtrArray *inner = statements_around(around, i);
    if (declared(inner, instance->name, NULL) != instance) continue;
    list = inner;
    break;
  }
  Rivals rivals = {names, instance, false};
  names_declared(list, compare_modules, &rivals);
  return rivals.other;
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
