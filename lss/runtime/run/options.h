// The command line of a simulator: what the user asked for, checked against the machine.
#ifndef SPINACH_OPTIONS_H
#define SPINACH_OPTIONS_H

#include "lss/runtime/engine/condition.h"
#include "lss/runtime/files/used_files.h"

#include <glib.h>

// A parameter and the text that was given for it.
typedef struct {
  const spinach_parameter *parameter;
  const char *text;
} spinach_setting;

// A file that an option names, and what becomes of it.
typedef struct {
  const char *option;
  char *path;
  FileUse use;
} spinach_named_file;

// What conditions are waited for.
enum {
  SPINACH_UNTIL,
  SPINACH_MEASURE_FROM,
  SPINACH_MEASURE_TO,
  SPINACH_SAMPLE,
  SPINACH_RECORD_FROM,
  SPINACH_RECORD_TO,
  SPINACH_WAVE_FROM,
  SPINACH_WAVE_TO,
  SPINACH_CONDITIONS
};

typedef struct {
  int argc; // the command line itself
  char **argv;
  int32_t clock;       // whose cycles bound the run
  uint64_t cycles;     // UINT64_MAX: no bound
  uint64_t until_tick; // now() at which the run ends; UINT64_MAX: no bound
  int64_t watchdog;    // femtoseconds without progress after which the run ends; 0: never
  bool unwatched;      // nor is it looked whether it can end at all
  spinach_condition conditions[SPINACH_CONDITIONS];
  uint64_t seed;
  const char *stats;             // file, or NULL
  const char *run_dir;           // folder, or NULL
  const char *checkpoint;        // file to write where the run ends, or NULL
  uint64_t checkpoint_every;     // and after each so many cycles of `clock`; 0: no
  spinach_count checkpoint_time; // femtoseconds, as it was given instead of cycles; 0: it was not
  const char *restore;           // checkpoint to go on from, or NULL
  GPtrArray *may_differ;         // const char*: patterns of what of the checkpoint's machine may be otherwise here
  bool handed;                   // `restore` is the state of this run in another process
  uint64_t serve;                // runs at once that begin there, as standard input asks for them; 0: this is one run
  const char *compare;           // checkpoint to compare with `restore`, or NULL
  const char *record;            // file for recorded events, or NULL
  const char *profile;           // file for a profile, or NULL
  GPtrArray *record_events;      // const char*: what goes into it
  const char *state_hashes;      // file to write, or NULL
  uint64_t state_hash_every;     // cycles of `clock` between two of them
  guint restored_settings;       // how many of `settings` it brought, ahead of those that were given
  bool seed_given, reseeds;
  bool outputs_go_on;              // with what they held at the checkpoint
  const char *trace;               // instance patterns, or NULL
  const char *wave, *wave_signals; // file and patterns of what it shows, or NULL
  bool interactive;                // it goes on by commands from standard input
  bool check_idle;                 // what modules' next_event says is compared with what they do
  bool no_replay;                  // clusters that repeat themselves are stepped all the same
  bool check_replay;               // what is left out is done all the same, and compared
  const char *gdb;                 // port or socket on which gdb is waited for, or NULL
  bool gdb_run;                    // the run begins without it
  bool gdb_script;                 // only print the commands that connect it
  uint64_t history;                // bytes of the past that are kept for it
  bool progress, quiet;
  bool ended;       // --help or --list did all there was to do
  GArray *files;    // of spinach_named_file
  GArray *print;    // of spinach_place, in order
  GArray *settings; // of spinach_setting, in order
} spinach_options;

// Reads the command line.  On a mistake prints one line and returns false; the exit status is then 2.
bool spinach_options_parse(int argc, char **argv, spinach_options *options);
void spinach_options_clear(spinach_options *options);
// An option that was given which writes down what happens once, on its way; NULL: none.
const char *spinach_writes_once(const spinach_options *options);

// Whether a parameter is the machine's own timeout: a top-level one of type time called `watchdog`, for the engine
// alone.
bool spinach_is_watchdog(const spinach_parameter *parameter);

// A time in ticks, rounded up; UINT64_MAX when there are more.
uint64_t spinach_ticks(spinach_count femtoseconds);

// The runtime parameter of this name, its own or an inner one; NULL when there is none.
const spinach_parameter *spinach_find_parameter(const char *name);

// Stores the defaults and the settings of all runtime parameters in the arena.  Prints a line and returns false when a
// text does not fit its parameter.
bool spinach_settings_store(const spinach_options *options);

// What one of the places of a string parameter holds.
const char *spinach_parameter_string(const spinach_parameter *parameter, uint32_t target);

// The text of a parameter's present value, as it could be given with --set; the caller frees it.
char *spinach_parameter_text(const spinach_parameter *parameter);

// Prints "PROGRAM: text" to standard error and returns false.
bool spinach_report_error(const char *format, ...) G_GNUC_PRINTF(1, 2);
// The latest such text, until the next; for who reports it elsewhere, too.
const char *spinach_reported_error(void);

#endif
