// Recorded events as lines for people; see trace.h.
#include "lss/commands/trace.h"

#include <string.h>

enum { CODE_WIDTH = 30 };            // of assembly text
#define PICO UINT64_C(1000000000000) // picoseconds of a second

// Numbers that are addresses, or whose bits mean something, are read in hexadecimal: by their names.
static bool is_hexadecimal(const char *name, const struct spinach_type *type) {
  static const char *const names[] = {"pc", "word", "value", "address", "host", "offset", "base", "target", "control"};
  if ((type->kind != SPINACH_UINT && type->kind != SPINACH_BITS) || type->size > 8) return false;
  for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
    if (!strcmp(name, names[i])) return true;
  return false;
}

static void append_value(GString *out, const char *name, const struct spinach_type *type, const guint8 *bytes) {
  if (type->kind == SPINACH_STRUCT) {
    for (guint i = 0; i < type->member_count; i++) {
      const struct spinach_member *member = &type->members[i];
      g_string_append_printf(out, "%c%s=", i ? ' ' : '{', member->name);
      append_value(out, member->name, member->type, bytes + member->offset);
    }
    g_string_append(out, type->member_count ? "}" : "{}");
  } else if (is_hexadecimal(name, type)) {
    guint64 number = 0;
    memcpy(&number, bytes, type->size);
    g_string_append_printf(out, "0x%0*" G_GINT64_MODIFIER "x", 2 * (int)type->size, number);
  } else {
    g_autofree char *text = spinach_type_text(type, bytes);
    g_string_append(out, text);
  }
}

static void append_line(GString *out, const char *file, int line) {
  const char *slash = file ? strrchr(file, '/') : NULL;
  if (file) g_string_append_printf(out, " %s:%d", slash ? slash + 1 : file, line);
}

static void append_place(GString *out, const CodePlace *place) {
  if (place->function) g_string_append_printf(out, "  <%s+0x%x>", place->function, place->offset);
  append_line(out, place->file, place->line);
  for (guint i = 0; i < place->inlined_count; i++) {
    const CodeInlined *inlined = &place->inlined[i];
    g_string_append_printf(out, " in %s (inlined)%s", inlined->function, inlined->file ? "," : "");
    append_line(out, inlined->file, inlined->line);
  }
}

static void append_instruction(GString *out, const TraceLine *line, CodeNames *names) {
  char text[64];
  guint64 value;
  code_names_disassemble(names, line->pc, line->word, text, sizeof text);
  g_string_append_printf(out, "  %08x  %-*s", line->pc, CODE_WIDTH, text);
  if (trace_record_integer(line->record, "value", &value))
    g_string_append_printf(out, " = 0x%08" G_GINT64_MODIFIER "x", value);
}

// Cycles of different clocks say nothing about what comes first.
static void append_time(GString *out, const TraceReadHeader *header, const TraceLine *line) {
  if (header->clock_count == 1) {
    g_string_append_printf(out, "%12" G_GINT64_MODIFIER "u ", line->cycle);
    return;
  }
  const unsigned __int128 picoseconds = (unsigned __int128)line->record->instant * PICO / header->ticks_per_second;
  g_string_append_printf(out, "%12" G_GINT64_MODIFIER "u.%03u ns %s:%" G_GINT64_MODIFIER "u ",
                         (guint64)(picoseconds / 1000), (guint)(picoseconds % 1000),
                         header->clocks[line->record->source->clock].name, line->cycle);
}

void trace_append_text(GString *out, const TraceReadHeader *header, const TraceLine *line, CodeNames *names) {
  const TraceReadSource *source = line->record->source;
  const bool instruction = line->place && !strcmp(source->event, "retire");
  append_time(out, header, line);
  if (instruction) {
    g_string_append(out, source->core ? source->core : source->path);
    append_instruction(out, line, names);
  } else {
    g_string_append_printf(out, "%s %s", source->path, source->event);
    for (guint i = 0; i < source->argument_count; i++) {
      const TraceReadArgument *argument = &source->arguments[i];
      g_string_append_printf(out, " %s=", argument->name);
      append_value(out, argument->name, argument->type, line->record->bytes + argument->offset);
    }
  }
  if (line->place) append_place(out, line->place);
  g_string_append_c(out, '\n');
}
