// Emission of C: from the netlist and its schedule to the texts of the units that make up a simulator.
//
// Every cluster becomes two units: one that steps it, and one with the functions that run once, which are not worth
// optimising; where nothing is optimised they are one.  Names within a unit are relative to the cluster, so identical
// clusters give identical texts and share their units, called a kind.  One more unit holds the tables that describe the
// machine to the runtime; of a small machine they join what runs once.  Inside a unit every specialisation of a leaf
// module appears once.
#ifndef LSS_EMIT_H
#define LSS_EMIT_H

#include "lss/plan/plan.h"

// A leaf module with fixed parameters, types, widths, userpoints and collectors, within one unit.
typedef struct {
  int index;
  Instance *example;
  ModuleSource *source;
  GPtrArray *collectors; // Collector* attached to its events
  bool debug;            // what balances say of events is counted
  char *code, *structs;  // with @S@ for the prefix of its names
} Spec;

typedef struct {
  Cluster *cluster;   // the first of its kind
  char *name;         // "core_0"
  char *structs;      // state structs alone, for the tables
  char *scratch;      // struct of signals between functions
  char *unit;         // the text of what steps it
  char *record;       // of a second unit: the same step, which writes down what it does for replay; NULL: there is none
  char *once;         // of a third unit: what starts and finishes it; NULL: it is in the first one
  GPtrArray *parts;   // of further units: pieces of what steps it (GString*, then char*); NULL without
  gsize head;         // bytes of each of these texts before the words of modules begin
  GPtrArray *specs;   // Spec*
  int *spec_of;       // per leaf of the cluster
  const char **names; // per leaf: its state in that of the cluster, "i7" or "r2[7]"
  guint *element;     // per leaf: its place among those of its specialisation
  guint *row;         // per specialisation: how many leaves are a row; 0: they are none
  GHashTable *types;  // Type* used
  bool rolls;         // alike instances or signals are arrays, so that some of its code may be loops
} Kind;

typedef struct {
  const Plan *plan;
  bool unoptimised;          // every unit
  Kind **kind_of;            // per cluster
  GPtrArray *kinds;          // Kind*, distinct
  const char *build_command; // to build a variant of this machine again
  // Variables that clang's work depends on, and their values (NULL: unset), alternating, and the words of LSS_CFLAGS
  // that define macros.
  const GPtrArray *environment;
  const char *macros;
} Emitter;

// types.c
const char *emit_c_type(const Type *type); // "uint32_t"
char *emit_type_symbol(const Type *type);  // of its descriptor, "spinach_type_bits_7"
void emit_type_declarations(GString *out, const Netlist *netlist, GHashTable *types); // of descriptors
void emit_collect_instance_types(GHashTable *types, Instance *instance);              // and all that they contain
// Definitions of `types` in their order, but for those `already` there (may be NULL), which they join.
void emit_types(GString *out, const Netlist *netlist, GHashTable *types, GHashTable *already);
void emit_field(GString *out, const char *name, const Type *type, const GArray *dimensions); // of a struct

// values.c
void emit_c_string(GString *out, const char *text); // a string literal
void emit_quoted(GString *out, const char *text);   // the same, or NULL
void emit_value(GString *out, const Value *value);  // a constant expression or an initialiser
void emit_parameter(GString *out, const Parameter *parameter);
const char *emit_runtime_type(const Parameter *parameter);  // its C type in the state; NULL for strings
void emit_line(GString *out, Location location);            // #line
void emit_closed(GString *out, const char *file, int line); // what clang refuses inside an open brace
void emit_code(GString *out, const Value *code);            // the user's C, at its own line and column
void emit_body(GString *out, const Value *code);            // as the body of a function whose brace is open
void emit_initial(GString *out, const StateField *field);   // assigns a field's initial value
// What the declarations of collectors need.
void emit_collector_include(GString *out, const Collector *collector);

// spec.c
Spec *emit_spec_new(Emitter *emitter, Instance *instance);
void emit_spec_free(Spec *spec);
void emit_function_name(GString *out, const Function *function);

// state.c
void emit_state(GString *out, const Spec *spec);           // the struct of the state
void emit_traces(GString *out, const Instance *instance);  // what note() means of each
void emit_flights(GString *out, const Instance *instance); // and flight_send()

// ports.c: the vocabulary of one port or local
void emit_port(const Emitter *emitter, GString *out, const Port *port, bool flagged);
void emit_local(GString *out, const Local *local, bool flagged, bool debug);

// unit.c
void emit_kinds(Emitter *emitter); // fills in the kinds and their texts

// roll.c: pieces of C one after the other, those that are alike but for numbers as a loop if the kind has rows
GPtrArray *emit_rolled_new(void);                                    // char*
void emit_rolled_add(GPtrArray *pieces, GString *text);              // which is empty then; no piece if it is before
void emit_rolled(GString *out, const Kind *kind, GPtrArray *pieces); // all of them, which are removed
void emit_rolled_lines(GString *out, const char *text);              // each line is a piece

// record.c
bool emit_records(const Spec *spec, const Event *event);
// What records an event of a leaf, called `note`; `parameters` are the event's, as the rest of a list.
void emit_record_function(GString *out, const Spec *spec, const Event *event, const char *parameters);
void emit_recorded_arguments(GString *out, const Spec *spec, const char *name); // tables NAME_EVENT
// Which of the events of a connection are recorded: a bit for each, in the order of their counts.
guint emit_recorded_kinds(const Emitter *emitter, const Connection *connection);
// Records one of them, when the condition holds, in a function that has `p` and the payload's address `data`.
void emit_record_connection(GString *out, guint kinds, guint kind, const char *condition, const char *type);

// once.c
void emit_once(const Emitter *emitter, GString *out, const Kind *kind);

// root.c
void emit_foreign(const Emitter *emitter, GString *out, GHashTable *already); // what the root sees of other clusters
void emit_root(const Emitter *emitter, GString *out, const Kind *root);
bool emit_observed(const Emitter *emitter); // some signals can be observed: there is a table of where they are

// balance.c
guint emit_balances(const Emitter *emitter, GString *out);     // the table; returns how many rows it has
bool emit_tallied_event(const Spec *spec, const Event *event); // whether debug builds count it, and this is one
void emit_event_tallies(GString *out, const Event *event);     // C that counts it
bool emit_tallies(const Emitter *emitter, const Clock *clock); // items are counted on connections of the clock
void emit_tallied(const Emitter *emitter, GString *out);       // on which, for each clock

// skip.c
guint emit_silents(const Emitter *emitter, GString *out); // the table of leaves that do not say when; how many
void emit_skipping(const Emitter *emitter, GString *out, const Kind *kind);
bool emit_is_compared(const Emitter *emitter, const Cluster *cluster, const Clock *clock); // some of its states are
void emit_top_says(GString *out, const Kind *kind, const Clock *clock);
void emit_sleeper_functions(const Emitter *emitter, GString *out, const Kind *kind);
guint emit_sleepers(const Emitter *emitter, GString *out); // the table; returns how many there are

// segment.c
// As NAME0 for the first segment; one that runs often is compiled for the values of specialize locals.
void emit_segment(Emitter *emitter, GString *out, Kind *kind, Segment *segment, const char *name, bool often);

// reference.c: a signal in the code of a cluster, `suffix` "_some" for whether it carries anything, "_known" for its
// flag
void emit_reference(const Emitter *emitter, GString *out, Cluster *cluster, const Wire *wire, const char *suffix);
const char *emit_signal_type(const Wire *wire, const char *suffix); // in C
// Declares a signal of a cluster, or with the first of a row all of them.
void emit_signal(const Emitter *emitter, GString *out, Cluster *cluster, const Wire *wire, const char *suffix,
                 const char *initial);
void emit_border_reference(const Emitter *emitter, GString *out, const Wire *wire, const char *suffix); // in the root

// transfers.c: what notes that something was transferred, by the items of a segment from `first` to before `end`, which
// are a piece, and at the end of a cycle
guint emit_transfers(const Emitter *emitter, GString *out, const Segment *segment, guint first,
                     guint end); // the item after which to note it
void emit_crossing(const Emitter *emitter, GString *out, const Connection *connection);  // " | (…)", by the root
void emit_departure(const Emitter *emitter, GString *out, const Connection *connection); // likewise, from a sleeper
void emit_arrival(const Emitter *emitter, GString *out, const Connection *connection); // of a level that is taken there
// Whether there is an item in every cycle: a level, such as that of an interrupt.
bool emit_is_shown(const Emitter *emitter, const Connection *connection);
bool emit_notes_transfers(const Emitter *emitter, const Cluster *cluster); // what its segments transfer is noted
void emit_end_of_cycle(const Emitter *emitter, GString *out, const Clock *clock);

// gate.c
void emit_gate_functions(const Emitter *emitter, GString *out, const Kind *kind);
void emit_gate_variables(const Emitter *emitter, GString *out, Cluster *cluster);
void emit_gate_open(const Emitter *emitter, GString *out, const Segment *segment,
                    bool first); // around the call of a segment
void emit_gate_close(const Emitter *emitter, GString *out, const Segment *segment);
void emit_sleeping_table(const Emitter *emitter, GString *out); // the clusters that sleep

// replay.c
void emit_replay_state(GString *out, const Kind *kind);           // the tables of its state
void emit_replay_variables(const Emitter *emitter, GString *out); // of all clusters, for the root
void emit_replay_open(GString *out, const Segment *segment);      // before what steps it
void emit_replay_stepped(GString *out, const Segment *segment);   // after it was stepped, whether it may begin
void emit_replay_close(GString *out);

// parameters.c: each returns the number of rows
int emit_runtime_parameters(const Emitter *emitter, GString *out);
int emit_constants(const Emitter *emitter, GString *out);
int emit_identity(const Emitter *emitter, GString *out); // what a checkpoint names and no other table has

// names.c
void emit_name_leaves(Kind *kind);                                   // when it has its specialisations
const char *emit_leaf(const Emitter *emitter, const Instance *leaf); // its state in that of its cluster, "i7"
void emit_banner(const Emitter *emitter, GString *out);
void emit_names(const Emitter *emitter, GString *out);
void emit_spec_banner(GString *out, const Kind *kind, guint spec);
char *emit_spec_name(const Emitter *emitter, const Instance *instance); // "root_0_S3"

// tables.c
char *emit_table_unit(Emitter *emitter);               // the unit of tables
void emit_front(const Emitter *emitter, GString *out); // what it begins with
// The rest of it; what is `already` defined (may be NULL) are these types, and the structs of states.
void emit_tables(Emitter *emitter, GString *out, GHashTable *already);

// joined.c
bool emit_is_joined(const Emitter *emitter); // the machine is small
char *emit_joined(Emitter *emitter);         // the unit of what runs once, with the tables

#endif
