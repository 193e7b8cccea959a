// What a cluster did in which state on which inputs: the nodes, edges and outputs of its replay.
//
// Tables are of this process: they are in no checkpoint, and empty when a run begins or goes on from one.  Hashes only
// find candidates; states, inputs and outputs are compared byte for byte.
#ifndef LSS_RUNTIME_REPLAY_TABLE_H
#define LSS_RUNTIME_REPLAY_TABLE_H

#include "lss/runtime/replay/replay.h"

#include <glib.h>

enum { SEEN_HASHES = 8 };

struct spinach_replay_table {
  GHashTable *nodes, *outputs;       // sets
  guint edges;                       // how many
  uint32_t state_size;               // bytes of behaviour state
  spinach_replay_node *node;         // not in the table: what is looked for
  spinach_replay_output *output;     // likewise
  uint64_t *counters;                // before the cycle at hand
  uint8_t *sample;                   // the state some cycles ago, to see which word moves
  bool sampled, anchored;            // such a state is kept; a word is watched
  uint32_t seen[SEEN_HASHES], next;  // states in which the word had the anchor's value
  uint32_t looks, backoff, attempts; // at states since; cycles until the next attempt; how many there were
  uint64_t entered, learnt;          // the cycle in which replay began; edges added since
  const spinach_replay_node *live;   // the state in the arena is this one's, ...
  uint64_t live_cycle;               // ... after this cycle
  uint32_t credit, trust;            // edges that may be added before any pays; that a new loop would be given
};

typedef struct spinach_replay_table spinach_replay_table;

spinach_replay_table *spinach_replay_table_of(spinach_replay *r); // made when there is none
void spinach_replay_table_clear(spinach_replay_table *table);     // nothing is known any more
bool spinach_replay_table_full(const spinach_replay_table *table);

// The present state as a node; NULL when it is not known, unless it is to be added.
spinach_replay_node *spinach_replay_node_now(spinach_replay *r, bool add);
void spinach_replay_restore(const spinach_replay *r, const spinach_replay_node *node); // makes it the present state
const spinach_replay_output *spinach_replay_output_now(spinach_replay *r, uint32_t segment);

void spinach_replay_note_counters(spinach_replay *r); // before a cycle
// After a segment: what it did on the present inputs, as an edge that leads away from `from`.
spinach_replay_edge *spinach_replay_edge_add(spinach_replay *r, spinach_replay_node *from);
// The edge on the present inputs, moved to the front; NULL when there is none.
spinach_replay_edge *spinach_replay_edge_find(const spinach_replay *r, spinach_replay_node *from);
void spinach_replay_count(spinach_replay *r); // what is uncounted

void *spinach_replay_state(const spinach_replay *r); // of the cluster, in the arena
uint64_t spinach_replay_load_counter(const uint8_t *state, const spinach_replay_counter *counter);

#endif
