// The command line of a simulator; see options.h.
#include "lss/runtime/run/options.h"

#include "lss/runtime/engine/clocks.h"
#include "lss/runtime/engine/names.h"
#include "lss/runtime/engine/settings.h"
#include "lss/runtime/link/part.h"
#include "lss/runtime/run/named_files.h"
#include "lss/runtime/run/option_table.h"
#include "lss/runtime/text/quantity.h"

#include <unistd.h>

enum { STATE_HASH_EVERY = 100000, HISTORY = 256 << 20, START_TIMEOUT = 60 };
static const int64_t IDLE_TIMEOUT = 3600 * QUANTITY_FEMTO; // an hour

static const spinach_machine *const machine = &spinach_machine_table;

static int64_t default_watchdog(void) {
  for (uint32_t i = 0; i < machine->parameter_count; i++)
    if (spinach_is_watchdog(&machine->parameters[i])) return machine->parameters[i].default_integer;
  return 0;
}

static uint32_t option_count(void) {
  uint32_t count = 0;
  while (spinach_option_table[count].name) count++;
  return count;
}

static const char *option_name(uint32_t index) {
  if (index < option_count()) {
    const spinach_option *option = &spinach_option_table[index];
    return spinach_option_is_here(option) ? option->name : NULL;
  }
  const char *name = machine->parameters[index - option_count()].name;
  return strchr(name, '.') ? NULL : name;
}

// Applies one option; `value` is what followed "=", or NULL; *used says whether `next` was consumed.
static bool apply(spinach_options *options, const char *name, const char *value, const char *next, bool *used) {
  for (const spinach_option *option = spinach_option_table; option->name; option++) {
    if (strcmp(option->name, name) || !spinach_option_is_here(option)) continue;
    if (option->argument == spinach_or_instances) {
      if (value && !*value) return spinach_report_error("--%s= lacks its pattern of instances", name);
      return option->set(options, value);
    }
    if (!option->argument || option->argument == spinach_or_json) {
      if (value && !option->argument) return spinach_report_error("--%s takes no value", name);
      if (value && strcmp(value, "json"))
        return spinach_report_error("--%s takes \"json\" or nothing, not \"%s\"", name, value);
      return option->set(options, value);
    }
    *used = !value;
    if (!value && !next) return spinach_report_error("--%s needs a value: --%s %s", name, name, option->argument);
    named_files_note(options, name, value ? value : next);
    return option->set(options, value ? value : next);
  }
  const spinach_parameter *parameter = strchr(name, '.') ? NULL : spinach_find_parameter(name);
  if (parameter) {
    *used = !value;
    if (!value && !next) return spinach_report_error("--%s needs a value of type %s", name, parameter->type);
    return spinach_setting_add(options, parameter, value ? value : next);
  }
  const char *near = spinach_nearest(name, option_count() + machine->parameter_count, option_name);
  return spinach_report_error("there is no option --%s%s%s%s", name, near ? "; did you mean --" : "; --help lists them",
                              near ? near : "", near ? "?" : "");
}

static void clear_gateway(gpointer gateway) {
  GatewaySetting *setting = gateway;
  g_free(setting->instance);
  gateway_place_clear(&setting->place);
}

static void clear_named_file(gpointer file) {
  g_free(((spinach_named_file *)file)->path);
}

// The simulator of a part runs with those of the others only, and as they do.
static bool fit_part(const spinach_options *options) {
  const spinach_part_request *part = &options->part;
  const char *slash = strrchr(machine->file, '/');
  const bool alone = options->replay_links;
  if (!part->path || !part->network || !(part->board || alone || options->gdb_script))
    return spinach_report_error("this is the simulator of a part of %s: `spinach network` starts it with --part, "
                                "--network and --board",
                                slash ? slash + 1 : machine->file);
  if (part->board && alone)
    return spinach_report_error("--replay-links runs a part without the others, and goes without --board");
  const char *other = options->serve         ? "--serve"
                      : alone                ? NULL
                      : options->interactive ? "--interactive"
                      : options->check_idle  ? "--check-idle"
                                             : NULL;
  return !other || spinach_report_error("%s is not for the simulator of a part", other);
}

// What only makes sense with something else, or not with it.
static bool fit(const spinach_options *options) {
  if (options->checkpoint_every && !options->checkpoint)
    return spinach_report_error("--checkpoint-every lacks the file: --checkpoint FILE");
  const bool window = options->conditions[SPINACH_RECORD_FROM].kind || options->conditions[SPINACH_RECORD_TO].kind;
  if (!options->record && (options->record_events->len || (window && !options->profile)))
    return spinach_report_error("what is recorded lacks its file: --record FILE");
  if (options->compare && !options->restore)
    return spinach_report_error("--compare lacks the other checkpoint: --restore FILE");
  if (options->may_differ->len && !options->restore)
    return spinach_report_error("--may-differ is for runs with --restore");
  if (options->serve && !options->restore) return spinach_report_error("--serve lacks the checkpoint: --restore FILE");
  if (!options->wave && (options->wave_signals || options->conditions[SPINACH_WAVE_FROM].kind ||
                         options->conditions[SPINACH_WAVE_TO].kind))
    return spinach_report_error("--wave-signals, --wave-from and --wave-to lack the file: --wave FILE");
  if (options->interactive && (options->gdb || options->serve))
    return spinach_report_error("--interactive goes neither with --gdb nor with --serve");
  if (options->outputs_go_on && !options->restore)
    return spinach_report_error("--outputs continue is for runs with --restore");
  if ((options->gdb_run || options->gdb_script) && !options->gdb)
    return spinach_report_error("--gdb-%s lacks the port: --gdb PORT", options->gdb_run ? "run" : "script");
  if (options->check_idle_of && (options->check_replay || options->check_idle))
    return spinach_report_error("--check-idle=%s compares less than %s, which goes alone", options->check_idle_of,
                                options->check_idle ? "--check-idle" : "--check-replay");
  if (!options->gateways->len && (options->open || (options->record_links && !machine->part)))
    return spinach_report_error("%s lacks a gateway: --gateway PATH=PLACE",
                                options->open ? "--open" : "--record-links");
  if (options->gateways->len && options->replay_links)
    return spinach_report_error("--replay-links has the frames of an earlier run, and goes without --gateway");
  if (options->record_links && options->replay_links)
    return spinach_report_error("--record-links goes not with --replay-links");
  if (options->interactive && options->record_links)
    return spinach_report_error("--record-links goes not with --interactive");
  if (machine->part && !options->ended && !fit_part(options)) return false;
  const char *forward_only = spinach_writes_once(options);
  if (options->gdb && forward_only)
    return spinach_report_error("%s writes down what happens once; with --gdb a run goes backwards, too", forward_only);
  return true;
}

static uint64_t whole_cycles(const spinach_clock *clock, uint64_t ticks) {
  return ticks == UINT64_MAX ? ticks : spinach_cycle_from(clock, machine->ticks_per_second, ticks + 1) - 1;
}

// What the clock that bounds the run decides.  In a part, which may not have it, cycles are a time.
static void apply_clock(spinach_options *options) {
  uint32_t count;
  const spinach_clock *clock = &spinach_clocks(&count)[options->bounding];
  if (options->checkpoint_time) // in whole cycles
    options->checkpoint_every = MAX(1, whole_cycles(clock, spinach_ticks(options->checkpoint_time)));
  if (!machine->part) {
    options->clock = (int32_t)options->bounding;
    return;
  }
  const uint64_t until = options->cycles < UINT64_MAX ? spinach_instant_after(clock, options->cycles) : UINT64_MAX;
  options->until_cycles = until <= options->until_tick && until < UINT64_MAX;
  options->until_tick = MIN(until, options->until_tick);
  options->cycles = UINT64_MAX;
}

// What follows "--NAME=" or "--NAME" on a command line; NULL: it is not there.
static const char *find_option(int argc, char **argv, const char *name) {
  const size_t length = strlen(name);
  for (int i = 1; i < argc; i++) {
    if (strncmp(argv[i], "--", 2) || strncmp(argv[i] + 2, name, length)) continue;
    if (argv[i][2 + length] == '=') return argv[i] + 3 + length;
    if (!argv[i][2 + length]) return i + 1 < argc ? argv[i + 1] : NULL;
  }
  return NULL;
}

bool spinach_options_name_part(int argc, char **argv) {
  if (!machine->part) return true;
  const spinach_part_request request = {.path = find_option(argc, argv, "part"),
                                        .network = find_option(argc, argv, "network")};
  return spinach_part_name(&request);
}

// What the network's file sets in this part comes first, so that the command line may set it otherwise.
static bool apply_part_settings(spinach_options *options) {
  const char *name, *value;
  for (guint i = 0; (value = spinach_part_setting(i, &name)); i++) {
    const spinach_parameter *parameter = spinach_find_parameter(name);
    if (!parameter) return spinach_report_error("--network: there is no runtime parameter \"%s\"", name);
    if (!spinach_setting_add(options, parameter, value)) return false;
  }
  options->network_settings = options->settings->len;
  return true;
}

bool spinach_options_parse(int argc, char **argv, spinach_options *options) {
  *options = (spinach_options){.argc = argc,
                               .argv = argv,
                               .clock = spinach_fastest_clock(),
                               .bounding = spinach_fastest_of_clocks(),
                               .cycles = UINT64_MAX,
                               .until_tick = UINT64_MAX,
                               .seed = 1,
                               .forks = g_get_num_processors(),
                               .idle_timeout = IDLE_TIMEOUT};
  options->watchdog = default_watchdog();
  options->part.start_timeout = START_TIMEOUT;
  options->state_hash_every = STATE_HASH_EVERY;
  options->history = HISTORY;
  options->print = g_array_new(FALSE, FALSE, sizeof(spinach_place));
  options->record_events = g_ptr_array_new();
  options->files = g_array_new(FALSE, FALSE, sizeof(spinach_named_file));
  g_array_set_clear_func(options->files, clear_named_file);
  options->may_differ = g_ptr_array_new();
  options->gateways = g_array_new(FALSE, FALSE, sizeof(GatewaySetting));
  g_array_set_clear_func(options->gateways, clear_gateway);
  options->settings = g_array_new(FALSE, FALSE, sizeof(spinach_setting));
  options->progress = isatty(STDERR_FILENO);
  if (!apply_part_settings(options)) return false;
  for (int i = 1; i < argc && !options->ended; i++) {
    if (!g_str_has_prefix(argv[i], "--") || !argv[i][2])
      return spinach_report_error("\"%s\" is no option; options begin with -- (--help lists them)", argv[i]);
    const char *equals = strchr(argv[i], '=');
    g_autofree char *name = equals ? g_strndup(argv[i] + 2, (gsize)(equals - argv[i] - 2)) : g_strdup(argv[i] + 2);
    bool used = false;
    if (!apply(options, name, equals ? equals + 1 : NULL, i + 1 < argc ? argv[i + 1] : NULL, &used)) return false;
    i += used;
  }
  apply_clock(options);
  return fit(options);
}

void spinach_options_clear(spinach_options *options) {
  g_clear_pointer(&options->print, g_array_unref);
  g_clear_pointer(&options->record_events, g_ptr_array_unref);
  g_clear_pointer(&options->files, g_array_unref);
  g_clear_pointer(&options->may_differ, g_ptr_array_unref);
  g_clear_pointer(&options->settings, g_array_unref);
  g_clear_pointer(&options->gateways, g_array_unref);
  for (guint i = 0; i < SPINACH_CONDITIONS; i++) spinach_condition_clear(&options->conditions[i]);
}
