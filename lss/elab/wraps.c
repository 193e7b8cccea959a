// `wraps`: an instance whose parameters, userpoints and ports are those of the module around it as well.  What the
// wrapped module declares is read from its tree.  Each declaration is a promise: its name is known at once, and what it
// means is worked out when it is looked up first, or at the end of the statement.  So defaults, ranges and settings may
// name each other in any order.
#include "lss/front/wrapped.h"

#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/base/library.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"

#include <string.h>

// The statement, in a body that is being run.
typedef struct {
  Inst *outer;
  Node *node;
  Scope *scope;        // of the body
  const Value *brings; // what the value of the module brings: other defaults
  GPtrArray *insts;    // Inst*: one, or those of an array
  GPtrArray *members;  // Promise*: what the wrapped module has, in order
  Promise *keeping;    // what is being worked out, or NULL
} Wrap;

typedef enum {
  PROMISE_UNKNOWN,  // only the instance itself will know
  PROMISE_INSIDE,   // a constant, or what keeps its default
  PROMISE_SET,      // set in the block
  PROMISE_PASSED_ON // the outer module's as well
} PromiseKind;

struct Promise {
  PromiseKind kind;
  Wrap *wrap;
  Declaration from; // its node is a copy, whose default, range and text are those that count
  const Node *setting;
  GPtrArray *symbols;    // Symbol*: wherever it is known by its name inside
  Symbol *outer;         // and outside
  PortDecl *port;        // of the outer module
  Promise *requested_by; // while it is worked out
  bool busy, done;
};

// A `wraps` in a wrapped module, seen from what it wraps.
typedef struct Level {
  const Node *wraps;
  const GPtrArray *body;
  Scope *names; // of the module that has this body
  const Value *brings;
  const struct Level *up;
} Level;

// ---- What the wrapped module declares
// --------------------------------------------------------------------------------

static Promise *promise_new(Wrap *wrap, const Node *node, Scope *names) {
  Promise *promise = arena_new(Promise);
  Node *copy = node_new(node->kind, node->location);
  *copy = *node;
  *promise = (Promise){.wrap = wrap,
                       .from = {.node = copy, .types = names, .values = names, .ranges = names, .of = wrap->node->name},
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

// What a block of settings says in place of the wrapped module; what is named there means something in `scope`.
static void replace(Promise *promise, const Node *setting, Scope *scope) {
  Node *node = promise->from.node;
  if (setting->value) {
    node->value = setting->value;
    promise->from.values = scope;
  }
  if (setting->range) {
    node->range = setting->range;
    promise->from.ranges = scope;
  }
  if (setting->doc) node->doc = setting->doc;
}

// The default that the value of the wrapped module brings.
static void bring(Promise *promise, const Value *module) {
  Value *value = module_setting(module, promise->from.node->name);
  if (!value) return;
  Expr *expr = expr_new(EXPR_INT, value->location);
  expr->constant = value;
  promise->from.node->value = expr;
  if (promise->kind == PROMISE_UNKNOWN) promise->kind = PROMISE_INSIDE;
}

static void decide(Promise *promise);

// Brings a port through the statements around the wrapped module, as far as they pass it on.
static void raise_port(Promise *port, const Level *level) {
  for (; level; level = level->up) {
    const WrappedPort where = wrapped_port(level->wraps, level->body, port->from.node->name);
    if (where == WRAPPED_INSIDE) return;
    // A body that connects its own port itself may give the inner one any lanes.
    if (where == WRAPPED_DECLARED) port = promise_new(port->wrap, port->from.node, port->from.types);
    make_known(port, level->names);
  }
  g_ptr_array_add(port->wrap->members, port);
  decide(port);
}

// The same of a parameter or userpoint.
static void raise_value(Promise *promise, const Level *level) {
  const char *name = promise->from.node->name;
  for (; level; level = level->up) {
    bring(promise, level->brings);
    const Node *setting = wraps_setting(level->wraps, name);
    if (setting) replace(promise, setting, level->names);
    if (wraps_excepts(level->wraps, name) || (setting && setting->kind == NODE_ASSIGN)) return;
    make_known(promise, level->names);
  }
  g_ptr_array_add(promise->wrap->members, promise);
  decide(promise);
}

static Scope *names_of(const Symbol *module) {
  Inst *owner = arena_new(Inst); // its type variables are joined to the instance's by connections
  owner->file = module->file;
  Scope *names = scope_new(compile->globals, owner);
  scope_keep(names);
  return names;
}

static void read_module(Wrap *wrap, const Symbol *module, Scope *names, const Level *level, int depth) {
  if (depth > MAX_WRAPS) {
    problem(wrap->node->location, "runaway", "`%s` wraps itself", module->name);
    compile->halted = true;
    return;
  }
  const GPtrArray *body = module->node->body;
  for (guint i = 0; i < body->len && !compile->halted; i++) {
    const Node *node = body->pdata[i];
    switch (node->kind) {
    case NODE_PARAMETER:
    case NODE_USERPOINT:
    case NODE_PORT:
    case NODE_CONST:
    case NODE_VAR:
    case NODE_CLOCK:
    case NODE_INSTANCE: {
      Promise *promise = promise_new(wrap, node, names);
      const bool valued = node->kind == NODE_CONST || node->kind == NODE_PARAMETER || node->kind == NODE_USERPOINT;
      if (valued && node->value) promise->kind = PROMISE_INSIDE;
      make_known(promise, names);
      if (node->kind == NODE_PORT) raise_port(promise, level);
      if (node->kind == NODE_PARAMETER || node->kind == NODE_USERPOINT) raise_value(promise, level);
      break;
    }
    case NODE_WRAPS: {
      SourceFile *before = compile->reading;
      compile->reading = module->file;
      const Value *brings;
      const Symbol *inner = module_of(names, node->type, &brings);
      compile->reading = before;
      if (inner) read_module(wrap, inner, names_of(inner), &(Level){node, body, names, brings, level}, depth + 1);
      break;
    }
    default: break;
    }
  }
}

// ---- What is passed on
// -------------------------------------------------------------------------------------------------

static bool is_before(Location a, Location b) {
  return a.file == b.file && (a.line < b.line || (a.line == b.line && a.column < b.column));
}

static const char *cure_of(const Promise *promise, const Node *own) {
  const char *name = promise->from.node->name, *instance = promise->wrap->node->name;
  if (promise->from.node->kind == NODE_PORT)
    return arena_printf("connect `%s.%s`, or leave it out with `except %s`", instance, name, name);
  const char *one = own && own->kind == NODE_PORT ? arena_printf("`%s = ...;` in the block sets it", name)
                    : own                         ? arena_printf("`%s;` in the block passes it on", name)
                                                  : arena_printf("`%s;` in the block makes them one", name);
  return arena_printf("%s, `except %s` leaves it at its default", one, name);
}

// False, with an error, when the outer module has a parameter, userpoint or port of this name already.
static bool check_clash(const Promise *promise) {
  const Wrap *wrap = promise->wrap;
  const Node *node = promise->from.node, *own = body_declaration(wrap->outer->body, node->name);
  const Symbol *other = own ? NULL : arena_lookup(wrap->outer->passed_on->names, node->name);
  if (!own && !other) return true;
  const char *name = node->name, *kind = node_kind_name(node->kind), *instance = wrap->node->name;
  const char *cure = cure_of(promise, own);
  if (own && !is_before(own->location, wrap->node->location))
    problem(wrap->node->place, "wraps-clash",
            "`%s` is a %s of `%s`, and a %s of this module, which declares it below: declare it above; %s", name, kind,
            instance, node_kind_name(own->kind), cure);
  else if (own)
    problem(wrap->node->place, "wraps-clash", "`%s` is a %s of `%s`, and a %s of this module: %s", name, kind, instance,
            node_kind_name(own->kind), cure);
  else
    problem(wrap->node->place, "wraps-clash", "`%s` is a %s of `%s`, and of another wrapped module: %s", name, kind,
            instance, cure);
  diag_note(own ? own->place : other->place, "the other is declared here");
  diag_note(node->place, "that of `%s` is declared here", instance);
  return false;
}

static void decide_port(Promise *promise) {
  Wrap *wrap = promise->wrap;
  Inst *outer = wrap->outer, *inner = wrap->insts->pdata[0];
  const char *name = promise->from.node->name;
  const WrappedPort where = outer->module ? wrapped_port(wrap->node, outer->body, name) : WRAPPED_INSIDE;
  if (where == WRAPPED_INSIDE || !check_clash(promise)) return;
  promise->port = declare_port_name(outer->passed_on, promise->from.node);
  if (!promise->port) return;
  promise->port->of = wrap->node->name;
  if (where == WRAPPED_DECLARED) return;
  promise->done = true;
  if (!inner->joined) inner->joined = arena_table();
  g_hash_table_insert(inner->joined, (gpointer)name, promise->port);
  for (guint i = 0; i < promise->symbols->len; i++) {
    Symbol *symbol = promise->symbols->pdata[i];
    symbol->kind = SYMBOL_PORT;
    symbol->port = promise->port;
  }
}

// What `except` names keeps the default that the value of the module brings, if any.
static void leave_inside(const Promise *promise) {
  Value *value = module_setting(promise->wrap->brings, promise->from.node->name);
  for (guint i = 0; value && i < promise->wrap->insts->len; i++)
    give_setting(promise->wrap->insts->pdata[i], promise->from.node->name, value);
}

// As soon as a declaration is read: what follows may depend on it, such as which module is wrapped.
static void decide(Promise *promise) {
  Wrap *wrap = promise->wrap;
  Node *node = promise->from.node;
  if (node->kind == NODE_PORT) {
    decide_port(promise);
    return;
  }
  bring(promise, wrap->brings);
  if (wraps_excepts(wrap->node, node->name)) {
    leave_inside(promise);
    return;
  }
  promise->setting = wraps_setting(wrap->node, node->name);
  if (promise->setting && promise->setting->kind == NODE_ASSIGN) {
    promise->kind = PROMISE_SET;
    return;
  }
  if (!check_clash(promise)) return;
  if (promise->setting) replace(promise, promise->setting, wrap->scope);
  promise->kind = PROMISE_PASSED_ON;
  Symbol *symbol = arena_new(Symbol);
  *symbol = (Symbol){.kind = SYMBOL_PROMISED, .name = node->name, .place = node->place, .promise = promise};
  arena_insert(&wrap->outer->passed_on->names, node->name, symbol);
  promise->outer = promise->from.symbol = symbol;
}

// ---- Keeping a promise
// -----------------------------------------------------------------------------------------------

// What the name means, in all places where it is known.
static void share(const Promise *promise, Symbol meaning) {
  for (guint i = 0; i < promise->symbols->len; i++) {
    Symbol *symbol = promise->symbols->pdata[i];
    meaning.name = symbol->name;
    meaning.place = symbol->place;
    *symbol = meaning;
  }
}

static void give_inside(const Promise *promise) {
  const Symbol *outer = promise->outer;
  const GPtrArray *insts = promise->wrap->insts;
  for (guint i = 0; i < insts->len; i++) {
    Setting *setting = arena_new(Setting);
    *setting = (Setting){.name = outer->name, .place = outer->place, .value = outer->value, .by_wraps = true};
    if (outer->kind == SYMBOL_RUNTIME) setting->alias = outer->parameter;
    if (outer->kind == SYMBOL_USERPOINT) {
      setting->value = outer->userpoint->code;
      setting->by_default = !outer->userpoint->replaced;
    }
    g_ptr_array_add(((Inst *)insts->pdata[i])->settings, setting);
  }
}

static Symbol kept_outside(Promise *promise) {
  Symbol *outer = promise->outer;
  if (promise->from.node->kind == NODE_PARAMETER)
    declare_parameter_from(&promise->from);
  else
    declare_userpoint_from(&promise->from);
  if (outer->kind == SYMBOL_PROMISED)
    *outer = (Symbol){.kind = SYMBOL_VALUE, .name = outer->name, .place = outer->place};
  give_inside(promise);
  return *outer;
}

static Symbol kept_by_setting(const Promise *promise) {
  const Wrap *wrap = promise->wrap;
  const Node *setting = promise->setting;
  const bool known = !setting->bare || can_pass_on(wrap->scope, setting->name);
  if (!known)
    problem(setting->place, "unknown-name",
            "there is no `%s` in this module that `%s;` could pass on; without it `%s` is passed on anyway",
            setting->name, setting->name, setting->name);
  for (guint i = 0; known && i < wrap->insts->len; i++)
    set_parameter(wrap->scope, wrap->insts->pdata[i], setting->name, setting->place, setting->value,
                  wrap->node->value != NULL);
  const Setting *given = find_setting(wrap->insts->pdata[0], setting->name);
  if (promise->from.node->kind == NODE_USERPOINT) {
    Userpoint *userpoint = arena_new(Userpoint);
    *userpoint = (Userpoint){.name = setting->name, .code = given ? given->value : NULL, .replaced = true};
    return (Symbol){.kind = SYMBOL_USERPOINT, .userpoint = userpoint};
  }
  if (given && given->alias) return (Symbol){.kind = SYMBOL_RUNTIME, .value = given->value, .parameter = given->alias};
  Value *value = given ? given->value : NULL;
  const Node *node = promise->from.node;
  if (value)
    value = coerce_to_parameter(promise->from.types, value, node->type,
                                value->location.file ? value->location : setting->place, node->name);
  if (given && given->value && !value)
    diag_note(node->place, "`%s` is declared here as %s", node->name, expr_text(node->type));
  return (Symbol){.kind = SYMBOL_VALUE, .value = value};
}

static Symbol kept_inside(const Promise *promise) {
  const Node *node = promise->from.node;
  Value *value = evaluate(promise->from.values, node->value);
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
  const Wrap *wrap = promise->wrap;
  const char *name = promise->from.node->name;
  const Node *requesting = promise->requested_by ? promise->requested_by->from.node : NULL;
  if (requesting) {
    problem(wrap->node->place, "wraps-default",
            "`%s` needs `%s`, which is known inside `%s` alone: set `%s` in the block, or `except %s`",
            requesting->name, name, wrap->node->name, requesting->name, requesting->name);
    diag_note(requesting->place, "declared here");
  }
  return (Symbol){.kind = SYMBOL_VALUE};
}

static void report_circle(const Promise *promise) {
  const char *name = promise->from.node->name;
  g_autoptr(GString) circle = g_string_new(NULL);
  g_string_printf(circle, "`%s`", name);
  for (const Promise *p = promise->wrap->keeping; p && p != promise; p = p->requested_by) {
    g_autofree char *link = g_strdup_printf("`%s`, which needs ", p->from.node->name);
    g_string_prepend(circle, link);
  }
  problem(promise->from.node->place, "circular", "`%s` is defined by itself: it needs %s", name, circle->str);
  diag_note(promise->wrap->node->place, "wrapped here");
}

static void keep(Promise *promise) {
  if (promise->done) return;
  if (promise->busy) {
    report_circle(promise);
    return;
  }
  Wrap *wrap = promise->wrap;
  promise->busy = true;
  promise->requested_by = wrap->keeping;
  wrap->keeping = promise;
  switch (promise->kind) {
  case PROMISE_PASSED_ON: share(promise, kept_outside(promise)); break;
  case PROMISE_SET: share(promise, kept_by_setting(promise)); break;
  case PROMISE_INSIDE: share(promise, kept_inside(promise)); break;
  case PROMISE_UNKNOWN: share(promise, unknown(promise)); break;
  }
  wrap->keeping = promise->requested_by;
  promise->busy = false;
  promise->done = true;
}

void keep_promise(Symbol *symbol) {
  keep(symbol->promise);
  if (symbol->kind == SYMBOL_PROMISED) symbol->kind = SYMBOL_VALUE, symbol->value = NULL; // a circle
}

// ---- Names that mean two things
// --------------------------------------------------------------------------------------

static bool is_global_value(const char *name) {
  const Symbol *global = arena_lookup(compile->globals->names, name);
  return global && (global->node->kind == NODE_CONST || global->node->kind == NODE_FUNCTION);
}

static bool is_global_module(const char *name) {
  const Symbol *global = arena_lookup(compile->globals->names, name);
  if (global) return global->node->kind == NODE_MODULE;
  g_autoptr(GPtrArray) folders = library_folders(compile->options, compile->running->file->path);
  g_autofree char *path = library_find(folders, name);
  return path != NULL;
}

bool check_passed_name(const Symbol *symbol, Location where) {
  const Inst *inst = compile->running;
  if (!inst || !inst->passed_on || arena_lookup(inst->passed_on->names, symbol->name) != symbol) return true;
  if (symbol->kind == SYMBOL_PORT) return true; // types and bundles have names of ports
  const bool module = symbol->kind == SYMBOL_VALUE && symbol->value && symbol->value->kind == VALUE_MODULE;
  if (!is_global_value(symbol->name) && !(module && is_global_module(symbol->name))) return true;
  const char *of = NULL;
  for (guint i = 0; i < inst->wraps->len && !of; i++) {
    const Wrap *wrap = inst->wraps->pdata[i];
    for (guint k = 0; k < wrap->members->len && !of; k++)
      if (((const Promise *)wrap->members->pdata[k])->outer == symbol) of = wrap->node->name;
  }
  problem(
      where, "ambiguous-name",
      "`%s` comes from the wrapped `%s`, and is a global name as well: `%s.%s` is the first, `except %s` leaves the "
      "second",
      symbol->name, of, of, symbol->name, symbol->name);
  diag_note(symbol->place, "the first is declared here");
  const Symbol *global = arena_lookup(compile->globals->names, symbol->name);
  if (global) diag_note(global->place, "the second is declared here");
  return false;
}

// ---- The statement
// ------------------------------------------------------------------------------------------------------

static const Promise *member_named(const Wrap *wrap, const char *name) {
  for (guint i = 0; i < wrap->members->len; i++) {
    const Promise *promise = wrap->members->pdata[i];
    if (!strcmp(promise->from.node->name, name)) return promise;
  }
  return NULL;
}

static void report_unknown(const Wrap *wrap, const Symbol *module, const char *name, Location place) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < wrap->members->len; i++)
    g_ptr_array_add(names, (gpointer)((const Promise *)wrap->members->pdata[i])->from.node->name);
  problem(place, "unknown-parameter", "module `%s` has no parameter, userpoint or port `%s`%s", module->name, name,
          did_you_mean(diag_suggestion(name, names)));
  diag_note(module->place, "declared here");
}

// What the statement names must be there, once.
static void check_names(const Wrap *wrap, const Symbol *module) {
  const Node *node = wrap->node;
  for (guint i = 0; i < node->arguments->len; i++) {
    const Node *excepted = node->arguments->pdata[i];
    if (!member_named(wrap, excepted->name)) report_unknown(wrap, module, excepted->name, excepted->place);
  }
  for (guint i = 0; wrap->brings && wrap->brings->items && i < wrap->brings->items->len; i++) {
    const char *name = wrap->brings->names->pdata[i];
    const Promise *promise = member_named(wrap, name);
    const Location place = ((const Value *)wrap->brings->items->pdata[i])->location;
    if (!promise || promise->from.node->kind == NODE_PORT) report_unknown(wrap, module, name, place);
  }
  for (guint i = 0; i < node->body->len; i++) {
    const Node *setting = node->body->pdata[i];
    const Promise *promise = member_named(wrap, setting->name);
    const Node *first = wraps_setting(node, setting->name);
    if (first != setting) {
      problem(setting->place, "duplicate-name", "`%s` is set twice", setting->name);
      diag_note(first->place, "first set here");
    } else if (!promise) {
      report_unknown(wrap, module, setting->name, setting->place);
    } else if (promise->from.node->kind == NODE_PORT) {
      problem(setting->place, "unknown-parameter", "`%s` is a port of module `%s`, not a parameter", setting->name,
              module->name);
      diag_note(promise->from.node->place, "declared here");
    } else if (wraps_excepts(node, setting->name)) {
      problem(setting->place, "duplicate-name", "`%s` is set, and left out by `except`", setting->name);
    }
  }
}

static void pass_on(Wrap *wrap, const Symbol *module) {
  Inst *outer = wrap->outer;
  if (!outer->passed_on) {
    outer->passed_on = scope_new(outer->scope->parent, NULL);
    outer->scope->parent = outer->passed_on;
    outer->wraps = arena_array();
    scope_keep(outer->passed_on);
  }
  g_ptr_array_add(outer->wraps, wrap);
  read_module(wrap, module, names_of(module), NULL, 0);
  check_names(wrap, module);
  for (guint i = 0; i < wrap->members->len && !compile->halted; i++) {
    Promise *promise = wrap->members->pdata[i];
    if (promise->kind == PROMISE_PASSED_ON || promise->kind == PROMISE_SET) keep(promise);
  }
  for (guint i = 0; i < wrap->members->len && !compile->halted; i++) {
    Promise *promise = wrap->members->pdata[i];
    if (!promise->port) continue;
    wrap->keeping = promise;
    declare_port_type(promise->from.types, promise->port);
    wrap->keeping = NULL;
  }
}

void execute_wraps(Scope *scope, Node *node) {
  Inst *outer = compile->running;
  if (scope != outer->scope) {
    problem(
        node->location, "misplaced",
        "`wraps` stands at the top of a body, not in a block: what a module declares does not depend on conditions");
    return;
  }
  const Value *value;
  const Symbol *module = module_of(scope, node->type, &value);
  int64_t count = 1;
  const bool counted =
      !node->value || evaluate_int(scope, node->value, "the number of instances", 1, G_MAXINT32, &count);
  Wrap *wrap = arena_new(Wrap);
  *wrap = (Wrap){.outer = outer, .node = node, .scope = scope, .brings = value, .members = arena_array()};
  wrap->insts = make_instances(scope, node, counted ? (Symbol *)module : NULL, count);
  if (!wrap->insts || wrap->insts->len == 0) {
    outer->incomplete = true;
    return;
  }
  for (guint i = 0; i < wrap->insts->len; i++) ((Inst *)wrap->insts->pdata[i])->wrapped = node;
  scope_keep(scope);
  pass_on(wrap, module);
}

void join_wrapped_ports(Inst *inst) {
  for (guint i = 0; inst->wraps && i < inst->wraps->len; i++) {
    const Wrap *wrap = inst->wraps->pdata[i];
    Inst *inner = wrap->insts->pdata[0];
    for (guint k = 0; inner->joined && k < wrap->members->len; k++) {
      const Promise *promise = wrap->members->pdata[k];
      if (promise->port && g_hash_table_contains(inner->joined, promise->port->name))
        connect_whole(inner, promise->port, wrap->node->location);
    }
  }
}
