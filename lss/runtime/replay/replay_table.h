// What a cluster did in which state on which inputs: the nodes, edges and outputs of its replay.
//
// Tables are of this process: they are in no checkpoint, and empty when a run begins or goes on from one.  Hashes only
// find candidates; states, inputs and outputs are compared byte for byte.
#ifndef LSS_RUNTIME_REPLAY_TABLE_H
#define LSS_RUNTIME_REPLAY_TABLE_H

#include "lss/runtime/engine/machine.h"
#include "lss/runtime/replay/replay.h"

#include <glib.h>

enum { SEEN_HASHES = 48, MOST_WORDS = 256 };

enum {
  LEAST_BACKOFF = 64, // cycles between attempts to begin, at first and after one that paid
  MOST_CREDIT = 300,  // cycles that may be learnt before any has paid, likewise
};

enum { MOST_READS = 64, MOST_NOTES = 64, MOST_TIMED = 64 }; // of a cycle; one that does more is not kept

// What a cycle that is stepped has done so far, by offsets in the state of its cluster.
typedef struct {
  const spinach_replay_kind *kind;
  const uint8_t *state;
  uint32_t reads, notes, timed;
  uint32_t read[MOST_READS]; // whole words of memories
  uint32_t note[MOST_NOTES]; // elements of traces
  struct {
    uint32_t offset;
    int32_t cycles;
  } time[MOST_TIMED]; // counters to which so many times the number of the cycle was added
} spinach_replay_record;

// A word of a memory that was read, and what was in it: edges hold as long as it is there.
typedef struct {
  uint32_t offset;
  uint64_t value;
  GPtrArray *readers; // nodes before the cycles in which it was read; some may be there twice
} spinach_replay_word;

typedef struct {
  uint32_t hash[SEEN_HASHES], next;
} spinach_replay_seen;

// Of a cluster that is stepped.
typedef enum {
  SPINACH_REPLAY_RESTS,       // nothing is tried
  SPINACH_REPLAY_TRIES_AGAIN, // the word that was watched when replay paid is watched
  SPINACH_REPLAY_SAMPLES,     // until it is seen which words move
  SPINACH_REPLAY_TRIES        // one of these is watched
} spinach_replay_phase;

struct spinach_replay_table {
  GHashTable *nodes, *outputs;            // sets
  GArray *words;                          // spinach_replay_word, in the order in which they were read first
  GHashTable *word_at;                    // offset -> 1 + place in `words`
  guint edges, readings;                  // how many; entries of the words' readers
  uint32_t state_size, spans_size;        // bytes of a node's state, and without instants
  uint32_t output_size;                   // of an output, at most
  spinach_replay_node *node;              // not in the table: what is looked for
  spinach_replay_output *output;          // likewise
  spinach_replay_record record;           // of the cycle at hand
  uint64_t *counters;                     // before it
  spinach_replay_move *moves;             // a place for those of an edge
  uint8_t *sample;                        // the state some cycles ago, to see which word moves
  spinach_replay_phase phase;             // while it is stepped
  const uint32_t *witness;                // of the latest replay that paid; NULL: there was none ...
  uint32_t anchor;                        // ... and its value
  spinach_replay_seen signatures, states; // in which the word had the anchor's value
  uint32_t looks, backoff, attempts;      // at states since; cycles until the next attempt; how many there were
  uint64_t entered, learnt;               // the cycle in which replay began; cycles learnt since
  const spinach_replay_node *live;        // the state in the arena is this one's, ...
  uint64_t live_cycle;                    // ... after this cycle
  uint64_t checked;                       // cycles that were stepped as well as replayed
  uint32_t credit, trust;                 // cycles that may be learnt before any pays; in a new loop
};

typedef struct spinach_replay_table spinach_replay_table;

spinach_replay_table *spinach_replay_table_of(spinach_replay *r); // made when there is none
void spinach_replay_table_clear(spinach_replay_table *table);     // nothing is known any more
bool spinach_replay_table_full(const spinach_replay_table *table);

// The present state as a node; NULL when it is not known, unless it is to be added.
spinach_replay_node *spinach_replay_node_now(spinach_replay *r, bool add);
// Makes the state, in the arena or a copy, what it is at a node before the first segment of the coming cycle.
void spinach_replay_restore(const spinach_replay *r, const spinach_replay_node *node, uint8_t *state);
const spinach_replay_output *spinach_replay_output_now(spinach_replay *r, uint32_t segment);

void spinach_replay_record_cycle(spinach_replay *r); // begins the record of a cycle
// Steps a segment; nothing is written down.
void spinach_replay_step_alone(const spinach_replay_cluster *of, uint32_t segment);
void spinach_replay_step(spinach_replay *r, uint32_t segment); // steps a segment, and writes down what it does
// After a segment: what it did on the present inputs, as an edge that leads away from `from`.
spinach_replay_edge *spinach_replay_edge_add(spinach_replay *r, spinach_replay_node *from);
// The same without its output and a node to which it leads, and not in the table: the caller frees it with
// g_aligned_free.
spinach_replay_edge *spinach_replay_edge_now(spinach_replay *r, const spinach_replay_node *from);
// Before replay begins: what was read of memories may have changed, and what followed from it is forgotten.
void spinach_replay_refresh(spinach_replay *r);
// The edge on the present inputs, moved to the front; NULL when there is none.
spinach_replay_edge *spinach_replay_edge_find(const spinach_replay *r, spinach_replay_node *from);

// The state of the cluster, in the arena.
static inline void *spinach_replay_state(const spinach_replay *r) {
  return spinach_cluster_state[r->of->cluster];
}

#endif
