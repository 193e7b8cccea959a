// What a module passes on of one that it wraps, as far as its text decides: which ports, and what its block says of a
// parameter.  An `if` that is not taken counts, or an interface would depend on how a module is used.
#ifndef LSS_WRAPPED_H
#define LSS_WRAPPED_H

#include "lss/front/tree.h"

// The module of a name, or NULL.
typedef const Node *(*ModuleLookup)(const char *name, gpointer data);

enum { MAX_WRAPS = 100 }; // one in the other

// What becomes of a port of the wrapped instance.
typedef enum {
  WRAPPED_INSIDE,   // the body connects it, or nobody does
  WRAPPED_DECLARED, // it is a port of the outer module, whose body connects it
  WRAPPED_JOINED    // the same, and all its lanes are those of the inner one
} WrappedPort;

WrappedPort wrapped_port(const Node *wraps, const GPtrArray *body, const char *name);

// Whether `except` names it.
bool wraps_excepts(const Node *wraps, const char *name);
// What the block says of a parameter or userpoint: a NODE_ASSIGN, a NODE_DEFAULT, or NULL.
Node *wraps_setting(const Node *wraps, const char *name);

// Whether a statement of the body other than this one connects the module's own port of that name.
bool body_connects_elsewhere(const GPtrArray *body, const Node *connection, const char *port);
// Whether a statement of the body, in a block or not, sets a parameter of an instance: `instance.name = ...;`.
bool body_sets(const GPtrArray *body, const char *instance, const char *name);
// The parameter, userpoint or port of this name that a body declares itself, in a block or not; NULL when there is
// none.
const Node *body_declaration(const GPtrArray *body, const char *name);

// The statements `wraps` between a module and one inside it, innermost first, each with the module that it wraps.
typedef struct WrapsChain {
  const Node *wraps, *module;
  const struct WrapsChain *up;
  int depth;
} WrapsChain;

// The module that a node of a body wraps, of a parameter its default; NULL: it is no `wraps`, the module is not known,
// or it is inside itself, where there is no end.
const Node *wrapped_module(const Node *node, const GPtrArray *body, ModuleLookup find, gpointer data,
                           const WrapsChain *chain);

// A declaration that a body passes on.
typedef struct {
  const Node *node; // a copy, with the default, the range and the text that count
  const char *of;   // the wrapped instance
} PassedOn;

// A body whose parameters, and those of modules that it wraps, have what settings of it say.
GPtrArray *body_with_settings(const GPtrArray *body, const GPtrArray *settings);

// What a body passes on, PassedOn*, in order.  Of a module that is a parameter it is what its default has.
GPtrArray *wrapped_declarations(const GPtrArray *body, ModuleLookup find, gpointer data);

#endif
