// Options one by one; see option_table.h.
#include "lss/runtime/run/option_table.h"

#include "lss/runtime/engine/clocks.h"
#include "lss/runtime/engine/names.h"
#include "lss/runtime/engine/settings.h"
#include "lss/runtime/observe/print.h"
#include "lss/runtime/observe/program_text.h"
#include "lss/runtime/run/list.h"
#include "lss/runtime/text/number.h"
#include "lss/runtime/text/quantity.h"

static const spinach_machine *const machine = &spinach_machine_table;

// A whole number of `least` or more.
static bool read_count(const char *what, const char *text, uint64_t least, uint64_t *value) {
  const char *error;
  return number_read_count(text, least, UINT64_MAX, value, &error) || spinach_report_error("%s: %s", what, error);
}

static const char *clock_name(uint32_t index) {
  uint32_t count;
  return spinach_clocks(&count)[index].name;
}

static bool find_clock(const char *name, uint32_t *clock) {
  uint32_t count;
  spinach_clocks(&count);
  for (*clock = 0; *clock < count; ++*clock)
    if (!strcmp(clock_name(*clock), name)) return true;
  const char *near = spinach_nearest(name, count, clock_name);
  return spinach_report_error("--cycles: there is no clock \"%s\"%s%s%s", name, near ? "; did you mean \"" : "",
                              near ? near : "", near ? "\"?" : "");
}

static bool set_cycles(spinach_options *options, const char *value) {
  const char *colon = strrchr(value, ':');
  if (colon) {
    g_autofree char *name = g_strndup(value, (gsize)(colon - value));
    if (!find_clock(name, &options->bounding)) return false;
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

static bool set_watchdog(spinach_options *options, const char *value) {
  options->unwatched = !strcmp(value, "off");
  if (options->unwatched) return options->watchdog = 0, true;
  spinach_count femtoseconds;
  if (!read_time("--watchdog", value, &femtoseconds)) return false;
  options->watchdog = (int64_t)femtoseconds;
  return femtoseconds <= INT64_MAX || spinach_report_error("--watchdog: \"%s\" is too large (at most 9223 s)", value);
}

static bool set_idle_timeout(spinach_options *options, const char *value) {
  options->idle_timeout_given = true;
  if (!strcmp(value, "off")) return options->idle_timeout = 0, true;
  spinach_count femtoseconds;
  if (!read_time("--idle-timeout", value, &femtoseconds)) return false;
  options->idle_timeout = (int64_t)femtoseconds;
  if (!femtoseconds) return spinach_report_error("--idle-timeout: \"%s\" is no time to wait (off: for ever)", value);
  return femtoseconds <= INT64_MAX ||
         spinach_report_error("--idle-timeout: \"%s\" is too large (at most 9223 s; off: for ever)", value);
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

static bool set_sample_window(spinach_options *options, const char *value) {
  (void)value;
  return options->sample_window = true;
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
static bool set_forks(spinach_options *options, const char *value) {
  return read_count("--forks", value, 0, &options->forks);
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

static const char *instance_path(uint32_t index) {
  return machine->instances[index].path;
}

static bool is_instance(const char *path) {
  for (uint32_t i = 0; i < machine->instance_count; i++)
    if (!strcmp(machine->instances[i].path, path)) return true;
  const char *near = spinach_nearest(path, machine->instance_count, instance_path);
  return spinach_report_error("--gateway: there is no instance \"%s\"%s%s%s", path, near ? "; did you mean \"" : "",
                              near ? near : "", near ? "\"?" : "");
}

static bool set_gateway(spinach_options *options, const char *value) {
  g_autoptr(GError) error = NULL;
  const char *equals = strchr(value, '=');
  if (!equals) return spinach_report_error("--gateway: \"%s\" lacks where it leads; write --gateway PATH=PLACE", value);
  g_autofree char *path = g_strndup(value, (gsize)(equals - value));
  if (!is_instance(path)) return false;
  for (guint i = 0; i < options->gateways->len; i++)
    if (!strcmp(g_array_index(options->gateways, GatewaySetting, i).instance, path))
      return spinach_report_error("--gateway: \"%s\" is given twice", path);
  GatewaySetting setting = {0};
  if (!gateway_place_read(equals + 1, &setting.place, &error))
    return spinach_report_error("--gateway: %s", error->message);
  setting.instance = g_steal_pointer(&path);
  g_array_append_val(options->gateways, setting);
  return true;
}

static bool set_open(spinach_options *options, const char *value) {
  (void)value;
  return options->open = true;
}
static bool set_record_links(spinach_options *options, const char *value) {
  return (options->record_links = value) != NULL;
}
static bool set_replay_links(spinach_options *options, const char *value) {
  return (options->replay_links = value) != NULL;
}

static bool set_gdb(spinach_options *options, const char *value) {
  options->gdb = value;
  return *value || spinach_report_error("--gdb takes a port, HOST:PORT or the path of a socket");
}

static bool set_interactive(spinach_options *options, const char *value) {
  options->interactive_json = value;
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
  if (value)
    options->check_idle_of = value;
  else
    options->check_idle = true;
  return true;
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
  options->progress_json = value;
  return options->progress = true;
}

static bool set_part(spinach_options *options, const char *value) {
  return (options->part.path = value) != NULL;
}
static bool set_network(spinach_options *options, const char *value) {
  return (options->part.network = value) != NULL;
}
static bool set_board(spinach_options *options, const char *value) {
  return (options->part.board = value) != NULL;
}
static bool set_start_timeout(spinach_options *options, const char *value) {
  return read_count("--start-timeout", value, 1, &options->part.start_timeout);
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

bool spinach_setting_add(spinach_options *options, const spinach_parameter *parameter, const char *text) {
  if (!parameter->target_count)
    return spinach_report_error("\"%s\" cannot be set: no module of this machine reads it", parameter->name);
  spinach_setting setting = {parameter, text};
  g_array_append_val(options->settings, setting);
  return true;
}

// All parameters that a pattern matches; those that cannot be set only if it matches no others.
static bool set_matching(spinach_options *options, const char *pattern, const char *value) {
  const spinach_parameter *matched = NULL;
  const guint before = options->settings->len;
  for (uint32_t i = 0; i < machine->parameter_count; i++) {
    const spinach_parameter *parameter = &machine->parameters[i];
    if (spinach_is_watchdog(parameter) || !spinach_parameter_matches(parameter, pattern)) continue;
    matched = parameter;
    if (parameter->target_count && !spinach_setting_add(options, parameter, value)) return false;
  }
  if (!matched) return spinach_report_error("--set: \"%s\" matches no runtime parameter; --help lists them", pattern);
  return options->settings->len > before || spinach_setting_add(options, matched, value);
}

// Why there is no parameter of this name: it is fixed when the machine is built, or nothing has it.
static bool report_no_parameter(const char *name, const char *value) {
  for (uint32_t i = 0; i < machine->constant_count; i++)
    if (machine->constants[i].instance >= 0 && !strcmp(machine->constants[i].name, name))
      return spinach_report_error("--set: \"%s\" is fixed when the machine is built; -D %s=%s builds another one", name,
                                  name, value);
  const char *near = spinach_nearest(name, machine->parameter_count, parameter_name);
  return spinach_report_error("--set: there is no runtime parameter \"%s\"%s%s%s", name,
                              near ? "; did you mean \"" : "; --help lists them", near ? near : "", near ? "\"?" : "");
}

static bool set_parameter(spinach_options *options, const char *value) {
  const char *equals = strchr(value, '=');
  if (!equals) return spinach_report_error("--set: \"%s\" lacks its value; write --set PATH.NAME=VALUE", value);
  g_autofree char *name = g_strndup(value, (gsize)(equals - value));
  if (strchr(name, '*')) return set_matching(options, name, equals + 1);
  const spinach_parameter *parameter = spinach_find_parameter(name);
  if (!parameter) return report_no_parameter(name, equals + 1);
  if (spinach_is_watchdog(parameter)) return set_watchdog(options, equals + 1);
  return spinach_setting_add(options, parameter, equals + 1);
}

bool spinach_option_is_here(const spinach_option *option) {
  const bool of_parts = option->set == set_part || option->set == set_network || option->set == set_board ||
                        option->set == set_start_timeout;
  return machine->part || !of_parts;
}

static bool show_help(spinach_options *options, const char *value);
static bool show_list(spinach_options *options, const char *value);

const char spinach_or_json[] = "[=json]", spinach_or_instances[] = "[=INSTANCES]";

const spinach_option spinach_option_table[] = {
    {"set", "PATH.NAME=VALUE", "set a runtime parameter", set_parameter},
    {"cycles", "[CLOCK:]N", "run for N cycles of the fastest clock, or of CLOCK", set_cycles},
    {"time", "TIME", "run until this simulated time: 10ms, \"1.5 us\"", set_time},
    {"until", "CONDITION", "run until this holds: a time, cycles(CLOCK) >= N, PATH.STATE >= N (docs/running.md)",
     set_until},
    {"measure-from", "CONDITION", "what statistics count in a window: from when this comes true ...", set_measure_from},
    {"measure-to", "CONDITION", "... until this does; printed, and --stats has both ends", set_measure_to},
    {"sample", "CONDITION", "write all statistics into --stats each time that this comes true", set_sample},
    {"sample-window", NULL, "with --sample: only within the window of --measure-from and --measure-to",
     set_sample_window},
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
    {"forks", "N",
     "at most N processes that modules fork from the run execute at once (default: one for each processor of this "
     "computer); 0: the run waits for each",
     set_forks},
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
    {"interactive", spinach_or_json,
     "go on by commands from standard input: run, step, print, ...; json: with replies for tools "
     "(docs/debugging.md)",
     set_interactive},
    {"gateway", "PATH=PLACE",
     "connect a gateway to a real network: udp:OWN:HOST:PEER, tap:NAME or stream:HOST:PORT; repeatable "
     "(docs/network.md)",
     set_gateway},
    {"open", NULL, "with --gateway: other computers may be at the other end", set_open},
    {"record-links", "FOLDER", "write the frames of gateways, and the items that a part sends, there ...",
     set_record_links},
    {"replay-links", "FOLDER", "... and have them again in a repeatable run, without outside or other parts",
     set_replay_links},
    {"gdb", "PORT", "wait for gdb there; HOST:PORT or the path of a socket (docs/debugging.md)", set_gdb},
    {"gdb-run", NULL, "with --gdb: begin without waiting for it", set_gdb_run},
    {"gdb-script", NULL, "with --gdb: print the commands that connect gdb to this machine, and end", set_gdb_script},
    {"history", "SIZE", "with --gdb: how much of the past is kept to go back to (default 256 MiB)", set_history},
    {"symbols", "FILE", "an ELF file with the names and lines of a program that has none; may be given several times",
     set_symbols},
    {"check-idle", spinach_or_instances,
     "check what modules say about when they act next; quickly, of some instances only (docs/module_reference.md)",
     set_check_idle},
    {"no-replay", NULL, "step processors that repeat themselves, too (docs/speed.md)", set_no_replay},
    {"check-replay", NULL, "step what is replayed or skipped or sleeps all the same, and compare (docs/speed.md)",
     set_check_replay},
    {"watchdog", "TIME|off",
     "stop a run that makes no progress for this long, and say what waits on what; off: also one that cannot end goes "
     "on",
     set_watchdog},
    {"idle-timeout", "TIME|off",
     "stop a run in which processors only wait for interrupts and nothing new happens for this long (default 3600 s, "
     "without --cycles and --time)",
     set_idle_timeout},
    {"progress", spinach_or_json,
     "show how far the run is (the default on a terminal), also with --quiet; json: as lines for tools", set_progress},
    {"part", "PATH", "be this part of the network", set_part},
    {"network", "FILE", "with --part: its network.json", set_network},
    {"board", "NAME", "with --part: the name of the run, which all its parts are given", set_board},
    {"start-timeout", "SECONDS", "with --part: how long is waited for the others to start (default 60)",
     set_start_timeout},
    {"quiet", NULL, "print no table of statistics and no progress", set_quiet},
    {"list", spinach_or_json,
     "list all state that --print and conditions can name; --list=json: parameters, statistics, events, clocks",
     show_list},
    {"help", NULL, "this text", show_help},
    {0},
};

static bool is_option(const spinach_parameter *parameter) {
  return !strchr(parameter->name, '.');
}

static void show_parameter(const spinach_parameter *parameter) {
  g_autofree char *left =
      g_strdup_printf("%s%s : %s", is_option(parameter) ? "--" : "", parameter->name, parameter->type);
  spinach_parameter untargeted = *parameter;
  untargeted.target_count = 0; // its default, not its value
  g_autofree char *text = spinach_parameter_text(&untargeted);
  if (*text || parameter->range)
    printf("  %-36s %s%s%s%s\n", left, *text ? "= " : "", text, parameter->range ? ", " : "",
           parameter->range ? parameter->range : "");
  else
    printf("  %s\n", left);
  if (parameter->doc && *parameter->doc) printf("      %s\n", parameter->doc);
}

// Texts, which are names of files mostly, come first: of these, those that a run cannot change once it has begun.
static int rank(const spinach_parameter *parameter) {
  if (!is_option(parameter)) return 0; // an instance's stay together
  return parameter->kind != SPINACH_PARAMETER_STRING ? 2 : !parameter->initial;
}

// Those that are passed on from this wrapped instance; NULL: those that are declared where they are named.
static void show_parameters_of(const char *origin, bool options) {
  for (int wanted = 0; wanted <= 2; wanted++) {
    for (uint32_t i = 0; i < machine->parameter_count; i++) {
      const spinach_parameter *parameter = &machine->parameters[i];
      if (is_option(parameter) == options && rank(parameter) == wanted && !g_strcmp0(parameter->of, origin))
        show_parameter(parameter);
    }
  }
}

// Either those that are options as well, which are the machine's own and passed on to it, or those of instances.
static void show_parameters(const char *title, bool options) {
  bool any = false;
  for (uint32_t i = 0; i < machine->parameter_count; i++) any |= is_option(&machine->parameters[i]) == options;
  if (!any) return;
  printf("\n%s:\n", title);
  show_parameters_of(NULL, options);
  g_autoptr(GPtrArray) origins = g_ptr_array_new();
  for (uint32_t i = 0; i < machine->parameter_count; i++) {
    const char *of = machine->parameters[i].of;
    if (!of || is_option(&machine->parameters[i]) != options ||
        g_ptr_array_find_with_equal_func(origins, of, g_str_equal, NULL))
      continue;
    g_ptr_array_add(origins, (gpointer)of);
    printf("\nOf %s:\n", of);
    show_parameters_of(of, options);
  }
}

static bool show_help(spinach_options *options, const char *value) {
  (void)value;
  printf("usage: %s [OPTION]...\nSimulates %s.\n", spinach_program, machine->file);
  show_parameters("Options of this machine", true);
  printf("\nOptions of all simulators:\n");
  for (const spinach_option *option = spinach_option_table; option->name; option++) {
    if (!spinach_option_is_here(option)) continue;
    const bool joined = option->argument == spinach_or_json || option->argument == spinach_or_instances;
    g_autofree char *left =
        g_strdup_printf("--%s%s%s", option->name, joined ? "" : " ", option->argument ? option->argument : "");
    printf("  %-28s %s\n", left, option->help);
  }
  show_parameters("Parameters of instances (--set PATH.NAME=VALUE)", false);
  return options->ended = true;
}

static bool show_list(spinach_options *options, const char *value) {
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
