// lss export: the resolved netlist as JSON.
//
//   {"file", "sources": [...],
//    "clocks":      [{"name", "hertz_numerator", "hertz_denominator"}],
//    "types":       [{"name", "c_name", "kind", "bits"?, "fields"?: [{"name","type","least"?,"most"?,"doc"}],
//                     "enumerators"?: [{"name","value"}], "element"?, "length"?}],
//    "instances":   [{"path", "module", "parent", "clock", "leaf", "part"?, "cut"?, "doc",
//                     "parameters": [{"name","type","runtime","constant"?,"init"?,"alias_of"?,"of"?,"value","doc"}],
//                     "ports":          [{"name","direction","type","of"?,"width"?,"doc"}],
//                     "state":          [{"name","type","dimensions","unit","kind","difference"?,
//                                         "ranges"?: [{"member"?,"least"?,"most"?}],"doc"}],
//                     "events":         [{"name","doc","arguments"}],
//                     "type_variables": [{"name","type"}],
//                     "userpoints":     [{"name","result","arguments","replaced","code"}],
//                     "locals":         [{"name","type","lanes"}],
//                     "functions":      [{"name","lane"?,"partial"?,"clock","parameter"?,"port"?,"reads","writes"}]}],
//    "connections": [{"from","from_lane","from_key"?,"to","to_lane","to_key"?,"type"}],
//    "collectors":  [{"name","event","shared","on": [...]}],
//    "debug_views": [{"name","instance","roles": {role: state},"properties"?: {name: text},
//                     "regions"?: [{"first","last","state","names"?: {name: offset}}]}],
//    "derived":     [{"path","name","unit","expression","doc"}],
//    "balances":    [{"path","kind","text","lane"?,"doc"}]}      kind: "conservation", "identity"
//
// Quantities are numbers in the units that module code sees (Hz, bytes, bit/s, femtoseconds); enumerators, clocks,
// types and modules are their names.  What has a ? is there only where it applies; "difference" is false in a gauge;
// "part" is true of a part of a network, and "cut" is that of a crossing, in femtoseconds.
#include "lss/commands/export.h"
#include "lss/elab/value.h"

#include "lss/runtime/text/json.h"

#include <string.h>

static void export_value(Json *json, const Value *value);

static const char *enumerator_name(const Type *type, int64_t value) {
  for (guint i = 0; type && i < type->enumerators->len; i++) {
    const Enumerator *e = g_ptr_array_index(type->enumerators, i);
    if (e->value == value) return e->name;
  }
  return NULL;
}

static void export_quantity(Json *json, const Value *value) {
  // Times are given in femtoseconds, as in module code, since seconds would seldom be whole.
  __int128 num = (__int128)value->num * (value->dimension == DIM_TIME ? 1000000000000000LL : 1);
  if (num % value->den == 0 && num / value->den <= INT64_MAX && num / value->den >= INT64_MIN)
    json_int(json, (int64_t)(num / value->den));
  else
    json_real(json, (double)num / (double)value->den);
}

static void export_record(Json *json, const Value *value) {
  json_open(json, '{');
  for (guint i = 0; i < value->items->len; i++) {
    json_key(json, g_ptr_array_index(value->names, i));
    export_value(json, g_ptr_array_index(value->items, i));
  }
  json_close(json, '}');
}

static void export_value(Json *json, const Value *value) {
  if (!value) {
    json_string(json, NULL);
    return;
  }
  switch (value->kind) {
  case VALUE_INT: json_int(json, value->integer); break;
  case VALUE_BOOL: json_bool(json, value->integer != 0); break;
  case VALUE_FLOAT: json_real(json, value->real); break;
  case VALUE_QUANTITY: export_quantity(json, value); break;
  case VALUE_ENUM: {
    const char *name = enumerator_name(value->type, value->integer);
    if (name)
      json_string(json, name);
    else
      json_int(json, value->integer);
    break;
  }
  case VALUE_LIST:
    json_open(json, '[');
    for (guint i = 0; i < value->items->len; i++) export_value(json, g_ptr_array_index(value->items, i));
    json_close(json, ']');
    break;
  case VALUE_RECORD: export_record(json, value); break;
  case VALUE_CLOCK: json_string(json, value->clock->name); break;
  case VALUE_TYPE: json_string(json, value->type->name); break;
  case VALUE_MODULE: json_string(json, value_text(value)); break;
  case VALUE_STRING:
  case VALUE_CODE: json_string(json, value->string); break;
  }
}

static const char *kind_name(TypeKind kind) {
  static const char *const names[] = {"bool", "int",    "uint",  "bits",   "packed", "float",
                                      "enum", "struct", "array", "string", "stream"};
  return names[kind];
}

static void export_bounds(Json *json, const Bounds *bounds) {
  if (bounds->least != G_MININT64) json_member_int(json, "least", bounds->least);
  if (bounds->most != G_MAXINT64) json_member_int(json, "most", bounds->most);
}

static void export_fields(Json *json, const char *key, const GPtrArray *fields) {
  json_open_member(json, key, '[');
  for (guint i = 0; i < fields->len; i++) {
    const Field *field = g_ptr_array_index(fields, i);
    json_open(json, '{');
    json_member(json, "name", field->name);
    json_member(json, "type", field->type->name);
    if (field->bits) json_member_int(json, "first", field->first);
    if (field->bits) json_member_int(json, "bits", field->bits);
    if (field->bounds) export_bounds(json, field->bounds);
    if (field->doc) json_member(json, "doc", field->doc);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static bool has_width(const Type *type) {
  return type->kind == TYPE_INT || type->kind == TYPE_UINT || type->kind == TYPE_BITS || type->kind == TYPE_PACKED ||
         type->kind == TYPE_FLOAT;
}

static void export_type(Json *json, const Type *type) {
  json_open(json, '{');
  json_member(json, "name", type->name);
  json_member(json, "c_name", type->c_name);
  json_member(json, "kind", kind_name(type->kind));
  if (has_width(type)) json_member_int(json, "bits", type->bits);
  if (type->fields) export_fields(json, "fields", type->fields);
  if (type->kind == TYPE_ENUM) {
    json_open_member(json, "enumerators", '[');
    for (guint i = 0; i < type->enumerators->len; i++) {
      const Enumerator *e = g_ptr_array_index(type->enumerators, i);
      json_open(json, '{');
      json_member(json, "name", e->name);
      json_member_int(json, "value", e->value);
      json_close(json, '}');
    }
    json_close(json, ']');
  }
  if (type->kind == TYPE_ARRAY) {
    json_member(json, "element", type->element->name);
    json_member_int(json, "length", type->length);
  }
  json_close(json, '}');
}

static void export_parameters(Json *json, const Instance *instance) {
  json_open_member(json, "parameters", '[');
  for (guint i = 0; i < instance->parameters->len; i++) {
    const Parameter *parameter = g_ptr_array_index(instance->parameters, i);
    json_open(json, '{');
    json_member(json, "name", parameter->name);
    json_member(json, "type", parameter->type_name);
    json_member_bool(json, "runtime", parameter->runtime);
    if (parameter->constant) json_member_bool(json, "constant", true);
    if (parameter->initial) json_member_bool(json, "init", true);
    if (parameter->alias_of) json_member(json, "alias_of", parameter->alias_of);
    if (parameter->of) json_member(json, "of", parameter->of);
    json_key(json, "value");
    export_value(json, parameter->value);
    json_member(json, "doc", parameter->doc);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void export_ports(Json *json, const Instance *instance) {
  json_open_member(json, "ports", '[');
  for (guint i = 0; i < instance->ports->len; i++) {
    const Port *port = g_ptr_array_index(instance->ports, i);
    json_open(json, '{');
    json_member(json, "name", port->name);
    json_member(json, "direction", port->output ? "out" : "in");
    json_member(json, "type", port->type ? port->type->name : NULL);
    if (port->of) json_member(json, "of", port->of);
    if (instance->leaf) json_member_int(json, "width", port->lanes->len);
    json_member(json, "doc", port->doc);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void export_ranges(Json *json, const StateField *field) {
  if (!field->ranges) return;
  json_open_member(json, "ranges", '[');
  for (guint i = 0; i < field->ranges->len; i++) {
    const StateRange *range = &g_array_index(field->ranges, StateRange, i);
    json_open(json, '{');
    if (*range->member) json_member(json, "member", range->member);
    if (range->modulus) json_member_int(json, "modulo", range->modulus);
    export_bounds(json, &range->bounds);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void export_state(Json *json, const Instance *instance) {
  static const char *const kinds[STATE_KINDS] = {"behaviour", "instant", "stamp", "counter",
                                                 "trace",     "flight",  "memory"};
  json_open_member(json, "state", '[');
  for (guint i = 0; i < instance->state->len; i++) {
    const StateField *field = g_ptr_array_index(instance->state, i);
    json_open(json, '{');
    json_member(json, "name", field->name);
    json_member(json, "type", field->type->name);
    json_open_member(json, "dimensions", '[');
    for (guint d = 0; d < field->dimensions->len; d++) json_int(json, g_array_index(field->dimensions, int, d));
    json_close(json, ']');
    json_member(json, "unit", field->unit);
    json_member(json, "kind", field->statistic ? "statistic" : kinds[field->kind]);
    if (field->gauge) json_member_bool(json, "difference", false);
    export_ranges(json, field);
    json_member(json, "doc", field->doc);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void export_events(Json *json, const Instance *instance) {
  json_open_member(json, "events", '[');
  for (guint i = 0; i < instance->events->len; i++) {
    const Event *event = g_ptr_array_index(instance->events, i);
    json_open(json, '{');
    json_member(json, "name", event->name);
    json_member(json, "doc", event->doc);
    export_fields(json, "arguments", event->arguments);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void export_instance(Json *json, const Netlist *netlist, const Instance *instance) {
  json_open(json, '{');
  json_member(json, "path", instance->path);
  json_member(json, "module", instance->module_name);
  json_member(json, "parent", instance->parent ? instance->parent->path : NULL);
  json_member(json, "clock", instance->clock ? instance->clock->name : NULL);
  json_member_bool(json, "leaf", instance->leaf != NULL);
  for (guint i = 0; i < netlist->parts->len; i++)
    if (((const Part *)netlist->parts->pdata[i])->instance == instance) json_member_bool(json, "part", true);
  if (instance->leaf && instance->leaf->crossing && instance->cut) {
    json_key(json, "cut");
    export_quantity(json, instance->cut);
  }
  json_member(json, "doc", instance->doc);
  export_parameters(json, instance);
  export_ports(json, instance);
  export_state(json, instance);
  export_events(json, instance);
  export_instance_behaviour(json, instance);
  json_close(json, '}');
}

static void export_connection(Json *json, const Connection *connection) {
  g_autofree char *from = g_strdup_printf("%s.%s", connection->from->instance->path, connection->from->name);
  g_autofree char *to = g_strdup_printf("%s.%s", connection->to->instance->path, connection->to->name);
  json_open(json, '{');
  json_member(json, "from", from);
  json_member_int(json, "from_lane", connection->from_lane);
  const char *from_key = port_key(connection->from, connection->from_lane);
  if (from_key) json_member(json, "from_key", from_key);
  json_member(json, "to", to);
  json_member_int(json, "to_lane", connection->to_lane);
  const char *to_key = port_key(connection->to, connection->to_lane);
  if (to_key) json_member(json, "to_key", to_key);
  json_member(json, "type", connection->type->name);
  json_close(json, '}');
}

// The name of a statistic as simulators write it: an element of an array with its indices.
static char *statistic_name(const DerivedStep *step) {
  GString *name = g_string_new(NULL);
  if (*step->instance->path) g_string_append_printf(name, "%s.", step->instance->path);
  g_string_append(name, step->field->name);
  int below = 1;
  const GArray *dimensions = step->field->dimensions;
  for (guint d = 0; d < dimensions->len; d++) below *= g_array_index(dimensions, int, d);
  for (guint d = 0, rest = (guint)step->index; d < dimensions->len; d++) {
    below /= g_array_index(dimensions, int, d);
    g_string_append_printf(name, "[%u]", rest / (guint)below);
    rest %= (guint)below;
  }
  return g_string_free(name, FALSE);
}

// The expression of a derived statistic, with whole paths: (cpu.writeback.instructions / cycles(clk)).
static char *derived_expression(const Derived *derived) {
  g_autoptr(GPtrArray) stack = g_ptr_array_new();
  g_autoptr(GByteArray) is_sum = g_byte_array_new(); // whether each on the stack is a sum
  for (guint i = 0; i < derived->steps->len; i++) {
    const DerivedStep *step = &g_array_index(derived->steps, DerivedStep, i);
    char *text;
    if (step->kind == 's') {
      text = statistic_name(step);
    } else if (step->kind == 'c') {
      text = g_strdup_printf("cycles(%s)", derived->instance->clock->name);
    } else if (step->kind == 'n') {
      text = g_strdup_printf("%.17g", step->number);
    } else {
      g_autofree char *right = g_ptr_array_steal_index(stack, stack->len - 1);
      g_autofree char *left = g_ptr_array_steal_index(stack, stack->len - 1);
      const bool sum = step->kind == '+' && is_sum->len > 1 && is_sum->data[is_sum->len - 2];
      if (sum) left[strlen(left) - 1] = '\0'; // a sum over an array is one pair of parentheses
      text = g_strdup_printf(sum ? "%s %c %s)" : "(%s %c %s)", left, step->kind, right);
      g_byte_array_set_size(is_sum, is_sum->len - 2);
    }
    g_ptr_array_add(stack, text);
    g_byte_array_append(is_sum, &(guint8){step->kind == '+'}, 1);
  }
  return g_ptr_array_steal_index(stack, 0);
}

static void export_derived(Json *json, const Netlist *netlist) {
  json_open_member(json, "derived", '[');
  for (guint i = 0; i < netlist->derived->len; i++) {
    const Derived *derived = g_ptr_array_index(netlist->derived, i);
    g_autofree char *expression = derived_expression(derived);
    json_open(json, '{');
    json_member(json, "path", derived->instance->path);
    json_member(json, "name", derived->name);
    json_member(json, "unit", derived->unit);
    json_member(json, "expression", expression);
    json_member(json, "doc", derived->doc);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void export_balances(Json *json, const Netlist *netlist) {
  json_open_member(json, "balances", '[');
  for (guint i = 0; i < netlist->balances->len; i++) {
    const Balance *balance = g_ptr_array_index(netlist->balances, i);
    if (balance->suspected) continue;
    json_open(json, '{');
    json_member(json, "path", balance->instance->path);
    json_member(json, "kind", balance->conserves ? "conservation" : "identity");
    json_member(json, "text", balance->text);
    if (balance->lane >= 0) json_member_int(json, "lane", balance->lane);
    json_member(json, "doc", balance->doc);
    json_close(json, '}');
  }
  json_close(json, ']');
}

bool export_netlist(const Netlist *netlist, FILE *out) {
  Json json;
  json_start_stream(&json, out);
  json_open(&json, '{');
  json_member(&json, "file", netlist->file);
  json_open_member(&json, "sources", '[');
  for (guint i = 0; i < netlist->sources->len; i++) json_string(&json, g_ptr_array_index(netlist->sources, i));
  json_close(&json, ']');
  json_open_member(&json, "clocks", '[');
  for (guint i = 0; i < netlist->clocks->len; i++) {
    const Clock *clock = g_ptr_array_index(netlist->clocks, i);
    json_open(&json, '{');
    json_member(&json, "name", clock->name);
    json_member_int(&json, "hertz_numerator", clock->num);
    json_member_int(&json, "hertz_denominator", clock->den);
    json_close(&json, '}');
  }
  json_close(&json, ']');
  json_open_member(&json, "types", '[');
  for (guint i = 0; i < netlist->types->len; i++) export_type(&json, g_ptr_array_index(netlist->types, i));
  json_close(&json, ']');
  json_open_member(&json, "instances", '[');
  for (guint i = 0; i < netlist->instances->len; i++)
    export_instance(&json, netlist, g_ptr_array_index(netlist->instances, i));
  json_close(&json, ']');
  json_open_member(&json, "connections", '[');
  for (guint i = 0; i < netlist->connections->len; i++)
    export_connection(&json, g_ptr_array_index(netlist->connections, i));
  json_close(&json, ']');
  export_instrumentation(&json, netlist);
  export_derived(&json, netlist);
  export_balances(&json, netlist);
  json_close(&json, '}');
  return json_finish_stream(&json);
}
