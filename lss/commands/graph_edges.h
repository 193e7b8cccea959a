// What the connections of each level come to as edges of a picture, and arrays of instances that are drawn as one.
#ifndef LSS_GRAPH_EDGES_H
#define LSS_GRAPH_EDGES_H

#include "lss/elab/netlist.h"

// All the connections of a level between the same two ports.
typedef struct {
  const Instance *from, *to;
  const char *from_port, *to_port;
  int lanes;
  GPtrArray *from_keys, *to_keys; // const char*, by lane, NULL where one has none
} Edge;

// The edges of each level in the order in which they were written: Instance* -> GPtrArray of Edge*.
GHashTable *graph_edges(const Netlist *netlist);

// Arrays of a level whose instances are connected alike, each drawn as one instance "core ×8": Instance* of
// theirs -> Instance* of that name, which gets the link to its inside that they have in `links` (Instance* -> char*).
GHashTable *graph_arrays(const Instance *level, const GPtrArray *edges, GHashTable *links);

// What an instance is drawn as: itself, or its array.
const Instance *graph_drawn_as(GHashTable *arrays, const Instance *instance);

// The edges between what is drawn (of Edge*); `edges` may be NULL.
GPtrArray *graph_merged_edges(const GPtrArray *edges, GHashTable *arrays);

#endif
