// Declarations inside a module: parameters, userpoints, ports, state, locals, statistics, events, clocks, behaviour.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/bounds.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/range.h"
#include "lss/elab/value.h"

#include <string.h>

enum { MAX_STATE_LENGTH = G_MAXINT32, MAX_LOCAL_LANES = 1 << 20 };

// ---- Parameters and userpoints -----------------------------------------------------------------------------

// A setting from the command line is text: an expression, or, for strings, the text itself.
Value *read_define(const Setting *setting, const Node *node) {
  const char *text = setting->define;
  Location start = setting->place;
  bool is_string = node->type->kind == EXPR_NAME && !strcmp(node->type->text, "string");
  if (is_string && *text != '"') return value_string(arena_strdup(text), start);
  Expr *expr = parse_expression(text, strlen(text), start);
  if (!expr) return NULL;
  compile->like = part_of_default(node);
  Value *value = evaluate(compile->globals, expr);
  compile->like = NULL;
  return value;
}

static void missing(Inst *inst, Node *node, const char *what) {
  if (inst->module) {
    problem(inst->instance->location, "parameter-missing", "%s must be given the %s `%s`", inst_title(inst), what,
            node->name);
    diag_note(node->place, "declared here, without a default");
  } else {
    problem(node->place, "parameter-missing", "the machine needs the %s `%s`: lss ... -D %s=VALUE", what, node->name,
            node->name);
  }
}

static Setting *take_setting(Inst *inst, const char *name) {
  Setting *setting = find_setting(inst, name);
  if (compile->defines->len) setting = defined_setting(inst, name, setting);
  if (!setting) return NULL;
  setting->used = true;
  if (setting->absent) {
    problem(setting->place, "unknown-name", "there is no `%s` in this module that `%s;` could pass on", name, name);
    setting->absent = false;
  }
  return setting;
}

// The symbol of what is declared in the running body: a new one, or the one that was promised.
static Symbol *symbol_of(const Declaration *from, SymbolKind kind) {
  if (!from->symbol) return scope_declare(compile->running->scope, kind, from->node->name, from->node->place);
  from->symbol->kind = kind;
  return from->symbol;
}

void declare_parameter_from(const Declaration *of) {
  Declaration replaced = *of;
  const Declaration *from = &replaced;
  replace_by_machine(compile->running->machine, &replaced);
  Node *node = from->node;
  Scope *scope = from->types;
  Inst *inst = compile->running;
  Setting *setting = take_setting(inst, node->name);
  take_module_meant(setting, node->type);
  check_c_name(node->name, node->place, "a parameter");
  Value *value = NULL, *least = NULL, *most = NULL;
  if (parameter_type_valid(scope, node->type, node->runtime)) {
    Location where = setting ? setting->place : node->place;
    if (setting) {
      value = setting->define ? read_define(setting, node) : setting->value;
      if (value && value->location.file) where = value->location;
    } else if (node->value) {
      value = evaluate(from->values, node->value);
      where = node->value->location;
    } else {
      missing(inst, node, "parameter");
    }
    if (setting && setting->alias && !node->runtime) {
      problem(setting->place, "runtime-parameter",
              "`%s` of module `%s` is no runtime parameter; the value of `%s` is not known yet", node->name,
              inst->module ? inst->module->name : "top", setting->alias->name);
      diag_note(node->place, "declared here");
      value = NULL;
    }
    int errors = diag_error_count();
    if (value) value = coerce_to_parameter(scope, value, node->type, where, node->name);
    if (!value && diag_error_count() > errors && setting)
      diag_note(node->place, "`%s` is declared here as %s", node->name, expr_text(node->type));
    if (range_evaluate(from->ranges, node, &least, &most) && value && !range_check(node, value, least, most, where))
      value = NULL;
  }
  const char *type_text = node->type_name ? node->type_name : (node->type_name = expr_text(node->type));
  Symbol *symbol = symbol_of(from, node->runtime ? SYMBOL_RUNTIME : SYMBOL_VALUE);
  if (!symbol) return;
  symbol->value = value;
  Parameter *parameter = arena_new(Parameter);
  *parameter = (Parameter){.name = node->name,
                           .doc = node->doc,
                           .runtime = node->runtime,
                           .initial = node->initial,
                           .of = from->of,
                           .type_name = type_text,
                           .value = value,
                           .least = least,
                           .most = most,
                           .location = node->location};
  if (value) parameter->record_type = parameter_record_type(scope, node->type);
  if (setting && setting->alias)
    parameter->alias_of =
        setting->alias->alias_of ? setting->alias->alias_of : inst_path_of(inst->parent, setting->alias->name);
  symbol->parameter = parameter;
  if (value) g_ptr_array_add(inst->instance->parameters, parameter);
}

void declare_parameter(Scope *scope, Node *node) {
  declare_parameter_from(&(Declaration){.node = node, .types = scope, .values = scope, .ranges = scope});
}

// How a parameter of this value would be declared; NULL when C has nothing to hold it.
static const char *type_of_constant(const Value *value) {
  if (value->kind == VALUE_LIST) {
    const Value *first = value->items->len ? value->items->pdata[0] : NULL;
    const char *element = first && first->kind != VALUE_LIST ? type_of_constant(first) : first ? NULL : "int";
    for (guint i = 1; element && i < value->items->len; i++) {
      const Value *item = value->items->pdata[i];
      const bool alike = item->kind == first->kind && item->type == first->type && item->dimension == first->dimension;
      if (!alike) element = NULL;
    }
    return element ? arena_printf("%s[]", element) : NULL;
  }
  switch (value->kind) {
  case VALUE_INT: return "int";
  case VALUE_BOOL: return "bool";
  case VALUE_FLOAT: return "float";
  case VALUE_STRING: return "string";
  case VALUE_QUANTITY: return dimension_name(value->dimension);
  case VALUE_ENUM:
  case VALUE_RECORD: return value->type ? value->type->name : NULL;
  default: return NULL;
  }
}

void declare_constant(Scope *scope, Node *node) {
  Inst *inst = compile->running;
  check_c_name(node->name, node->place, "a constant");
  Value *value = evaluate(scope, node->value);
  Symbol *symbol = scope_declare(inst->scope, SYMBOL_VALUE, node->name, node->place);
  if (!symbol || !value) return;
  symbol->value = value;
  const Setting *setting = take_setting(inst, node->name);
  if (setting) {
    problem(setting->place, "unknown-parameter", "`%s` is a constant of module `%s`, not a parameter", node->name,
            inst->module->name);
    diag_note(node->place, "declared here");
  }
  const char *type = type_of_constant(value);
  if (!type) return; // for the body only
  Parameter *parameter = arena_new(Parameter);
  *parameter = (Parameter){.name = node->name,
                           .doc = node->doc,
                           .constant = true,
                           .type_name = type,
                           .record_type = value->kind == VALUE_RECORD ? value->type : NULL,
                           .value = value,
                           .location = node->location};
  if (value->kind == VALUE_LIST && value->items->len) parameter->record_type = ((Value *)value->items->pdata[0])->type;
  symbol->parameter = parameter;
  g_ptr_array_add(inst->instance->parameters, parameter);
}

static void declare_arguments(Scope *scope, GPtrArray *nodes, GPtrArray *fields, const char *what) {
  for (guint i = 0; i < nodes->len; i++) {
    Node *node = nodes->pdata[i];
    check_c_name(node->name, node->place, "an argument");
    for (guint k = 0; k < i; k++) {
      if (strcmp(((Node *)nodes->pdata[k])->name, node->name) != 0) continue;
      problem(node->place, "duplicate-name", "the argument `%s` is declared twice", node->name);
    }
    Term *term = evaluate_term(scope, node->type);
    for (guint d = node->dimensions->len; term && d-- > 0;) {
      int64_t n;
      term = evaluate_int(scope, node->dimensions->pdata[d], "the length of an array", 1, MAX_LOCAL_LANES, &n)
                 ? checked_array(term, n, node->place)
                 : NULL;
    }
    if (!term) continue;
    Field *field = arena_new(Field);
    field->name = node->name;
    g_ptr_array_add(fields, field);
    pending_type(term, &field->type, node->place, what, true, NULL);
  }
}

void declare_userpoint_from(const Declaration *of) {
  Declaration replaced = *of;
  const Declaration *from = &replaced;
  replace_by_machine(compile->running->machine, &replaced);
  Node *node = from->node;
  Scope *scope = from->types;
  Inst *inst = compile->running;
  Setting *setting = take_setting(inst, node->name);
  check_c_name(node->name, node->place, "a userpoint");
  Userpoint *userpoint = arena_new(Userpoint);
  *userpoint = (Userpoint){.name = node->name,
                           .doc = node->doc,
                           .arguments = arena_array(),
                           .replaced = setting && !setting->by_default,
                           .of = from->of,
                           .location = node->location};
  declare_arguments(scope, node->arguments, userpoint->arguments, "the argument of a userpoint");
  Term *result = evaluate_term(scope, node->type);
  if (result) pending_type(result, &userpoint->result, node->type->location, "the result of a userpoint", true, NULL);
  Value *code = setting ? setting->value : node->value ? evaluate(from->values, node->value) : NULL;
  Location where = setting ? setting->place : node->place;
  if (!setting && !node->value) missing(inst, node, "userpoint");
  if (setting && setting->define) {
    problem(where, "parameter-type", "the userpoint `%s` cannot be given on the command line", node->name);
  } else if (code && code->kind != VALUE_CODE) {
    problem(code->location.file ? code->location : where, "parameter-type",
            "the userpoint `%s` takes C code <<< ... >>>, not %s", node->name, value_kind_text(code));
    diag_note(node->place, "declared here");
    code = NULL;
  }
  userpoint->code = code;
  Symbol *symbol = symbol_of(from, SYMBOL_USERPOINT);
  if (!symbol) return;
  symbol->userpoint = userpoint;
  if (code) g_ptr_array_add(inst->instance->userpoints, userpoint);
}

void declare_userpoint(Scope *scope, Node *node) {
  declare_userpoint_from(&(Declaration){.node = node, .types = scope, .values = scope});
}

// ---- Ports -------------------------------------------------------------------------------------------------

static void add_member(PortDecl *decl, const char *path, bool output, Term *term, const char *doc) {
  PortMember *member = arena_new(PortMember);
  Port *port = arena_new(Port);
  member->decl = decl;
  member->path = path;
  member->port = port;
  member->term = term;
  member->outer = arena_array();
  member->inner = arena_array();
  port->name = path ? arena_printf("%s.%s", decl->name, path) : decl->name;
  char *c_name = arena_strdup(port->name);
  for (char *c = c_name; *c; c++)
    if (*c == '.') *c = '_';
  port->c_name = c_name;
  port->doc = doc ? doc : decl->node->doc;
  port->of = decl->of;
  port->output = output;
  port->optional = decl->optional;
  port->paced = decl->node->paced;
  port->lanes = arena_array();
  port->instance = decl->inst->instance;
  port->location = decl->node->location;
  port->id = (int)decl->inst->instance->ports->len;
  for (guint i = 0; i < decl->inst->instance->ports->len; i++) {
    Port *other = decl->inst->instance->ports->pdata[i];
    if (strcmp(other->c_name, port->c_name) != 0) continue;
    problem(decl->node->place, "duplicate-name", "the ports `%s` and `%s` would both be called `%s` in C", other->name,
            port->name, c_name);
    diag_note(other->location, "the other is declared here");
  }
  g_ptr_array_add(decl->inst->instance->ports, port);
  g_ptr_array_add(decl->members, member);
  if (term) pending_type(term, &port->type, decl->node->place, port->name, true, NULL);
}

PortDecl *find_declared_port(const Inst *inst, const char *name) {
  const Symbol *symbol = arena_lookup(inst->scope->names, name);
  if ((!symbol || symbol->kind != SYMBOL_PORT) && inst->passed_on) symbol = arena_lookup(inst->passed_on->names, name);
  return symbol && symbol->kind == SYMBOL_PORT ? symbol->port : NULL;
}

PortDecl *declare_port_name(Scope *names, Node *node) {
  Inst *inst = compile->running;
  check_c_name(node->name, node->place, "a port");
  if (!inst->module && !node->optional) {
    problem(node->location, "misplaced",
            "nothing is outside the top of a machine: its ports are `optional`, for a machine of which it is a part");
    return NULL;
  }
  Symbol *symbol = scope_declare(names, SYMBOL_PORT, node->name, node->place);
  if (!symbol) return NULL;
  PortDecl *decl = arena_new(PortDecl);
  *decl = (PortDecl){.name = node->name,
                     .inst = inst,
                     .node = node,
                     .output = node->output,
                     .optional = node->optional,
                     .members = arena_array()};
  symbol->port = decl;
  g_ptr_array_add(inst->port_list, decl);
  return decl;
}

void declare_port_type(Scope *scope, PortDecl *decl) {
  Node *node = decl->node;
  GPtrArray *members = evaluate_bundle(scope, node->type, &decl->is_bundle, &decl->bundle);
  if (!decl->is_bundle) {
    add_member(decl, NULL, node->output, evaluate_term(scope, node->type), node->doc);
    if (node->type->kind == EXPR_TYPE_VARIABLE)
      ((PortMember *)decl->members->pdata[0])->port->variable = node->type->text;
  }
  for (guint i = 0; members && i < members->len; i++) {
    BundleMember *member = members->pdata[i];
    add_member(decl, member->path, member->forward == node->output, member->term, member->doc);
  }
  check_port_keys(decl);
}

void declare_port_like(const PortDecl *like) {
  PortDecl *decl = declare_port_name(compile->running->scope, like->node);
  if (!decl) return;
  decl->is_bundle = like->is_bundle;
  decl->bundle = like->bundle;
  decl->of = like->of;
  for (guint i = 0; i < like->members->len; i++) {
    const PortMember *member = like->members->pdata[i];
    add_member(decl, member->path, member->port->output, member->term, member->port->doc);
  }
  check_port_keys(decl);
}

void declare_port(Scope *scope, Node *node) {
  PortDecl *decl = declare_port_name(compile->running->scope, node);
  if (decl) declare_port_type(scope, decl);
}

// ---- State, statistics, locals, events ---------------------------------------------------------------------

static void unique(GHashTable *names, Node *node, const char *what) {
  Node *other = g_hash_table_lookup(names, node->name);
  if (other) {
    problem(node->place, "duplicate-name", "the %s `%s` is declared twice", strchr(what, ' ') + 1, node->name);
    diag_note(other->place, "first declared here");
  }
  g_hash_table_insert(names, (gpointer)node->name, node);
  check_c_name(node->name, node->place, what);
}

// What a kind demands of the fields that are of it.
static void check_kind(const Node *node) {
  const guint dimensions = node->dimensions->len;
  if (node->state == STATE_TRACE && dimensions > 1)
    problem(node->location, "state-kind", "a trace is one value, or a ring of the latest: `%s` has %u dimensions",
            node->name, dimensions);
  if (node->state == STATE_MEMORY && dimensions == 0)
    problem(node->location, "state-kind", "a memory is an array: `%s` has no length", node->name);
  if (node->state == STATE_FLIGHT && dimensions != 1)
    problem(node->location, "state-kind", "a flight is a ring of items: `%s` needs one length, `%s[n]`", node->name,
            node->name);
}

static void add_place(GPtrArray *places, GArray *ranges, const char *name, int64_t most, Location location) {
  Field *place = arena_new(Field);
  *place = (Field){.name = name, .type = type_simple(TYPE_UINT, 32)};
  g_ptr_array_add(places, place);
  const StateRange range = {.member = name, .bounds = {0, most}, .location = location};
  g_array_append_val(ranges, range);
}

// The field that a flight is, and the two that belong to it.
static void add_flight(Node *node, Term *term, StateField *flight) {
  Inst *inst = compile->running;
  const int slots = g_array_index(flight->dimensions, int, 0);
  if (slots < 1) {
    problem(node->location, "state-kind", "a flight has at least one slot: `%s` has none", node->name);
    return;
  }
  StateField *arrives = arena_new(StateField), *item = arena_new(StateField);
  *arrives = *item = *flight;
  arrives->flight = item->flight = flight;
  arrives->name = arena_printf("%s_arrives", node->name);
  arrives->doc = arena_printf("When items of `%s` arrive.", node->name);
  arrives->kind = STATE_STAMP;
  arrives->type = type_simple(TYPE_UINT, 64);
  item->name = arena_printf("%s_item", node->name);
  item->doc = arena_printf("The items of `%s`.", node->name);
  item->kind = STATE_BEHAVIOUR;
  flight->dimensions = compile->nothing;
  flight->ranges = arena_garray(sizeof(StateRange));
  GPtrArray *places = arena_array();
  add_place(places, flight->ranges, "head", slots - 1, node->location);
  add_place(places, flight->ranges, "tail", slots - 1, node->location);
  add_place(places, flight->ranges, "held", slots, node->location);
  flight->type = type_struct("flight.places", "flight_places", places);
  pending_type(term, &item->type, node->type->location, node->name, true, item);
  StateField *const all[] = {flight, arrives, item};
  for (gsize i = 0; i < G_N_ELEMENTS(all); i++) {
    Node *named = node_new(NODE_FIELD, node->location);
    named->name = all[i]->name;
    named->place = node->place;
    if (i > 0) unique(compile->state_names, named, "a state field");
    g_ptr_array_add(inst->instance->state, all[i]);
  }
}

static void add_state(Scope *scope, Node *node, bool statistic) {
  Inst *inst = compile->running;
  unique(compile->state_names, node, statistic ? "a statistic" : "a state field");
  check_kind(node);
  StateField *field = arena_new(StateField);
  *field = (StateField){.name = node->name,
                        .doc = node->doc,
                        .kind = node->state,
                        .statistic = statistic,
                        .gauge = node->gauge,
                        .unit = node->text,
                        .location = node->location};
  field->dimensions = node->dimensions->len ? arena_garray(sizeof(int)) : compile->nothing;
  int64_t total = 1;
  for (guint i = 0; i < node->dimensions->len; i++) {
    Expr *dimension = node->dimensions->pdata[i];
    int64_t n;
    if (!evaluate_int(scope, dimension, "the length of an array", 0, MAX_STATE_LENGTH, &n)) return;
    int length = (int)n;
    g_array_append_val(field->dimensions, length);
    if (__builtin_mul_overflow(total, MAX(n, 1), &total) || total > (int64_t)1 << 40) {
      problem(dimension->location, "overflow", "`%s` has more elements than memory can hold", node->name);
      return;
    }
  }
  Term *term = evaluate_term(scope, node->type);
  if (!term) return;
  if (node->within) bounds_of_state(scope, node->within, field);
  if (node->value) {
    field->initial = evaluate(scope, node->value);
    if (!field->initial) return;
  }
  if (field->kind == STATE_FLIGHT) {
    if (field->dimensions->len == 1) add_flight(node, term, field);
    return;
  }
  pending_type(term, &field->type, node->type->location, node->name, false, field);
  g_ptr_array_add(inst->instance->state, field);
}

static void mark_behaviour(Node *node) {
  Inst *inst = compile->running;
  if (!inst->behaviour) inst->behaviour = node;
}

void declare_state(Scope *scope, Node *node) {
  mark_behaviour(node);
  for (guint i = 0; i < node->body->len; i++) {
    Node *item = node->body->pdata[i];
    if (item->kind == NODE_RANGE)
      bounds_of_state_member(scope, item);
    else
      add_state(scope, item, false);
  }
}

void declare_attached(GPtrArray *kind, Scope *scope, Node *node) {
  Attached *attached = arena_new(Attached);
  *attached = (Attached){node, compile->running, scope};
  scope_keep(scope);
  g_ptr_array_add(kind, attached);
}

void declare_derived(Scope *scope, Node *node) {
  unique(compile->state_names, node, "a statistic");
  declare_attached(compile->derived, scope, node);
}

void declare_stat(Scope *scope, Node *node) {
  mark_behaviour(node);
  add_state(scope, node, true);
}

void declare_cut(Scope *scope, Node *node) {
  Inst *inst = compile->running;
  mark_behaviour(node);
  if (!inst->module || !inst->module->node->crossing) {
    problem(node->location, "misplaced", "only a crossing can be cut: `module NAME crossing { cut ...; }`");
    return;
  }
  if (inst->instance->cut) {
    problem(node->location, "duplicate-name", "a crossing has one `cut`");
    diag_note(inst->instance->cut_place, "first declared here");
    return;
  }
  const Value *least = evaluate(scope, node->value);
  if (!least) return;
  const bool time = least->kind == VALUE_QUANTITY && least->dimension == DIM_TIME;
  if (!time || least->num < 0) {
    problem(node->value->location, "value-type",
            "a cut is a time of 0 or more, the least from one end of the crossing to the other, not %s",
            time ? "a negative one" : value_kind_text(least));
    return;
  }
  inst->instance->cut = least;
  inst->instance->cut_place = node->location;
}

void declare_local(Scope *scope, Node *node) {
  Inst *inst = compile->running;
  mark_behaviour(node);
  check_c_name(node->name, node->place, "a local");
  Symbol *symbol = scope_declare(inst->scope, SYMBOL_LOCAL, node->name, node->place);
  if (!symbol) return;
  Local *local = arena_new(Local);
  *local = (Local){.name = node->name,
                   .specialize = node->specialize,
                   .location = node->location,
                   .id = (int)inst->instance->locals->len};
  symbol->local = local;
  int64_t lanes = 0;
  if (node->dimensions->len > 1) problem(node->place, "value-type", "a local has one dimension at most: its lanes");
  if (node->dimensions->len == 1 &&
      !evaluate_int(scope, node->dimensions->pdata[0], "the number of lanes", 0, MAX_LOCAL_LANES, &lanes))
    lanes = 0;
  local->lanes = (int)lanes;
  Term *term = evaluate_term(scope, node->type);
  if (!term) return;
  if (node->specialize && (node->dimensions->len || term_type(term) != type_builtin("bool")))
    problem(node->place, "value-type", "a specialize local is one bool");
  pending_type(term, &local->type, node->type->location, node->name, true, NULL);
  // A local of no lanes at all has no signals and is left out.
  if (node->dimensions->len == 0 || lanes > 0) g_ptr_array_add(inst->instance->locals, local);
  local->id = (int)inst->instance->locals->len - 1;
}

void declare_event(Scope *scope, Node *node) {
  Inst *inst = compile->running;
  if (is_connection_event(node->name))
    problem(node->place, "duplicate-name", "`%s` is an event that every connection has", node->name);
  unique(compile->event_names, node, "an event");
  Event *event = arena_new(Event);
  *event = (Event){.name = node->name,
                   .doc = node->doc,
                   .arguments = arena_array(),
                   .location = node->location,
                   .id = (int)inst->instance->events->len};
  declare_arguments(scope, node->arguments, event->arguments, "the argument of an event");
  g_ptr_array_add(inst->instance->events, event);
}

// ---- Clocks and behaviour ----------------------------------------------------------------------------------

void declare_clock(Scope *scope, Node *node) {
  Inst *inst = compile->running;
  Value *value = evaluate(scope, node->value);
  Symbol *symbol = scope_declare(inst->scope, SYMBOL_VALUE, node->name, node->place);
  if (!symbol || !value) return;
  if (value->kind == VALUE_CLOCK) { // another name for it
    symbol->value = value;
    return;
  }
  bool frequency = value->kind == VALUE_QUANTITY && value->dimension == DIM_FREQUENCY;
  if (!frequency) {
    problem(node->value->location, "unit", "a clock is a frequency (Hz, kHz, MHz, GHz), not %s",
            value_kind_text(value));
    return;
  }
  if (value->num <= 0) {
    problem(node->value->location, "unit", "a clock's frequency is above zero, not %s", value_text(value));
    return;
  }
  Clock *clock = arena_new(Clock);
  *clock = (Clock){.name = inst_path_of(inst, node->name),
                   .num = value->num,
                   .den = value->den,
                   .id = (int)compile->netlist->clocks->len,
                   .location = node->location};
  g_ptr_array_add(compile->netlist->clocks, clock);
  symbol->value = value_new(VALUE_CLOCK, node->location);
  symbol->value->clock = clock;
}

void declare_behaviour(Scope *scope, Node *node) {
  Inst *inst = compile->running;
  (void)scope;
  mark_behaviour(node);
  if (node->function == FUNCTION_HANDLER || node->function == FUNCTION_RESET) {
    Node *other = g_hash_table_lookup(compile->handler_names, node->name);
    const bool resets = other && other->function == FUNCTION_RESET && node->function == FUNCTION_RESET;
    if (other && other != node && !resets) {
      problem(node->place, "duplicate-name", "the handler `%s` is declared twice", node->name);
      diag_note(other->place, "first declared here");
      return;
    }
    g_hash_table_insert(compile->handler_names, (gpointer)node->name, node);
    check_c_name(node->name, node->place, "a handler");
  }
  g_ptr_array_add(inst->behaviours, node);
}
