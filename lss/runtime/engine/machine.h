// The tables that describe a compiled machine to the runtime.  They are emitted by the compiler as one C file and are
// constant; everything that changes is in the arena.
#ifndef SPINACH_MACHINE_H
#define SPINACH_MACHINE_H

#include "lss/runtime/engine/clock.h"
#include "lss/runtime/engine/link_end.h"
#include "lss/runtime/engine/spinach.h"
#include "lss/runtime/text/report.h"

enum { SPINACH_MAX_DIMENSIONS = 4 };

typedef enum {
  SPINACH_BEHAVIOUR,
  SPINACH_INSTANT,
  SPINACH_STAMP,
  SPINACH_COUNTER,
  SPINACH_TRACE,
  SPINACH_MEMORY
} spinach_state_kind;

// What a state field may be, or what its elements have: both ends included.
typedef struct {
  const char *member; // "ring.head"; "" where the elements themselves are meant; NULL behind the last
  int64_t least, most;
  int64_t modulus; // of the remainder; 0: of the number itself
} spinach_state_range;

// A field of an instance's state; statistics are counters with a unit.
typedef struct {
  const char *name, *doc, *unit;
  const struct spinach_type *type;
  uint64_t offset; // within the instance's state
  uint32_t dimension_count;
  uint32_t dimensions[SPINACH_MAX_DIMENSIONS]; // outermost first
  spinach_state_kind kind;
  bool statistic;
  bool gauge;                        // a statistic of which no difference between two instants can be taken
  bool passes;                       // it may change in time that is skipped
  bool computed;                     // a statistic that is worked out when it is looked at
  uint64_t ring_offset;              // of a ring: a spinach_ring (ring.h); else 0
  const spinach_state_range *ranges; // that its module declares; may be NULL
} spinach_field;

typedef struct {
  const char *name;
  const struct spinach_type *type;
} spinach_argument;

typedef struct {
  const char *name, *arguments, *doc; // "uint32 pc, uint32 word"
  const spinach_argument *recorded;   // its arguments up to one without a name, if it is recorded; else NULL
} spinach_event;

// The state of one specialisation of a module.
typedef struct {
  const char *module;
  uint64_t size;
  uint32_t id_offset; // of spinach_id
  uint32_t field_count;
  const spinach_field *fields;
  uint32_t event_count;
  const spinach_event *events;
  bool crossing; // its stamps are instants, not cycles
} spinach_layout;

typedef struct {
  const char *path;
  const spinach_layout *layout; // NULL for hierarchical instances
  uint64_t offset;              // of the state in its cluster
  int32_t cluster;              // -1 for hierarchical instances
  int32_t parent;               // index of the instance around it; -1 for the top
  int32_t clock;
} spinach_instance;

typedef enum {
  SPINACH_PARAMETER_INT,
  SPINACH_PARAMETER_BOOL,
  SPINACH_PARAMETER_FLOAT,
  SPINACH_PARAMETER_STRING
} spinach_parameter_kind;

// One place in the state that holds a runtime parameter.
typedef struct {
  int32_t instance;
  uint64_t offset; // within the instance's state; int64_t, bool, double or spinach_text
  uint64_t text;   // its text, from the instance's state on: char[SPINACH_STRING_SIZE]
} spinach_target;

// A runtime parameter.  Quantities are int64_t in the base unit of their type: Hz, bytes, bit/s, femtoseconds.
typedef struct {
  const char *name; // "path.name"; those of the top module have no path and are also --name
  const char *type; // "int bool float string frequency time size rate fraction"
  const char *doc;
  const char *of; // "core (ooo_core)": the wrapped instance whose module declares it, and that module; NULL without one
  spinach_parameter_kind kind;
  int64_t default_integer; // INT, BOOL
  double default_real;     // FLOAT
  const char *default_string;
  const char *range; // "0.0 to 1.0", "at least 1"; NULL without one
  int64_t least_integer, most_integer;
  double least_real, most_real;
  bool initial; // somebody reads it when the run starts only
  uint32_t target_count;
  const spinach_target *targets;
  const char *const *aliases; // inner names of the same parameter, ends with NULL
} spinach_parameter;

// A compile-time parameter, for the manifest; or something else that makes a machine this one.
typedef struct {
  const char *name, *value;
  int32_t instance; // whose it is; -1: no instance's
} spinach_constant;

// A port of an instance that has no behaviour of its own, through which a connection passes.
typedef struct {
  const char *port; // "cpu[0].fetch", "nic.in[1]"
  int32_t instance, lane;
} spinach_passage;

typedef struct {
  const char *from, *to; // "source.out", "arb.in[1]", "bank.value[mac_state]"
  int32_t from_lane, to_lane;
  int32_t from_instance, to_instance;
  int32_t clock;
  const struct spinach_type *type;
  int32_t cluster;        // of its observer; -1: not observed
  uint64_t counts_offset; // in the cluster: uint64_t transferred, stalled, cancelled, idle
  uint64_t number_offset; // in the cluster: uint32_t that receives the connection's number
  uint32_t recorded;      // a bit for each of the counts whose event is recorded
  uint32_t passage_count;
  const spinach_passage *passages; // from the sender on
} spinach_connection;

// A field of an instance, or elements of it that are one behind the other.
typedef struct {
  int32_t instance;
  const spinach_field *field;
  uint64_t first, count; // elements, of the field's type, that are meant
} spinach_place;

typedef struct {
  const char *role;
  spinach_place state;
  spinach_place map; // integers: element i of the role is that of `state` which map[i] says; no field: element i
} spinach_debug_role;

typedef struct {
  const char *name, *value;
} spinach_debug_property;

typedef struct {
  const char *name;
  uint32_t mask; // one bit, or several side by side
} spinach_debug_bits;

typedef struct {
  const char *name;
  int64_t offset; // in its region
  uint32_t bit_count;
  const spinach_debug_bits *bits;
} spinach_debug_name;

// A state field that processors find at the addresses from `first` to `last`, again and again if they are more than it
// has bytes.
typedef struct {
  uint32_t first, last;
  spinach_place state;
  uint32_t name_count;
  const spinach_debug_name *names;
} spinach_debug_region;

typedef struct {
  const char *name;
  int32_t instance;
  uint32_t role_count;
  const spinach_debug_role *roles;
  uint32_t property_count;
  const spinach_debug_property *properties;
  uint32_t region_count;
  const spinach_debug_region *regions;
} spinach_debug_view;

// A step of a derived statistic, in postfix order.
typedef struct {
  char kind; // 's' a statistic, 'c' cycles of the instance's clock, 'n' a number, or one of + - * /
  double number;
  int32_t instance;
  const spinach_field *field;
  uint32_t index;
} spinach_derived_step;

// A statistic that is worked out of others when they are written.
typedef struct {
  int32_t instance;
  uint32_t step_count;
  const spinach_derived_step *steps;
  const char *name, *unit, *doc, *formula;
} spinach_derived;

// Elements that a sum goes over, and the bytes from one to the next.
typedef struct {
  uint64_t stride, count;
} spinach_range;

enum { SPINACH_RANGES = 4 };

// A step of a sum, in postfix order.
typedef struct {
  char kind; // 'n' a number, 'c' cycles of the instance's clock, 'f' a field, 'p' a port, 'e' an event, 'o' an operator
  char operator;  // + - * / % = ! < > l (<=) g (>=); of 'f' and 'p': elements that compare so with `number` are counted
  int64_t number; // of 'n', 'f' and 'p'; of 'e' that of its tally
  int32_t instance;
  const spinach_field *field;
  const struct spinach_type *type; // of an element; of 'p': NULL where items are counted
  uint32_t shift, bits;            // of a member of a packed word
  bool ones;                       // the bits that are 1 are counted
  uint64_t offset;                 // bytes behind the first of the field or item
  uint32_t range_count;
  spinach_range ranges[SPINACH_RANGES];
  uint32_t connection_count; // of 'p'
  const uint32_t *connections;
} spinach_sum_step;

// Two sums that have to agree: an identity, or an account of items, with what came in on the left.
typedef struct {
  int32_t instance, lane; // the lane that is meant, or -1
  const char *text, *doc; // as it is written; NULL of what is suspected
  char relation;          // as an operator
  bool conserves;         // an account of items
  bool contents;          // what leaves is what came in, bit by bit
  bool suspected;         // nothing is said: what is missing and does not fit into the state is noted
  uint64_t room;          // of a suspected one: items that fit into it
  uint32_t left_count, right_count;
  const spinach_sum_step *left, *right;
} spinach_balance;

// A part of the arena with code of its own.
typedef struct {
  uint64_t size;
  void (*start)(void *state);
  void (*finish)(void *state);
  void (*statistics)(void *state);  // works out those that are not kept up to date in every cycle
  void (*report)(void *state);      // of collectors
  void (*awaits)(void *state);      // says what its instances wait for
  void (*check_state)(void *state); // says what is wrong with the state of its instances, whose ranges hold
  void (*reset)(void *state, int32_t instance, uint64_t parameter); // that offset in its state was set anew
} spinach_cluster;

// When something happens next by itself in a cluster, on one of its clocks.
typedef struct {
  int32_t cluster, clock;
  uint64_t (*next_event)(const void *state);
  void (*skip)(void *state, uint64_t cycles);
} spinach_skipper;

// What an instance says of itself: when it acts next on one clock.
typedef struct {
  int32_t instance, clock;
  uint64_t (*next_event)(const void *state);
  void (*skip)(void *state, uint64_t cycles); // accounts for cycles in which it is not stepped; NULL when it does not
  bool repeats;                               // it says `unchanged`: cycles that wait are left out at its word
} spinach_sleeper;

// An instance that does not say when it acts next: time is never skipped because of it.
typedef struct {
  int32_t instance;
  bool timed; // what it does may depend on the time, so that nothing follows from a state that stays
} spinach_silent;

typedef struct {
  const char *file;    // the machine's source
  const char *version; // of the compiler
  const char *build;   // command line, one word per line, that builds this machine again; --debug and -o may follow
  bool debug;
  bool counted; // observers count what happens on their connections
  bool jumps;   // nothing has to see every cycle: idle time is skipped
  uint64_t ticks_per_second;
  uint32_t instance_count, parameter_count, constant_count, clock_count, connection_count, view_count, cluster_count,
      skipper_count;
  const spinach_instance *instances;
  const spinach_parameter *parameters;
  const spinach_constant *constants;
  const spinach_clock *clocks;
  const spinach_connection *connections;
  const spinach_debug_view *views;
  const spinach_cluster *clusters;
  const spinach_skipper *skippers;  // skipper_count is 0 when some instance does not say when it acts
  const char *const *sources;       // files read by the compiler and their SHA-256, alternating, ends with NULL
  const spinach_observed *observed; // per connection: all in debug builds, else those that `waves` match; may be NULL
  uint32_t sleeper_count;           // 0 in other builds
  const spinach_sleeper *sleepers;
  void (*join)(void);
  void (*wake)(void); // all that sleeps: the state was changed from outside
  void (*run)(uint64_t *cycles, uint64_t *due, const uint64_t *period, int clock, uint64_t end,
              uint64_t until); // all clocks
  void (*shared_start)(void);  // collectors shared by all instances
  void (*shared_report)(void);
  const char *const *watches; // the events that are counted, "PATH.EVENT" or "marker(N)"; ends with NULL
  const char *const *records; // what can be recorded, as --record of the compiler has it; ends with NULL
  const char *const *waves;   // patterns of the ports whose signals are visible; ends with NULL
  uint32_t derived_count;
  const spinach_derived *derived;
  void (*watch)(uint64_t *cycles, uint64_t *due, const uint64_t *period, int clock, uint64_t end,
                uint64_t until);    // as `run`, and what has no place in a loop is noticed; NULL: loops are not counted
  const spinach_sleeping *sleeping; // the clusters that may sleep, ends with one without a gate
  uint32_t balance_count;
  const spinach_balance *balances;
  const uint32_t *const *tallied; // per clock: connections whose items are counted, ends with UINT32_MAX
  uint32_t speaker_count;         // of `skippers`, also when some instance does not say when it acts
  uint32_t silent_count;
  const spinach_silent *silents;
  uint32_t identity_count;
  const spinach_constant *identity; // what a checkpoint names beyond the other tables; files by name, without folder
  // Variables that decided how clang compiled it, and their values (NULL: unset), alternating; ends with NULL.
  const char *const *environment;
  const char *part; // the path of the representative that this simulator was built from; NULL: a whole machine
  uint32_t link_count;
  const spinach_link_end *links; // ends of cut crossings
  const char *network;           // the hash of the network.json that it was built with; NULL: a whole machine
  // Ticks from the instant at which a part finds that the run is to end, to that before which all parts end: as many as
  // two parts can be apart.  Of whole machines, too; 0: they have no parts.
  uint64_t distance;
} spinach_machine;

extern const spinach_machine spinach_machine_table;

// A header that the C of a machine read beyond its own files, the runtime and the system.
typedef struct {
  const char *file, *sha256;
  const char *name; // in checkpoints; NULL when it is no part of what the machine is
} spinach_header;

// It is in a unit of its own, as the headers are known when the others are compiled; without headers there is none.
extern const spinach_header spinach_headers[] __attribute__((weak)); // ends with one without a file
extern void *spinach_cluster_state[];                                // per cluster, in the arena

// ---- engine.c: the arena and the passing of time ------------------------------------------------------------------
// All state, page-aligned and contiguous; valid after spinach_arena_map().
extern uint8_t *spinach_arena;
extern uint64_t spinach_arena_size;
extern uint64_t spinach_seed;           // set before spinach_start()
extern const char *spinach_stop_reason; // words of sim_exit(), "" otherwise
extern int spinach_stop_status;         // the process's exit status then

extern const char *spinach_error_text; // of the error that ended the run, "" otherwise
void spinach_set_error(const char *text);
// Who wants to know of an error while the machine runs, before it is reported and ends the run; does not return.
extern void (*spinach_on_error)(const char *text);
// Likewise of a fault in the C of a module.
extern void (*spinach_on_fault)(const char *text);
// What prints the debug views around the instance that an error is of, and what writes all that the run was asked for
// and returns the process's status.
extern void (*spinach_on_views)(FILE *out, int32_t instance);
extern int (*spinach_on_end)(const char *ended);
// Called last when an error ends the process, which spinach_error_text says.
extern void (*spinach_on_leave)(void);
extern void (*spinach_on_remark)(const char *path, const char *text); // takes errors in awaits() and check_state()
// Takes what awaits() says with waits_for(): the port by its name in C (`memory_request`), and why.
extern void (*spinach_on_wait)(uint32_t id, const char *port, int lane, const char *text);

// What passing time changes beside the state of clusters; it begins the arena.
typedef struct {
  uint64_t skipped;       // cycles of the fastest clock that were jumped over
  uint64_t last_progress; // now() at the latest sim_progress()
  uint64_t idle;          // 1: at the last look nothing could happen by itself
  uint64_t looked;        // idle_timeout.c: now() at its latest look,
  uint64_t worked;        // the ticks in which processors had worked by then,
  uint64_t idle_since;    // and the latest look before which something new had happened
  uint64_t clocks[];      // cycles done of each, then the instant of the next of each
} spinach_clockwork;
extern spinach_clockwork *spinach_passing;
uint64_t spinach_clockwork_size(void);

void spinach_arena_map(void);
// Gives instances and connections in the arena the numbers that they have in this machine.
void spinach_number_states(void);
// Maps nothing, sets the default or given runtime parameters and runs all init functions.  Call after
// spinach_arena_map() and after parameters were stored in their targets.
void spinach_start(void);
void *spinach_instance_state(int32_t instance);
uint64_t spinach_cycles(int32_t clock); // ticks of a clock so far
int32_t spinach_fastest_clock(void);
// A clock whose cycles and the instant of the next one do not agree with each other and with those of the others; -1:
// there is none, as in the state of any run.
int32_t spinach_wrong_clock(void);
void spinach_resume(void); // after the arena and spinach_passing were restored
void spinach_reseed(void); // everything random, from spinach_seed
// Lets instances follow a parameter that was set anew in a restored state.
void spinach_parameter_reset(const spinach_parameter *parameter);
// An advance: until `clock` has done so many cycles in all, or now() reaches `until`, or somebody stops the run, or, at
// a boundary between instants, so many cycles of that clock have passed as its slice has.  It consists of steps,
// between which it can be left, looked at, and gone on with: what it does does not depend on how it is cut.
struct spinach_slice {
  uint64_t cycles;   // as long as they are stepped
  uint64_t in_loops; // where whole loops are left out, which takes no time: at least as many
};
struct spinach_advancing {
  int32_t clock;
  uint64_t end, until;   // where it ends: cycles of `clock`, an instant
  uint64_t loops_end;    // likewise, where whole loops are left out
  uint64_t stop, before; // where the present piece ends: likewise
  uint64_t quiet;        // cycles that pass before it is looked again for idle time to skip
  bool endless;          // nothing bounds the run
  bool one_instant;      // only one, without a jump over idle time
  bool within;           // in the middle of a piece
  bool active;           // not over
  bool nothing_left;     // it is endless, and nothing can happen any more
  bool rests;            // in a part of a network that nothing bounds: where nothing can happen by itself, it waits
};
extern struct spinach_advancing spinach_advancing;
// `endless`: nothing bounds the run.  A part of a network rests then, and the run ends when all parts do.
void spinach_advance_begin(int32_t clock, uint64_t cycles, uint64_t until, struct spinach_slice slice, bool endless);
// One instant, or, with `until`, instead of it a jump over idle time up to there.
void spinach_advance_begin_step(const uint64_t *until, bool endless);
// The next step of it does no more than one instant, and jumps over none: something is looked at after each.
void spinach_advance_each(void);
// A step: of a whole piece, or of one instant.
void spinach_advance_step(bool one_instant);
uint64_t spinach_next_instant(void);  // the one that is stepped next
uint64_t spinach_stepped_until(void); // behind the latest cycle of any clock: it follows from nobody's next one
// The first instant at which something may happen by itself, if nothing comes from outside, or the advance ends; at
// least the one that is stepped next.
uint64_t spinach_own_instant(void);
// A part rests: nothing happens by itself any more, and since which look for that (each LOOK cycles of the fastest
// clock of all parts).  False: it does not.
bool spinach_is_resting(uint64_t *since);
// The same, after a look that comes before an instant at which something else is due.
bool spinach_rests_before(uint64_t instant);
// The instant before which the machine may be stepped, which is at `now`, and does nothing before `own` by itself.
uint64_t spinach_reach_on(uint64_t now, uint64_t own);
// Something comes from outside that acts at that instant at the earliest: called before it changes the state.
void spinach_expect(uint64_t instant);
bool spinach_nothing_is_due(void); // no instance that says when it acts next acts by itself
// What belongs to a state beside the arena, between two steps.
struct spinach_moment {
  struct spinach_advancing advancing;
  int stopping, stop_status;
  const char *stop_reason;
  uint64_t came; // hooks.h
};
struct spinach_moment spinach_now(void);
// The arena holds an earlier state again, that of this moment.
void spinach_rewind(const struct spinach_moment *moment);
void spinach_finish(void);                         // runs all finish functions and collectors' reports
uint64_t spinach_ns_of(uint64_t instant);          // rounded down
uint64_t spinach_now_ns(void);                     // likewise
unsigned __int128 spinach_fs_of(uint64_t instant); // likewise; 64 bits are five hours
unsigned __int128 spinach_now_fs(void);
uint64_t spinach_last_instant(void); // at which a run that was not over before ends with an error
uint64_t spinach_instant_of(int32_t clock, uint64_t cycle); // at which it begins; UINT64_MAX: at none
uint64_t spinach_skipped(void);                             // cycles of the fastest clock that were jumped over

uint32_t spinach_current(void); // the instance whose init or finish runs
const char *spinach_current_path(void);
typedef enum { SPINACH_STARTS, SPINACH_RUNS, SPINACH_FINISHES, SPINACH_OVER } spinach_phase_of_run;
extern spinach_phase_of_run spinach_phase;
void spinach_complete_clocks(void); // after a step that was not completed
void spinach_watch_faults(void);
void spinach_watch_failures(void); // what spinach_fail() says, and that memory lacks, are errors like others
// Who is asked first where memory was accessed that is protected: true when it is to be tried again.  False: nobody is.
bool spinach_expect_access(bool (*expected)(void *place));

// Brings all statistics up to date, and has collectors say theirs; what they said before is forgotten.
void spinach_update_statistics(void);
// Works out those of one instance, and others; -1: of all.
void spinach_work_out_statistics(int32_t instance);

// What report_value() said, in order.
typedef struct {
  const char *path, *name, *unit;
  char *description;
  bool real, gauge;
  uint64_t integer;
  double number;
} spinach_reported;
const spinach_reported *spinach_reports(uint32_t *count);

#define SPINACH_NOTHING_LEFT "nothing left to do" // why a run is over, when an advance found that

// ---- Beyond the engine: ../cores/views.c, ../observe/observe.c, ../observe/waits.c

// Prints what every debug view around (or, with id < 0, all views of the machine) shows: pc, registers, history.
void spinach_print_views(FILE *out, int32_t instance);
// The stuck report (../observe/waits.c): who waits for whom, innermost cause first.
void spinach_print_waits(FILE *out);
// The same one by one: items that are offered and not taken, or accepted and not committed.  Returns their number.
// Debug builds only.
typedef void (*spinach_see_wait)(const spinach_connection *connection, bool accepted, const char *item, void *data);
uint32_t spinach_each_wait(spinach_see_wait see, void *data);
// Chooses the instances of the line trace ("cpu[0].**,arb"); prints a line after each instant.  Debug builds only.
// NULL: none.  False, after a line, when a pattern matches nothing.
bool spinach_trace_choose(const char *patterns);
bool spinach_trace_line(void); // false: it could not be written

#endif
