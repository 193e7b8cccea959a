// Files of recorded events, which anybody may have written: nothing in them is believed; see trace_reader.h, format.h.
#include "lss/runtime/trace/trace_reader.h"

#include "lss/runtime/checkpoint/pages.h"
#include "lss/runtime/text/refusal.h"
#include "lss/runtime/trace/format.h"
#include "lss/runtime/trace/trace_types.h"

#include <string.h>

static const guint64 LARGEST_HEADER = 1 << 28;

struct TraceReader {
  GBytes *file;
  GVariant *header; // texts point into it
  TraceReadHeader about;
  TraceTypes *types;
  GPtrArray *arrays;                // of programs' bytes, as long as the reader lives
  const guint8 *at, *end;           // of what was not unpacked yet
  guint8 *block;                    // unpacked
  const guint8 *record, *block_end; // in it
  guint64 instant, total;           // of the latest record; bytes of records so far
  bool over;
};

// ---- The header

static bool unpack_header(TraceReader *reader, GError **error) {
  TraceStart start;
  const gsize size = (gsize)(reader->end - reader->at);
  if (size < sizeof start.word || memcmp(reader->at, TRACE_WORD, sizeof start.word) != 0)
    return spinach_refuse(error, "it holds no recorded events");
  if (size < sizeof start) return spinach_refuse(error, "it is cut off");
  memcpy(&start, reader->at, sizeof start);
  if (start.packed > size - sizeof start) return spinach_refuse(error, "it is cut off");
  guint8 checksum[TRACE_CHECKSUM];
  trace_checksum(&start, reader->at + sizeof start, checksum);
  if (memcmp(checksum, start.checksum, sizeof checksum) != 0 || start.unpacked > LARGEST_HEADER)
    return spinach_refuse(error, "it is damaged: the checksum of its header is not that of what it holds");
  guint8 *bytes = g_malloc(start.unpacked + 1);
  g_autoptr(GBytes) content = g_bytes_new_take(bytes, start.unpacked);
  if (!pages_decompress(bytes, start.unpacked, reader->at + sizeof start, start.packed))
    return spinach_refuse(error, "it is damaged: its header cannot be unpacked");
  reader->header = g_variant_ref_sink(g_variant_new_from_bytes(G_VARIANT_TYPE_VARDICT, content, FALSE));
  if (!g_variant_is_normal_form(reader->header)) return spinach_refuse(error, "it is damaged: its header is none");
  reader->at += sizeof start + start.packed;
  return true;
}

// An entry of the header, which lives as long as the reader; NULL with *error when there is none of this type.
static GVariant *entry(TraceReader *reader, const char *key, const char *type, GError **error) {
  GVariant *value = g_variant_lookup_value(reader->header, key, G_VARIANT_TYPE(type));
  if (!value) {
    spinach_refuse(error, "it is damaged: its header lacks `%s`", key);
    return NULL;
  }
  g_ptr_array_add(reader->arrays, value);
  return value;
}

static bool read_format(TraceReader *reader, GError **error) {
  GVariant *format = entry(reader, "format", "u", error);
  if (!format) return false;
  const guint32 number = g_variant_get_uint32(format);
  return number == TRACE_FORMAT ||
         spinach_refuse(error, "it has format %u, and this lss reads %d", number, TRACE_FORMAT);
}

static bool read_machine(TraceReader *reader, GError **error) {
  TraceReadHeader *about = &reader->about;
  GVariant *machine = entry(reader, "machine", "ay", error),
           *version = machine ? entry(reader, "version", "s", error) : NULL,
           *base = version ? entry(reader, "ticks-per-second", "t", error) : NULL,
           *clocks = base ? entry(reader, "clocks", TRACE_CLOCKS_TYPE, error) : NULL;
  if (!clocks) return false;
  about->machine = g_variant_get_bytestring(machine);
  about->version = g_variant_get_string(version, NULL);
  about->ticks_per_second = g_variant_get_uint64(base);
  about->clock_count = (guint)g_variant_n_children(clocks);
  about->clocks = g_new0(spinach_clock, about->clock_count + 1);
  for (guint i = 0; i < about->clock_count; i++) {
    spinach_clock *clock = &about->clocks[i];
    gboolean rounded;
    g_variant_get_child(clocks, i, "(&sxxtb)", &clock->name, &clock->num, &clock->den, &clock->period, &rounded);
    clock->rounded = rounded;
    if (!clock->period || clock->num <= 0 || clock->den <= 0)
      return spinach_refuse(error, "it is damaged: a clock has no period");
  }
  return about->ticks_per_second || spinach_refuse(error, "it is damaged: time has no unit");
}

static bool read_programs(TraceReader *reader, GError **error) {
  TraceReadHeader *about = &reader->about;
  GVariant *programs = entry(reader, "programs", TRACE_PROGRAMS_TYPE, error);
  if (!programs) return false;
  about->program_count = (guint)g_variant_n_children(programs);
  about->programs = g_new0(TraceReadProgram, about->program_count + 1);
  for (guint i = 0; i < about->program_count; i++) {
    TraceReadProgram *program = &about->programs[i];
    GVariant *bytes;
    g_variant_get_child(programs, i, "(^&ay@ay)", &program->path, &bytes);
    program->bytes = g_variant_get_fixed_array(bytes, &program->size, 1);
    g_ptr_array_add(reader->arrays, bytes);
  }
  return true;
}

// ---- Sources

static bool is_below(const char *path, const char *above) {
  const gsize length = strlen(above);
  return !length || (g_str_has_prefix(path, above) && (path[length] == '.' || !path[length]));
}

// The innermost debug view around a path.
static const char *core_of(GVariant *views, const char *path) {
  const char *core = NULL, *name, *view;
  for (gsize i = 0; i < g_variant_n_children(views); i++) {
    g_variant_get_child(views, i, "(&s&s)", &name, &view);
    if (is_below(path, view) && (!core || strlen(view) > strlen(core))) core = view;
  }
  return core;
}

static bool read_source(TraceReader *reader, TraceReadSource *source, GVariant *given, GVariant *views,
                        GError **error) {
  g_autoptr(GVariant) arguments = NULL;
  g_variant_get(given, "(&s&su@a(su))", &source->path, &source->event, &source->clock, &arguments);
  if (source->clock >= reader->about.clock_count) return spinach_refuse(error, "it is damaged: a source has no clock");
  source->core = core_of(views, source->path);
  source->argument_count = (guint)g_variant_n_children(arguments);
  source->arguments = g_new0(TraceReadArgument, source->argument_count + 1);
  for (guint i = 0; i < source->argument_count; i++) {
    TraceReadArgument *argument = &source->arguments[i];
    guint32 number;
    g_variant_get_child(arguments, i, "(&su)", &argument->name, &number);
    argument->type = trace_types_get(reader->types, number);
    if (!argument->type) return spinach_refuse(error, "it is damaged: an argument has no type");
    argument->offset = source->size;
    source->size += argument->type->size;
    if (source->size > TRACE_BLOCK) return spinach_refuse(error, "it is damaged: an event is larger than a block");
  }
  return true;
}

static bool read_sources(TraceReader *reader, GError **error) {
  TraceReadHeader *about = &reader->about;
  GVariant *types = entry(reader, "types", TRACE_TYPES_TYPE, error),
           *views = types ? entry(reader, "views", TRACE_VIEWS_TYPE, error) : NULL,
           *sources = views ? entry(reader, "sources", TRACE_SOURCES_TYPE, error) : NULL;
  if (!sources) return false;
  reader->types = trace_types_new(types);
  if (!reader->types) return spinach_refuse(error, "it is damaged: its types are none");
  about->source_count = (guint)g_variant_n_children(sources);
  about->sources = g_new0(TraceReadSource, about->source_count + 1);
  for (guint i = 0; i < about->source_count; i++) {
    GVariant *source = g_variant_get_child_value(sources, i);
    g_ptr_array_add(reader->arrays, source);
    if (!read_source(reader, &about->sources[i], source, views, error)) return false;
  }
  return true;
}

TraceReader *trace_reader_new(GBytes *file, GError **error) {
  g_autoptr(TraceReader) reader = g_new0(TraceReader, 1);
  gsize size;
  reader->file = file;
  reader->at = g_bytes_get_data(file, &size);
  reader->end = reader->at + size;
  reader->arrays = g_ptr_array_new_with_free_func((GDestroyNotify)g_variant_unref);
  if (!unpack_header(reader, error) || !read_format(reader, error) || !read_machine(reader, error) ||
      !read_programs(reader, error) || !read_sources(reader, error))
    return NULL;
  return g_steal_pointer(&reader);
}

void trace_reader_free(TraceReader *reader) {
  if (!reader) return;
  for (guint i = 0; i < reader->about.source_count; i++) g_free(reader->about.sources[i].arguments);
  g_free(reader->about.sources);
  g_free(reader->about.clocks);
  g_free(reader->about.programs);
  trace_types_free(reader->types);
  g_ptr_array_unref(reader->arrays);
  g_clear_pointer(&reader->header, g_variant_unref);
  g_bytes_unref(reader->file);
  g_free(reader->block);
  g_free(reader);
}

const TraceReadHeader *trace_reader_header(const TraceReader *reader) {
  return &reader->about;
}

// ---- Records

// The next block; false at the end, and, with *error, when there is none.
static bool unpack_block(TraceReader *reader, GError **error) {
  TraceBlock head;
  if ((gsize)(reader->end - reader->at) < sizeof head)
    return spinach_refuse(error, "it is cut off: it ends before the run that it is of");
  memcpy(&head, reader->at, sizeof head);
  reader->at += sizeof head;
  if (head.sum != trace_block_sum(&head))
    return spinach_refuse(error, "it is damaged: a checksum is not that of what it holds");
  if (!head.unpacked) {
    reader->over = true;
    if (head.total != reader->total || reader->at != reader->end)
      return spinach_refuse(error, "it is damaged: its end is not that of what it holds");
    return false;
  }
  if (head.packed > (gsize)(reader->end - reader->at)) return spinach_refuse(error, "it is cut off");
  if (head.unpacked <= TRACE_BLOCK) reader->block = g_realloc(reader->block, head.unpacked);
  if (head.unpacked > TRACE_BLOCK || !pages_decompress(reader->block, head.unpacked, reader->at, head.packed))
    return spinach_refuse(error, "it is damaged: a block cannot be unpacked");
  reader->at += head.packed;
  reader->total += head.unpacked;
  reader->record = reader->block;
  reader->block_end = reader->block + head.unpacked;
  reader->instant = head.start;
  return true;
}

static bool read_ticks(TraceReader *reader) {
  guint64 ticks = 0;
  for (guint shift = 0; shift < 64 && reader->record < reader->block_end; shift += 7) {
    const guint8 byte = *reader->record++;
    ticks |= (guint64)(byte & 0x7f) << shift;
    if (byte & 0x80) continue;
    reader->instant += ticks;
    return true;
  }
  return false;
}

bool trace_reader_next(TraceReader *reader, TraceRecord *record, GError **error) {
  if (reader->over) return false;
  if (reader->record == reader->block_end && !unpack_block(reader, error)) {
    reader->over = true;
    return false;
  }
  guint16 number = 0;
  bool fine = (gsize)(reader->block_end - reader->record) >= sizeof number;
  if (fine) {
    memcpy(&number, reader->record, sizeof number);
    reader->record += sizeof number;
  }
  fine = fine && number < reader->about.source_count && read_ticks(reader);
  const TraceReadSource *source = fine ? &reader->about.sources[number] : NULL;
  if (!fine || source->size > (gsize)(reader->block_end - reader->record)) {
    reader->over = true;
    return spinach_refuse(error, "it is damaged: a record is none");
  }
  *record = (TraceRecord){reader->instant, source, reader->record};
  reader->record += source->size;
  return true;
}

bool trace_record_integer(const TraceRecord *record, const char *name, guint64 *number) {
  for (guint i = 0; i < record->source->argument_count; i++) {
    const TraceReadArgument *argument = &record->source->arguments[i];
    if (strcmp(argument->name, name) != 0 || argument->type->size > 8 || argument->type->kind > SPINACH_ENUM) continue;
    *number = 0;
    memcpy(number, record->bytes + argument->offset, argument->type->size);
    return true;
  }
  return false;
}
