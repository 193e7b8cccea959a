// What is known of a module before its body runs: its declarations, those that it passes on of the modules that it
// wraps, the values of its constants, and whether it has a port; see interface.h.
#include "lss/elab/interface.h"

#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/value.h"
#include "lss/front/wrapped.h"

#include <string.h>

// A `wraps` in a wrapped module, seen from what it wraps.
typedef struct Level {
  const Node *wraps;
  const GPtrArray *body;
  Scope *names; // of the module that has this body
  const Value *brings;
  SourceFile *machine; // whose statements the body is; NULL: a module's
  const struct Level *up;
} Level;

// ---- What is declared --------------------------------------------------------------------------------------

static Promise *promise_new(Interface *interface, const Node *node, Scope *names) {
  Promise *promise = arena_new(Promise);
  Node *copy = node_copy(node);
  *promise = (Promise){.interface = interface,
                       .from = {.node = copy, .types = names, .values = names, .ranges = names, .of = interface->name},
                       .names = names,
                       .symbols = arena_array()};
  return promise;
}

// The module's own declarations come first: what it passes on may be hidden by them.
static void make_known(Promise *promise, Scope *names) {
  const char *name = promise->from.node->name;
  if (arena_lookup(names->names, name)) return;
  Symbol *symbol = arena_new(Symbol);
  *symbol = (Symbol){.kind = SYMBOL_PROMISED, .name = name, .place = promise->from.node->place, .promise = promise};
  arena_insert(&names->names, name, symbol);
  g_ptr_array_add(promise->symbols, symbol);
}

static void give_value(Promise *promise, Expr *value, Scope *scope) {
  promise->from.node->value = value;
  promise->from.values = scope;
  if (promise->kind == PROMISE_UNKNOWN) promise->kind = PROMISE_INSIDE;
}

void promise_replace(Promise *promise, const Node *setting, Scope *scope) {
  Node *node = promise->from.node;
  if (setting->value) give_value(promise, setting->value, scope);
  if (setting->range) {
    node->range = setting->range;
    promise->from.ranges = scope;
  }
  if (setting->doc) node->doc = setting->doc;
}

void promise_bring(Promise *promise, const Value *module) {
  promise_give(promise, module_setting(module, promise->from.node->name));
}

void promise_give(Promise *promise, Value *value) {
  if (value) give_value(promise, expr_of_value(value), promise->from.values);
}

// Brings a port through the statements around the wrapped module, as far as they pass it on.
static void raise_port(Promise *port, const Level *level) {
  for (; level; level = level->up) {
    if (level->machine) return; // machines get no ports so
    const WrappedPort where = wrapped_port(level->wraps, level->body, port->from.node->name);
    if (where == WRAPPED_INSIDE) return;
    // A body that connects its own port itself may give the inner one any lanes.
    if (where == WRAPPED_DECLARED) port = promise_new(port->interface, port->from.node, port->from.types);
    make_known(port, level->names);
  }
  g_ptr_array_add(port->interface->members, port);
  if (port->interface->decide) port->interface->decide(port);
}

// What files that extend a machine say of a parameter; true when one fixes it.
static bool fix_by_machine(Promise *promise, SourceFile *machine) {
  const Expr *before = promise->from.node->value;
  const bool fixed = replace_by_machine(machine, &promise->from);
  if (promise->from.node->value != before && promise->kind == PROMISE_UNKNOWN) promise->kind = PROMISE_INSIDE;
  return fixed;
}

// The same of a parameter or userpoint.
static void raise_value(Promise *promise, const Level *level, SourceFile *machine) {
  const char *name = promise->from.node->name;
  bool fixed = fix_by_machine(promise, machine);
  for (; level && !fixed; level = level->up) {
    promise_bring(promise, level->brings);
    const Node *setting = wraps_setting(level->wraps, name);
    const bool excepted = wraps_excepts(level->wraps, name);
    if (setting) promise_replace(promise, setting, level->names);
    const Setting *defined =
        excepted && compile->defines->len ? defined_setting(promise->names->owner, name, NULL) : NULL;
    if (defined) promise_give(promise, read_define(defined, promise->from.node));
    // A body that sets it later says what it is when it runs.
    if (excepted && body_sets(level->body, level->wraps->name, name)) promise->kind = PROMISE_UNKNOWN;
    if (excepted || (setting && setting->kind == NODE_ASSIGN)) return;
    make_known(promise, level->names);
    fixed = fix_by_machine(promise, level->machine);
  }
  if (fixed) return;
  g_ptr_array_add(promise->interface->members, promise);
  if (promise->interface->decide) promise->interface->decide(promise);
}

// The names of a module.  Their owner stands for the instance, which may not be there yet.
static Scope *names_of(const Interface *interface, const Symbol *module, const char *path) {
  Inst *owner = arena_new(Inst); // its type variables are joined to the instance's by connections
  owner->file = module->file;
  owner->parent = compile->running;
  owner->settings = arena_array();
  owner->instance = arena_new(Instance);
  owner->instance->path = path;
  owner->instance->location = interface->location;
  Scope *names = scope_new(file_scope(module->file), owner);
  scope_keep(names);
  return names;
}

static void read_module(Interface *interface, const Symbol *module, Scope *names, const Level *level, int depth);

static void read_wrapped(Interface *interface, Node *wraps, const GPtrArray *body, SourceFile *machine, Scope *names,
                         const Level *level, int depth) {
  Inst *before = compile->running;
  compile->running = names->owner;
  const Value *brings;
  const Symbol *inner = module_of(names, wraps->type, &brings);
  compile->running = before;
  make_known(promise_new(interface, wraps, names), names);
  if (!inner || (brings && !part_fits(wraps, body, inner, brings))) {
    interface->incomplete = true;
    return;
  }
  const char *path = arena_printf("%s.%s", names->owner->instance->path, wraps->name);
  const Level inside = {wraps, body, names, brings, machine, level};
  read_module(interface, inner, names_of(interface, inner, path), &inside, depth + 1);
}

static void read_module(Interface *interface, const Symbol *module, Scope *names, const Level *level, int depth) {
  if (depth > MAX_WRAPS) {
    problem(interface->place, "runaway", "`%s` wraps itself", module->name);
    compile->halted = true;
    return;
  }
  g_ptr_array_add(interface->levels, names);
  const GPtrArray *body = module->node->body;
  for (guint i = 0; i < body->len && !compile->halted; i++) {
    Node *node = body->pdata[i];
    switch (node->kind) {
    case NODE_PARAMETER:
    case NODE_USERPOINT:
    case NODE_PORT:
    case NODE_CONST:
    case NODE_VAR:
    case NODE_CLOCK:
    case NODE_INSTANCE: {
      Promise *promise = promise_new(interface, node, names);
      const bool valued = node->kind == NODE_CONST || node_is_settable(node);
      if (valued && node->value) promise->kind = PROMISE_INSIDE;
      make_known(promise, names);
      if (node->kind == NODE_CONST) g_ptr_array_add(interface->constants, promise);
      if (node->kind == NODE_PORT) raise_port(promise, level);
      if (node_is_settable(node)) raise_value(promise, level, module->node->machine);
      break;
    }
    case NODE_WRAPS: read_wrapped(interface, node, body, module->node->machine, names, level, depth); break;
    default: break;
    }
  }
}

void interface_read(Interface *interface, const Symbol *module) {
  interface->levels = arena_array();
  interface->constants = arena_array();
  interface->members = arena_array();
  read_module(interface, module, names_of(interface, module, interface->path), NULL, 0);
}

const Promise *interface_member(const Interface *interface, const char *name) {
  for (guint i = 0; i < interface->members->len; i++) {
    const Promise *promise = interface->members->pdata[i];
    if (!strcmp(promise->from.node->name, name)) return promise;
  }
  return NULL;
}

// ---- Keeping a promise -------------------------------------------------------------------------------------

// What the name means, in all places where it is known.
static void share(const Promise *promise, Symbol meaning) {
  for (guint i = 0; i < promise->symbols->len; i++) {
    Symbol *symbol = promise->symbols->pdata[i];
    meaning.name = symbol->name;
    meaning.place = symbol->place;
    *symbol = meaning;
  }
}

// The instance in which names of a scope mean something.
static Inst *owner_of(const Scope *scope) {
  while (scope && !scope->owner) scope = scope->parent;
  return scope ? scope->owner : compile->running;
}

static Symbol kept_inside(const Promise *promise) {
  const Node *node = promise->from.node;
  Inst *before = compile->running;
  compile->running = owner_of(promise->from.values);
  Value *value = evaluate(promise->from.values, node->value);
  compile->running = before;
  if (node->kind == NODE_USERPOINT) {
    Userpoint *userpoint = arena_new(Userpoint);
    *userpoint = (Userpoint){.name = node->name, .code = value};
    return (Symbol){.kind = SYMBOL_USERPOINT, .userpoint = userpoint};
  }
  if (value && node->kind == NODE_PARAMETER)
    value = coerce_to_parameter(promise->from.types, value, node->type, node->place, node->name);
  return (Symbol){.kind = SYMBOL_VALUE, .value = value};
}

static Symbol unknown(const Promise *promise) {
  const Interface *interface = promise->interface;
  const char *name = promise->from.node->name;
  const Node *requesting = promise->requested_by ? promise->requested_by->from.node : NULL;
  if (requesting && interface->inst)
    problem(interface->place, "constant-inside", "`%s` of `%s` depends on `%s`, which is known inside `%s` alone",
            requesting->name, interface->name, name, interface->name);
  else if (requesting)
    problem(interface->place, "wraps-default",
            "`%s` needs `%s`, which is known inside `%s` alone: set `%s` in the block, or `except %s`",
            requesting->name, name, interface->name, requesting->name, requesting->name);
  if (requesting) diag_note(requesting->place, "declared here");
  return (Symbol){.kind = SYMBOL_VALUE};
}

static void report_circle(const Promise *promise) {
  const char *name = promise->from.node->name;
  g_autoptr(GString) circle = g_string_new(NULL);
  g_string_printf(circle, "`%s`", name);
  for (const Promise *p = promise->interface->keeping; p && p != promise; p = p->requested_by) {
    g_autofree char *link = g_strdup_printf("`%s`, which needs ", p->from.node->name);
    g_string_prepend(circle, link);
  }
  problem(promise->from.node->place, "circular", "`%s` is defined by itself: it needs %s", name, circle->str);
  diag_note(promise->interface->place, promise->interface->inst ? "read here" : "wrapped here");
}

void promise_keep(Promise *promise) {
  if (promise->done) return;
  if (promise->busy) {
    report_circle(promise);
    return;
  }
  Interface *interface = promise->interface;
  Inst *before = compile->running;
  promise->busy = true;
  promise->requested_by = interface->keeping;
  interface->keeping = promise;
  switch (promise->kind) {
  case PROMISE_PASSED_ON:
  case PROMISE_SET:
    compile->running = interface->running;
    share(promise, interface->keep(promise));
    break;
  case PROMISE_INSIDE: share(promise, kept_inside(promise)); break;
  case PROMISE_UNKNOWN: share(promise, unknown(promise)); break;
  }
  compile->running = before;
  interface->keeping = promise->requested_by;
  promise->busy = false;
  promise->done = true;
}

void keep_promise(Symbol *symbol) {
  promise_keep(symbol->promise);
  if (symbol->kind == SYMBOL_PROMISED) symbol->kind = SYMBOL_VALUE, symbol->value = NULL; // a circle
}

// ---- What a body asks of an instance -----------------------------------------------------------------------

// A parameter or userpoint of the instance, as it is set so far; what was read cannot be set any more.
static Symbol kept_by_instance(Promise *promise) {
  const Interface *interface = promise->interface;
  const Node *node = promise->from.node;
  Inst *inst = interface->inst;
  Setting *setting = find_setting(inst, node->name);
  if (!setting && compile->defines->len) setting = defined_setting(inst, node->name, NULL);
  if (!setting) {
    setting = arena_new(Setting);
    *setting = (Setting){.name = node->name, .was_read = true, .read_place = interface->place};
    if (!inst->left_alone) inst->left_alone = arena_array();
    g_ptr_array_add(inst->left_alone, setting);
    return node->value ? kept_inside(promise) : unknown(promise);
  }
  setting->was_read = true;
  setting->read_place = interface->place;
  if (node->kind == NODE_USERPOINT) {
    Userpoint *userpoint = arena_new(Userpoint);
    *userpoint = (Userpoint){.name = node->name, .code = setting->value, .replaced = !setting->by_default};
    return (Symbol){.kind = SYMBOL_USERPOINT, .userpoint = userpoint};
  }
  if (setting->alias) return (Symbol){.kind = SYMBOL_RUNTIME, .value = setting->value, .parameter = setting->alias};
  Value *value = setting->define ? read_define(setting, node) : setting->value;
  if (value)
    value = coerce_to_parameter(promise->from.types, value, node->type,
                                value->location.file ? value->location : setting->place, node->name);
  return (Symbol){.kind = SYMBOL_VALUE, .value = value};
}

static void decide_of_instance(Promise *promise) {
  if (promise->from.node->kind != NODE_PORT) promise->kind = PROMISE_PASSED_ON;
}

// NULL, after an error, while `wraps` works out what it sets.
static Interface *interface_of(Inst *inst, Location where) {
  if (inst->interface) {
    inst->interface->place = where;
    return inst->interface;
  }
  if (inst->being_wrapped) {
    problem(where, "circular", "what `%s` is depends on this: it is known after the block", inst->instance->name);
    return NULL;
  }
  inst->interface = arena_new(Interface);
  *inst->interface = (Interface){.name = inst->instance->name,
                                 .path = inst->instance->path,
                                 .location = inst->instance->location,
                                 .place = where,
                                 .running = compile->running,
                                 .inst = inst,
                                 .decide = decide_of_instance,
                                 .keep = kept_by_instance};
  interface_read(inst->interface, inst->module);
  return inst->interface;
}

// The constant of this name that the module declares or, where it has nothing of that name, one that it wraps.
static Promise *constant_named(const Interface *interface, const char *name) {
  for (guint i = 0; i < interface->levels->len; i++) {
    const Scope *names = interface->levels->pdata[i];
    for (guint k = 0; k < interface->constants->len; k++) {
      Promise *promise = interface->constants->pdata[k];
      if (promise->names == names && !strcmp(promise->from.node->name, name)) return promise;
    }
    if (i == 0 && arena_lookup(names->names, name)) return NULL;
  }
  return NULL;
}

// Whether a module can have a constant of that name, as far as a look at its statements tells.
static bool may_have_constant(const Inst *inst, const char *name) {
  const GPtrArray *body = inst->body;
  for (guint i = 0; body && i < body->len; i++) {
    const Node *node = body->pdata[i];
    if (node->kind == NODE_WRAPS || (node->kind == NODE_CONST && !strcmp(node->name, name))) return true;
  }
  return false;
}

bool constant_of(Inst *inst, const char *name, Location where, Value **value) {
  if (!may_have_constant(inst, name)) return false;
  Interface *interface = interface_of(inst, where);
  Promise *promise = interface ? constant_named(interface, name) : NULL;
  *value = NULL;
  if (!promise) return !interface;
  promise_keep(promise);
  *value = ((const Symbol *)promise->symbols->pdata[0])->value;
  return true;
}

bool report_no_constant(Inst *inst, const char *name, const Expr *expr) {
  const Interface *interface = interface_of(inst, expr->place);
  const Scope *own = interface ? interface->levels->pdata[0] : NULL;
  if (!own || arena_lookup(own->names, name)) return false;
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < interface->constants->len; i++)
    g_ptr_array_add(names, (gpointer)((const Promise *)interface->constants->pdata[i])->from.node->name);
  problem(expr->place, "constant-missing", "module `%s` has no constant `%s`, which is read of %s%s",
          inst->module->name, name, inst_title(inst), did_you_mean(diag_suggestion(name, names)));
  const bool chosen = inst->chosen && inst->chosen->location.file;
  diag_note(chosen ? inst->chosen->location : inst->module->place,
            chosen ? "the module comes from here" : "declared here");
  return true;
}

bool has_port(Inst *inst, const char *name, Location where) {
  const Interface *interface = interface_of(inst, where);
  const Promise *member = interface ? interface_member(interface, name) : NULL;
  return member && member->from.node->kind == NODE_PORT;
}
