// `wraps`: an instance whose parameters, userpoints and ports are those of the module around it as well.  What the
// wrapped module declares is its interface (interface.h); here it is decided what of it is set, stays inside or is
// passed on, and what is passed on is declared.
#include "lss/front/wrapped.h"

#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/base/library.h"
#include "lss/elab/interface.h"
#include "lss/elab/value.h"

#include <string.h>

// The statement, in a body that is being run.
typedef struct {
  Interface interface; // the first member: a promise's interface is that of its statement
  Inst *outer;
  Node *node;
  Scope *scope;     // of the body
  GPtrArray *insts; // Inst*: one, or those of an array
  bool by_value;    // the module is that of a parameter or another value
} Wrap;

static Wrap *wrap_of(const Promise *promise) {
  return (Wrap *)promise->interface;
}

// ---- What is passed on -------------------------------------------------------------------------------------

static bool is_before(Location a, Location b) {
  return a.file == b.file && (a.line < b.line || (a.line == b.line && a.column < b.column));
}

static const char *cure_of(const Promise *promise, const Node *own) {
  const char *name = promise->from.node->name, *instance = wrap_of(promise)->node->name;
  if (promise->from.node->kind == NODE_PORT)
    return arena_printf("connect `%s.%s`, or leave it out with `except %s`", instance, name, name);
  const char *one = own && own->kind == NODE_PORT ? arena_printf("`%s = ...;` in the block sets it", name)
                    : own                         ? arena_printf("`%s;` in the block passes it on", name)
                                                  : arena_printf("`%s;` in the block makes them one", name);
  return arena_printf("%s, `except %s` leaves it at its default", one, name);
}

// False, with an error, when the outer module has a parameter, userpoint or port of this name already.
static bool check_clash(const Promise *promise) {
  const Wrap *wrap = wrap_of(promise);
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
  Wrap *wrap = wrap_of(promise);
  Inst *outer = wrap->outer, *inner = wrap->insts->pdata[0];
  const char *name = promise->from.node->name;
  const WrappedPort where =
      outer->module && !outer->machine ? wrapped_port(wrap->node, outer->body, name) : WRAPPED_INSIDE;
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

// What `except` names keeps the default that the value of the module brings, if any, or has what the command line says.
static void leave_inside(Promise *promise) {
  Inst *first = wrap_of(promise)->insts->pdata[0];
  const Setting *defined = compile->defines->len ? defined_setting(first, promise->from.node->name, NULL) : NULL;
  if (defined) promise_give(promise, read_define(defined, promise->from.node));
  Value *value = module_setting(promise->interface->brings, promise->from.node->name);
  for (guint i = 0; value && !defined && i < wrap_of(promise)->insts->len; i++)
    give_setting(wrap_of(promise)->insts->pdata[i], promise->from.node->name, value);
}

// As soon as a declaration is read: what follows may depend on it, such as which module is wrapped.
static void decide(Promise *promise) {
  Wrap *wrap = wrap_of(promise);
  Node *node = promise->from.node;
  if (node->kind == NODE_PORT) {
    decide_port(promise);
    return;
  }
  promise_bring(promise, wrap->interface.brings);
  if (wraps_excepts(wrap->node, node->name)) {
    leave_inside(promise);
    // A body that sets it later says what it is when it runs.
    if (body_sets(wrap->outer->body, wrap->node->name, node->name)) promise->kind = PROMISE_UNKNOWN;
    return;
  }
  promise->setting = wraps_setting(wrap->node, node->name);
  if (promise->setting && promise->setting->kind == NODE_ASSIGN) {
    promise->kind = PROMISE_SET;
    return;
  }
  if (!check_clash(promise)) return;
  if (promise->setting) promise_replace(promise, promise->setting, wrap->scope);
  promise->kind = PROMISE_PASSED_ON;
  Symbol *symbol = arena_new(Symbol);
  *symbol = (Symbol){.kind = SYMBOL_PROMISED, .name = node->name, .place = node->place, .promise = promise};
  arena_insert(&wrap->outer->passed_on->names, node->name, symbol);
  promise->outer = promise->from.symbol = symbol;
}

// ---- What members mean ------------------------------------------------------------------------------------

static void give_inside(const Promise *promise) {
  const Symbol *outer = promise->outer;
  const GPtrArray *insts = wrap_of(promise)->insts;
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
  const Wrap *wrap = wrap_of(promise);
  const Node *setting = promise->setting;
  const bool known = !setting->bare || can_pass_on(wrap->scope, setting->name);
  if (!known && !wrap->outer->wraps_unknown)
    problem(setting->place, "unknown-name",
            "there is no `%s` in this module that `%s;` could pass on; without it `%s` is passed on anyway",
            setting->name, setting->name, setting->name);
  for (guint i = 0; known && i < wrap->insts->len; i++)
    set_parameter(wrap->scope, wrap->insts->pdata[i], setting->name, setting->place, setting->value,
                  wrap->node->value != NULL);
  for (guint i = 0; i < wrap->insts->len; i++)
    if (promise->from.node->kind != NODE_USERPOINT)
      take_module_meant(find_setting(wrap->insts->pdata[i], setting->name), promise->from.node->type);
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

static Symbol kept(Promise *promise) {
  return promise->kind == PROMISE_SET ? kept_by_setting(promise) : kept_outside(promise);
}

// ---- Names that mean two things ----------------------------------------------------------------------------

// What is called so at the top of files, as far as the running body's file knows it.
static const Symbol *global_named(const char *name) {
  return scope_find(file_scope(compile->running->file), name);
}

static bool is_global_value(const char *name) {
  const Symbol *global = global_named(name);
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
    for (guint k = 0; k < wrap->interface.members->len && !of; k++)
      if (((const Promise *)wrap->interface.members->pdata[k])->outer == symbol) of = wrap->node->name;
  }
  problem(
      where, "ambiguous-name",
      "`%s` comes from the wrapped `%s`, and is a global name as well: `%s.%s` is the first, `except %s` leaves the "
      "second",
      symbol->name, of, of, symbol->name, symbol->name);
  diag_note(symbol->place, "the first is declared here");
  const Symbol *global = global_named(symbol->name);
  if (global) diag_note(global->place, "the second is declared here");
  return false;
}

// ---- The statement -----------------------------------------------------------------------------------------

static void report_unknown(const Wrap *wrap, const Symbol *module, const char *name, Location place) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < wrap->interface.members->len; i++)
    g_ptr_array_add(names, (gpointer)((const Promise *)wrap->interface.members->pdata[i])->from.node->name);
  problem(place, "unknown-parameter", "module `%s` has no parameter, userpoint or port `%s`%s", module->name, name,
          did_you_mean(diag_suggestion(name, names)));
  diag_note(module->place, "declared here");
}

// What the statement names must be there, once.
static void check_names(const Wrap *wrap, const Symbol *module) {
  const Node *node = wrap->node;
  for (guint i = 0; i < node->arguments->len; i++) {
    const Node *excepted = node->arguments->pdata[i];
    if (excepted->optional && !wrap->by_value)
      report_optional(excepted);
    else if (!excepted->optional && !interface_member(&wrap->interface, excepted->name))
      report_unknown(wrap, module, excepted->name, excepted->place);
  }
  for (guint i = 0; wrap->interface.brings && wrap->interface.brings->items && i < wrap->interface.brings->items->len;
       i++) {
    const char *name = wrap->interface.brings->names->pdata[i];
    const Promise *promise = interface_member(&wrap->interface, name);
    const Location place = ((const Value *)wrap->interface.brings->items->pdata[i])->location;
    if (!promise || promise->from.node->kind == NODE_PORT) report_unknown(wrap, module, name, place);
  }
  for (guint i = 0; i < node->body->len; i++) {
    const Node *setting = node->body->pdata[i];
    const Promise *promise = interface_member(&wrap->interface, setting->name);
    const Node *first = wraps_setting(node, setting->name);
    if (first != setting) {
      problem(setting->place, "duplicate-name", "`%s` is set twice", setting->name);
      diag_note(first->place, "first set here");
    } else if (setting->optional && !wrap->by_value) {
      report_optional(setting);
    } else if (!promise) {
      if (!setting->optional) report_unknown(wrap, module, setting->name, setting->place);
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
  interface_read(&wrap->interface, module);
  outer->wraps_unknown |= wrap->interface.incomplete;
  if (!wrap->interface.incomplete) check_names(wrap, module);
  for (guint i = 0; i < wrap->interface.members->len && !compile->halted; i++) {
    Promise *promise = wrap->interface.members->pdata[i];
    if (promise->kind == PROMISE_PASSED_ON || promise->kind == PROMISE_SET) promise_keep(promise);
  }
  for (guint i = 0; i < wrap->interface.members->len && !compile->halted; i++) {
    Promise *promise = wrap->interface.members->pdata[i];
    if (!promise->port) continue;
    wrap->interface.keeping = promise;
    declare_port_type(promise->from.types, promise->port);
    wrap->interface.keeping = NULL;
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
  if (module && value && !part_fits(node, outer->body, module, value)) module = NULL;
  int64_t count = 1;
  const bool counted =
      !node->value || evaluate_int(scope, node->value, "the number of instances", 1, G_MAXINT32, &count);
  Wrap *wrap = arena_new(Wrap);
  *wrap = (Wrap){.outer = outer, .node = node, .scope = scope, .by_value = value != NULL};
  wrap->insts = make_instances(scope, node, counted ? (Symbol *)module : NULL, NULL, count);
  if (!wrap->insts || wrap->insts->len == 0) {
    outer->incomplete = outer->wraps_unknown = true;
    return;
  }
  const Inst *first = wrap->insts->pdata[0];
  wrap->interface = (Interface){.name = node->name,
                                .path = first->instance->path,
                                .location = node->location,
                                .place = node->place,
                                .running = outer,
                                .brings = value,
                                .decide = decide,
                                .keep = kept};
  for (guint i = 0; i < wrap->insts->len; i++) {
    Inst *inst = wrap->insts->pdata[i];
    inst->wrapped = node;
    inst->being_wrapped = true;
  }
  scope_keep(scope);
  pass_on(wrap, module);
  for (guint i = 0; i < wrap->insts->len; i++) ((Inst *)wrap->insts->pdata[i])->being_wrapped = false;
}

void join_wrapped_ports(Inst *inst) {
  for (guint i = 0; inst->wraps && i < inst->wraps->len; i++) {
    const Wrap *wrap = inst->wraps->pdata[i];
    Inst *inner = wrap->insts->pdata[0];
    for (guint k = 0; inner->joined && k < wrap->interface.members->len; k++) {
      const Promise *promise = wrap->interface.members->pdata[k];
      if (promise->port && g_hash_table_contains(inner->joined, promise->port->name))
        connect_whole(inner, promise->port, wrap->node->location);
    }
  }
}
