// What a body expects of an instance whose module is not named there; see expected.h.
#include "lss/front/expected.h"

#include <string.h>

// ---- What a module has -----------------------------------------------------------------------------------------

static bool add_declared(GHashTable *names, const GPtrArray *body, ModuleLookup find, gpointer data, int depth) {
  bool known = true;
  for (guint i = 0; i < body->len && known; i++) {
    const Node *node = body->pdata[i];
    if (node->name) g_hash_table_add(names, (gpointer)node->name);
    if (node->kind != NODE_WRAPS) continue;
    const bool by_name = node->type->kind == EXPR_NAME && !body_declaration(body, node->type->text);
    const Node *inner = by_name && depth < MAX_WRAPS ? find(node->type->text, data) : NULL;
    known = inner && add_declared(names, inner->body, find, data, depth + 1);
  }
  return known;
}

bool body_declares(GHashTable *names, const GPtrArray *body, ModuleLookup find, gpointer data) {
  return add_declared(names, body, find, data, 0);
}

static bool passes_on(const WrapsChain *chain, const char *name) {
  for (; chain; chain = chain->up) {
    const Node *setting = wraps_setting(chain->wraps, name);
    if (wraps_excepts(chain->wraps, name) || (setting && setting->kind == NODE_ASSIGN)) return false;
  }
  return true;
}

static const Node *find_clash(const GPtrArray *outer, ModuleLookup find, gpointer data, const WrapsChain *chain) {
  const GPtrArray *body = chain->module->body;
  const Node *clash = NULL;
  for (guint i = 0; i < body->len && !clash; i++) {
    const Node *node = body->pdata[i];
    if (node_is_settable(node) && body_declaration(outer, node->name) && passes_on(chain, node->name)) return node;
    const Node *module = wrapped_module(node, body, find, data, chain);
    if (module) clash = find_clash(outer, find, data, &(WrapsChain){node, module, chain, chain->depth + 1});
  }
  return clash;
}

const Node *body_clash(const GPtrArray *body, const Node *wraps, const Node *module, ModuleLookup find, gpointer data) {
  return find_clash(body, find, data, &(WrapsChain){wraps, module, NULL, 0});
}

// ---- What a body names -----------------------------------------------------------------------------------------

typedef struct {
  const Node *instance; // the statement that makes it
  GHashTable *names;    // those that can be selected of it, and those that the body queries: `has(x)`
  const Expr *missing;  // the first that is not among them
  bool in_loop;         // over what may be empty: only elements of the instances are there in any case
  bool may_stop;        // an operand that is not evaluated in any case: only what a query names counts
  bool lacks;           // the body queries a name that is not there,
  bool refuses;         // and refuses the module itself
} Search;

static bool is_left_open(const Node *instance, const char *name) {
  for (guint i = 0; instance->kind == NODE_WRAPS && i < instance->arguments->len; i++) {
    const Node *excepted = instance->arguments->pdata[i];
    if (excepted->optional && strcmp(excepted->name, name) == 0) return true;
  }
  return false;
}

static void look_at_field(Search *search, const Expr *field) {
  const Expr *base = field->left;
  const bool of_one = base->kind == EXPR_INDEX;
  if (of_one || base->kind == EXPR_INDEX_ALL) base = base->left;
  if (base->kind != EXPR_NAME || strcmp(base->text, search->instance->name) != 0) return;
  if (search->may_stop || (search->in_loop && !of_one)) return;
  if (!g_hash_table_contains(search->names, field->text) && !is_left_open(search->instance, field->text))
    search->missing = field;
}

static bool is_query(const Expr *expr) {
  return expr->kind == EXPR_CALL && expr->left->kind == EXPR_NAME && strcmp(expr->left->text, "has") == 0;
}

static void look_at(Search *search, const Expr *expr) {
  if (!expr || search->missing) return;
  if (is_query(expr)) {
    const Expr *of = expr->items->len > 0 ? expr->items->pdata[0] : NULL;
    if (of && of->kind == EXPR_FIELD) search->lacks |= g_hash_table_add(search->names, (gpointer)of->text);
    return;
  }
  if (expr->kind == EXPR_FIELD) look_at_field(search, expr);
  look_at(search, expr->left);
  // `a && b`, `a || b`, `a ? b : c`
  const bool before = search->may_stop;
  search->may_stop |= expr->kind == EXPR_CONDITIONAL || expr->op == OP_AND || expr->op == OP_OR;
  look_at(search, expr->right);
  look_at(search, expr->third);
  search->may_stop = before;
  for (guint i = 0; expr->items && i < expr->items->len; i++) look_at(search, expr->items->pdata[i]);
}

static void look_in(Search *search, const Node *node);

static void look_in_all(Search *search, const GPtrArray *nodes) {
  for (guint i = 0; i < nodes->len && !search->missing && !search->refuses; i++) look_in(search, nodes->pdata[i]);
}

static void look_in_loop(Search *search, const Node *loop) {
  const bool before = search->in_loop;
  search->in_loop = true;
  look_in_all(search, loop->body);
  search->in_loop = before;
}

static bool punts(const GPtrArray *nodes) {
  for (guint i = 0; i < nodes->len; i++) {
    const Node *node = nodes->pdata[i];
    const Expr *called = node->kind == NODE_CALL ? node->target->left : NULL;
    if (called && called->kind == EXPR_NAME && strcmp(called->text, "punt") == 0) return true;
  }
  return false;
}

static void look_in_if(Search *search, const Node *node) {
  search->lacks = false;
  look_at(search, node->value);
  search->refuses = search->lacks && punts(node->body);
}

static void look_in(Search *search, const Node *node) {
  switch (node->kind) {
  case NODE_CONNECT:
    look_at(search, node->target);
    for (guint i = 0; i < node->receivers->len; i++) look_at(search, node->receivers->pdata[i]);
    return;
  case NODE_CALL: look_at(search, node->target); return;
  case NODE_ASSIGN: look_at(search, node->target); break;
  case NODE_FOR:
  case NODE_FOR_IN: look_in_loop(search, node); break;
  case NODE_INSTANCE:
  case NODE_WRAPS:
    for (guint i = 0; i < node->body->len; i++) look_at(search, ((const Node *)node->body->pdata[i])->value);
    break;
  case NODE_IF: look_in_if(search, node); return;
  case NODE_CONST:
  case NODE_VAR: break;
  default: return;
  }
  look_at(search, node->value);
}

// The statements among which one stands: those of a body, or of a block in it.
static const GPtrArray *around(const GPtrArray *nodes, const Node *statement) {
  const GPtrArray *found = NULL;
  for (guint i = 0; nodes && i < nodes->len && !found; i++) {
    const Node *node = nodes->pdata[i];
    if (node == statement) return nodes;
    if (!node_is_block(node)) continue;
    found = around(node->body, statement);
    if (!found) found = around(node->other, statement);
  }
  return found;
}

// The first name that `wraps` sets or leaves out, without `optional`, and that is not there.
static const Node *missing_in_wraps(const Node *wraps, GHashTable *names) {
  const GPtrArray *lists[] = {wraps->arguments, wraps->body};
  for (gsize k = 0; wraps->kind == NODE_WRAPS && k < G_N_ELEMENTS(lists); k++) {
    for (guint i = 0; i < lists[k]->len; i++) {
      const Node *node = lists[k]->pdata[i];
      if (!node->optional && !g_hash_table_contains(names, node->name)) return node;
    }
  }
  return NULL;
}

bool body_misses(const GPtrArray *body, const Node *instance, GHashTable *names, MissingName *missing) {
  const Node *first = missing_in_wraps(instance, names);
  if (first) {
    *missing = (MissingName){first->name, first->place, first->name};
    return true;
  }
  Search search = {.instance = instance, .names = names};
  const GPtrArray *statements = around(body, instance);
  if (statements) look_in_all(&search, statements);
  if (search.missing) *missing = (MissingName){search.missing->text, search.missing->place, expr_text(search.missing)};
  return search.missing;
}
