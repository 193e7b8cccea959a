// Writing a checkpoint; see checkpoint.h.
#include "lss/runtime/checkpoint/checkpoint.h"
#include "lss/runtime/checkpoint/format.h"
#include "lss/runtime/checkpoint/identity.h"
#include "lss/runtime/checkpoint/layout.h"
#include "lss/runtime/checkpoint/open_files.h"
#include "lss/runtime/checkpoint/sources.h"
#include "lss/runtime/engine/forks.h"
#include "lss/runtime/engine/inputs.h"
#include "lss/runtime/engine/instants.h"
#include "lss/runtime/engine/own_part.h"
#include "lss/runtime/engine/settings.h"
#include "lss/runtime/files/whole_file.h"
#include "lss/runtime/observe/balance.h"
#include "lss/runtime/observe/measure.h"
#include "lss/runtime/text/refusal.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

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
  add(header, "until", g_variant_new_uint64(spinach_completed()));
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
  for (uint32_t i = 0; (file = spinach_input(i, &sum)); i++) g_variant_builder_add(&inputs, "(^ay^ay)", file, sum);
  add(header, "inputs", g_variant_builder_end(&inputs));
  add(header, "machine", g_variant_new_bytestring(machine->file));
  add(header, "version", g_variant_new_string(machine->version));
}

// All but the pages, packed.
static bool write_header(const spinach_options *options, int handle, CheckpointStart *start, GError **error) {
  g_autoptr(GVariant) files = open_files_describe(error);
  if (!files) return false;
  g_autoptr(GVariant) identity = identity_describe(), origins = identity_origins();
  g_autoptr(GByteArray) packed = g_byte_array_new();
  GVariantBuilder builder;
  g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
  add(&builder, "format", g_variant_new_uint32(CHECKPOINT_FORMAT));
  add(&builder, "arena", g_variant_new_uint64(spinach_arena_size));
  add_layout(&builder);
  add_time(&builder, options);
  add_origin(&builder);
  add(&builder, "identity", identity);
  add(&builder, "origins", origins);
  add(&builder, "files", files);
  add(&builder, "measured", spinach_measure_pack());
  add(&builder, "changed", g_variant_new_boolean(spinach_balance_is_disturbed()));
  g_autoptr(GVariant) header = g_variant_ref_sink(g_variant_builder_end(&builder));
  if (g_variant_get_size(header) > CHECKPOINT_LARGEST) return spinach_refuse(error, "the samples in it exceed 1 GiB");
  pages_append_compressed(packed, g_variant_get_data(header), g_variant_get_size(header));
  *start = (CheckpointStart){.unpacked = g_variant_get_size(header), .packed = packed->len};
  memcpy(start->word, CHECKPOINT_WORD, sizeof start->word);
  checkpoint_checksum(start, packed->data, start->checksum);
  return whole_file_append(handle, start, sizeof *start, error) &&
         whole_file_append(handle, packed->data, packed->len, error);
}

bool spinach_checkpoint_append(const spinach_options *options, int handle, GError **error) {
  CheckpointStart start;
  spinach_forks_join();
  spinach_clear_all_past();
  spinach_order_flights();
  return write_header(options, handle, &start, error) &&
         pages_write(spinach_arena, spinach_arena_size, start.checksum, handle, error);
}

// What is no ordinary file is written as it comes.
static bool write_in_place(const spinach_options *options, const char *path, GError **error) {
  const bool standard = !strcmp(path, "-");
  fflush(stdout); // which it may be by another name
  const int handle = standard ? STDOUT_FILENO : file_path_open_in_place(path);
  if (handle < 0) {
    g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, g_strerror(errno));
    return false;
  }
  const bool fine = spinach_checkpoint_append(options, handle, error);
  if (!standard) close(handle);
  return fine;
}

static bool write_whole(const spinach_options *options, const char *path, GError **error) {
  WholeFile file;
  if (file_path_in_place(path)) return write_in_place(options, path, error);
  if (!whole_file_begin(&file, path, error)) return false;
  const bool fine = spinach_checkpoint_append(options, file.handle, error) && whole_file_complete(&file, error);
  close(file.handle);
  whole_file_end(&file);
  return fine;
}

char *spinach_checkpoint_file(const spinach_options *options) {
  const char *part = options->part.board ? spinach_own_part() : NULL; // one that runs alone writes a file
  if (!part) return g_strdup(options->checkpoint);
  g_autofree char *instant = g_strdup_printf("%" G_GUINT64_FORMAT, spinach_completed()),
                  *name = g_strconcat(part, SOURCES_SUFFIX, NULL);
  return g_build_filename(options->checkpoint, instant, name, NULL);
}

bool spinach_checkpoint_write(const spinach_options *options) {
  g_autoptr(GError) error = NULL;
  g_autofree char *path = spinach_checkpoint_file(options), *folder = g_path_get_dirname(path);
  if (!used_files_add_saved(path, "--checkpoint", &error)) return spinach_report_error("%s", error->message);
  if (options->part.board && g_mkdir_with_parents(folder, 0777))
    return spinach_report_error("cannot make the folder \"%s\": %s", folder, g_strerror(errno));
  return write_whole(options, path, &error) ||
         spinach_report_error("cannot write the checkpoint \"%s\": %s", path, error->message);
}
