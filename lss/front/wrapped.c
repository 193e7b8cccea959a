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

// ---- The names of a body --------------------------------------------------------------------------------------------

// What a body says of a name.  A `wraps` asks it for each port of what it wraps, so the body is read once.
typedef struct {
  const Node *declaration; // the first parameter, userpoint or port of this name
  bool instance;           // there is an instance of this name
  bool connected;          // an end of a connection begins with it
  GHashTable *ports;       // of the instance, those that connections name
  GHashTable *set;         // and what statements set of it
} BodyName;

static BodyName *body_name(GHashTable *names, const char *name) {
  BodyName *one = g_hash_table_lookup(names, name);
  if (one) return one;
  one = arena_new(BodyName);
  g_hash_table_insert(names, (gpointer)name, one);
  return one;
}

// The name that an end of a connection begins with, and the field that is selected of it, or NULL.
static const Expr *end_begins(const Expr *end, const Expr **field) {
  *field = NULL;
  while (end && end->kind != EXPR_NAME) {
    if (end->kind == EXPR_FIELD) *field = end;
    end = end->left;
  }
  return end;
}

static void read_end(GHashTable *names, const Expr *end) {
  const Expr *field, *first = end_begins(end, &field);
  if (!first) return;
  BodyName *one = body_name(names, first->text);
  one->connected = true;
  if (field) arena_insert(&one->ports, field->text, one);
}

// `instance.name = ...;`
static void read_assignment(GHashTable *names, const Expr *target) {
  if (target->kind != EXPR_FIELD) return;
  const Expr *base = target->left;
  if (base->kind == EXPR_INDEX || base->kind == EXPR_INDEX_ALL) base = base->left;
  if (base->kind != EXPR_NAME) return;
  BodyName *one = body_name(names, base->text);
  arena_insert(&one->set, target->text, one);
}

static void read_names(GHashTable *names, const GPtrArray *nodes) {
  for (guint i = 0; nodes && i < nodes->len; i++) {
    const Node *node = nodes->pdata[i];
    if (node_is_settable(node) || node->kind == NODE_PORT) {
      BodyName *one = body_name(names, node->name);
      if (!one->declaration) one->declaration = node;
    } else if (node_makes_instances(node)) {
      body_name(names, node->name)->instance = true;
    } else if (node->kind == NODE_CONNECT) {
      read_end(names, node->target);
      for (guint k = 0; k < node->receivers->len; k++) read_end(names, node->receivers->pdata[k]);
    } else if (node->kind == NODE_ASSIGN) {
      read_assignment(names, node->target);
    } else if (node_is_block(node)) {
      read_names(names, node->body);
      read_names(names, node->other);
    }
  }
}

// They are kept at the first `wraps` of the body: who asks has found one.
static const BodyName *name_in_body(const GPtrArray *body, const char *name) {
  static const BodyName nothing;
  guint first = 0;
  while (first < body->len && ((const Node *)body->pdata[first])->kind != NODE_WRAPS) first++;
  if (first == body->len) return &nothing;
  Node *wraps = body->pdata[first];
  if (!wraps->names) {
    wraps->names = arena_table();
    read_names(wraps->names, body);
  }
  const BodyName *one = g_hash_table_lookup(wraps->names, name);
  return one ? one : &nothing;
}

const Node *body_declaration(const GPtrArray *body, const char *name) {
  return name_in_body(body, name)->declaration;
}

bool body_sets(const GPtrArray *body, const char *instance, const char *name) {
  return arena_lookup(name_in_body(body, instance)->set, name) != NULL;
}

// ---- Connections
// -----------------------------------------------------------------------------------------------------

static bool begins_with(const Expr *end, const char *name) {
  const Expr *field, *first = end_begins(end, &field);
  return first && !strcmp(first->text, name);
}

static bool connects(const Node *node, const char *port) {
  if (node->kind != NODE_CONNECT) return false;
  if (begins_with(node->target, port)) return true;
  for (guint i = 0; i < node->receivers->len; i++)
    if (begins_with(node->receivers->pdata[i], port)) return true;
  return false;
}

bool body_connects_elsewhere(const GPtrArray *body, const Node *connection, const char *port) {
  for (guint i = 0; body && i < body->len; i++) {
    const Node *node = body->pdata[i];
    if (node != connection && connects(node, port)) return true;
    if (node_is_block(node) && (body_connects_elsewhere(node->body, connection, port) ||
                                body_connects_elsewhere(node->other, connection, port)))
      return true;
  }
  return false;
}

WrappedPort wrapped_port(const Node *wraps, const GPtrArray *body, const char *name) {
  const BodyName *own = name_in_body(body, name);
  const bool declared = own->declaration && own->declaration->kind == NODE_PORT;
  if (wraps->value || wraps_excepts(wraps, name) || declared) return WRAPPED_INSIDE;
  // Where an instance is called like the port, `name.x` is a port of the instance.
  if (own->connected && !own->instance) return WRAPPED_DECLARED;
  return arena_lookup(name_in_body(body, wraps->name)->ports, name) ? WRAPPED_INSIDE : WRAPPED_JOINED;
}

// ---- What a body passes on
// -------------------------------------------------------------------------------------------

const Node *wrapped_module(const Node *node, const GPtrArray *body, ModuleLookup find, gpointer data,
                           const WrapsChain *chain) {
  if (node->kind != NODE_WRAPS || (chain && chain->depth >= MAX_WRAPS)) return NULL;
  const Expr *type = node->type;
  const Node *own = type->kind == EXPR_NAME ? body_declaration(body, type->text) : NULL;
  if (own && own->kind == NODE_PARAMETER) type = own->value;
  if (type && type->kind == EXPR_CALL) type = type->left; // with settings
  const Node *module = type && type->kind == EXPR_NAME ? find(type->text, data) : NULL;
  while (chain && chain->module != module) chain = chain->up;
  return chain ? NULL : module;
}

// What a setting says takes the place of what a declaration does.
static const Node *replaced(const Node *node, const Node *setting) {
  Node *copy = node_copy(node);
  if (setting->value) copy->value = setting->value;
  copy->bare = setting->kind == NODE_ASSIGN;
  if (setting->range) copy->range = setting->range;
  if (setting->doc) copy->doc = setting->doc;
  return copy;
}

static const Node *setting_of(const GPtrArray *settings, const char *name) {
  for (guint i = 0; i < settings->len; i++)
    if (!strcmp(((const Node *)settings->pdata[i])->name, name)) return settings->pdata[i];
  return NULL;
}

// Whether a setting of what is around a body reaches a module that is wrapped there.
static bool reaches(const Node *setting, const Node *wraps, const GPtrArray *body) {
  for (guint i = 0; i < body->len; i++) {
    const Node *node = body->pdata[i];
    const bool valued = node_is_settable(node);
    if (valued && !strcmp(node->name, setting->name)) return false;
  }
  const Node *own = wraps_setting(wraps, setting->name);
  return !own || own->kind == NODE_DEFAULT;
}

GPtrArray *body_with_settings(const GPtrArray *body, const GPtrArray *settings) {
  GPtrArray *all = arena_array();
  for (guint i = 0; i < body->len; i++) {
    const Node *node = body->pdata[i];
    const bool valued = node_is_settable(node);
    const Node *setting = valued ? setting_of(settings, node->name) : NULL;
    if (setting) node = replaced(node, setting);
    if (node->kind == NODE_WRAPS) {
      Node *copy = node_copy(node);
      copy->names = NULL; // of the other body
      copy->body = arena_array();
      for (guint k = 0; k < settings->len; k++)
        if (reaches(settings->pdata[k], node, body)) g_ptr_array_add(copy->body, settings->pdata[k]);
      for (guint k = 0; k < node->body->len; k++) g_ptr_array_add(copy->body, node->body->pdata[k]);
      node = copy;
    }
    g_ptr_array_add(all, (gpointer)node);
  }
  return all;
}

// The settings of the block of `wraps` and, as defaults, those that the value of the module brings.
static GPtrArray *settings_of(const Node *wraps, const GPtrArray *body) {
  GPtrArray *all = arena_array();
  for (guint i = 0; i < wraps->body->len; i++) g_ptr_array_add(all, wraps->body->pdata[i]);
  const Expr *type = wraps->type;
  const Node *own = type->kind == EXPR_NAME ? body_declaration(body, type->text) : NULL;
  if (own && own->kind == NODE_PARAMETER) type = own->value;
  for (guint i = 0; type && type->kind == EXPR_CALL && type->names && i < type->names->len; i++) {
    Node *brought = node_new(NODE_DEFAULT, type->location);
    brought->name = type->names->pdata[i];
    brought->value = type->items->pdata[i];
    g_ptr_array_add(all, brought);
  }
  return all;
}

// A declaration of the wrapped module as the body passes it on; NULL when it does not.
static const Node *passed_node(const Node *wraps, const GPtrArray *body, const Node *node) {
  if (node->kind == NODE_PORT) return wrapped_port(wraps, body, node->name) == WRAPPED_INSIDE ? NULL : node;
  if (!node_is_settable(node)) return NULL;
  const Node *setting = wraps_setting(wraps, node->name);
  if (wraps_excepts(wraps, node->name) || (setting && setting->kind == NODE_ASSIGN)) return NULL;
  return setting ? replaced(node, setting) : node;
}

static void add_passed(GPtrArray *all, const Node *wraps, const GPtrArray *body, const Node *node) {
  const Node *passed = passed_node(wraps, body, node);
  if (!passed) return;
  PassedOn *one = arena_new(PassedOn);
  *one = (PassedOn){passed, wraps->name};
  g_ptr_array_add(all, one);
}

static GPtrArray *declarations(const GPtrArray *body, ModuleLookup find, gpointer data, const WrapsChain *chain) {
  GPtrArray *all = arena_array();
  for (guint i = 0; i < body->len; i++) {
    const Node *wraps = body->pdata[i], *module = wrapped_module(wraps, body, find, data, chain);
    if (!module) continue;
    const WrapsChain inner_chain = {wraps, module, chain, chain ? chain->depth + 1 : 1};
    const GPtrArray *inside = body_with_settings(module->body, settings_of(wraps, body));
    const GPtrArray *inner = declarations(inside, find, data, &inner_chain);
    for (guint k = 0; k < inside->len; k++) add_passed(all, wraps, body, inside->pdata[k]);
    for (guint k = 0; k < inner->len; k++) add_passed(all, wraps, body, ((const PassedOn *)inner->pdata[k])->node);
  }
  return all;
}

GPtrArray *wrapped_declarations(const GPtrArray *body, ModuleLookup find, gpointer data) {
  return declarations(body, find, data, NULL);
}
