// The command line of a simulator; see options.h.
#include "lss/runtime/run/options.h"
#include "lss/runtime/observe/print.h"
#include "lss/runtime/observe/program_text.h"
#include "lss/runtime/run/list.h"
#include "lss/runtime/run/named_files.h"

#include "lss/runtime/engine/names.h"
#include "lss/runtime/engine/settings.h"
#include "lss/runtime/text/number.h"
#include "lss/runtime/text/quantity.h"

#include <stdlib.h>
#include <unistd.h>

enum { STATE_HASH_EVERY = 100000, HISTORY = 256 << 20 };

static const spinach_machine *const machine = &spinach_machine_table;

// ---- Built-in options ----------------------------------------------------------------------------------------------
typedef bool (*Setter)(spinach_options *options, const char *value);

// A whole number of `least` or more.
static bool read_count(const char *what, const char *text, uint64_t least, uint64_t *value) {
  const char *error;
  return number_read_count(text, least, UINT64_MAX, value, &error) || spinach_report_error("%s: %s", what, error);
}

static int32_t find_clock(const char *name, size_t length) {
  for (uint32_t i = 0; i < machine->clock_count; i++)
    if (strlen(machine->clocks[i].name) == length && !strncmp(machine->clocks[i].name, name, length)) return (int32_t)i;
  return -1;
}

static const char *clock_name(uint32_t index) {
  return machine->clocks[index].name;
}

static bool set_cycles(spinach_options *options, const char *value) {
  const char *colon = strrchr(value, ':');
  if (colon) {
    options->clock = find_clock(value, (size_t)(colon - value));
    g_autofree char *name = g_strndup(value, (gsize)(colon - value));
    const char *near = spinach_nearest(name, machine->clock_count, clock_name);
    if (options->clock < 0)
      return spinach_report_error("--cycles: there is no clock \"%s\"%s%s%s", name, near ? "; did you mean \"" : "",
                                  near ? near : "", near ? "\"?" : "");
  }
  return read_count("--cycles", colon ? colon + 1 : value, 0, &options->cycles);
}

// A quantity that is not negative.
static bool read_quantity(const char *option, const char *value, Dimension dimension, int64_t *base) {
  const char *error;
  if (!quantity_read_base(value, dimension, base, &error)) return spinach_report_error("%s: %s", option, error);
  return *base >= 0 || spinach_report_error("%s: \"%s\" is negative", option, value);
}

static bool read_time(const char *option, const char *value, spinach_count *femtoseconds) {
  const char *error;
  __int128 number;
  if (!quantity_read_wide(value, DIM_TIME, QUANTITY_FEMTO, &number, &error))
    return spinach_report_error("%s: %s", option, error);
  *femtoseconds = (spinach_count)number;
  return number >= 0 || spinach_report_error("%s: \"%s\" is negative", option, value);
}

static bool set_time(spinach_options *options, const char *value) {
  spinach_count femtoseconds;
  if (!read_time("--time", value, &femtoseconds)) return false;
  options->until_tick = MIN(spinach_ticks(femtoseconds), UINT64_MAX - 1); // a bound, if of what is never reached
  return true;
}

bool spinach_is_watchdog(const spinach_parameter *parameter) {
  return !strcmp(parameter->name, "watchdog") && !strcmp(parameter->type, "time") && !parameter->target_count;
}

static int64_t default_watchdog(void) {
  for (uint32_t i = 0; i < machine->parameter_count; i++)
    if (spinach_is_watchdog(&machine->parameters[i])) return machine->parameters[i].default_integer;
  return 0;
}

static bool set_watchdog(spinach_options *options, const char *value) {
  options->unwatched = !strcmp(value, "off");
  if (options->unwatched) return options->watchdog = 0, true;
  spinach_count femtoseconds;
  if (!read_time("--watchdog", value, &femtoseconds)) return false;
  options->watchdog = (int64_t)femtoseconds;
  return femtoseconds <= INT64_MAX || spinach_report_error("--watchdog: \"%s\" is too large (at most 9223 s)", value);
}

static bool set_until(spinach_options *options, const char *value) {
  return spinach_condition_parse("--until", value, &options->conditions[SPINACH_UNTIL]);
}
static bool set_measure_from(spinach_options *options, const char *value) {
  return spinach_condition_parse("--measure-from", value, &options->conditions[SPINACH_MEASURE_FROM]);
}
static bool set_measure_to(spinach_options *options, const char *value) {
  return spinach_condition_parse("--measure-to", value, &options->conditions[SPINACH_MEASURE_TO]);
}
static bool set_sample(spinach_options *options, const char *value) {
  return spinach_condition_parse("--sample", value, &options->conditions[SPINACH_SAMPLE]);
}

static bool set_record(spinach_options *options, const char *value) {
  return (options->record = value) != NULL;
}
static bool set_profile(spinach_options *options, const char *value) {
  return (options->profile = value) != NULL;
}
static bool set_record_events(spinach_options *options, const char *value) {
  g_ptr_array_add(options->record_events, (gpointer)value);
  return true;
}
static bool set_record_from(spinach_options *options, const char *value) {
  return spinach_condition_parse("--record-from", value, &options->conditions[SPINACH_RECORD_FROM]);
}
static bool set_record_to(spinach_options *options, const char *value) {
  return spinach_condition_parse("--record-to", value, &options->conditions[SPINACH_RECORD_TO]);
}

static bool set_seed(spinach_options *options, const char *value) {
  return options->seed_given = read_count("--seed", value, 0, &options->seed);
}
static bool set_checkpoint(spinach_options *options, const char *value) {
  return (options->checkpoint = value) != NULL;
}
static bool set_checkpoint_every(spinach_options *options, const char *value) {
  uint64_t cycles;
  if (!number_parse(value, UINT64_MAX, &cycles))
    return read_time("--checkpoint-every", value, &options->checkpoint_time);
  options->checkpoint_every = cycles;
  return true;
}
static bool set_restore(spinach_options *options, const char *value) {
  return (options->restore = value) != NULL;
}
static bool set_may_differ(spinach_options *options, const char *value) {
  g_ptr_array_add(options->may_differ, (gpointer)value);
  return true;
}
static bool set_serve(spinach_options *options, const char *value) {
  return read_count("--serve", value, 1, &options->serve);
}
static bool set_compare(spinach_options *options, const char *value) {
  return (options->compare = value) != NULL;
}
static bool set_state_hashes(spinach_options *options, const char *value) {
  return (options->state_hashes = value) != NULL;
}
static bool set_state_hash_every(spinach_options *options, const char *value) {
  return read_count("--state-hash-every", value, 1, &options->state_hash_every);
}
static bool set_outputs(spinach_options *options, const char *value) {
  options->outputs_go_on = !strcmp(value, "continue");
  return options->outputs_go_on || !strcmp(value, "begin") ||
         spinach_report_error("--outputs takes \"begin\" or \"continue\", not \"%s\"", value);
}
static bool set_stats(spinach_options *options, const char *value) {
  return (options->stats = value) != NULL;
}
static bool set_run_dir(spinach_options *options, const char *value) {
  return (options->run_dir = value) != NULL;
}
static bool set_trace(spinach_options *options, const char *value) {
  return (options->trace = value) != NULL;
}

static bool set_wave(spinach_options *options, const char *value) {
  return (options->wave = value) != NULL;
}
static bool set_wave_signals(spinach_options *options, const char *value) {
  return (options->wave_signals = value) != NULL;
}
static bool set_wave_from(spinach_options *options, const char *value) {
  return spinach_condition_parse("--wave-from", value, &options->conditions[SPINACH_WAVE_FROM]);
}
static bool set_wave_to(spinach_options *options, const char *value) {
  return spinach_condition_parse("--wave-to", value, &options->conditions[SPINACH_WAVE_TO]);
}

static bool set_gdb(spinach_options *options, const char *value) {
  options->gdb = value;
  return *value || spinach_report_error("--gdb takes a port, HOST:PORT or the path of a socket");
}

static bool set_interactive(spinach_options *options, const char *value) {
  (void)value;
  options->progress = false;
  return options->interactive = true;
}

static bool set_gdb_run(spinach_options *options, const char *value) {
  (void)value;
  return options->gdb_run = true;
}

static bool set_gdb_script(spinach_options *options, const char *value) {
  (void)value;
  return options->gdb_script = true;
}

static bool set_history(spinach_options *options, const char *value) {
  int64_t bytes;
  if (!read_quantity("--history", value, DIM_SIZE, &bytes)) return false;
  options->history = (uint64_t)bytes;
  return true;
}

static bool set_symbols(spinach_options *options, const char *value) {
  (void)options;
  return spinach_program_add(value);
}

static bool set_check_idle(spinach_options *options, const char *value) {
  (void)value;
  return options->check_idle = true;
}

static bool set_no_replay(spinach_options *options, const char *value) {
  (void)value;
  return options->no_replay = true;
}

static bool set_check_replay(spinach_options *options, const char *value) {
  (void)value;
  return options->check_replay = true;
}

static bool set_print(spinach_options *options, const char *value) {
  return spinach_print_find(value, options->print);
}

static bool set_progress(spinach_options *options, const char *value) {
  (void)value;
  return options->progress = true;
}

static bool set_quiet(spinach_options *options, const char *value) {
  (void)value;
  options->progress = false;
  g_setenv("LSS_PROGRESS", "off", TRUE); // of a variant that is built
  return options->quiet = true;
}

static const char *parameter_name(uint32_t index) {
  return machine->parameters[index].name;
}

static bool add_setting(spinach_options *options, const spinach_parameter *parameter, const char *text) {
  if (!parameter->target_count)
    return spinach_report_error("\"%s\" cannot be set: no module of this machine reads it", parameter->name);
  spinach_setting setting = {parameter, text};
  g_array_append_val(options->settings, setting);
  return true;
}

static bool set_parameter(spinach_options *options, const char *value) {
  const char *equals = strchr(value, '=');
  if (!equals) return spinach_report_error("--set: \"%s\" lacks its value; write --set PATH.NAME=VALUE", value);
  g_autofree char *name = g_strndup(value, (gsize)(equals - value));
  const spinach_parameter *parameter = spinach_find_parameter(name);
  if (!parameter) {
    const char *near = spinach_nearest(name, machine->parameter_count, parameter_name);
    return spinach_report_error("--set: there is no runtime parameter \"%s\"%s%s%s", name,
                                near ? "; did you mean \"" : "; --help lists them", near ? near : "",
                                near ? "\"?" : "");
  }
  if (spinach_is_watchdog(parameter)) return set_watchdog(options, equals + 1);
  return add_setting(options, parameter, equals + 1);
}

static bool show_help(spinach_options *options, const char *value);
static bool show_list(spinach_options *options, const char *value);

static const struct {
  const char *name, *argument, *help;
  Setter set;
} builtins[] = {
    {"set", "PATH.NAME=VALUE", "set a runtime parameter", set_parameter},
    {"cycles", "[CLOCK:]N", "run for N cycles of the fastest clock, or of CLOCK", set_cycles},
    {"time", "TIME", "run until this simulated time: 10ms, \"1.5 us\"", set_time},
    {"until", "CONDITION", "run until this holds: a time, cycles(CLOCK) >= N, PATH.STATE >= N (docs/running.md)",
     set_until},
    {"measure-from", "CONDITION", "write down all statistics when this comes true ...", set_measure_from},
    {"measure-to", "CONDITION", "... and when this does: both are in --stats", set_measure_to},
    {"sample", "CONDITION", "write them down each time that this comes true", set_sample},
    {"seed", "N", "seed of everything random (default 1)", set_seed},
    {"checkpoint", "FILE", "write the state in which the run ends, to go on from with --restore", set_checkpoint},
    {"checkpoint-every", "N|TIME", "and also after each N cycles, or each TIME of simulated time",
     set_checkpoint_every},
    {"restore", "FILE", "go on from a checkpoint of this machine", set_restore},
    {"may-differ", "PATTERN",
     "with --restore: constants, userpoints, connections and files that may differ from the checkpoint's; repeatable",
     set_may_differ},
    {"outputs", "begin|continue",
     "whether files written after --restore are new (the default) or go on where they were", set_outputs},
    {"serve", "N",
     "with --restore: begin a run there for each line of standard input, FOLDER [OPTION]..., at most N at once",
     set_serve},
    {"compare", "FILE", "with --restore: print which states differ between the two checkpoints, and end", set_compare},
    {"record", "FILE", "write events to FILE, for `lss trace` (docs/tracing.md): instructions, or those named by ...",
     set_record},
    {"record-events", "WHAT", "... this: instructions, memory, ports PATTERN, frames, or PATH.EVENT; repeatable",
     set_record_events},
    {"profile", "FILE", "write where the cycles of processors go, for `spinach profile` (docs/tracing.md)",
     set_profile},
    {"record-from", "CONDITION", "record or profile from when this comes true ...", set_record_from},
    {"record-to", "CONDITION", "... and until this does", set_record_to},
    {"state-hashes", "FILE", "write a hash of all state after each 100,000 cycles and at the end", set_state_hashes},
    {"state-hash-every", "N", "and after each N cycles instead", set_state_hash_every},
    {"stats", "FILE", "write statistics and manifest as JSON, or statistics as FILE.csv", set_stats},
    {"run-dir", "DIR", "write statistics.json, manifest.json and timing.json there", set_run_dir},
    {"print", "INSTANCE.FIELD",
     "print states at the end: a name, a range a.b[0..63] or a pattern a.*; may be given several times", set_print},
    {"trace", "INSTANCES", "print a line per instant, a column per instance: \"cpu[0].**,arb\"", set_trace},
    {"wave", "FILE", "write signals and states over time, for wave viewers: FILE.vcd or FILE.fst (docs/waves.md)",
     set_wave},
    {"wave-signals", "PATTERNS", "which: \"cpu[0].fetch.*,port nic.**\"; without it all", set_wave_signals},
    {"wave-from", "CONDITION", "begin the wave when this comes true ...", set_wave_from},
    {"wave-to", "CONDITION", "... and end it when this does", set_wave_to},
    {"interactive", NULL, "go on by commands from standard input: run, step, print, ... (docs/debugging.md)",
     set_interactive},
    {"gdb", "PORT", "wait for gdb there; HOST:PORT or the path of a socket (docs/debugging.md)", set_gdb},
    {"gdb-run", NULL, "with --gdb: begin without waiting for it", set_gdb_run},
    {"gdb-script", NULL, "with --gdb: print the commands that connect gdb to this machine, and end", set_gdb_script},
    {"history", "SIZE", "with --gdb: how much of the past is kept to go back to (default 256 MiB)", set_history},
    {"symbols", "FILE", "an ELF file with the names and lines of a program that has none; may be given several times",
     set_symbols},
    {"check-idle", NULL, "check what modules say about when they act next (docs/module_reference.md)", set_check_idle},
    {"no-replay", NULL, "step processors that repeat themselves, too (docs/speed.md)", set_no_replay},
    {"check-replay", NULL, "step what is replayed or skipped or sleeps all the same, and compare (docs/speed.md)",
     set_check_replay},
    {"watchdog", "TIME|off",
     "stop a run that makes no progress for this long, and say what waits on what; off: also one that cannot end goes "
     "on",
     set_watchdog},
    {"progress", NULL, "show how far the run is (the default on a terminal), also behind --quiet", set_progress},
    {"quiet", NULL, "print no table of statistics and no progress", set_quiet},
    {"list", NULL,
     "list all state that --print and conditions can name; --list=json: parameters, statistics, events, clocks",
     show_list},
    {"help", NULL, "this text", show_help},
};

static const char *option_name(uint32_t index) {
  if (index < G_N_ELEMENTS(builtins)) return builtins[index].name;
  const char *name = machine->parameters[index - G_N_ELEMENTS(builtins)].name;
  return strchr(name, '.') ? NULL : name;
}

static void show_parameter(const spinach_parameter *parameter) {
  g_autofree char *left = g_strdup_printf("%s : %s", parameter->name, parameter->type);
  spinach_parameter untargeted = *parameter;
  untargeted.target_count = 0; // its default, not its value
  g_autofree char *text = spinach_parameter_text(&untargeted);
  printf("  %-36s %s%s%s%s\n", left, *text ? "= " : "", text, parameter->range ? ", " : "",
         parameter->range ? parameter->range : "");
  if (parameter->doc && *parameter->doc) printf("      %s\n", parameter->doc);
}

// Those that are passed on from this wrapped instance; NULL: those that are declared where they are named.
static void show_parameters_of(const char *origin) {
  for (uint32_t i = 0; i < machine->parameter_count; i++)
    if (!g_strcmp0(machine->parameters[i].of, origin)) show_parameter(&machine->parameters[i]);
}

static void show_parameters(void) {
  if (!machine->parameter_count) return;
  printf("\nRuntime parameters (--NAME VALUE where there is no dot, --set PATH.NAME=VALUE for all):\n");
  show_parameters_of(NULL);
  g_autoptr(GPtrArray) origins = g_ptr_array_new();
  for (uint32_t i = 0; i < machine->parameter_count; i++) {
    const char *of = machine->parameters[i].of;
    if (!of || g_ptr_array_find_with_equal_func(origins, of, g_str_equal, NULL)) continue;
    g_ptr_array_add(origins, (gpointer)of);
    printf("\nOf %s:\n", of);
    show_parameters_of(of);
  }
}

static bool show_help(spinach_options *options, const char *value) {
  (void)value;
  printf("usage: %s [OPTION]...\nSimulates %s.\n\n", spinach_program, machine->file);
  for (guint i = 0; i < G_N_ELEMENTS(builtins); i++) {
    g_autofree char *left =
        g_strdup_printf("--%s %s", builtins[i].name, builtins[i].argument ? builtins[i].argument : "");
    printf("  %-28s %s\n", left, builtins[i].help);
  }
  show_parameters();
  return options->ended = true;
}

static bool show_list(spinach_options *options, const char *value) {
  if (value && strcmp(value, "json"))
    return spinach_report_error("--list takes \"json\" or nothing, not \"%s\"", value);
  if (value) {
    g_autofree char *text = spinach_list_json();
    fputs(text, stdout);
    return options->ended = true;
  }
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const spinach_layout *layout = machine->instances[i].layout;
    for (uint32_t k = 0; layout && k < layout->field_count; k++) {
      const spinach_field *field = &layout->fields[k];
      printf("%s.%s : %s", machine->instances[i].path, field->name, field->type->name);
      for (uint32_t d = 0; d < field->dimension_count; d++) printf("[%u]", field->dimensions[d]);
      printf("\n");
    }
  }
  return options->ended = true;
}

// ---- The whole command line

// Applies one option; `value` is what followed "=", or NULL; *used says whether `next` was consumed.
static bool apply(spinach_options *options, const char *name, const char *value, const char *next, bool *used) {
  for (guint i = 0; i < G_N_ELEMENTS(builtins); i++) {
    if (strcmp(builtins[i].name, name)) continue;
    if (!builtins[i].argument) {
      if (value && builtins[i].set != show_list) return spinach_report_error("--%s takes no value", name);
      return builtins[i].set(options, value);
    }
    *used = !value;
    if (!value && !next) return spinach_report_error("--%s needs a value: --%s %s", name, name, builtins[i].argument);
    named_files_note(options, name, value ? value : next);
    return builtins[i].set(options, value ? value : next);
  }
  const spinach_parameter *parameter = strchr(name, '.') ? NULL : spinach_find_parameter(name);
  if (parameter) {
    *used = !value;
    if (!value && !next) return spinach_report_error("--%s needs a value of type %s", name, parameter->type);
    return add_setting(options, parameter, value ? value : next);
  }
  const char *near = spinach_nearest(name, (uint32_t)G_N_ELEMENTS(builtins) + machine->parameter_count, option_name);
  return spinach_report_error("there is no option --%s%s%s%s", name, near ? "; did you mean --" : "; --help lists them",
                              near ? near : "", near ? "?" : "");
}

static void clear_named_file(gpointer file) {
  g_free(((spinach_named_file *)file)->path);
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
  const char *forward_only = spinach_writes_once(options);
  if (options->gdb && forward_only)
    return spinach_report_error("%s writes down what happens once; with --gdb a run goes backwards, too", forward_only);
  return true;
}

static uint64_t whole_cycles(int32_t clock, uint64_t ticks) {
  return ticks == UINT64_MAX ? ticks
                             : spinach_cycle_from(&machine->clocks[clock], machine->ticks_per_second, ticks + 1) - 1;
}

bool spinach_options_parse(int argc, char **argv, spinach_options *options) {
  *options = (spinach_options){.argc = argc,
                               .argv = argv,
                               .clock = spinach_fastest_clock(),
                               .cycles = UINT64_MAX,
                               .until_tick = UINT64_MAX,
                               .seed = 1};
  options->watchdog = default_watchdog();
  options->state_hash_every = STATE_HASH_EVERY;
  options->history = HISTORY;
  options->print = g_array_new(FALSE, FALSE, sizeof(spinach_place));
  options->record_events = g_ptr_array_new();
  options->files = g_array_new(FALSE, FALSE, sizeof(spinach_named_file));
  g_array_set_clear_func(options->files, clear_named_file);
  options->may_differ = g_ptr_array_new();
  options->settings = g_array_new(FALSE, FALSE, sizeof(spinach_setting));
  options->progress = isatty(STDERR_FILENO);
  for (int i = 1; i < argc && !options->ended; i++) {
    if (!g_str_has_prefix(argv[i], "--") || !argv[i][2])
      return spinach_report_error("\"%s\" is no option; options begin with -- (--help lists them)", argv[i]);
    const char *equals = strchr(argv[i], '=');
    g_autofree char *name = equals ? g_strndup(argv[i] + 2, (gsize)(equals - argv[i] - 2)) : g_strdup(argv[i] + 2);
    bool used = false;
    if (!apply(options, name, equals ? equals + 1 : NULL, i + 1 < argc ? argv[i + 1] : NULL, &used)) return false;
    i += used;
  }
  if (options->checkpoint_time) // in whole cycles
    options->checkpoint_every = MAX(1, whole_cycles(options->clock, spinach_ticks(options->checkpoint_time)));
  return fit(options);
}

void spinach_options_clear(spinach_options *options) {
  g_clear_pointer(&options->print, g_array_unref);
  g_clear_pointer(&options->record_events, g_ptr_array_unref);
  g_clear_pointer(&options->files, g_array_unref);
  g_clear_pointer(&options->may_differ, g_ptr_array_unref);
  g_clear_pointer(&options->settings, g_array_unref);
  for (guint i = 0; i < SPINACH_CONDITIONS; i++) spinach_condition_clear(&options->conditions[i]);
}
