// What a module passes on of one that it wraps, as far as its text decides; see wrapped.h.
#include "lss/front/wrapped.h"

#include "lss/base/arena.h"

#include <string.h>

bool wraps_excepts(const Node *wraps, const char *name) {
  for (guint i = 0; i < wraps->arguments->len; i++)
    if (!strcmp(((const Node *)wraps->arguments->pdata[i])->name, name)) return true;
  return false;
}

Node *wraps_setting(const Node *wraps, const char *name) {
  for (guint i = 0; i < wraps->body->len; i++) {
    Node *setting = wraps->body->pdata[i];
    if (!strcmp(setting->name, name)) return setting;
  }
  return NULL;
}

// ---- Walking a body -------------------------------------------------------------------------------------------------

// The first statement, in a block or not, of which a question is true.
static const Node *find_node(const GPtrArray *nodes, bool (*is)(const Node *, const char *, const char *),
                             const char *first, const char *second) {
  for (guint i = 0; nodes && i < nodes->len; i++) {
    const Node *node = nodes->pdata[i];
    if (is(node, first, second)) return node;
    const bool block = node_is_block(node);
    const Node *found = block ? find_node(node->body, is, first, second) : NULL;
    if (block && !found) found = find_node(node->other, is, first, second);
    if (found) return found;
  }
  return NULL;
}

static bool is_interface(const Node *node, const char *name, const char *unused) {
  (void)unused;
  const bool kind = node->kind == NODE_PARAMETER || node->kind == NODE_USERPOINT || node->kind == NODE_PORT;
  return kind && !strcmp(node->name, name);
}

const Node *body_declaration(const GPtrArray *body, const char *name) {
  return find_node(body, is_interface, name, NULL);
}

static bool is_instance(const Node *node, const char *name, const char *unused) {
  (void)unused;
  return node_makes_instances(node) && !strcmp(node->name, name);
}

// ---- Connections
// -----------------------------------------------------------------------------------------------------

// Whether an end of a connection is `port` of `instance` or, where that is NULL, of the module itself.
static bool end_is(const Expr *end, const char *instance, const char *port) {
  const Expr *outer = NULL; // the field that is selected from what is below
  while (end && end->kind != EXPR_NAME) {
    if (end->kind == EXPR_FIELD) outer = end;
    end = end->left;
  }
  if (!end) return false;
  if (!instance) return !strcmp(end->text, port);
  return !strcmp(end->text, instance) && outer && !strcmp(outer->text, port);
}

static bool connects(const Node *node, const char *instance, const char *port) {
  if (node->kind != NODE_CONNECT) return false;
  if (end_is(node->target, instance, port)) return true;
  for (guint i = 0; i < node->receivers->len; i++)
    if (end_is(node->receivers->pdata[i], instance, port)) return true;
  return false;
}

static bool sets(const Node *node, const char *instance, const char *name) {
  if (node->kind != NODE_ASSIGN || node->target->kind != EXPR_FIELD) return false;
  const Expr *base = node->target->left;
  if (base->kind == EXPR_INDEX || base->kind == EXPR_INDEX_ALL) base = base->left;
  return base->kind == EXPR_NAME && !strcmp(base->text, instance) && !strcmp(node->target->text, name);
}

bool body_sets(const GPtrArray *body, const char *instance, const char *name) {
  return find_node(body, sets, instance, name) != NULL;
}

bool body_connects_elsewhere(const GPtrArray *body, const Node *connection, const char *port) {
  for (guint i = 0; body && i < body->len; i++) {
    const Node *node = body->pdata[i];
    if (node != connection && connects(node, NULL, port)) return true;
    if (node_is_block(node) && (body_connects_elsewhere(node->body, connection, port) ||
                                body_connects_elsewhere(node->other, connection, port)))
      return true;
  }
  return false;
}

WrappedPort wrapped_port(const Node *wraps, const GPtrArray *body, const char *name) {
  const Node *own = body_declaration(body, name);
  if (wraps->value || wraps_excepts(wraps, name) || (own && own->kind == NODE_PORT)) return WRAPPED_INSIDE;
  const bool inside = find_node(body, connects, wraps->name, name);
  // Where an instance is called like the port, `name.x` is a port of the instance.
  const bool outside = !find_node(body, is_instance, name, NULL) && find_node(body, connects, NULL, name);
  return outside ? WRAPPED_DECLARED : inside ? WRAPPED_INSIDE : WRAPPED_JOINED;
}

// ---- What a body passes on
// -------------------------------------------------------------------------------------------

// The module that is wrapped; of a parameter its default.
static const Node *wrapped_module(const Node *wraps, const GPtrArray *body, ModuleLookup find, gpointer data) {
  const Expr *type = wraps->type;
  const Node *own = type->kind == EXPR_NAME ? body_declaration(body, type->text) : NULL;
  if (own && own->kind == NODE_PARAMETER) type = own->value;
  if (type && type->kind == EXPR_CALL) type = type->left; // with settings
  return type && type->kind == EXPR_NAME ? find(type->text, data) : NULL;
}

// A declaration of the wrapped module as the body passes it on; NULL when it does not.
static const Node *passed_node(const Node *wraps, const GPtrArray *body, const Node *node) {
  if (node->kind == NODE_PORT) return wrapped_port(wraps, body, node->name) == WRAPPED_INSIDE ? NULL : node;
  if (node->kind != NODE_PARAMETER && node->kind != NODE_USERPOINT) return NULL;
  const Node *setting = wraps_setting(wraps, node->name);
  if (wraps_excepts(wraps, node->name) || (setting && setting->kind == NODE_ASSIGN)) return NULL;
  if (!setting) return node;
  Node *copy = node_new(node->kind, node->location);
  *copy = *node;
  if (setting->value) copy->value = setting->value;
  if (setting->range) copy->range = setting->range;
  if (setting->doc) copy->doc = setting->doc;
  return copy;
}

static void add_passed(GPtrArray *all, const Node *wraps, const GPtrArray *body, const Node *node) {
  const Node *passed = passed_node(wraps, body, node);
  if (!passed) return;
  PassedOn *one = arena_new(PassedOn);
  *one = (PassedOn){passed, wraps->name};
  g_ptr_array_add(all, one);
}

static GPtrArray *declarations(const GPtrArray *body, ModuleLookup find, gpointer data, int depth) {
  GPtrArray *all = arena_array();
  for (guint i = 0; i < body->len; i++) {
    const Node *wraps = body->pdata[i];
    const Node *module =
        wraps->kind == NODE_WRAPS && depth < MAX_WRAPS ? wrapped_module(wraps, body, find, data) : NULL;
    if (!module) continue;
    const GPtrArray *inner = declarations(module->body, find, data, depth + 1);
    for (guint k = 0; k < module->body->len; k++) add_passed(all, wraps, body, module->body->pdata[k]);
    for (guint k = 0; k < inner->len; k++) add_passed(all, wraps, body, ((const PassedOn *)inner->pdata[k])->node);
  }
  return all;
}

GPtrArray *wrapped_declarations(const GPtrArray *body, ModuleLookup find, gpointer data) {
  return declarations(body, find, data, 0);
}
