// What a run was asked for: the options of a simulator's command line, checked against the machine.
#ifndef SPINACH_REQUEST_H
#define SPINACH_REQUEST_H

#include "lss/runtime/engine/condition.h"
#include "lss/runtime/files/used_files.h"
#include "lss/runtime/gateway/gateway.h"

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

// Which part of a network it is, where the others are, and how many seconds they have to come; NULL: it is none.
typedef struct {
  const char *path, *network, *board;
  uint64_t start_timeout;
} spinach_part_request;

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
  int32_t clock;        // whose cycles bound the run
  uint64_t cycles;      // UINT64_MAX: no bound
  uint64_t until_tick;  // now() at which the run ends; UINT64_MAX: no bound
  uint32_t bounding;    // the clock of --cycles: of those that users name, of which a part need not have it
  bool until_cycles;    // what ends it then is --cycles
  int64_t watchdog;     // femtoseconds without progress after which the run ends; 0: never
  int64_t idle_timeout; // likewise, with nothing new and processors that only wait
  bool idle_timeout_given;
  uint64_t forks; // of the run that execute at once; 0: it waits for each
  bool unwatched; // nor is it looked whether it can end at all
  spinach_condition conditions[SPINACH_CONDITIONS];
  bool sample_window; // samples are taken within the window of --measure-from and --measure-to only
  uint64_t seed;
  const char *stats;             // file, or NULL
  const char *run_dir;           // folder, or NULL
  const char *checkpoint;        // file to write where the run ends, or NULL
  uint64_t checkpoint_every;     // and after each so many cycles of `bounding`; 0: no
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
  guint network_settings;        // how many of `settings` the file of a network brought, ahead of the others
  guint restored_settings;       // how many of `settings` it brought, ahead of those that were given
  bool seed_given, reseeds;
  bool outputs_go_on;                  // with what they held at the checkpoint
  const char *trace;                   // instance patterns, or NULL
  const char *wave, *wave_signals;     // file and patterns of what it shows, or NULL
  bool interactive;                    // it goes on by commands from standard input
  bool interactive_json;               // with a line of JSON as reply to each
  bool check_idle;                     // what modules' next_event says is compared with what they do
  const char *check_idle_of;           // ... only of these instances, where they would be left out; NULL: of all
  bool no_replay;                      // clusters that repeat themselves are stepped all the same
  bool check_replay;                   // what is left out is done all the same, and compared
  const char *gdb;                     // port or socket on which gdb is waited for, or NULL
  bool gdb_run;                        // the run begins without it
  bool gdb_script;                     // only print the commands that connect it
  uint64_t history;                    // bytes of the past that are kept for it
  bool progress, progress_json, quiet; // progress_json: it is shown as lines for tools
  bool ended;                          // --help or --list did all there was to do
  GArray *files;                       // of spinach_named_file
  GArray *print;                       // of spinach_place, in order
  GArray *settings;                    // of spinach_setting, in order
  GArray *gateways;                    // of GatewaySetting: where they lead
  const char *record_links;            // folder for what comes and goes there, or NULL
  const char *replay_links;            // folder of which a run has that again, or NULL
  bool open;                           // they may lead to other computers
  spinach_part_request part;
} spinach_options;

// Whether states are looked at between any two instants.
bool spinach_states_are_looked_at(const spinach_options *options);
// An option that was given which writes down what happens once, on its way; NULL: none.
const char *spinach_writes_once(const spinach_options *options);

#endif
