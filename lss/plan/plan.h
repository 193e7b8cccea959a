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

// Where a wire is for the code of a cluster: the last two are in the scratch of another one.
typedef enum { PLACE_STATE, PLACE_LOCAL, PLACE_SCRATCH, PLACE_POINTER, PLACE_FOREIGN } Place;

enum { MOST_LEAPING_CLOCKS = 64 }; // a bit each

typedef struct {
  bool timed_by_user; // a userpoint of it asks for the time
  bool compared;      // cycles that wait are left out only where they left its state as it was
  bool counts;        // it counts cycles that are left out: skip(n)
  const char *waking; // why all of them are stepped because of it; NULL: they are not
} LeafPlan;

typedef struct {
  Shown shown;    // what of its writer's state it is
  Place place;    // for the cluster that owns it: no pointer, and not foreign
  Cluster *owner; // whose scratch it is in
  guint row;      // number of the array that it is an element of, from 1; 0: of none
  guint element;
} WirePlan;

typedef struct {
  GPtrArray *reads;  // Wire* that it reads from outside of its cluster
  GPtrArray *drives; // Wire* that it drives over the border
} SegmentPlan;

typedef struct {
  GPtrArray *wires;     // Wire* that it writes or reads, in order
  GPtrArray *border;    // those of them that cross the border
  GArray *rows;         // guint: lengths of the rows of signals, the first of which has number 1
  GPtrArray *clocks;    // Clock*, in order of appearance
  bool sleeps;          // it is not stepped while it waits
  const char *stepped;  // why it is; NULL also for the root
  const char *obstacle; // why it is not replayed; NULL: it is where it repeats itself
} ClusterPlan;

typedef struct {
  Netlist *netlist;
  Schedule *schedule;
  bool debug; // checks, and all signals in memory where they can be observed
  bool collect_connections;
  bool check_only; // the C of modules is all that matters: no step functions, nothing that runs once
  bool whole;      // segments are never divided

  GHashTable *sources;        // C file -> ModuleSource*
  GHashTable *collected;      // Collector* -> set of the instances or connections that it is attached to
  LeafPlan *leaves;           // per instance
  WirePlan *wires;            // per wire
  ClusterPlan *clusters;      // per cluster
  SegmentPlan *segments;      // by number
  int *segment_of;            // per node: number of its segment
  int *piece_of;              // per node: number of its piece among all segments' (pieces.c)
  int *place_of;              // per node: number of its item among all in the order of a tick, from 1
  bool skips;                 // all of the machine says when it acts by itself
  bool jumps;                 // and nothing has to see the cycles in which it does not
  bool leaps;                 // cycles in which everything waits are left out (leaps.c)
  const char *loops_obstacle; // why whole loops are not counted; NULL: they are
  bool counts_loops;          // they are, and something runs
  bool shares_scratch;        // other units than the root's reach the scratch by name
} Plan;

static inline const ClusterPlan *plan_of(const Plan *plan, const Cluster *cluster) {
  return &plan->clusters[cluster->id];
}

// plan.c: decides all; false after errors.
bool plan_build(Plan *plan);

// definitions.c: whether the C of modules keeps to their declarations; reports where it does not.
bool plan_check(const Plan *plan);

// leaves.c
Function *plan_find_function(const Instance *instance, FunctionKind kind); // NULL when there is none
// Whether a leaf has a function that needs no declaration: skip, statistics, awaits, check_state.
bool plan_has_hook(const Instance *leaf, const ModuleSource *source, const char *word);
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

// wires.c
void plan_find_wires(Plan *plan);  // of each cluster
void plan_find_places(Plan *plan); // of each wire
void plan_find_border(Plan *plan); // of clusters, and what each of their segments reads and drives over it
Place plan_place(const Plan *plan, const Wire *wire, const Cluster *user); // where a wire is for the code of a cluster
const SegmentPlan *plan_of_segment(const Plan *plan, const Segment *segment);
int plan_leaf_index(const Cluster *cluster, const Instance *instance);
bool plan_visible(const Plan *plan, const Wire *wire);    // observers find it in memory
bool plan_by_pointer(const Type *type);                   // passed by address, being larger than a register
bool plan_left_unset(const Plan *plan, const Wire *wire); // whether a payload that is not sent is no zero yet

// rows.c: signals of many alike connections or instances in a cluster, which are arrays in its C
enum { LEAST_ROW = 32 };
void plan_find_rows(Plan *plan);
guint plan_row_length(const Plan *plan, const Cluster *cluster, guint row);
// The name of a wire in the C of a cluster, into `text`: "c12_d_some", or "w3_d_some[17]" in a row.
const char *plan_wire_name(const Plan *plan, Cluster *cluster, const Wire *wire, const char *suffix, char *text,
                           gsize size);

// pieces.c
void plan_number_pieces(Plan *plan);
guint plan_piece_end(const Plan *plan, const Segment *segment, guint first); // item beyond that of item `first`
bool plan_in_pieces(const Plan *plan, const Segment *segment);
bool plan_cluster_in_pieces(const Plan *plan, const Cluster *cluster);

// shown.c
void plan_find_shown(Plan *plan);
bool plan_read_in_place(const Plan *plan, const Port *port); // readers of the port are given addresses
bool plan_shows(const Plan *plan, const Vertex *node);       // what it sends is read from its state

// idle.c
void plan_find_jumps(Plan *plan);
bool plan_may_skip(const Instance *leaf); // without state and acts of its own, or it says when they come

// leaps.c
void plan_find_leaps(Plan *plan);

// sleep.c
void plan_find_sleeps(Plan *plan);

// replay.c
void plan_find_obstacles(Plan *plan);
bool plan_is_compared(const StateField *field); // words of larger memories count where they are read

#endif
