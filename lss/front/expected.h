// What a body expects of an instance whose module is not named there but comes by a value, as far as its text decides:
// the names that it selects of the instance whatever its conditions are.
#ifndef LSS_EXPECTED_H
#define LSS_EXPECTED_H

#include "lss/front/wrapped.h"

// Adds the names of what a body and all that it wraps declare, passed on or not, to a set; false: it wraps what a
// parameter chooses, so there may be others.
bool body_declares(GHashTable *names, const GPtrArray *body, ModuleLookup find, gpointer data);

// The first parameter or userpoint that `wraps`, a statement of the body, would pass on of a module, and that the body
// declares itself; of a module that is a parameter its default counts.  NULL: there is none.
const Node *body_clash(const GPtrArray *body, const Node *wraps, const Node *module, ModuleLookup find, gpointer data);

typedef struct {
  const char *name;
  Location place;   // where it is expected,
  const char *text; // and what is written there
} MissingName;

// The first name that a body expects of `instance` (one of its statements, NODE_INSTANCE or NODE_WRAPS) and that is not
// among the names of its module: `wraps` sets it or leaves it out, or the body selects it, and does not query it with
// `has()`.  False: there is none.
bool body_misses(const GPtrArray *body, const Node *instance, GHashTable *names, MissingName *missing);

#endif
