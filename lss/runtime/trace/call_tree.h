// Who calls whom: the functions that a processor is in, found from the instructions that it executes.
//
// A call whose target is not the instruction behind it enters a function; a return goes back to the caller whose return
// address it attends, through tail calls as well.  Any other way into another function (a tail call, a dispatch, a pc
// that was set from outside) replaces the function that the processor was in, so nothing is left behind by one.
//
// Functions that the compiler put in place of calls are callees of the function whose code they are in; how often they
// were called is not known.  What is called from their code is called by them.
#ifndef SPINACH_CALL_TREE_H
#define SPINACH_CALL_TREE_H

#include "lss/runtime/trace/code_names.h"

#include <glib.h>

// A function as it was reached by one chain of callers.
typedef struct CallNode {
  const char *function;
  bool inlined;
  struct CallNode *parent, *children, *next; // next: of the same parent
  guint number;                              // in the order in which they were first reached
  guint64 calls, instructions, cycles;       // without those of what it calls
} CallNode;

typedef struct CallTree CallTree;

// `isa` as debug views name it; of another one calls are not told from jumps.
CallTree *call_tree_new(const char *isa);

// An instruction was executed at this place (whose names are the same pointers for the same function), with this
// result; returns where it belongs.
CallNode *call_tree_follow(CallTree *tree, guint32 pc, guint32 word, guint32 value, const CodePlace *place);

CallNode *call_tree_here(CallTree *tree);         // of the latest instruction, or the root, which has no function
const GPtrArray *call_tree_nodes(CallTree *tree); // CallNode*, by number; parents before children

#endif
