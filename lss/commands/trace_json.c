// Recorded events as lines of JSON for tools; see trace.h.
#include "lss/commands/trace.h"
#include "lss/runtime/text/json.h"

static void append_member(GString *out, const char *key, const char *text) {
  if (out->str[out->len - 1] != '{') g_string_append_c(out, ',');
  json_append_string(out, key);
  g_string_append_c(out, ':');
  if (text) json_append_string(out, text);
}

// Numbers and truths as such, all else in the types' own notation.
static void append_value(GString *out, const TraceReadArgument *argument, const guint8 *bytes) {
  g_autofree char *text = spinach_type_text(argument->type, bytes + argument->offset);
  const spinach_kind kind = argument->type->kind;
  if (kind == SPINACH_BOOL || kind == SPINACH_INT || kind == SPINACH_UINT ||
      (kind == SPINACH_BITS && argument->type->bits <= 64))
    g_string_append(out, text);
  else
    json_append_string(out, text);
}

// Names of inlined functions, the innermost first.
static void append_inlined(GString *out, const CodePlace *place) {
  append_member(out, "inlined", NULL);
  g_string_append_c(out, '[');
  for (guint i = 0; i < place->inlined_count; i++) {
    if (i) g_string_append_c(out, ',');
    json_append_string(out, place->inlined[i].function);
  }
  g_string_append_c(out, ']');
}

void trace_append_json(GString *out, const TraceReadHeader *header, const TraceLine *line) {
  const TraceRecord *record = line->record;
  g_string_append_printf(out, "{\"source\":%u,\"cycle\":%" G_GINT64_MODIFIER "u,\"instant\":%" G_GINT64_MODIFIER "u",
                         (guint)(record->source - header->sources), line->cycle, record->instant);
  append_member(out, "arguments", NULL);
  g_string_append_c(out, '{');
  for (guint i = 0; i < record->source->argument_count; i++) {
    append_member(out, record->source->arguments[i].name, NULL);
    append_value(out, &record->source->arguments[i], record->bytes);
  }
  g_string_append_c(out, '}');
  if (line->place && line->place->function) {
    append_member(out, "function", line->place->function);
    g_string_append_printf(out, ",\"offset\":%u", line->place->offset);
  }
  if (line->place && line->place->file) {
    append_member(out, "file", line->place->file);
    g_string_append_printf(out, ",\"line\":%d", line->place->line);
  }
  if (line->place && line->place->inlined_count) append_inlined(out, line->place);
  g_string_append(out, "}\n");
}

void trace_append_header(GString *out, const TraceReadHeader *header) {
  g_string_append_c(out, '{');
  append_member(out, "machine", header->machine);
  append_member(out, "version", header->version);
  g_string_append_printf(out, ",\"ticks_per_second\":%" G_GINT64_MODIFIER "u,\"clocks\":{", header->ticks_per_second);
  for (guint i = 0; i < header->clock_count; i++) {
    append_member(out, header->clocks[i].name, NULL);
    g_string_append_printf(out, "%" G_GINT64_MODIFIER "u", header->clocks[i].period);
  }
  g_string_append(out, "},\"sources\":[");
  for (guint i = 0; i < header->source_count; i++) {
    const TraceReadSource *source = &header->sources[i];
    g_string_append(out, i ? ",{" : "{");
    append_member(out, "path", source->path);
    append_member(out, "event", source->event);
    append_member(out, "clock", header->clocks[source->clock].name);
    if (source->core) append_member(out, "core", source->core);
    g_string_append_c(out, '}');
  }
  g_string_append(out, "]}\n");
}
