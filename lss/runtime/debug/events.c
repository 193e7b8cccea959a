// Events out of the block that generated code fills; see events.h.
#include "lss/runtime/debug/events.h"

#include "lss/runtime/engine/condition.h"
#include "lss/runtime/text/pattern.h"
#include "lss/runtime/trace/format.h"
#include "lss/runtime/trace/record.h"
#include "lss/runtime/trace/recorder.h"

static const spinach_machine *const machine = &spinach_machine_table;
static GArray *sources, *events; // TraceSource, Event
static GByteArray *records;      // of blocks that were full, then all at a look
static uint8_t *block;
static uint64_t start; // the instant from which the first record counts

static void empty_block(void) {
  g_byte_array_append(records, block, (guint)(spinach_recorder.at - block));
  spinach_recorder.at = block;
}

void events_begin(void) {
  events = g_array_new(FALSE, FALSE, sizeof(Event));
  records = g_byte_array_new();
  if (machine->records && machine->records[0]) sources = spinach_recorder_listen(empty_block);
  if (!sources) return;
  block = g_malloc(TRACE_BLOCK);
  spinach_recorder.at = block;
  spinach_recorder.end = block + TRACE_BLOCK;
}

static bool connections_are_recorded(const char *pattern, int kind) {
  for (uint32_t i = 0; i < machine->connection_count; i++)
    if (spinach_connection_matches(pattern, &machine->connections[i]) &&
        !(machine->connections[i].recorded >> kind & 1))
      return false;
  return true;
}

bool events_are_recorded(const char *pattern, const char *event) {
  const int kind = spinach_connection_event(event);
  if (kind >= 0) return connections_are_recorded(pattern, kind);
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const spinach_layout *layout = machine->instances[i].layout;
    if (!layout || !spinach_path_matches(pattern, machine->instances[i].path)) continue;
    for (uint32_t k = 0; k < layout->event_count; k++)
      if (!strcmp(layout->events[k].name, event) && !layout->events[k].recorded) return false;
  }
  return true;
}

void events_collect(bool on) {
  if (!sources) return;
  spinach_recorder.on = on;
  spinach_recorder.at = block;
  g_byte_array_set_size(records, 0);
  start = spinach_recorder.last;
}

const GArray *events_look(void) {
  g_array_set_size(events, 0);
  if (!sources || (spinach_recorder.at == block && !records->len)) return events;
  static GByteArray *seen; // what the events of this look point to
  if (!seen) seen = g_byte_array_new();
  empty_block();
  GByteArray *full = records;
  records = seen;
  seen = full;
  g_byte_array_set_size(records, 0);
  for (const uint8_t *at = seen->data, *end = at + seen->len; at < end;) {
    uint16_t number;
    uint64_t ticks;
    at = spinach_record_head(at, &number, &ticks);
    start += ticks;
    const TraceSource *source = &g_array_index(sources, TraceSource, number);
    const Event event = {start, source, at};
    g_array_append_val(events, event);
    at += trace_source_size(source);
  }
  return events;
}

// ---- One of them ----------------------------------------------------------------------------------------------------

static const uint8_t *find(const Event *event, const char *name, const struct spinach_type **type) {
  const uint8_t *at = event->arguments;
  for (const spinach_argument *argument = event->source->arguments; argument->name; argument++) {
    *type = argument->type;
    if (!strcmp(argument->name, name)) return at;
    at += argument->type->size;
  }
  return NULL;
}

bool event_number(const Event *event, const char *name, int64_t *number) {
  const struct spinach_type *type;
  const uint8_t *at = find(event, name, &type);
  if (!at || !spinach_is_integer(type)) return false;
  *number = spinach_integer(type, at);
  return true;
}

const struct spinach_type *event_argument(const Event *event, const char *name) {
  const struct spinach_type *type;
  return find(event, name, &type) ? type : NULL;
}

char *event_text(const Event *event) {
  GString *text = g_string_new(NULL);
  g_string_printf(text, "%s %s", event->source->path, event->source->event);
  const uint8_t *at = event->arguments;
  for (const spinach_argument *argument = event->source->arguments; argument->name; argument++) {
    g_autofree char *value = spinach_type_shown(argument->type, at, argument->name);
    g_string_append_printf(text, " %s=%s", argument->name, value);
    at += argument->type->size;
  }
  return g_string_free(text, FALSE);
}
