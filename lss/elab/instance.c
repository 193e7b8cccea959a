// Instances: their creation, the settings that parents make, and running bodies, each after its parent's whole body.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/base/library.h"
#include "lss/base/working.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"

#include <string.h>

enum { MAX_DEPTH_OF_INSTANCES = 200 };

const char *inst_path_of(const Inst *inst, const char *name) {
  return *inst->instance->path ? arena_printf("%s.%s", inst->instance->path, name) : arena_strdup(name);
}

const char *inst_title(const Inst *inst) {
  return inst->parent ? arena_printf("instance `%s`", inst->instance->path) : "the top module";
}

bool inst_ends(const Inst *inst) {
  return inst->instance->leaf || inst->like;
}

Inst *inst_new(Inst *parent, Symbol *module, const char *name, Location place) {
  Inst *inst = arena_new(Inst);
  Instance *instance = arena_new(Instance);
  inst->instance = instance;
  inst->module = module;
  inst->parent = parent;
  inst->children = arena_array();
  inst->settings = arena_array();
  inst->port_list = arena_array();
  inst->behaviours = arena_array();
  inst->scope = scope_new(file_scope(module ? module->file : NULL), inst);
  instance->name = name;
  instance->module_name = module ? module->name : "top";
  instance->children = arena_array();
  instance->parameters = arena_array();
  instance->userpoints = arena_array();
  instance->ports = arena_array();
  instance->state = arena_array();
  instance->locals = arena_array();
  instance->events = arena_array();
  instance->functions = arena_array();
  instance->type_variables = arena_array();
  instance->location = place;
  instance->path = parent ? inst_path_of(parent, name) : "";
  if (module) {
    inst->file = module->file;
    inst->body = module->node->body;
    if (module->node->machine) take_machine(inst, module->node->machine);
    instance->doc = module->node->doc;
  }
  if (parent) {
    inst->depth = parent->depth + 1;
    instance->parent = parent->instance;
    g_ptr_array_add(parent->children, inst);
    g_ptr_array_add(parent->instance->children, instance);
  }
  return inst;
}

// ---- Creation ----------------------------------------------------------------------------------------------

static Inst *create(Inst *parent, Symbol *module, const char *name, Location place) {
  if (parent->depth + 1 > MAX_DEPTH_OF_INSTANCES) {
    problem(place, "runaway", "instances are nested more than %d deep; does `%s` contain itself?",
            MAX_DEPTH_OF_INSTANCES, module->name);
    compile->halted = true;
    return NULL;
  }
  if ((int)compile->netlist->instances->len >= compile->options->max_instances) {
    problem(place, "runaway", "more than %d instances; --max-instances raises the bound",
            compile->options->max_instances);
    compile->halted = true;
    return NULL;
  }
  Inst *inst = inst_new(parent, module, name, place);
  working_step();
  g_ptr_array_add(compile->netlist->instances, inst->instance);
  return inst;
}

bool can_pass_on(Scope *scope, const char *name) {
  const Symbol *symbol = scope_find(scope, name);
  return symbol && !(symbol->kind == SYMBOL_DECLARATION && symbol->node->kind == NODE_MODULE);
}

// Of a block of settings one.
static void execute_setting(Scope *scope, Inst *inst, const Node *node, bool of_all) {
  if (!node->bare || can_pass_on(scope, node->name)) {
    set_parameter(scope, inst, node->name, node->place, node->value, of_all);
    Setting *setting = node->optional ? find_setting(inst, node->name) : NULL;
    if (setting) setting->optional = true;
    return;
  }
  Setting *setting = arena_new(Setting);
  *setting =
      (Setting){.name = node->name, .place = node->place, .absent = true, .of_all = of_all, .optional = node->optional};
  g_ptr_array_add(inst->settings, setting);
}

// The value behind `on`; NULL after an error.
static Value *clock_named(Scope *scope, Expr *expr) {
  if (expr->kind != EXPR_NAME || scope_find(scope, expr->text)) return evaluate(scope, expr);
  const char *near = scope_suggestion(scope, expr->text);
  problem(expr->location, "unknown-name", "there is no clock `%s` here%s", expr->text,
          near ? did_you_mean(near) : arena_printf("; `clock %s = 200 MHz;` declares one", expr->text));
  return NULL;
}

GPtrArray *make_instances(Scope *scope, Node *node, Symbol *module, const Value *each, int64_t count) {
  Inst *parent = compile->running;
  Value *clock = node->clock ? clock_named(scope, node->clock) : NULL;
  if (clock && clock->kind != VALUE_CLOCK) {
    problem(node->clock->location, "value-type", "`on` takes a clock, not %s", value_kind_text(clock));
    clock = NULL;
  }
  // Instances belong to the module, even when they are created inside an if or a loop.
  Symbol *symbol =
      scope_declare(parent->scope, node->value ? SYMBOL_INSTANCES : SYMBOL_INSTANCE, node->name, node->place);
  if (!symbol) return NULL;
  if (!module && !each) {
    // Poison: a name that is known, and about which nothing more is said.
    symbol->kind = SYMBOL_VALUE;
    return NULL;
  }
  GPtrArray *insts = arena_array();
  for (int64_t i = 0; i < (node->value ? count : 1); i++) {
    const char *name = node->value ? arena_printf("%s[%" G_GINT64_FORMAT "]", node->name, i) : node->name;
    const Value *chosen = each ? each->items->pdata[i] : NULL;
    Symbol *its = chosen ? module_named(chosen) : module;
    Inst *inst = charge(1, node->location) ? create(parent, its, name, node->location) : NULL;
    if (!inst) return NULL;
    inst->chosen = chosen;
    inst->clock_value = clock;
    inst->has_clock_clause = node->clock != NULL;
    inst->clock_place = node->clock ? node->clock->location : node->location;
    inst->part = node->part || its->node->part;
    if (node->doc) inst->instance->doc = node->doc;
    g_ptr_array_add(insts, inst);
  }
  symbol->insts = insts;
  symbol->inst = node->value ? NULL : insts->pdata[0];
  return insts;
}

void report_optional(const Node *setting) {
  problem(setting->location, "misplaced",
          "`optional` is for instances whose module comes by a value: what this one has is known");
}

// Of a block of settings the one with this number; `by_value`: the module is not named there.
static bool check_setting(const Node *instance, guint number, bool by_value) {
  const Node *setting = instance->body->pdata[number];
  if (setting->kind == NODE_DEFAULT) {
    problem(setting->location, "misplaced", "`default` is for `wraps`; `%s = ...;` sets it", setting->name);
    return false;
  }
  if (setting->optional && !by_value) {
    report_optional(setting);
    return false;
  }
  for (guint i = 0; i < number; i++) {
    const Node *other = instance->body->pdata[i];
    if (strcmp(other->name, setting->name) != 0) continue;
    problem(setting->place, "duplicate-name", "`%s` is set twice", setting->name);
    diag_note(other->place, "first set here");
    return false;
  }
  return true;
}

void execute_instance(Scope *scope, Node *node) {
  const Value *value;
  Symbol *module = node->value ? module_or_list(scope, node->type, &value) : module_of(scope, node->type, &value);
  const Value *each = module ? NULL : value;
  const GPtrArray *body = compile->running->body;
  if (module && value && !part_fits(node, body, module, value)) module = NULL;
  for (guint i = 0; each && i < each->items->len; i++) {
    const Value *one = value->items->pdata[i];
    if (!part_fits(node, body, module_named(one), one)) each = NULL;
  }
  int64_t count = 0;
  bool counted = !node->value || evaluate_int(scope, node->value, "the number of instances", 0, G_MAXINT32, &count);
  if (each && counted && count != each->items->len) {
    problem(node->type->location, "value-type",
            "`%s` has %u module%s, and there are %" G_GINT64_FORMAT " instances of them: `%s[length(...)]`",
            expr_text(node->type), each->items->len, each->items->len == 1 ? "" : "s", count, node->name);
    each = NULL;
  }
  GPtrArray *insts = make_instances(scope, node, counted ? module : NULL, counted ? each : NULL, count);
  for (guint i = 0; insts && i < insts->len; i++) {
    Inst *inst = insts->pdata[i];
    if (!inst->chosen) inst->chosen = value;
    give_settings(inst, inst->chosen);
  }
  for (guint k = 0; insts && k < node->body->len; k++) {
    const Node *setting = node->body->pdata[k];
    if (!check_setting(node, k, value != NULL)) continue;
    for (guint i = 0; i < insts->len; i++) execute_setting(scope, insts->pdata[i], setting, node->value != NULL);
  }
}

// ---- Settings ----------------------------------------------------------------------------------------------

void set_parameter(Scope *scope, Inst *inst, const char *name, Location place, Expr *expr, bool of_all) {
  Operand operand = resolve(scope, expr);
  Parameter *alias = operand.kind == OPERAND_RUNTIME ? operand.symbol->parameter : NULL;
  Value *value = NULL;
  switch (operand.kind) {
  case OPERAND_NONE: break;
  case OPERAND_VALUE: value = operand.value; break;
  case OPERAND_RUNTIME: value = alias->value; break;
  case OPERAND_USERPOINT: value = operand.userpoint->code; break; // passed on as it is
  default: value = evaluate(scope, expr); break;
  }
  Setting *setting = find_setting(inst, name);
  if (setting && setting->by_module) {
    problem(place, "set-twice", "`%s` of %s is set here; the module's value cannot bring it too", name,
            inst_title(inst));
    diag_note(setting->place, "it brings this");
    return;
  }
  for (guint i = 0; inst->left_alone && i < inst->left_alone->len; i++) {
    const Setting *read = inst->left_alone->pdata[i];
    if (strcmp(read->name, name) != 0) continue;
    problem(place, "set-after-read", "`%s` of %s is set after it was read", name, inst_title(inst));
    diag_note(read->read_place, "its default was read here");
    return;
  }
  if (setting && setting->by_machine) {
    report_fixed_by_machine(setting, place);
    return;
  }
  if (setting && setting->by_wraps) {
    problem(place, "not-assignable", "`%s` of %s is passed on by `wraps`; set it in its block", name, inst_title(inst));
    diag_note(inst->wrapped->place, "wrapped here");
    return;
  }
  if (setting && setting->was_read) {
    problem(place, "set-after-read", "`%s` of %s is set after it was read", name, inst_title(inst));
    diag_note(setting->read_place, "read here");
    return;
  }
  if (!setting) {
    setting = arena_new(Setting);
    setting->name = name;
    g_ptr_array_add(inst->settings, setting);
  }
  if (setting->place.file && (of_all || !setting->of_all)) {
    diag_warning(place, "set-twice", "`%s` of %s is set again; its first value has no effect", name, inst_title(inst));
    diag_note(setting->place, "first set here");
  }
  setting->of_all = of_all;
  setting->place = place;
  setting->value = value ? value_at(value, expr->location) : NULL;
  setting->alias = alias;
  setting->by_default = operand.kind == OPERAND_USERPOINT && !operand.userpoint->replaced;
}

// A list is looked through: there are few, and most instances have none.
Setting *find_setting(const Inst *inst, const char *name) {
  for (guint i = 0; i < inst->settings->len; i++) {
    Setting *setting = inst->settings->pdata[i];
    if (!strcmp(setting->name, name)) return setting;
  }
  return NULL;
}

Setting *read_setting(Inst *inst, const char *name, Location place) {
  Setting *setting = find_setting(inst, name);
  if (!setting) return NULL;
  setting->was_read = true;
  setting->read_place = place;
  return setting;
}

// ---- Bodies ------------------------------------------------------------------------------------------------

static void check_settings(Inst *inst) {
  check_machine_settings(inst);
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < inst->instance->parameters->len; i++)
    g_ptr_array_add(names, (gpointer)((Parameter *)inst->instance->parameters->pdata[i])->name);
  for (guint i = 0; i < inst->instance->userpoints->len; i++)
    g_ptr_array_add(names, (gpointer)((Userpoint *)inst->instance->userpoints->pdata[i])->name);
  for (guint i = 0; i < inst->settings->len; i++) {
    Setting *setting = inst->settings->pdata[i];
    if (setting->used || setting->optional) continue;
    const char *near = did_you_mean(diag_suggestion(setting->name, names));
    PortDecl *port = find_declared_port(inst, setting->name);
    if (port) {
      problem(setting->place, "unknown-parameter", "`%s` is a port of module `%s`, not a parameter", setting->name,
              inst->module->name);
      diag_note(port->node->place, "declared here");
      continue;
    }
    if (inst->module) {
      problem(setting->place, "unknown-parameter", "module `%s` has no parameter `%s`%s", inst->module->name,
              setting->name, near);
      diag_note(inst->module->place, "declared here");
    } else {
      problem(setting->place, "unknown-parameter", "the machine has no parameter `%s`%s", setting->name, near);
    }
  }
}

// Whether statements that were not reached this time would create instances or connections.
static bool builds_structure(GPtrArray *nodes) {
  for (guint i = 0; nodes && i < nodes->len; i++) {
    Node *node = nodes->pdata[i];
    if (node_makes_instances(node) || node->kind == NODE_CONNECT) return true;
    if (node_is_block(node) && (builds_structure(node->body) || builds_structure(node->other))) return true;
  }
  return false;
}

static void check_kind(Inst *inst) {
  if (!inst->module) {
    if (inst->behaviour)
      problem(inst->behaviour->location, "misplaced", "the top of a machine has no behaviour; put it into a module");
    return;
  }
  if (inst->behaviour && inst->structure) {
    problem(inst->behaviour->location, "mixed-module", "module `%s` has both behaviour and instances or connections",
            inst->module->name);
    diag_note(inst->structure->location, "this makes it hierarchical");
  } else if (!inst->behaviour && !inst->structure && !builds_structure(inst->body)) {
    problem(inst->module->place, "no-behaviour", "module `%s` has neither behaviour nor instances", inst->module->name);
    diag_note(inst->instance->location, "instantiated here");
  }
}

// Whether the body of a part is run last, or not at all (lss/attach/likeness.c).
static bool waits(Inst *inst) {
  if (!compile->options->parts || compile->in_part || !inst->part) return false;
  g_ptr_array_add(compile->waiting, inst);
  return true;
}

void inst_run(Inst *inst) {
  Inst *before = compile->running;
  compile->running = inst;
  g_ptr_array_add(compile->insts, inst);
  g_hash_table_remove_all(compile->state_names);
  g_hash_table_remove_all(compile->event_names);
  g_hash_table_remove_all(compile->handler_names);
  execute_all(inst->scope, inst->body);
  // What a body that gave up or left something out has not said would look like faults of those inside.
  if (inst->punted || inst->incomplete || compile->halted) {
    compile->running = before;
    return;
  }
  join_wrapped_ports(inst);
  check_settings(inst);
  check_kind(inst);
  check_part_ports(inst);
  for (guint i = 0; i < inst->children->len && !compile->halted; i++)
    if (!waits(inst->children->pdata[i])) inst_run(inst->children->pdata[i]);
  compile->running = before;
}
