// What the generated C of a machine will be like: decided from its netlist and schedule and from the C of its modules,
// before a word of it is printed.
#ifndef LSS_PLAN_H
#define LSS_PLAN_H

#include "lss/plan/module_source.h"
#include "lss/schedule/schedule.h"

// A signal that is a field of the state, or an element of one: `field` is NULL where it is not.
typedef struct {
  const StateField *field;
  int element;
} Shown;

typedef struct {
  Netlist *netlist;
  Schedule *schedule;
  bool debug; // checks, and all signals in memory where they can be observed
  bool collect_connections;
  bool check_only; // the C of modules is all that matters: no step functions, nothing that runs once
  bool whole;      // segments are never divided

  GHashTable *sources;   // C file -> ModuleSource*
  bool skips;            // all of the machine says when it acts by itself
  GHashTable *sleeps;    // Cluster* -> whether it may sleep
  GHashTable *obstacles; // Cluster* -> why it is not replayed (char*), or NULL
  GHashTable *collected; // Collector* -> set of the instances or connections that it is attached to
  GPtrArray **wires_of;  // per cluster: Wire* that it writes or reads, in order
  int *segment_of;       // per node: number of its segment
  int *piece_of;         // per node: number of its piece among all segments' (pieces.c)
  int *place_of;         // per node: number of its item among all in the order of a tick, from 1
  Shown *shown;          // per wire: what of its writer's state it is
} Plan;

// plan.c: decides all; false after errors.
bool plan_build(Plan *plan);

// definitions.c: whether the C of modules keeps to their declarations; reports where it does not.
bool plan_check(const Plan *plan);

// leaves.c
Function *plan_find_function(const Instance *instance, FunctionKind kind); // NULL when there is none
// Whether the context of a function has a member for a signal or local, to read or to write.
bool plan_reads(const Instance *instance, const Function *function, const Port *port, SignalKind kind);
bool plan_writes(const Instance *instance, const Function *function, const Port *port, SignalKind kind);
bool plan_reads_local(const Instance *instance, const Function *function, const Local *local);
bool plan_writes_local(const Instance *instance, const Function *function, const Local *local);
bool plan_flagged(const Plan *plan, const Instance *instance); // whether contexts say which signals are known
bool plan_lanes_apart(int lanes);                              // whether contexts point to the lanes of a signal
char *plan_field_name(const StateField *field);                // in C; the caller frees it
bool plan_is_ring(const StateField *field);     // a trace that spinach_ring_NAME leads (runtime/engine/ring.h)
gsize plan_field_size(const StateField *field); // bytes in the state
bool plan_large_state(const Instance *leaf);    // its state is too large to be compared
void plan_find_collected(Plan *plan);           // what each collector is attached to
bool plan_collects(const Plan *plan, const Collector *collector, gconstpointer what);
bool plan_is_timed_by_user(const Instance *leaf);       // a userpoint of it asks for the time
GPtrArray *plan_cluster_clocks(const Cluster *cluster); // in order of appearance

// wires.c
void plan_find_wires(Plan *plan);                         // of each cluster
bool plan_by_pointer(const Type *type);                   // passed by address, being larger than a register
bool plan_left_unset(const Plan *plan, const Wire *wire); // whether a payload that is not sent is no zero yet
bool plan_visible(const Plan *plan, const Wire *wire);    // observers find it in memory
int plan_leaf_index(const Cluster *cluster, const Instance *instance);
const char *plan_wire_base(Cluster *cluster, const Wire *wire, char *text, gsize size); // "c12_d", into `text`
typedef enum { PLACE_STATE, PLACE_LOCAL, PLACE_SCRATCH, PLACE_POINTER, PLACE_FOREIGN } Place;
// Where a wire is for the code of a cluster, and whose scratch it is in.
Place plan_place(const Plan *plan, const Wire *wire, const Cluster *user, Cluster **owner);
// Wires that cross the border (Wire*), or only those that one segment reads from outside.
GPtrArray *plan_border(const Plan *plan, const Cluster *cluster, const Segment *reader);
GPtrArray *plan_driven(const Plan *plan, const Segment *segment); // those that a segment drives

// pieces.c
void plan_number_pieces(Plan *plan);
guint plan_piece_end(const Plan *plan, const Segment *segment, guint first); // item beyond that of item `first`
bool plan_in_pieces(const Plan *plan, const Segment *segment);
bool plan_cluster_in_pieces(const Plan *plan, const Cluster *cluster);
bool plan_shares_scratch(const Plan *plan); // whether other units than the root's reach the scratch by name

// shown.c
void plan_find_shown(Plan *plan);
bool plan_read_in_place(const Plan *plan, const Port *port); // readers of the port are given addresses
bool plan_shows(const Plan *plan, const Vertex *node);       // what it sends is read from its state

// idle.c
bool plan_may_skip(const Instance *leaf); // it does nothing by itself without having said when
bool plan_skips(const Netlist *netlist);  // that holds of all of the machine
bool plan_jumps(const Plan *plan);        // and nothing has to see the cycles in which nothing happens

// sleep.c
bool plan_sleeps(const Plan *plan, const Cluster *cluster);                               // it may sleep
bool plan_says_unchanged(const Plan *plan, const Cluster *cluster, const Instance *leaf); // the cluster asks that
bool plan_says_next_event(const Plan *plan, const Instance *leaf);                        // it says when it wakes

// replay.c
bool plan_is_compared(const StateField *field); // words of larger memories count where they are read
const char *plan_replay_obstacle(const Plan *plan, const Cluster *cluster); // why it is always stepped; NULL: replayed
bool plan_replays(const Plan *plan, const Cluster *cluster);
const char *plan_loops_obstacle(const Plan *plan); // why whole loops are not counted; NULL: they are
bool plan_counts_loops(const Plan *plan);

#endif
