// What a file of recorded events says of itself; see trace_header.h and format.h.
#include "lss/runtime/trace/trace_header.h"

#include "lss/runtime/checkpoint/pages.h"
#include "lss/runtime/engine/condition.h"
#include "lss/runtime/observe/program_text.h"
#include "lss/runtime/observe/roles.h"
#include "lss/runtime/trace/format.h"

static const spinach_machine *const machine = &spinach_machine_table;

// ---- Sources

GArray *trace_sources(uint16_t *instances, uint16_t *connections) {
  GArray *sources = g_array_new(FALSE, FALSE, sizeof(TraceSource));
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const spinach_instance *instance = &machine->instances[i];
    instances[i] = (uint16_t)sources->len;
    for (uint32_t k = 0; instance->layout && k < instance->layout->event_count; k++) {
      const spinach_event *event = &instance->layout->events[k];
      const TraceSource source = {instance->path, event->name, instance->clock, event->recorded, NULL};
      if (event->recorded) g_array_append_val(sources, source);
    }
  }
  for (uint32_t i = 0; i < machine->connection_count; i++) {
    const spinach_connection *connection = &machine->connections[i];
    connections[i] = (uint16_t)sources->len;
    if (!connection->recorded) continue;
    spinach_argument *data = g_new0(spinach_argument, 2); // as long as the process lives
    data[0] = (spinach_argument){"data", connection->type};
    for (guint k = 0; k < SPINACH_CONNECTION_EVENTS; k++) {
      const TraceSource source = {g_strdup_printf("%s -> %s", connection->from, connection->to),
                                  spinach_connection_events[k], connection->clock, data, connection};
      if (connection->recorded >> k & 1) g_array_append_val(sources, source);
    }
  }
  return sources;
}

gsize trace_source_size(const TraceSource *source) {
  gsize size = 0;
  for (const spinach_argument *argument = source->arguments; argument->name; argument++) size += argument->type->size;
  return size;
}

bool trace_operation_writes(const char *name) {
  return strstr(name, "write") || strstr(name, "store");
}

// ---- Types: each once, behind those that it contains

typedef struct {
  GHashTable *numbers; // of types by their address
  GVariantBuilder types;
} TypeTable;

static guint32 add_type(TypeTable *table, const struct spinach_type *type) {
  gpointer known;
  if (g_hash_table_lookup_extended(table->numbers, type, NULL, &known)) return GPOINTER_TO_UINT(known);
  const gint32 element = type->element ? (gint32)add_type(table, type->element) : -1;
  GVariantBuilder members;
  g_variant_builder_init(&members, G_VARIANT_TYPE("a(sutxu)"));
  for (uint32_t i = 0; i < type->member_count; i++) {
    const struct spinach_member *member = &type->members[i];
    const guint32 inner = member->type ? add_type(table, member->type) : 0;
    g_variant_builder_add(&members, "(sutxu)", member->name, inner, (guint64)member->offset, member->value,
                          member->bits);
  }
  const guint32 number = g_hash_table_size(table->numbers);
  g_variant_builder_add(&table->types, "(ysutiua(sutxu))", (guchar)type->kind, type->name, type->bits,
                        (guint64)type->size, element, type->length, &members);
  g_hash_table_insert(table->numbers, (gpointer)type, GUINT_TO_POINTER(number));
  return number;
}

// ---- Entries

static void add(GVariantBuilder *header, const char *key, GVariant *value) {
  g_variant_builder_add(header, "{sv}", key, value);
}

static void add_machine(GVariantBuilder *header) {
  GVariantBuilder clocks, views;
  g_variant_builder_init(&clocks, G_VARIANT_TYPE(TRACE_CLOCKS_TYPE));
  for (uint32_t i = 0; i < machine->clock_count; i++)
    g_variant_builder_add(&clocks, "(sxxtb)", machine->clocks[i].name, machine->clocks[i].num, machine->clocks[i].den,
                          machine->clocks[i].period, machine->clocks[i].rounded);
  g_variant_builder_init(&views, G_VARIANT_TYPE(TRACE_VIEWS_TYPE));
  for (uint32_t i = 0; i < machine->view_count; i++)
    if (view_role(&machine->views[i], "pc"))
      g_variant_builder_add(&views, "(ss)", machine->views[i].name,
                            machine->instances[machine->views[i].instance].path);
  add(header, "format", g_variant_new_uint32(TRACE_FORMAT));
  add(header, "machine", g_variant_new_bytestring(machine->file));
  add(header, "version", g_variant_new_string(machine->version));
  add(header, "ticks-per-second", g_variant_new_uint64(machine->ticks_per_second));
  add(header, "clocks", g_variant_builder_end(&clocks));
  add(header, "views", g_variant_builder_end(&views));
}

static void add_sources(GVariantBuilder *header, const GArray *sources) {
  TypeTable table = {.numbers = g_hash_table_new(NULL, NULL)};
  GVariantBuilder builder;
  g_variant_builder_init(&table.types, G_VARIANT_TYPE(TRACE_TYPES_TYPE));
  g_variant_builder_init(&builder, G_VARIANT_TYPE(TRACE_SOURCES_TYPE));
  for (guint i = 0; i < sources->len; i++) {
    const TraceSource *source = &g_array_index(sources, TraceSource, i);
    GVariantBuilder arguments;
    g_variant_builder_init(&arguments, G_VARIANT_TYPE("a(su)"));
    for (const spinach_argument *argument = source->arguments; argument->name; argument++)
      g_variant_builder_add(&arguments, "(su)", argument->name, add_type(&table, argument->type));
    g_variant_builder_add(&builder, "(ssua(su))", source->path, source->event, (guint32)source->clock, &arguments);
  }
  add(header, "types", g_variant_builder_end(&table.types));
  add(header, "sources", g_variant_builder_end(&builder));
  g_hash_table_unref(table.numbers);
}

// With their symbols: a trace can be read when its programs have been built anew.
static void add_programs(GVariantBuilder *header) {
  GVariantBuilder builder;
  g_variant_builder_init(&builder, G_VARIANT_TYPE(TRACE_PROGRAMS_TYPE));
  const char *path;
  for (guint i = 0; (path = spinach_program_path(i)); i++) {
    char *bytes;
    gsize size;
    if (!g_file_get_contents(path, &bytes, &size, NULL)) continue;
    g_variant_builder_add(&builder, "(^ay@ay)", path,
                          g_variant_new_from_data(G_VARIANT_TYPE("ay"), bytes, size, TRUE, g_free, bytes));
  }
  add(header, "programs", g_variant_builder_end(&builder));
}

GByteArray *trace_header(const GArray *sources) {
  GVariantBuilder builder;
  g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
  add_machine(&builder);
  add_sources(&builder, sources);
  add_programs(&builder);
  g_autoptr(GVariant) header = g_variant_ref_sink(g_variant_builder_end(&builder));
  g_autoptr(GByteArray) packed = g_byte_array_new();
  pages_append_compressed(packed, g_variant_get_data(header), g_variant_get_size(header));
  TraceStart start = {.unpacked = g_variant_get_size(header), .packed = packed->len};
  memcpy(start.word, TRACE_WORD, sizeof start.word);
  trace_checksum(&start, packed->data, start.checksum);
  GByteArray *file = g_byte_array_new();
  g_byte_array_append(file, (const guint8 *)&start, sizeof start);
  g_byte_array_append(file, packed->data, packed->len);
  return file;
}
