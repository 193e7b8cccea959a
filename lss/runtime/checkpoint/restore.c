// Reading a checkpoint, and taking its state over; see checkpoint.h.
#include "emulib/program/input_file.h"
#include "lss/runtime/checkpoint/checkpoint.h"
#include "lss/runtime/checkpoint/file.h"
#include "lss/runtime/checkpoint/format.h"
#include "lss/runtime/checkpoint/identity.h"
#include "lss/runtime/checkpoint/layout.h"
#include "lss/runtime/checkpoint/open_files.h"
#include "lss/runtime/checkpoint/resident.h"
#include "lss/runtime/engine/inputs.h"
#include "lss/runtime/engine/settings.h"
#include "lss/runtime/files/confined.h"
#include "lss/runtime/files/sha256.h"
#include "lss/runtime/files/stream_private.h"
#include "lss/runtime/observe/balance.h"
#include "lss/runtime/observe/measure.h"
#include "lss/runtime/observe/ranges.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const spinach_machine *const machine = &spinach_machine_table;

// The checkpoint that was read; it lives as long as the process, and so do the texts in its header.
static struct {
  CheckpointFile file;
  bool same;  // as this machine's arena, byte by byte
  int shared; // descriptor of its state, unpacked, for processes that begin there; 0 without one
} checkpoint;

static bool refuse(const spinach_options *options, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool refuse(const spinach_options *options, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  return spinach_report_error("cannot restore \"%s\": %s", options->restore, text);
}

static GVariant *entry(const char *key) {
  return checkpoint_file_entry(&checkpoint.file, key);
}

// ---- The machine ---------------------------------------------------------------------------------------------------

static bool same_clocks(const spinach_options *options) {
  g_autoptr(GVariant) clocks = entry("clocks");
  g_autoptr(GVariant) base = entry("ticks-per-second");
  if (g_variant_n_children(clocks) != machine->clock_count)
    return refuse(options, "it is of another machine: it has %zu clocks, this one %u", g_variant_n_children(clocks),
                  machine->clock_count);
  for (guint32 i = 0; i < machine->clock_count; i++) {
    const char *name;
    gint64 num, den;
    g_variant_get_child(clocks, i, "(&sxx)", &name, &num, &den);
    const spinach_clock *clock = &machine->clocks[i];
    if (strcmp(name, clock->name) != 0)
      return refuse(options, "it is of another machine: its clock \"%s\" is \"%s\" here", name, clock->name);
    if (g_variant_get_uint64(base) != machine->ticks_per_second || num != clock->num || den != clock->den)
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
  g_autoptr(GVariant) instances = entry("instances");
  g_autoptr(GVariant) layouts = entry("layouts");
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
  g_autoptr(GVariant) parameters = entry("parameters");
  GVariantIter iterator;
  const char *name, *value;
  g_variant_iter_init(&iterator, parameters);
  while (g_variant_iter_next(&iterator, "(^&ay^&ay)", &name, &value)) {
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

// ---- Outputs -------------------------------------------------------------------------------------------------------

static const spinach_options *restored; // of the run

// Whether the command line or this machine names it, or what its name begins with: not the checkpoint alone.
static bool is_users(const char *path) {
  for (guint i = restored->restored_settings; i < restored->settings->len; i++) {
    const spinach_setting *setting = &g_array_index(restored->settings, spinach_setting, i);
    if (setting->parameter->kind == SPINACH_PARAMETER_STRING && *setting->text && g_str_has_prefix(path, setting->text))
      return true;
  }
  for (uint32_t i = 0; i < machine->parameter_count; i++) {
    const char *usual =
        machine->parameters[i].kind == SPINACH_PARAMETER_STRING ? machine->parameters[i].default_string : NULL;
    if (usual && *usual && g_str_has_prefix(path, usual)) return true;
  }
  return false;
}

// Whose value in the checkpoint it is.
static const char *named_by(const char *path) {
  for (guint i = 0; i < restored->restored_settings; i++) {
    const spinach_setting *setting = &g_array_index(restored->settings, spinach_setting, i);
    if (!strcmp(setting->text, path)) return setting->parameter->name;
  }
  return "PATH.NAME";
}

// A checkpoint may be from anywhere: what it names is not written over outside the working folder.
static char *output_problem(const char *path) {
  if (!strcmp(path, "-") || !strcmp(path, "/dev/null") || is_users(path)) return NULL;
  g_autofree char *why = confined_problem(path, NULL);
  return why ? g_strdup_printf("only the checkpoint names it, and %s (name it again: --set %s=FILE)", why,
                               named_by(path))
             : NULL;
}

// What acts at the start of a run only cannot be changed now, unless it names a file that a stream has open.
static bool may_be_set(const spinach_options *options) {
  for (guint i = options->restored_settings; i < options->settings->len; i++) {
    const spinach_setting *setting = &g_array_index(options->settings, spinach_setting, i);
    const char *before = restored_text(options, setting->parameter);
    g_autofree char *present = spinach_parameter_text(setting->parameter); // the state has what was given already
    if (!setting->parameter->initial || !g_strcmp0(before, present)) continue;
    if (setting->parameter->kind == SPINACH_PARAMETER_STRING && (!*setting->text || open_files_has(setting->text)))
      continue;
    return refuse(options, "\"%s\" cannot be set again: it acts only at the start of a run", setting->parameter->name);
  }
  return true;
}

// What was derived from a parameter that has another value now is not up to date.
static void follow_settings(const spinach_options *options) {
  for (guint i = options->restored_settings; i < options->settings->len; i++) {
    const spinach_parameter *parameter = g_array_index(options->settings, spinach_setting, i).parameter;
    g_autofree char *present = spinach_parameter_text(parameter);
    if (g_strcmp0(restored_text(options, parameter), present) != 0) spinach_parameter_reset(parameter);
  }
}

static bool same_inputs(const spinach_options *options) {
  spinach_progress_say("comparing input files with those of the checkpoint");
  g_autoptr(GVariant) inputs = entry("inputs");
  GVariantIter iterator;
  const char *file, *sum, *present, *present_sum;
  g_variant_iter_init(&iterator, inputs);
  while (g_variant_iter_next(&iterator, "(^&ay^&ay)", &file, &sum))
    for (uint32_t i = 0; (present = spinach_input(i, &present_sum)); i++)
      if (!strcmp(present, file) && strcmp(present_sum, sum) != 0)
        return refuse(options, "the run read \"%s\", which has changed since", file);
  return true;
}

// The same machine, but for what the user lets differ; the manifest lists that, and where the run comes from.
static bool same_identity(const spinach_options *options, const guint8 *bytes, gsize size) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GVariant) identity = entry("identity"), origins = entry("origins");
  g_autoptr(GVariant) differences = identity_compare(identity, options, &error);
  if (!differences) return refuse(options, "%s", error->message);
  identity_set_origins(origins);
  if (options->handed) return true;
  g_autofree char *sum = sha256_of(bytes, size), *name = g_path_get_basename(options->restore);
  identity_add_origin(name, sum, differences);
  return true;
}

// Once in a process: what it forks has it.
static bool open_file(const spinach_options *options) {
  g_autoptr(GError) error = NULL;
  gsize size;
  if (checkpoint.file.header && checkpoint.shared) return true;
  spinach_progress_say("reading the checkpoint");
  const guint8 *bytes = (const guint8 *)input_file_read(options->restore, &size, &error); // kept until the end
  if (!bytes || !checkpoint_file_open(&checkpoint.file, bytes, size, &error))
    return refuse(options, "%s", error->message);
  if (!same_clocks(options)) return false;
  g_autoptr(GVariant) hash = entry("layout");
  g_autofree char *present = layout_hash();
  checkpoint.same = !strcmp(g_variant_get_string(hash, NULL), present);
  return (checkpoint.same || same_instances(options)) && same_identity(options, bytes, size);
}

bool spinach_restore_read(spinach_options *options) {
  if (!open_file(options)) return false;
  g_autoptr(GVariant) seed = entry("seed");
  prepend_settings(options);
  restored = options;
  if (!options->handed) host_output_problem = output_problem;
  options->reseeds = options->seed_given;
  if (!options->seed_given) options->seed = g_variant_get_uint64(seed);
  return true;
}

// ---- The state -----------------------------------------------------------------------------------------------------

// Memory at `place`, or anywhere; from the shared state, or zero.
static void *map(void *place, gsize size) {
  const int flags = MAP_PRIVATE | MAP_NORESERVE | (place ? MAP_FIXED : 0);
  void *memory = mmap(place, size, PROT_READ | PROT_WRITE, flags | (checkpoint.shared ? 0 : MAP_ANONYMOUS),
                      checkpoint.shared ? checkpoint.shared : -1, 0);
  if (memory != MAP_FAILED && checkpoint.shared) resident_note_file(memory, size, checkpoint.shared);
  return memory == MAP_FAILED ? NULL : memory;
}

bool spinach_restore_share(spinach_options *options) {
  g_autoptr(GError) error = NULL;
  if (!open_file(options)) return false;
  const gsize size = checkpoint_file_size(&checkpoint.file);
  const int handle = memfd_create("checkpoint", MFD_CLOEXEC);
  void *memory = handle >= 0 && size && !ftruncate(handle, (off_t)size)
                     ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0)
                     : MAP_FAILED;
  if (memory == MAP_FAILED) return refuse(options, "there is no memory for %zu bytes of state", size);
  if (!checkpoint_file_expand(&checkpoint.file, memory, &error)) return refuse(options, "%s", error->message);
  munmap(memory, size);
  checkpoint.shared = handle;
  return true;
}

// Each text is as far from where its parameter is in the state as that says.
static bool move_texts(const spinach_options *options, GHashTable *there, const guint8 *arena, gsize size) {
  for (guint32 i = 0; i < machine->parameter_count; i++) {
    const spinach_parameter *parameter = &machine->parameters[i];
    for (guint32 k = 0; k < parameter->target_count && parameter->kind == SPINACH_PARAMETER_STRING; k++) {
      const spinach_target *target = &parameter->targets[k];
      const Earlier *known = g_hash_table_lookup(there, machine->instances[target->instance].path);
      const guint64 place = known->offset + target->offset; // within the state, whose bounds were looked at
      spinach_text distance;
      memcpy(&distance, arena + place, sizeof distance);
      if (size < SPINACH_STRING_SIZE || distance > size - place || place + distance > size - SPINACH_STRING_SIZE)
        return refuse(options, "it is damaged: a text is outside its arena");
      const char *text = (const char *)arena + place + distance;
      memcpy((char *)spinach_instance_state(target->instance) + target->text, text,
             strnlen(text, SPINACH_STRING_SIZE - 1)); // pages without text are left as they are: zeros
    }
  }
  return true;
}

// Another build: instance by instance, to where each is here.  What observers count is not the machine's, and begins
// anew.
static bool move_instances(const spinach_options *options, const guint8 *arena, gsize size) {
  g_autoptr(GVariant) instances = entry("instances");
  g_autoptr(GHashTable) there = earlier_instances(instances);
  if (spinach_clockwork_size() > size) return refuse(options, "it is damaged: it holds no time");
  memcpy(spinach_passing, arena, spinach_clockwork_size()); // of as many clocks: it begins each arena
  for (guint32 i = 0; i < machine->instance_count; i++) {
    if (!machine->instances[i].layout) continue;
    const gsize length = layout_bytes(i);
    const Earlier *known = g_hash_table_lookup(there, machine->instances[i].path); // same_instances() has seen it
    if (known->offset > size || length > size - known->offset)
      return refuse(options, "it is damaged: a state is outside its arena");
    resident_copy(spinach_instance_state((int32_t)i), arena + known->offset, length);
  }
  return move_texts(options, there, arena, size);
}

static bool take_pages(const spinach_options *options) {
  spinach_progress_say("unpacking the state");
  g_autoptr(GError) error = NULL;
  const gsize size = checkpoint_file_size(&checkpoint.file);
  if (checkpoint.same && size != spinach_arena_size)
    return refuse(options, "it is damaged: its arena has another size");
  guint8 *memory = size ? map(checkpoint.same ? spinach_arena : NULL, size) : NULL;
  if (!memory) return refuse(options, "there is no memory for %zu bytes of state", size);
  if (!checkpoint.shared && !checkpoint_file_expand(&checkpoint.file, memory, &error))
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

// Bounds of the run and conditions that were over before the checkpoint was written are mistakes: they would end the
// run where it begins, or never.  Those that window and series of statistics wait for go on as they were.
static bool check_bounds(const spinach_options *options) {
  static const struct {
    int condition;
    const char *option;
  } waited[] = {{SPINACH_UNTIL, "until"},
                {SPINACH_RECORD_FROM, "record-from"},
                {SPINACH_RECORD_TO, "record-to"},
                {SPINACH_WAVE_FROM, "wave-from"},
                {SPINACH_WAVE_TO, "wave-to"}};
  const uint64_t cycles = spinach_cycles(options->clock);
  const double ns = (double)spinach_now_fs() / 1e6;
  if (cycles > options->cycles)
    return spinach_report_error("--cycles %" G_GUINT64_FORMAT ": the run goes on at cycle %" G_GUINT64_FORMAT
                                " of %s, which is later (cycles count from the start of the checkpoint's run)",
                                options->cycles, cycles, machine->clocks[options->clock].name);
  if (spinach_time.now > options->until_tick)
    return spinach_report_error(
        "--time: the run goes on at %.15g ns, which is later (time counts from the start of the "
        "checkpoint's run)",
        ns);
  for (guint i = 0; i < G_N_ELEMENTS(waited); i++) {
    const spinach_condition *condition = &options->conditions[waited[i].condition];
    if (spinach_condition_over(condition))
      return spinach_report_error("--%s %s: the run goes on at %.15g ns, which is later", waited[i].option,
                                  condition->text, ns);
  }
  return true;
}

// No code of a module has run on the state yet.
static bool is_allowed(const spinach_options *options) {
  g_autofree char *fault = spinach_ranges_fault();
  if (fault) return refuse(options, "%s", fault);
  const int32_t wrong = spinach_wrong_clock();
  return wrong < 0 || refuse(options, "it is damaged: the cycles of the clock \"%s\" and the time do not agree",
                             machine->clocks[wrong].name);
}

bool spinach_restore_state(const spinach_options *options) {
  if (!may_be_set(options) || !same_inputs(options) || !take_state(options) || !check_bounds(options)) return false;
  g_autoptr(GVariant) files = entry("files"), inputs = entry("inputs");
  g_autoptr(GError) error = NULL;
  if (!spinach_settings_store(options)) return false;
  if (options->reseeds) spinach_reseed();
  if (!open_files_join(files, inputs, options->outputs_go_on, &error)) return refuse(options, "%s", error->message);
  if (!is_allowed(options)) return false;
  follow_settings(options);
  g_autoptr(GVariant) measured = entry("measured"), changed = entry("changed");
  if (g_variant_get_boolean(changed)) spinach_balance_disturb();
  return spinach_measure_resume(measured, checkpoint.same);
}

bool spinach_restored_whole(void) {
  return checkpoint.same;
}

bool spinach_restore_pages(spinach_options *options) {
  return spinach_restore_read(options) && take_state(options);
}
