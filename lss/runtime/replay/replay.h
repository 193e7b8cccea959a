// Replay: a cluster whose state and inputs have been there before is not stepped; what it does is taken from a table.
//
// The step of a cluster is a function from its behaviour state and what comes over its border to the next state, what
// it drives over the border, and increments of counters.  A `node` is one behaviour state, an `edge` what follows from
// it on certain inputs.  A cycle of several segments, between which inputs come, is as many edges; behind all but the
// last is a node within the cycle.  While a cluster is replayed its behaviour state in the arena is stale and its
// increments are not counted yet; synchronizing brings both up to date.  On inputs that no edge knows the cluster is
// stepped, and an edge added.
//
// When to begin: now and then one word of the state is taken as the anchor.  Whenever it has that value again, the
// whole state is hashed; a hash that was there before is the sign of a loop.  That word is all that a step pays for.
#ifndef LSS_RUNTIME_REPLAY_H
#define LSS_RUNTIME_REPLAY_H

#include "lss/runtime/engine/gate.h"

enum {
  SPINACH_REPLAY_SEGMENTS = 4, // of a cluster, at most
  SPINACH_REPLAY_LINE = 64,    // bytes of a line of the host's caches
  SPINACH_REPLAY_NOTE = 16,    // bytes of what is noted in a trace, at most
  SPINACH_REPLAY_LOG = 1024,   // edges with notes before they are written into the traces
};

typedef struct spinach_replay_node spinach_replay_node;

// All that a segment drives over the border.
typedef struct {
  uint32_t hash, size;
  uint8_t bytes[];
} spinach_replay_output;

// What a counter moves by in a cycle: `by`, and as many times the number of the cycle.
typedef struct {
  uint32_t counter;
  int32_t cycles;
  uint64_t by;
} spinach_replay_move;

// A segment of a cycle: from a node, on certain inputs, to another node.  What is looked at each time that it is taken
// is in one line of a cache, with the payloads of its inputs behind it.
typedef struct spinach_replay_edge {
  _Alignas(SPINACH_REPLAY_LINE) uint64_t flags; // of the inputs: which come and are accepted
  spinach_replay_node *to;
  const spinach_replay_output *output;
  uint8_t *input;                    // payloads of those that come
  uint64_t uses, cycles;             // times that it was taken and has not been counted; the sum of their cycles
  struct spinach_replay_edge *after; // the one that was taken next, the last time: only to be fetched, it may be gone
  uint32_t single;                   // 1 + the trace of its only note, if that trace is one value; else 0
  bool logs;                         // it has other notes
  bool within;                       // it leads to a node within the cycle, which is this edge's own
  struct spinach_replay_edge *next;  // another edge from the same node
  uint32_t reads, notes, moves;      // how many there are of ...
  uint32_t first_in_ring;            // of the notes
  uint32_t *read;                    // words of memories that were read, by their places in the table
  uint32_t *note;                    // traces of the cycle that ends here, in order ...
  uint8_t *noted;                    // ... and what was noted, SPINACH_REPLAY_NOTE bytes each
  spinach_replay_move *move;         // counters of that cycle
} spinach_replay_edge;

struct spinach_replay_node {
  spinach_replay_edge *edges; // the one taken last is first; never NULL
  spinach_replay_node *start; // of the cycle in which it is: itself, or the node before the first segment
  uint32_t segment;           // the one that comes
  uint32_t hash, size;
  uint64_t idle;   // cycles until it acts by itself, as next_event says; SPINACH_REPLAY_UNASKED: it was not asked
  uint8_t bytes[]; // of the behaviour state, before the first segment
};
#define SPINACH_REPLAY_UNASKED (UINT64_MAX - 1)

// A stretch of a cluster's state that behaviour depends on.
typedef struct {
  uint32_t offset, size;
} spinach_replay_span;

// A counter in a cluster's state.
typedef struct {
  uint32_t offset, size; // of its bytes: 1, 2, 4 or 8
} spinach_replay_counter;

// A trace: elements of a size, the place of its spinach_ring; 0: it is no ring.
typedef struct {
  uint32_t offset, size, elements, ring;
} spinach_replay_trace;

// What the compiler says of the state of clusters that are alike.
typedef struct {
  uint32_t span_count, instant_count, counter_count, trace_count, memory_count;
  const spinach_replay_span *spans;
  const uint32_t *instants; // offsets
  const spinach_replay_counter *counters;
  const spinach_replay_trace *traces;
  const spinach_replay_span *memories;
  void (*keep)(const uint8_t *state, uint8_t *bytes); // all spans, one after the other
  void (*put)(uint8_t *state, const uint8_t *bytes);
} spinach_replay_kind;

// Of a segment of one of them.
typedef struct {
  uint32_t input_size, output_size;   // bytes of payloads at most, of all that it drives
  uint64_t (*flags)(void);            // of its inputs, a bit each
  void (*input)(uint8_t *bytes);      // keeps the payloads of those that come
  bool (*same)(const uint8_t *bytes); // compares them
  void (*output)(uint8_t *bytes);     // keeps what it drives
  void (*drive)(const uint8_t *bytes);
  void (*step)(void);
} spinach_replay_segment;

typedef struct {
  const char *path;
  uint32_t cluster, segment_count;
  const spinach_replay_kind *kind; // NULL: it sleeps, but is not replayed
  const spinach_replay_segment *segments;
} spinach_replay_cluster;

struct spinach_replay_table;

typedef struct {
  const spinach_replay_cluster *of;
  spinach_gate *gate;                                           // NULL: it does not sleep
  spinach_replay_node *at;                                      // NULL: it is stepped
  const spinach_replay_output *output[SPINACH_REPLAY_SEGMENTS]; // what its segments drive
  uint64_t cycle;                                               // the last whole one
  spinach_replay_edge *previous;                                // taken last; spinach_replay_none: none
  spinach_replay_edge **uncounted;                              // taken and not counted, each once
  uint32_t uncounted_edges;
  const uint32_t *witness;            // while it is stepped: a word of its state ...
  uint32_t anchor;                    // ... and the value at which it is looked
  uint32_t wait;                      // cycles until it is looked anyway
  struct spinach_replay_table *table; // NULL until it is needed
  spinach_replay_edge **latest; // by 1 + the trace that is one value: taken, with the latest note that is not written
  uint32_t logged;
  spinach_replay_edge **log; // taken, with notes of rings that are not written yet
} spinach_replay;

extern const uint32_t spinach_replay_nowhere;
extern spinach_replay_edge spinach_replay_none;
enum { SPINACH_REPLAY_WAIT = 64 }; // cycles before the first look
#define SPINACH_REPLAY(cluster, its_gate)                                                                              \
  {.of = &(cluster),                                                                                                   \
   .gate = (its_gate),                                                                                                 \
   .previous = &spinach_replay_none,                                                                                   \
   .witness = &spinach_replay_nowhere,                                                                                 \
   .anchor = 1,                                                                                                        \
   .wait = SPINACH_REPLAY_WAIT}

extern spinach_replay *const spinach_replays[]; // of the machine, ends with NULL

// After a cycle that was stepped: whether it is to be looked whether the state has been there before.
static inline bool spinach_replay_may_enter(spinach_replay *r) {
  return __builtin_expect(--r->wait == 0, 0) || __builtin_expect(*r->witness == r->anchor, 0);
}
// Does so; afterwards `at` says whether the next cycle is replayed.
void spinach_replay_watch(spinach_replay *r);

// Counts and notes what was replayed since the last time.
void spinach_replay_count(spinach_replay *r);
// Keeps the notes of an edge that `logs`.
void spinach_replay_log(spinach_replay *r, spinach_replay_edge *edge);

// Has the processor fetch what is looked at in the next cycle: tables are larger than caches that are near.
static inline __attribute__((always_inline)) void spinach_replay_fetch_ahead(spinach_replay *r,
                                                                             spinach_replay_edge *edge) {
  __builtin_prefetch(edge->to);
  __builtin_prefetch(edge->after);
  __builtin_prefetch((const uint8_t *)edge->after + sizeof *edge);
  r->previous->after = edge;
  r->previous = edge;
}

// Takes an edge, of the last segment of a cycle or another; true when what the segment drives becomes something else.
static inline __attribute__((always_inline)) bool spinach_replay_take(spinach_replay *r, spinach_replay_edge *edge,
                                                                      uint32_t segment, bool last, uint64_t cycle) {
  if (last) {
    if (__builtin_expect(!edge->uses++, 0)) r->uncounted[r->uncounted_edges++] = edge;
    edge->cycles += cycle;
    r->cycle = cycle;
    if (edge->single)
      r->latest[edge->single] = edge;
    else if (edge->logs)
      spinach_replay_log(r, edge);
  }
  spinach_replay_fetch_ahead(r, edge);
  r->at = edge->to;
  const bool other = edge->output != r->output[segment];
  r->output[segment] = edge->output;
  return other;
}
// A segment whose edge is not the one taken last from its node, or not known.
void spinach_replay_look(spinach_replay *r);

extern bool spinach_replay_checks; // what is left out is done all the same, and compared (check.h)
// A segment of a cluster that sleeps is stepped, and must not do anything.
void spinach_check_asleep(const spinach_replay_cluster *of, uint32_t segment, uint64_t since);

void spinach_replay_begin(void);   // before the machine starts
void spinach_replay_disable(void); // before the run begins
// Brings the state up to date where it is looked at from outside; the clusters go on being replayed.
void spinach_replay_synchronize(void);
// The state was changed from outside: nothing that was learnt holds, and nothing is completed.
void spinach_replay_forget(void);
// After that: so many ticks have passed, in which each came back to its node.
void spinach_replay_shift(uint64_t ticks);

#endif
