// The static schedule: which function of which instance runs when in a cycle, and in which generated C function.
//
// Signals get numbers, functions become vertices of a dependency graph, and the graph is laid out per clock domain as a
// list of segments.  A segment is a run of functions of one cluster; it becomes one C function.  The same cluster may
// appear in several segments of a cycle, between which other clusters compute what it waits for.
#ifndef LSS_SCHEDULE_H
#define LSS_SCHEDULE_H

#include "lss/elab/netlist.h"

typedef struct Vertex Vertex;
typedef struct Cluster Cluster;

// One signal of the whole machine.  The default enable is no signal of its own: it is the ack.
typedef struct {
  SignalKind kind;
  Connection *connection; // NULL for locals
  Instance *instance;     // of locals
  Local *local;
  int lane; // of locals
  int id;
  Vertex *writer;
  GPtrArray *readers; // Vertex*
  bool always;        // true in every cycle, by declaration: nothing writes it, nothing waits for it
  bool flagged;       // keeps a known flag in all builds: it belongs to a loop of partial handlers
} Wire;

typedef enum { VERTEX_FUNCTION, VERTEX_PROBE } VertexKind;

// A vertex of the dependency graph, and a call in the schedule: a function of an instance, or the observation of a
// connection at the end of its cycle.
struct Vertex {
  VertexKind kind;
  Function *function;
  Instance *instance;
  Connection *connection; // of probes
  Clock *clock;
  Cluster *cluster;
  GPtrArray *reads, *writes; // Wire*
  GPtrArray *before;         // Vertex* that must have run
  const Vertex *required_by; // the last node in whose `before` this one is
  int id;
  int component; // strongly connected component
  int waiting;   // while scheduling: predecessors that have not run
};

// What runs at one place of a segment: one node, or a loop of partial handlers iterated to its fixed point.
typedef struct {
  GPtrArray *nodes; // Vertex*
  bool iterated;
} Item;

// Specialized locals of a segment that make branches: what follows is there once for each combination of their values.
enum { DECISIONS = 2 };

typedef struct {
  Cluster *cluster;
  Clock *clock;
  GPtrArray *items; // Item*
  int index;        // among the segments of the cluster
} Segment;

struct Cluster {
  Instance *instance;  // the hierarchical instance or big leaf that it is; NULL for the root cluster, which comes last
  GPtrArray *leaves;   // Instance*
  GPtrArray *probes;   // Connection* observed here
  GPtrArray *segments; // Segment*, over all clocks
  const int *leaf_index; // per instance of the machine: its place among the leaves of its cluster
  GHashTable *numbers;   // Connection* -> 1 + number within the cluster, for names in its C
  int id;
  bool awake; // while scheduling: something has become ready in it since it was looked at
};

typedef struct {
  Netlist *netlist;
  GPtrArray *wires;     // Wire*
  GPtrArray *nodes;     // Vertex*
  GPtrArray *nothing;   // every empty list of a wire or vertex
  GPtrArray *clusters;  // Cluster*, root last
  GPtrArray **steps;    // per clock: Segment* in order
  int *local_base;      // per instance: first wire of its locals
  bool *probed;         // per connection: observed
  Cluster **cluster_of; // per instance: NULL for those that are no leaf
  int *leaf_index;      // per instance: its place among the leaves of its cluster
  int *probe_index;     // per connection: its place among those observed in its cluster, or -1
} Schedule;

typedef struct {
  bool collect_connections; // observe every connection
  bool single_cluster;      // everything in one step function
} ScheduleOptions;

// Reports combinational loops and returns NULL after errors.
Schedule *schedule_build(Netlist *netlist, const ScheduleOptions *options);
void schedule_free(Schedule *schedule);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Schedule, schedule_free)

// The wire that a signal of an instance means; NULL for a lane that is not connected.
Wire *schedule_wire(const Schedule *schedule, const Instance *instance, const Signal *signal);
Wire *schedule_port_wire(const Schedule *schedule, const Port *port, SignalKind kind, int lane);

// names.c: "cpu[0].fetch.out[1].data", "bank.value[mac_state].data", for messages.
char *wire_name(const Wire *wire);
// The instance and function that a node calls, "arb handler grant[1]".
char *vertex_name(const Vertex *node);

// cluster.c: divides the leaves among clusters.
void clusters_choose(Schedule *schedule, const ScheduleOptions *options);

// The clocks on which leaves act, Clock*; free with g_ptr_array_free.
GPtrArray *clocks_of_leaves(const GPtrArray *leaves);

// components.c: strongly connected components, each after those that it depends on; false after reporting a loop.
bool schedule_components(Schedule *schedule, GPtrArray **components);
// combinational.c: reports components that are loops which must not be iterated (GPtrArray* of Vertex*).
void report_loops(const GPtrArray *components);
// order.c: the segments of each clock.
void schedule_order(Schedule *schedule, GPtrArray *components);

#endif
