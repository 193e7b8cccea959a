// What is meant at a place of a file: names in expressions, types, settings, tables and C; see names.h.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/server/names.h"
#include "lss/server/places.h"

#include <string.h>

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
static const Node *struct_of(Names *names, const Expr *record) {
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init(&iter, names->globals);
  while (g_hash_table_iter_next(&iter, NULL, &value)) {
    const Node *node = value;
    bool all = node_is_family(node);
    for (guint i = 0; all && i < record->names->len; i++)
      all = names_in_body(names, node->body, record->names->pdata[i]) != NULL;
    if (all) return node;
  }
  return NULL;
}

static Meaning record_meaning(Names *names, const Expr *record, Place at) {
  const int i = place_named_at(record, at);
  const Node *type = i >= 0 ? struct_of(names, record) : NULL;
  if (!type) return (Meaning){0};
  const Location *place = record->places->pdata[i];
  return (Meaning){.node = names_in_body(names, type->body, record->names->pdata[i]), .used = *place, .selected = true};
}

// ---- Meanings ------------------------------------------------------------------------------------------------------

// `depth` in `pipe(depth = 4)`.
static Meaning setting_meaning(Names *names, const Expr *call, Place at) {
  const int i = place_named_at(call, at);
  const Node *module = call->left->kind == EXPR_NAME ? names_module(names, call->left->text) : NULL;
  return (Meaning){.node = names_member(names, module, call->names->pdata[i]),
                   .used = *(const Location *)call->places->pdata[i],
                   .selected = true,
                   .open = !module};
}

// A parameter in C between `<<<` and `>>>`, `param(depth)`: that of the module that has the userpoint.
static Meaning code_meaning(Names *names, const GPtrArray *around, Place at) {
  int length;
  const char *line = source_line(names->main->path, at.line, &length);
  int begin = at.column - 1, end = begin;
  while (line && begin > 0 && (g_ascii_isalnum(line[begin - 1]) || line[begin - 1] == '_')) begin--;
  while (line && end < length && (g_ascii_isalnum(line[end]) || line[end] == '_')) end++;
  static const char call[] = "param(";
  const int before = (int)strlen(call);
  if (!line || begin == end || begin < before || strncmp(line + begin - before, call, strlen(call)))
    return (Meaning){0};
  const char *name = arena_strndup(line + begin, (gsize)(end - begin));
  const Node *outer = around->len > 1 ? around->pdata[around->len - 2] : NULL;
  const bool given = outer && node_makes_instances(outer);
  return (Meaning){.node = given ? names_member(names, outer, name) : names_find(names, around, name),
                   .used = {names->main->path, at.line, begin + 1, at.line, end + 1},
                   .selected = true,
                   .open = given && !names_holder(names, outer)};
}

// The state that an expression names in a debug view or in front of a range; NULL when it names something else.
static const Node *state_meant(Names *names, const GPtrArray *around, const Node *node, const Expr *expr) {
  const bool view = node->kind == NODE_ROLE || node->kind == NODE_REGION;
  if (view && expr->kind == EXPR_FIELD) return names_state(names, names_resolve(names, around, expr->left), expr->text);
  const bool ranged = node->kind == NODE_RANGE && node->target && place_begins(node->target, expr);
  if (expr->kind != EXPR_NAME || !(ranged || (view && place_begins(node->value, expr)))) return NULL;
  return names_find_expected(names, around, expr->text, EXPECT_STATE);
}

static Meaning expr_meaning(Names *names, const GPtrArray *around, const Node *node, const Expr *expr, Place at) {
  if (expr->kind == EXPR_NAME && place_is_type(node->type, expr)) {
    const Expected expected = node_makes_instances(node) ? EXPECT_MODULE : EXPECT_TYPE;
    return (Meaning){.node = names_find_expected(names, around, expr->text, expected), .used = expr->location};
  }
  const Node *state = state_meant(names, around, node, expr);
  if (state) return (Meaning){.node = state, .used = expr->kind == EXPR_FIELD ? expr->place : expr->location};
  switch (expr->kind) {
  case EXPR_RECORD: return record_meaning(names, expr, at);
  case EXPR_CALL: return setting_meaning(names, expr, at);
  case EXPR_CODE: return code_meaning(names, around, at);
  case EXPR_STRING: return (Meaning){.record = record_named(names, expr->text), .used = expr->location};
  default: break;
  }
  const bool selected = expr->kind == EXPR_FIELD;
  return (Meaning){.node = names_resolve(names, around, expr),
                   .used = selected ? expr->place : expr->location,
                   .selected = selected,
                   .open = selected && names_is_open(names, around, names_resolve(names, around, expr->left))};
}

// A name in the block of `extends`: a parameter of the machine.
static Meaning extends_meaning(Names *names, const GPtrArray *around, const Node *node) {
  const SourceFile *machine = names_extended(names, names->main);
  Meaning meaning = {.used = node->place, .selected = true, .bare = node->bare};
  if (machine && machine != names->main) meaning.node = names_in_body(names, machine->nodes, node->name);
  if (node->bare) meaning.passed = names_find_outside(names, around, 0, node->name);
  return meaning;
}

// A name in the block of an instance, or after `except`: what the instance's module calls so.
static Meaning block_meaning(Names *names, const GPtrArray *around, const Node *node) {
  const Node *instance = around->pdata[around->len - 2];
  Meaning meaning = {.node = names_member(names, instance, node->name),
                     .used = node->place,
                     .selected = true,
                     .bare = node->bare,
                     .open = !names_holder(names, instance)};
  if (node->bare) meaning.passed = names_find_outside(names, around, around->len - 2, node->name);
  return meaning;
}

Meaning names_meaning(Names *names, int line, int column) {
  const Place at = {line, column};
  GPtrArray *around = names_around(names, line, column);
  const Node *node = around->len ? around->pdata[around->len - 1] : NULL;
  const Node *outer = around->len > 1 ? around->pdata[around->len - 2] : NULL;
  if (!node) return (Meaning){0};
  if (place_covers(node->place, at)) {
    if (node->kind == NODE_EXTENDS) {
      const SourceFile *machine = names_extended(names, names->main);
      return (Meaning){.file = machine && machine != names->main ? machine->path : NULL, .used = node->place};
    }
    if (node->kind == NODE_IMPORT) {
      const SourceFile *file = names_file(names, node->name, names->main->path);
      return (Meaning){.file = file ? file->path : NULL, .used = node->place};
    }
    const bool setting = node->kind == NODE_ASSIGN || node->kind == NODE_DEFAULT || node->kind == NODE_ARGUMENT;
    if (setting && outer && outer->kind == NODE_EXTENDS) return extends_meaning(names, around, node);
    if (setting && outer && node_makes_instances(outer)) return block_meaning(names, around, node);
    return (Meaning){.node = node, .used = node->place};
  }
  if (node->first && node->first->kind == NODE_VAR && place_covers(node->first->place, at))
    return (Meaning){.node = node->first, .used = node->first->place};
  const Expr *expr = place_expr(node, at);
  return expr ? expr_meaning(names, around, node, expr, at) : (Meaning){0};
}
