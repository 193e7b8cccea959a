// Reading a checkpoint, and taking its state over; see checkpoint.h.
#include "emulib/program/input_file.h"
#include "lss/runtime/checkpoint/checkpoint.h"
#include "lss/runtime/checkpoint/format.h"
#include "lss/runtime/checkpoint/layout.h"
#include "lss/runtime/checkpoint/open_files.h"
#include "lss/runtime/checkpoint/pages.h"
#include "lss/runtime/files/manifest.h"

#include <string.h>
#include <sys/mman.h>

static const spinach_machine *const machine = &spinach_machine_table;
static const guint64 LARGEST_HEADER = 1 << 30;

// The checkpoint that was read; it lives as long as the process, and so do the texts in its header.
static struct {
  GVariant *header;
  const guint8 *pages;
  gsize length; // of the pages
  bool same;    // as this machine's arena, byte by byte
} checkpoint;

static bool refuse(const spinach_options *options, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool refuse(const spinach_options *options, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  return spinach_report_error("cannot restore \"%s\": %s", options->restore, text);
}

// ---- The file ------------------------------------------------------------------------------------------------------

static bool unpack_header(const spinach_options *options, const guint8 *file, gsize size) {
  CheckpointStart start;
  if (size < sizeof start || memcmp(file, CHECKPOINT_WORD, sizeof start.word) != 0)
    return refuse(options, "it is no checkpoint");
  memcpy(&start, file, sizeof start);
  if (start.packed > size - sizeof start) return refuse(options, "it is cut off");
  guint8 checksum[CHECKPOINT_CHECKSUM];
  checkpoint_checksum(&start, file + sizeof start, checksum);
  if (memcmp(checksum, start.checksum, sizeof checksum) != 0 || start.unpacked > LARGEST_HEADER)
    return refuse(options, "it is damaged: the checksum of its header is not that of what it holds");
  g_autofree guint8 *bytes = g_malloc(start.unpacked + 1);
  if (!pages_decompress(bytes, start.unpacked, file + sizeof start, start.packed))
    return refuse(options, "it is damaged: its header cannot be unpacked");
  g_autoptr(GBytes) content = g_bytes_new(bytes, start.unpacked);
  checkpoint.header = g_variant_ref_sink(g_variant_new_from_bytes(G_VARIANT_TYPE_VARDICT, content, FALSE));
  if (!g_variant_is_normal_form(checkpoint.header)) return refuse(options, "it is damaged: its header is none");
  checkpoint.pages = file + sizeof start + start.packed;
  checkpoint.length = size - sizeof start - start.packed;
  return true;
}

// An entry of the header; NULL after a line when there is none of this type.
static GVariant *entry(const spinach_options *options, const char *key, const char *type) {
  GVariant *value = g_variant_lookup_value(checkpoint.header, key, G_VARIANT_TYPE(type));
  if (!value) refuse(options, "it is damaged: its header lacks `%s`", key);
  return value;
}

static bool whole_header(const spinach_options *options) {
  static const struct {
    const char *key, *type;
  } entries[] = {{"arena", "t"},
                 {"layout", "s"},
                 {"instances", CHECKPOINT_INSTANCES_TYPE},
                 {"layouts", "as"},
                 {"clocks", CHECKPOINT_CLOCKS_TYPE},
                 {"ticks-per-second", "t"},
                 {"seed", "t"},
                 {"parameters", CHECKPOINT_PAIRS_TYPE},
                 {"inputs", CHECKPOINT_PAIRS_TYPE},
                 {"files", OPEN_FILES_TYPE},
                 {"runs", CHECKPOINT_RUNS_TYPE},
                 {"version", "s"},
                 {"machine", "s"}};
  g_autoptr(GVariant) format = entry(options, "format", "u");
  if (!format) return false;
  if (g_variant_get_uint32(format) != CHECKPOINT_FORMAT)
    return refuse(options, "it has format %u, and this simulator reads %d", g_variant_get_uint32(format),
                  CHECKPOINT_FORMAT);
  for (guint i = 0; i < G_N_ELEMENTS(entries); i++) {
    g_autoptr(GVariant) value = entry(options, entries[i].key, entries[i].type);
    if (!value) return false;
  }
  return true;
}

// ---- The machine ---------------------------------------------------------------------------------------------------

static bool same_clocks(const spinach_options *options) {
  g_autoptr(GVariant) clocks = entry(options, "clocks", CHECKPOINT_CLOCKS_TYPE);
  g_autoptr(GVariant) base = entry(options, "ticks-per-second", "t");
  if (g_variant_n_children(clocks) != machine->clock_count)
    return refuse(options, "it is of another machine: it has %zu clocks, this one %u", g_variant_n_children(clocks),
                  machine->clock_count);
  for (guint32 i = 0; i < machine->clock_count; i++) {
    const char *name;
    guint64 period;
    g_variant_get_child(clocks, i, "(&st)", &name, &period);
    const spinach_clock *clock = &machine->clocks[i];
    if (strcmp(name, clock->name) != 0)
      return refuse(options, "it is of another machine: its clock \"%s\" is \"%s\" here", name, clock->name);
    if (g_variant_get_uint64(base) != machine->ticks_per_second || period != clock->period)
      return refuse(options, "it is of another machine: the clock \"%s\" has another frequency", name);
  }
  return true;
}

typedef struct {
  guint64 offset; // of its state in the checkpoint's arena
  guint32 layout; // number
} Earlier;

// The instances of the checkpoint's machine, by path.
static GHashTable *earlier_instances(GVariant *instances) {
  GHashTable *there = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
  GVariantIter iterator;
  const char *path;
  Earlier earlier;
  g_variant_iter_init(&iterator, instances);
  while (g_variant_iter_next(&iterator, "(&stu)", &path, &earlier.offset, &earlier.layout))
    g_hash_table_insert(there, (gpointer)path, g_memdup2(&earlier, sizeof earlier));
  return there;
}

// Each instance of one machine is in the other, with the same layout.
static bool same_instances(const spinach_options *options) {
  g_autoptr(GVariant) instances = entry(options, "instances", CHECKPOINT_INSTANCES_TYPE);
  g_autoptr(GVariant) layouts = entry(options, "layouts", "as");
  g_autoptr(GHashTable) there = earlier_instances(instances);
  for (guint32 i = 0; i < machine->instance_count; i++) {
    if (!machine->instances[i].layout) continue;
    const Earlier *known = g_hash_table_lookup(there, machine->instances[i].path);
    if (!known) return refuse(options, "it is of another machine: it has no \"%s\"", machine->instances[i].path);
    if (known->layout >= g_variant_n_children(layouts))
      return refuse(options, "it is damaged: \"%s\" has no layout", machine->instances[i].path);
    const char *earlier;
    g_variant_get_child(layouts, known->layout, "&s", &earlier);
    g_autofree char *present = layout_of_instance(i);
    g_autofree char *difference = strcmp(present, earlier) ? layout_difference(present, earlier) : NULL;
    if (difference)
      return refuse(options, "it is of another machine: %s has %s", machine->instances[i].path, difference);
    g_hash_table_remove(there, machine->instances[i].path);
  }
  GHashTableIter left;
  gpointer other;
  g_hash_table_iter_init(&left, there);
  if (g_hash_table_iter_next(&left, &other, NULL))
    return refuse(options, "it is of another machine: this one has no \"%s\"", (const char *)other);
  return true;
}

// ---- Parameters and seed -------------------------------------------------------------------------------------------

// What the run had comes before what is given now.
static void prepend_settings(spinach_options *options) {
  g_autoptr(GVariant) parameters =
      g_variant_lookup_value(checkpoint.header, "parameters", G_VARIANT_TYPE(CHECKPOINT_PAIRS_TYPE));
  GVariantIter iterator;
  const char *name, *value;
  g_variant_iter_init(&iterator, parameters);
  while (g_variant_iter_next(&iterator, "(&s&s)", &name, &value)) {
    spinach_setting setting = {spinach_find_parameter(name), value};
    if (!setting.parameter || !setting.parameter->target_count) continue;
    g_array_insert_val(options->settings, options->restored_settings, setting);
    options->restored_settings++;
  }
}

static const char *restored_text(const spinach_options *options, const spinach_parameter *parameter) {
  for (guint i = 0; i < options->restored_settings; i++) {
    const spinach_setting *setting = &g_array_index(options->settings, spinach_setting, i);
    if (setting->parameter == parameter) return setting->text;
  }
  return NULL;
}

// What acts at the start of a run only cannot be changed now, unless it names a file that a stream has open.
static bool may_be_set(const spinach_options *options) {
  for (guint i = options->restored_settings; i < options->settings->len; i++) {
    const spinach_setting *setting = &g_array_index(options->settings, spinach_setting, i);
    const char *before = restored_text(options, setting->parameter);
    if (!setting->parameter->initial || (before && !strcmp(before, setting->text))) continue;
    if (setting->parameter->kind == SPINACH_PARAMETER_STRING && (!*setting->text || open_files_has(setting->text)))
      continue;
    return refuse(options, "\"%s\" cannot be set anew: it acts only at the start of a run", setting->parameter->name);
  }
  return true;
}

static bool same_inputs(const spinach_options *options) {
  g_autoptr(GVariant) inputs = entry(options, "inputs", CHECKPOINT_PAIRS_TYPE);
  GVariantIter iterator;
  const char *file, *sum, *present, *present_sum;
  g_variant_iter_init(&iterator, inputs);
  while (g_variant_iter_next(&iterator, "(&s&s)", &file, &sum))
    for (uint32_t i = 0; (present = spinach_manifest_input(i, &present_sum)); i++)
      if (!strcmp(present, file) && strcmp(present_sum, sum) != 0)
        return refuse(options, "the run read \"%s\", which has changed since", file);
  return true;
}

bool spinach_restore_read(spinach_options *options) {
  g_autoptr(GError) error = NULL;
  gsize size;
  const guint8 *file = (const guint8 *)input_file_read(options->restore, &size, &error); // kept until the end
  if (!file) return refuse(options, "%s", error->message);
  if (!unpack_header(options, file, size) || !whole_header(options) || !same_clocks(options)) return false;
  g_autoptr(GVariant) hash = entry(options, "layout", "s"), seed = entry(options, "seed", "t");
  g_autofree char *present = layout_hash();
  checkpoint.same = !strcmp(g_variant_get_string(hash, NULL), present);
  if (!checkpoint.same && !same_instances(options)) return false;
  prepend_settings(options);
  options->reseeds = options->seed_given;
  if (!options->seed_given) options->seed = g_variant_get_uint64(seed);
  return true;
}

// ---- The state -----------------------------------------------------------------------------------------------------

static GArray *runs_of(GVariant *variant) {
  GArray *runs = g_array_new(FALSE, TRUE, sizeof(PageRun));
  GVariantIter iterator;
  PageRun run;
  const char *sum;
  g_variant_iter_init(&iterator, variant);
  while (g_variant_iter_next(&iterator, "(ttt&s)", &run.offset, &run.size, &run.compressed, &sum)) {
    g_strlcpy(run.sha256, sum, sizeof run.sha256);
    g_array_append_val(runs, run);
  }
  return runs;
}

static void *zeroes(void *place, gsize size) {
  void *memory = mmap(place, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (place ? MAP_FIXED : 0), -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

// Another build: instance by instance, to where each is here.  What observers count is not the machine's, and begins
// anew.
static bool move_instances(const spinach_options *options, const guint8 *arena, gsize size) {
  g_autoptr(GVariant) instances = entry(options, "instances", CHECKPOINT_INSTANCES_TYPE);
  g_autoptr(GHashTable) there = earlier_instances(instances);
  if (spinach_clockwork_size() > size) return refuse(options, "it is damaged: it holds no time");
  memcpy(spinach_passing, arena, spinach_clockwork_size()); // of as many clocks: it begins each arena
  for (guint32 i = 0; i < machine->instance_count; i++) {
    if (!machine->instances[i].layout) continue;
    const gsize length = machine->instances[i].layout->size;
    const Earlier *known = g_hash_table_lookup(there, machine->instances[i].path); // same_instances() has seen it
    if (known->offset > size || length > size - known->offset)
      return refuse(options, "it is damaged: a state is outside its arena");
    memcpy(spinach_instance_state((int32_t)i), arena + known->offset, length);
  }
  return true;
}

static bool take_pages(const spinach_options *options) {
  g_autoptr(GVariant) variant = entry(options, "runs", CHECKPOINT_RUNS_TYPE), arena = entry(options, "arena", "t");
  g_autoptr(GArray) runs = runs_of(variant);
  g_autoptr(GError) error = NULL;
  const gsize size = g_variant_get_uint64(arena);
  if (checkpoint.same && size != spinach_arena_size)
    return refuse(options, "it is damaged: its arena has another size");
  guint8 *memory = size ? zeroes(checkpoint.same ? spinach_arena : NULL, size) : NULL;
  if (!memory) return refuse(options, "there is no memory for %zu bytes of state", size);
  if (!pages_expand(runs, checkpoint.pages, checkpoint.length, memory, size, &error))
    return refuse(options, "%s", error->message);
  if (checkpoint.same) return true;
  const bool fine = move_instances(options, memory, size);
  munmap(memory, size);
  return fine;
}

static bool take_state(const spinach_options *options) {
  if (!take_pages(options)) return false;
  spinach_number_states();
  spinach_resume();
  return true;
}

bool spinach_restore_state(const spinach_options *options) {
  if (!may_be_set(options) || !same_inputs(options) || !take_state(options)) return false;
  g_autoptr(GVariant) files = entry(options, "files", OPEN_FILES_TYPE);
  g_autoptr(GError) error = NULL;
  if (!spinach_settings_store(options)) return false;
  if (options->reseeds) spinach_reseed();
  if (!open_files_join(files, options->outputs_go_on, &error)) return refuse(options, "%s", error->message);
  return true;
}

bool spinach_restore_pages(spinach_options *options) {
  return spinach_restore_read(options) && take_state(options);
}
