// The main program of every simulator: what a command line asks for, in the order in which it is done; see main.h.
#include "lss/runtime/run/main.h"

#include "emulib/program/standard_streams.h"
#include "lss/runtime/checkpoint/checkpoint.h"
#include "lss/runtime/checkpoint/difference.h"
#include "lss/runtime/checkpoint/serve.h"
#include "lss/runtime/checkpoint/state_hash.h"
#include "lss/runtime/commands/interactive.h"
#include "lss/runtime/debug/conduct.h"
#include "lss/runtime/debug/debug.h"
#include "lss/runtime/engine/inputs.h"
#include "lss/runtime/engine/settings.h"
#include "lss/runtime/engine/signals.h"
#include "lss/runtime/engine/variant.h"
#include "lss/runtime/files/stream_private.h"
#include "lss/runtime/link/part.h"
#include "lss/runtime/observe/balance.h"
#include "lss/runtime/observe/idle_check.h"
#include "lss/runtime/observe/measure.h"
#include "lss/runtime/observe/program_text.h"
#include "lss/runtime/observe/trigger.h"
#include "lss/runtime/replay/check.h"
#include "lss/runtime/replay/repeats.h"
#include "lss/runtime/replay/replay.h"
#include "lss/runtime/run/fork_loop.h"
#include "lss/runtime/run/manifest.h"
#include "lss/runtime/run/meetings.h"
#include "lss/runtime/run/options.h"
#include "lss/runtime/run/progress.h"
#include "lss/runtime/run/results.h"
#include "lss/runtime/run/run.h"
#include "lss/runtime/run/saves.h"
#include "lss/runtime/trace/recorder.h"
#include "lss/runtime/wave/wave.h"

static const spinach_machine *const machine = &spinach_machine_table;

// The words (const char*) that what the options ask for needs and this simulator was not built with; none when it has
// all.  They live as long as the options.
static GPtrArray *variant_words(const spinach_options *options) {
  GPtrArray *words = g_ptr_array_new();
  if ((options->trace || options->check_idle) && !machine->debug) g_ptr_array_add(words, "--debug");
  spinach_trigger_add_words(options, words);
  spinach_recorder_add_words(options, words);
  spinach_wave_add_words(options, words);
  return words;
}

// What is looked at between instants; false, after a line, if that names what is not there.
static bool begin_looks(const spinach_options *options) {
  if (options->trace && !spinach_trace_choose(options->trace)) return false;
  if (options->check_idle) spinach_idle_check_begin();
  if (options->check_replay) spinach_replay_check();
  return !options->check_idle_of || spinach_check_idle_of(options->check_idle_of);
}

// Whether clusters that repeat themselves are stepped: as the user wants, or since their state is looked at too often.
static bool steps_all(const spinach_options *options) {
  return options->no_replay || options->check_idle_of ||
         (spinach_states_are_looked_at(options) && !options->check_replay);
}

static const char *running_instance(void) {
  return spinach_path(spinach_current());
}

static uint64_t present_instant(void) {
  return spinach_time.now;
}

static void prepare(const spinach_options *options) {
  spinach_run_prepare(options);
  spinach_fork_loop_prepare(options);
  run_conduct =
      (RunConduct){options, spinach_run_begin, spinach_run_stuck, spinach_run_end_stuck, spinach_progress_share};
  spinach_seed = options->seed;
  spinach_gateways_wish(&(GatewayWishes){.settings = options->gateways,
                                         .record = options->record_links,
                                         .replay = options->replay_links,
                                         .links = machine->part,
                                         .open = options->open,
                                         .keep = options->gdb || options->interactive,
                                         .ticks_per_second = machine->ticks_per_second,
                                         .instance = running_instance,
                                         .now = present_instant});
}

// Does what a command line asks for.
static int simulate(int argc, char **argv) {
  spinach_options options;
  if (!spinach_options_parse(argc, argv, &options)) return 2;
  if (options.ended) return spinach_results_flush() ? 0 : 1;
  spinach_progress_begin(&options);
  if (!options.serve && !spinach_files_claim(&options)) return 2; // a server has none: names are of its runs
  if ((options.gdb || options.interactive) && !spinach_debug_adopt(&options)) return 2;
  g_autoptr(GPtrArray) words = variant_words(&options);
  if (words->len) {
    spinach_become(argc, argv, words);
    return 1;
  }
  if (options.serve) {
    const int status = spinach_serve(argc, argv, &options, simulate);
    return spinach_results_flush() ? status : 1;
  }
  if (options.compare) {
    const int status = spinach_checkpoint_compare(&options);
    return spinach_results_flush() ? status : 2;
  }
  if (options.interactive_json && !spinach_interactive_open()) return 2;
  if (options.restore && !spinach_restore_read(&options)) return 2;
  if (!spinach_measure_begin(&options) || !spinach_settings_store(&options)) return 2;
  if (options.gdb_script) {
    spinach_debug_script(&options);
    return spinach_results_flush() ? 0 : 1;
  }
  if (!spinach_results_possible(&options)) return 1;
  if (!spinach_wave_begin(&options)) return 2;
  if (options.gdb && !spinach_debug_open(&options)) return 1;
  prepare(&options);
  spinach_watch_signals(options.interactive);
  spinach_progress_say_files();
  spinach_variant_remove();
  spinach_watch_faults();
  spinach_replay_begin();
  spinach_start();
  if (!spinach_inputs_note() || (options.restore && !spinach_restore_state(&options)) || !spinach_gateways_begin()) {
    spinach_results_abandon();
    return 2;
  }
  bool tried;
  const bool taken = spinach_debug_take_over(&tried);
  if (!taken || tried) {
    spinach_results_abandon();
    return taken ? 0 : 2;
  }
  spinach_type_instruction = spinach_disassemble;
  if (!begin_looks(&options) || !spinach_part_join(&options, options.restore ? spinach_restored_until() : 0)) {
    spinach_results_abandon();
    return 2;
  }
  if (!spinach_recorder_begin(&options)) {
    spinach_results_abandon();
    return 1;
  }
  if (steps_all(&options))
    spinach_replay_disable();
  else
    spinach_repeats_begin();
  spinach_progress_start();
  spinach_balance_begin();
  spinach_saves_begin(&options);
  if (options.restore && !spinach_balance_check()) {
    spinach_results_abandon();
    return 2;
  }
  if (options.gdb) spinach_meetings_begin(&options); // in which all parts take part
  const char *ended = options.gdb           ? spinach_debug_run(&options)
                      : options.interactive ? spinach_interactive_run(&options)
                                            : spinach_run_to_end();
  if (options.state_hashes) spinach_state_hash_note(&options);
  if (options.checkpoint && !*spinach_error_text && spinach_state_is_sound() && !spinach_checkpoint_write(&options))
    spinach_set_error("the checkpoint could not be written");
  const int status = spinach_results_deliver(ended);
  if (spinach_run_is_stuck() && !machine->debug && !machine->part && !options.gdb && !options.interactive)
    spinach_run_repeat(argc, argv);
  spinach_options_clear(&options);
  return status;
}

int spinach_main(int argc, char **argv) {
  const char *slash = strrchr(argv[0], '/');
  spinach_program = slash ? slash + 1 : argv[0];
  standard_streams_open(spinach_program);
  spinach_watch_failures();
  spinach_on_views = spinach_print_views;
  spinach_on_end = spinach_results_deliver;
  host_file_user = spinach_file_user;
  if (!spinach_options_name_part(argc, argv)) return 2;
  spinach_arena_map(); // names and defaults need it
  return simulate(argc, argv);
}
