// The names of a simulator as JSON; see list.h.
#include "lss/runtime/run/list.h"

#include "lss/runtime/engine/settings.h"
#include "lss/runtime/observe/statistics.h"

static const spinach_machine *const machine = &spinach_machine_table;

static void write_clocks(Json *json) {
  json_open_member(json, "clocks", '[');
  for (uint32_t i = 0; i < machine->clock_count; i++) {
    const spinach_clock *clock = &machine->clocks[i];
    g_autofree char *hertz = g_strdup_printf("%" G_GINT64_FORMAT "/%" G_GINT64_FORMAT, clock->num, clock->den);
    json_open(json, '{');
    json_member(json, "name", clock->name);
    json_member(json, "hertz", hertz);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void write_parameters(Json *json) {
  json_open_member(json, "parameters", '[');
  for (uint32_t i = 0; i < machine->parameter_count; i++) {
    const spinach_parameter *parameter = &machine->parameters[i];
    spinach_parameter untargeted = *parameter;
    untargeted.target_count = 0; // its default, not its value
    g_autofree char *text = spinach_parameter_text(&untargeted);
    json_open(json, '{');
    json_member(json, "name", parameter->name);
    json_open_member(json, "aliases", '[');
    for (const char *const *alias = parameter->aliases; alias && *alias; alias++) json_string(json, *alias);
    json_close(json, ']');
    json_member(json, "type", parameter->type);
    json_member(json, "default", text);
    if (parameter->initial) json_member_bool(json, "init", true);
    json_member(json, "description", parameter->doc);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void write_events(Json *json) {
  json_open_member(json, "events", '[');
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const spinach_layout *layout = machine->instances[i].layout;
    for (uint32_t k = 0; layout && k < layout->event_count; k++) {
      json_open(json, '{');
      json_member(json, "path", machine->instances[i].path);
      json_member(json, "name", layout->events[k].name);
      json_member(json, "arguments", layout->events[k].arguments);
      json_member(json, "description", layout->events[k].doc);
      json_close(json, '}');
    }
  }
  json_close(json, ']');
}

char *spinach_list_json(void) {
  Json json;
  json_start(&json);
  json_open(&json, '{');
  json_member(&json, "machine", machine->file);
  write_clocks(&json);
  write_parameters(&json);
  spinach_statistics_names(&json);
  write_events(&json);
  json_close(&json, '}');
  return json_finish(&json);
}
