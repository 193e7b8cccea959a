// Networks in parts: which parts are alike, what leads from one to another, and the netlist of each kind of part.
#ifndef LSS_PARTS_H
#define LSS_PARTS_H

#include "lss/elab/netlist.h"

// A crossing between two parts, or from a part to itself.
typedef struct {
  Instance *crossing;
  Port *in, *out;
  guint from, to; // processes
} Border;

// One end of it, at a process.
typedef struct {
  const Border *border;
  const char *key; // the port of the part and its lane, "wire_out"
  bool sends;
} BorderEnd;

// What runs by itself: a part, or several that crossings without delay join.
typedef struct {
  GPtrArray *parts;  // Part*
  GPtrArray *ends;   // BorderEnd*, by their keys
  GPtrArray *inside; // Instance*: crossings that both begin and end here
  guint kind;
} Process;

// Processes for which one simulator is built.
typedef struct {
  const char *simulator; // its file
  guint representative;  // the process whose names it has
  Netlist *netlist;      // of that process alone
  guint weight;          // leaves in it
  guint64 memory;        // bytes of its state
} PartKind;

typedef struct {
  Netlist *whole;
  GPtrArray *processes; // Process*
  GPtrArray *kinds;     // PartKind*
  GPtrArray *borders;   // Border*, between two processes
  guint64 distance;     // ticks that two parts are apart at most
  GPtrArray *order;     // const char*: parts and crossings, in the order of the whole's statistics
} Network;

// Finds the parts of a network.  NULL after errors, or when `bodies` (const char*) has received further parts that have
// to be elaborated: then that is done again.
Network *network_find(Netlist *whole, GPtrArray *bodies);

// How far the parts of a network are apart that is built as a whole; 0: it has none, or cannot be built in parts.
guint64 network_distance(Netlist *whole);

// The same of a network whose borders are known: of two parts at most.
guint64 network_farthest(const Network *network);

// Fills in the netlist of each kind: what is in its representative, and the halves of crossings at its ports.  The
// whole is no longer complete then.  False after errors.
bool network_prune(Network *network);
// Numbers what is in the netlist of a kind; those of others have other numbers until it is done for them.
void network_number(Netlist *netlist);

// The text of network.json, whose hash the simulators get.
char *network_text(const Network *network, const char **hash);

// half.c: one half of a crossing, that at `in` if it sends: a copy with the ports, functions and state of this end.
Instance *half_new(const Instance *crossing, bool sends);

#endif
