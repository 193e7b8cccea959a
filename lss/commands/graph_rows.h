// Nodes of a picture that belong side by side, such as the two caches of a processor.
#ifndef LSS_GRAPH_ROWS_H
#define LSS_GRAPH_ROWS_H

#include "lss/elab/netlist.h"

// Rows (GPtrArray of Instance*) of nodes of one module which a port of another node feeds alike, and of which none
// leads to another one.  A large level has none.
GPtrArray *graph_rows(const Instance *level, const GPtrArray *nodes, const GPtrArray *edges);

#endif
