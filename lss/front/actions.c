// The nodes that the grammar's actions ask for.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/front/scanner.h"

#include <string.h>

Node *parse_declare(Scan *scan, NodeKind kind, Location where, const char *name, Location place) {
  Node *node = node_new(kind, where);
  node->name = name;
  node->place = place;
  g_ptr_array_add(scan->declarations, node);
  return node;
}

void parse_word(Scan *scan, Location where, const char *word, const char *expected, const char *place) {
  if (!strcmp(word, expected)) return;
  diag_error(where, "syntax", "unexpected name \"%s\" %s; only `%s` is allowed there", word, place, expected);
  scan->errors++;
}

GPtrArray *parse_list(gpointer first) {
  GPtrArray *list = arena_array();
  if (first) g_ptr_array_add(list, first);
  return list;
}

GPtrArray *parse_with(GPtrArray *list, gpointer item) {
  if (item) g_ptr_array_add(list, item);
  return list;
}

Node *parse_loop_start(Node *first) {
  if (first->kind == NODE_ASSIGN && first->target->kind == EXPR_NAME) {
    first->name = first->target->text;
    first->place = first->target->place;
  }
  return first;
}

Expr *parse_text_expr(ExprKind kind, Location where, const char *text) {
  Expr *e = expr_new(kind, where);
  e->text = text;
  return e;
}

void parse_record_add(Expr *record, const char *name, Location place, Expr *value) {
  Location *copy = arena_new(Location);
  *copy = place;
  g_ptr_array_add(record->names, (gpointer)name);
  g_ptr_array_add(record->places, copy);
  g_ptr_array_add(record->items, value);
}

Expr *parse_code(Scan *scan, Location where, const char *text) {
  Expr *code = parse_text_expr(EXPR_CODE, where, text);
  code->items = arena_array();
  g_ptr_array_add(scan->codes, code);
  return code;
}
