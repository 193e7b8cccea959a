// What instances do, and what observes them, as JSON: the parts of the export that export.c puts in its places.
#include "lss/commands/export.h"

#include "lss/runtime/text/json.h"

static void export_signals(Json *json, const char *key, const GArray *signals) {
  static const char *const kinds[] = {"data", "enable", "ack"};
  json_open_member(json, key, '[');
  for (guint i = 0; i < signals->len; i++) {
    const Signal *signal = &g_array_index(signals, Signal, i);
    g_autofree char *text = !signal->local
                                ? g_strdup_printf("%s[%d].%s", signal->port->name, signal->lane, kinds[signal->kind])
                            : signal->local->lanes ? g_strdup_printf("%s[%d]", signal->local->name, signal->lane)
                                                   : g_strdup(signal->local->name);
    json_string(json, text);
  }
  json_close(json, ']');
}

static void export_functions(Json *json, const Instance *instance) {
  json_open_member(json, "functions", '[');
  for (guint i = 0; i < instance->functions->len; i++) {
    const Function *function = instance->functions->pdata[i];
    json_open(json, '{');
    json_member(json, "name", function->name);
    if (function->indexed) json_member_int(json, "lane", function->lane);
    if (function->partial) json_member_bool(json, "partial", true);
    json_member(json, "clock", function->clock->name);
    if (function->parameter) json_member(json, "parameter", function->parameter->name);
    if (function->domain_port) json_member(json, "port", function->domain_port->name);
    export_signals(json, "reads", function->reads);
    export_signals(json, "writes", function->writes);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void export_typed(Json *json, const char *name, const Type *type) {
  json_open(json, '{');
  json_member(json, "name", name);
  json_member(json, "type", type->name);
  json_close(json, '}');
}

void export_instance_behaviour(Json *json, const Instance *instance) {
  json_open_member(json, "type_variables", '[');
  for (guint i = 0; i < instance->type_variables->len; i++) {
    const Field *field = instance->type_variables->pdata[i];
    export_typed(json, field->name, field->type);
  }
  json_close(json, ']');
  json_open_member(json, "userpoints", '[');
  for (guint i = 0; i < instance->userpoints->len; i++) {
    const Userpoint *userpoint = instance->userpoints->pdata[i];
    json_open(json, '{');
    json_member(json, "name", userpoint->name);
    json_member(json, "result", userpoint->result->name);
    json_open_member(json, "arguments", '[');
    for (guint a = 0; a < userpoint->arguments->len; a++) {
      const Field *field = userpoint->arguments->pdata[a];
      export_typed(json, field->name, field->type);
    }
    json_close(json, ']');
    json_member_bool(json, "replaced", userpoint->replaced);
    json_member(json, "code", userpoint->code->string);
    json_close(json, '}');
  }
  json_close(json, ']');
  json_open_member(json, "locals", '[');
  for (guint i = 0; i < instance->locals->len; i++) {
    const Local *local = instance->locals->pdata[i];
    json_open(json, '{');
    json_member(json, "name", local->name);
    json_member(json, "type", local->type->name);
    json_member_int(json, "lanes", local->lanes);
    json_close(json, '}');
  }
  json_close(json, ']');
  export_functions(json, instance);
}

static void export_collector(Json *json, const Collector *collector) {
  json_open(json, '{');
  json_member(json, "name", collector->name);
  json_member(json, "event", collector->event);
  json_member_bool(json, "shared", collector->shared);
  json_open_member(json, "on", '[');
  for (guint i = 0; i < collector->instances->len; i++)
    json_string(json, ((Instance *)collector->instances->pdata[i])->path);
  for (guint i = 0; i < collector->connections->len; i++) {
    const Connection *connection = collector->connections->pdata[i];
    g_autofree char *text =
        g_strdup_printf("%s.%s[%d]", connection->from->instance->path, connection->from->name, connection->from_lane);
    json_string(json, text);
  }
  json_close(json, ']');
  json_close(json, '}');
}

// "core.list.pc", "core.list.pc[1]", "core.list.op[0..31]", by the number of the element where there are dimensions.
static void append_state(GString *text, const DebugState *state) {
  guint64 all = 1;
  for (guint d = 0; d < state->field->dimensions->len; d++)
    all *= (guint64)g_array_index(state->field->dimensions, int, d);
  g_string_append_printf(text, "%s.%s", state->instance->path, state->field->name);
  if (state->count == all) return;
  g_string_append_printf(text, "[%" G_GUINT64_FORMAT, state->first);
  if (state->count > 1) g_string_append_printf(text, "..%" G_GUINT64_FORMAT, state->first + state->count - 1);
  g_string_append_c(text, ']');
}

static void export_region(Json *json, const DebugRegion *region) {
  json_open(json, '{');
  json_key(json, "first");
  json_int(json, region->first);
  json_key(json, "last");
  json_int(json, region->last);
  g_autoptr(GString) text = g_string_new(NULL);
  append_state(text, &region->state);
  json_member(json, "state", text->str);
  if (region->names->len) json_open_member(json, "names", '{');
  for (guint i = 0; i < region->names->len; i++) {
    const DebugName *name = &g_array_index(region->names, DebugName, i);
    json_key(json, name->name);
    json_int(json, name->offset);
  }
  if (region->names->len) json_close(json, '}');
  json_close(json, '}');
}

static void export_view(Json *json, const DebugView *view) {
  json_open(json, '{');
  json_member(json, "name", view->name);
  json_member(json, "instance", view->instance->path);
  json_open_member(json, "roles", '{');
  for (guint i = 0; i < view->roles->len; i++) {
    const DebugRole *role = view->roles->pdata[i];
    g_autoptr(GString) text = g_string_new(NULL);
    append_state(text, &role->state);
    if (role->map.field) append_state(g_string_append(text, " through "), &role->map);
    json_member(json, role->role, text->str);
  }
  json_close(json, '}');
  if (view->properties->len) {
    json_open_member(json, "properties", '{');
    for (guint i = 0; i < view->properties->len; i++) {
      const DebugProperty *property = &g_array_index(view->properties, DebugProperty, i);
      json_member(json, property->name, property->value);
    }
    json_close(json, '}');
  }
  if (view->regions->len) {
    json_open_member(json, "regions", '[');
    for (guint i = 0; i < view->regions->len; i++) export_region(json, view->regions->pdata[i]);
    json_close(json, ']');
  }
  json_close(json, '}');
}

void export_instrumentation(Json *json, const Netlist *netlist) {
  json_open_member(json, "collectors", '[');
  for (guint i = 0; i < netlist->collectors->len; i++) export_collector(json, netlist->collectors->pdata[i]);
  json_close(json, ']');
  json_open_member(json, "debug_views", '[');
  for (guint i = 0; i < netlist->debug_views->len; i++) export_view(json, netlist->debug_views->pdata[i]);
  json_close(json, ']');
}
