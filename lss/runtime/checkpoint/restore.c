// Reading a checkpoint, and taking its state over; see checkpoint.h.
#include "lss/runtime/checkpoint/checkpoint.h"
#include "lss/runtime/checkpoint/identity.h"
#include "lss/runtime/checkpoint/layout.h"
#include "lss/runtime/checkpoint/move.h"
#include "lss/runtime/checkpoint/open_files.h"
#include "lss/runtime/checkpoint/sources.h"
#include "lss/runtime/engine/inputs.h"
#include "lss/runtime/engine/settings.h"
#include "lss/runtime/files/confined.h"
#include "lss/runtime/files/stream_private.h"
#include "lss/runtime/observe/balance.h"
#include "lss/runtime/observe/measure.h"
#include "lss/runtime/observe/ranges.h"

#include <string.h>

static const spinach_machine *const machine = &spinach_machine_table;

static bool same; // the state is as this machine's, byte by byte

static bool refuse(const spinach_options *options, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool refuse(const spinach_options *options, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  return spinach_report_error("cannot restore \"%s\": %s", options->restore, text);
}

static GVariant *entry(const char *key) {
  return checkpoint_file_entry(&sources_first()->file, key);
}

// ---- Parameters and seed -------------------------------------------------------------------------------------------

// What the run had comes before what is given now, and in place of what the network sets at the start.
static void prepend_settings(spinach_options *options) {
  g_autoptr(GVariant) parameters = sources_list("parameters");
  if (options->network_settings) g_array_remove_range(options->settings, 0, options->network_settings);
  options->network_settings = 0;
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
  g_autoptr(GVariant) inputs = sources_list("inputs");
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
static bool same_identity(const spinach_options *options) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GVariant) identity = sources_list("identity"), origins = sources_list("origins");
  g_autoptr(GVariant) differences = identity_compare(identity, options, &error);
  if (!differences) return refuse(options, "%s", error->message);
  identity_set_origins(origins);
  for (guint i = 0; !options->handed && i < sources_count(); i++)
    identity_add_origin(sources_at(i)->name, sources_at(i)->sha256, differences);
  return true;
}

// Once in a process: what it forks has it.
static bool open_sources(const spinach_options *options) {
  g_autoptr(GError) error = NULL;
  if (sources_count() && sources_first()->shared) return true;
  spinach_progress_say("reading the checkpoint");
  if (!sources_open(options->restore, &error)) return refuse(options, "%s", error->message);
  g_autoptr(GVariant) hash = entry("layout");
  g_autofree char *present = layout_hash();
  same = sources_count() == 1 && !strcmp(g_variant_get_string(hash, NULL), present);
  return (same || move_check(&error) || refuse(options, "%s", error->message)) && same_identity(options);
}

bool spinach_restore_read(spinach_options *options) {
  if (!open_sources(options)) return false;
  g_autoptr(GVariant) seed = entry("seed");
  prepend_settings(options);
  restored = options;
  if (!options->handed) host_output_problem = output_problem;
  options->reseeds = options->seed_given;
  if (!options->seed_given) options->seed = g_variant_get_uint64(seed);
  return true;
}

// ---- The state -----------------------------------------------------------------------------------------------------

bool spinach_restore_share(spinach_options *options) {
  g_autoptr(GError) error = NULL;
  return open_sources(options) && (sources_share(&error) || refuse(options, "%s", error->message));
}

static bool take_pages(const spinach_options *options) {
  spinach_progress_say("unpacking the state");
  g_autoptr(GError) error = NULL;
  Source *first = sources_at(0);
  if (!same) return move_states(&error) || refuse(options, "%s", error->message);
  if (checkpoint_file_size(&first->file) != spinach_arena_size)
    return refuse(options, "it is damaged: its arena has another size");
  return sources_expand(first, spinach_arena, &error) || refuse(options, "%s", error->message);
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
        "--%s: the run goes on at %.15g ns, which is later (%s from the start of the checkpoint's run)",
        options->until_cycles ? "cycles" : "time", ns, options->until_cycles ? "cycles count" : "time counts");
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

// Whether the user had set a state.
static bool was_changed(void) {
  bool any = false;
  for (guint i = 0; i < sources_count(); i++) {
    g_autoptr(GVariant) changed = checkpoint_file_entry(&sources_at(i)->file, "changed");
    any |= g_variant_get_boolean(changed);
  }
  return any;
}

bool spinach_restore_state(const spinach_options *options) {
  if (!may_be_set(options) || !same_inputs(options) || !take_state(options) || !check_bounds(options)) return false;
  g_autoptr(GVariant) files = move_open_files(), inputs = sources_list("inputs");
  g_autoptr(GError) error = NULL;
  if (!spinach_settings_store(options)) return false;
  if (options->reseeds) spinach_reseed();
  if (!open_files_join(files, inputs, options->outputs_go_on, &error)) return refuse(options, "%s", error->message);
  if (!is_allowed(options)) return false;
  follow_settings(options);
  if (was_changed()) spinach_balance_disturb();
  g_autoptr(GVariant) measured = entry("measured");
  return spinach_measure_resume(measured, same);
}

uint64_t spinach_restored_until(void) {
  g_autoptr(GVariant) until = entry("until");
  return g_variant_get_uint64(until);
}

bool spinach_restored_whole(void) {
  return same;
}

bool spinach_restore_pages(spinach_options *options) {
  return spinach_restore_read(options) && take_state(options);
}
