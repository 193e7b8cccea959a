// Block diagrams of a machine: one picture per level of the hierarchy, with links between the levels.
#ifndef LSS_GRAPH_H
#define LSS_GRAPH_H

#include "lss/elab/netlist.h"

// What one picture shows: the children of a hierarchical instance and the connections written in its body, lanes
// merged.  Levels that would look the same (cpu[0], cpu[1]) are one.
typedef struct {
  const Instance *instance; // the first of those that look like this
  char *dot;                // its picture in Graphviz's language
  char *file;               // base name of its picture, "machine.core.svg"
} GraphLevel;

// How pictures are drawn; `stem` and `suffix` make the names of their files.
typedef struct {
  const char *stem, *suffix;
  bool expand; // arrays whose instances are connected alike are not drawn as one
} GraphStyle;

// All levels, the top first.  Free with g_ptr_array_unref().
GPtrArray *graph_levels(const Netlist *netlist, const GraphStyle *style);

// All levels as JSON text, which the caller frees.
char *graph_json(const Netlist *netlist);

#endif
