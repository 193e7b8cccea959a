// Writing a checkpoint; see checkpoint.h.
#include "lss/runtime/checkpoint/checkpoint.h"
#include "lss/runtime/checkpoint/format.h"
#include "lss/runtime/checkpoint/layout.h"
#include "lss/runtime/checkpoint/open_files.h"
#include "lss/runtime/checkpoint/pages.h"
#include "lss/runtime/engine/instants.h"
#include "lss/runtime/files/manifest.h"
#include "lss/runtime/files/whole_file.h"
#include "lss/runtime/observe/measure.h"

#include <string.h>

static const spinach_machine *const machine = &spinach_machine_table;

static void add(GVariantBuilder *header, const char *key, GVariant *value) {
  g_variant_builder_add(header, "{sv}", key, value);
}

// Paths, places and layouts of instances, each layout once.
static void add_layout(GVariantBuilder *header) {
  g_autoptr(GHashTable) numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GPtrArray) layouts = g_ptr_array_new();
  GVariantBuilder instances;
  g_variant_builder_init(&instances, G_VARIANT_TYPE(CHECKPOINT_INSTANCES_TYPE));
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    if (!machine->instances[i].layout) continue;
    char *text = layout_of_instance(i);
    gpointer known;
    guint number = layouts->len;
    if (g_hash_table_lookup_extended(numbers, text, NULL, &known)) {
      number = GPOINTER_TO_UINT(known);
      g_free(text);
    } else {
      g_ptr_array_add(layouts, text);
      g_hash_table_insert(numbers, text, GUINT_TO_POINTER(number));
    }
    g_variant_builder_add(&instances, "(stu)", machine->instances[i].path, layout_offset(i), number);
  }
  g_autofree char *hash = layout_hash();
  add(header, "layout", g_variant_new_string(hash));
  add(header, "instances", g_variant_builder_end(&instances));
  add(header, "layouts", g_variant_new_strv((const char *const *)layouts->pdata, layouts->len));
}

static void add_time(GVariantBuilder *header, const spinach_options *options) {
  GVariantBuilder clocks;
  g_variant_builder_init(&clocks, G_VARIANT_TYPE(CHECKPOINT_CLOCKS_TYPE));
  for (uint32_t i = 0; i < machine->clock_count; i++)
    g_variant_builder_add(&clocks, "(sxx)", machine->clocks[i].name, machine->clocks[i].num, machine->clocks[i].den);
  add(header, "clocks", g_variant_builder_end(&clocks));
  add(header, "ticks-per-second", g_variant_new_uint64(machine->ticks_per_second));
  add(header, "seed", g_variant_new_uint64(options->seed));
}

static void add_origin(GVariantBuilder *header) {
  GVariantBuilder parameters, inputs;
  g_variant_builder_init(&parameters, G_VARIANT_TYPE(CHECKPOINT_PAIRS_TYPE));
  for (uint32_t i = 0; i < machine->parameter_count; i++) {
    if (!machine->parameters[i].target_count) continue;
    g_autofree char *text = spinach_parameter_text(&machine->parameters[i]);
    g_variant_builder_add(&parameters, "(^ay^ay)", machine->parameters[i].name, text);
  }
  add(header, "parameters", g_variant_builder_end(&parameters));
  g_variant_builder_init(&inputs, G_VARIANT_TYPE(CHECKPOINT_PAIRS_TYPE));
  const char *file, *sum;
  for (uint32_t i = 0; (file = spinach_manifest_input(i, &sum)); i++)
    g_variant_builder_add(&inputs, "(^ay^ay)", file, sum);
  add(header, "inputs", g_variant_builder_end(&inputs));
  add(header, "machine", g_variant_new_bytestring(machine->file));
  add(header, "version", g_variant_new_string(machine->version));
}

static GVariant *runs_variant(const GArray *runs) {
  GVariantBuilder builder;
  g_variant_builder_init(&builder, G_VARIANT_TYPE(CHECKPOINT_RUNS_TYPE));
  for (guint i = 0; i < runs->len; i++) {
    const PageRun *run = &g_array_index(runs, PageRun, i);
    g_variant_builder_add(&builder, "(ttts)", run->offset, run->size, run->compressed, run->sha256);
  }
  return g_variant_builder_end(&builder);
}

GByteArray *spinach_checkpoint_bytes(const spinach_options *options, GError **error) {
  g_autoptr(GVariant) files = open_files_describe(error);
  if (!files) return NULL;
  spinach_clear_all_past();
  g_autoptr(GByteArray) packed_pages = g_byte_array_new(), packed_header = g_byte_array_new();
  g_autoptr(GArray) runs = pages_compress(spinach_arena, spinach_arena_size, packed_pages);
  GVariantBuilder builder;
  g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
  add(&builder, "format", g_variant_new_uint32(CHECKPOINT_FORMAT));
  add(&builder, "arena", g_variant_new_uint64(spinach_arena_size));
  add_layout(&builder);
  add_time(&builder, options);
  add_origin(&builder);
  add(&builder, "files", files);
  add(&builder, "measured", spinach_measure_pack());
  add(&builder, "runs", runs_variant(runs));
  g_autoptr(GVariant) header = g_variant_ref_sink(g_variant_builder_end(&builder));
  pages_append_compressed(packed_header, g_variant_get_data(header), g_variant_get_size(header));
  CheckpointStart start = {.unpacked = g_variant_get_size(header), .packed = packed_header->len};
  memcpy(start.word, CHECKPOINT_WORD, sizeof start.word);
  checkpoint_checksum(&start, packed_header->data, start.checksum);
  GByteArray *file = g_byte_array_new();
  g_byte_array_append(file, (const guint8 *)&start, sizeof start);
  g_byte_array_append(file, packed_header->data, packed_header->len);
  g_byte_array_append(file, packed_pages->data, packed_pages->len);
  return file;
}

bool spinach_checkpoint_write(const spinach_options *options) {
  g_autoptr(GError) error = NULL;
  if (!used_files_add_saved(options->checkpoint, "--checkpoint", &error))
    return spinach_report_error("%s", error->message);
  g_autoptr(GByteArray) file = spinach_checkpoint_bytes(options, &error);
  return (file && whole_file_write(options->checkpoint, (const char *)file->data, (gssize)file->len, &error)) ||
         spinach_report_error("cannot write the checkpoint \"%s\": %s", options->checkpoint, error->message);
}
