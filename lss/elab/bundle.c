// Bundles: what a port of a bundle consists of, with nested bundles flattened and directions worked out.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/elaborate.h"

#include <string.h>

enum { MAX_MEMBERS = 1024 };

static Symbol *bundle_symbol(Scope *scope, Expr *expr) {
  Expr *name = expr->kind == EXPR_CALL ? expr->left : expr;
  if (name->kind != EXPR_NAME) return NULL;
  Symbol *symbol = scope_find_type(scope, name->text);
  return symbol && symbol->kind == SYMBOL_DECLARATION && symbol->node->kind == NODE_BUNDLE ? symbol : NULL;
}

static bool add_members(Scope *scope, Expr *expr, Symbol *symbol, const char *prefix, bool forward, GPtrArray *into,
                        const char **text) {
  if (circular(symbol, expr->location)) return false;
  GPtrArray *arguments = NULL;
  if (expr->kind == EXPR_CALL) {
    arguments = arena_array();
    for (guint i = 0; i < expr->items->len; i++) {
      Value *value = evaluate(scope, expr->items->pdata[i]);
      if (!value) return false;
      g_ptr_array_add(arguments, value);
    }
  }
  char *suffix, *c_suffix;
  Scope *inner = family_scope(symbol, arguments, expr->location, &suffix, &c_suffix);
  if (!inner) return false;
  // A type variable in a bundle is one of the module whose port this is.
  for (Scope *s = scope; s && !inner->owner; s = s->parent) inner->owner = s->owner;
  if (text) *text = arena_printf("%s%s", symbol->name, suffix);
  symbol->busy = true;
  bool fine = true;
  for (guint i = 0; i < symbol->node->body->len && !compile->halted; i++) {
    Node *node = symbol->node->body->pdata[i];
    const char *path = arena_printf("%s%s", prefix, node->name);
    bool same_way = node->output == forward;
    for (guint k = 0; k < i; k++) {
      Node *other = symbol->node->body->pdata[k];
      if (strcmp(other->name, node->name) != 0) continue;
      problem(node->place, "duplicate-name", "the member `%s` is declared twice", node->name);
      diag_note(other->place, "first declared here");
    }
    Symbol *nested = bundle_symbol(inner, node->type);
    if (nested) {
      if (!enter(node->place)) break;
      fine &= add_members(inner, node->type, nested, arena_printf("%s.", path), same_way, into, NULL);
      leave();
      continue;
    }
    if (into->len >= MAX_MEMBERS) {
      problem(expr->location, "runaway", "the bundle `%s` has more than %d members", symbol->name, MAX_MEMBERS);
      compile->halted = true;
      break;
    }
    BundleMember *member = arena_new(BundleMember);
    *member = (BundleMember){path, same_way, evaluate_term(inner, node->type), node->doc, node->place};
    if (member->term)
      g_ptr_array_add(into, member);
    else
      fine = false;
  }
  symbol->busy = false;
  return fine;
}

GPtrArray *evaluate_bundle(Scope *scope, Expr *expr, bool *is_bundle, const char **text) {
  Symbol *symbol = bundle_symbol(scope, expr);
  *is_bundle = symbol != NULL;
  if (!symbol) return NULL;
  GPtrArray *members = arena_array();
  return add_members(scope, expr, symbol, "", true, members, text) ? members : NULL;
}
