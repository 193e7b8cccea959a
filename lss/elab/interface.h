// What a module declares at the top of its body, and passes on of those that it wraps, read from its tree before any
// body runs.  Each declaration is a promise: its name is known at once, and what it means is worked out when it is
// looked up first.  So defaults, ranges, settings and constants may name each other in any order.
#ifndef LSS_INTERFACE_H
#define LSS_INTERFACE_H

#include "lss/elab/elaborate.h"

typedef struct Interface Interface;

typedef enum {
  PROMISE_UNKNOWN,  // only the instance itself will know
  PROMISE_INSIDE,   // a constant, or what keeps its default
  PROMISE_SET,      // set in the block of `wraps`
  PROMISE_PASSED_ON // the outer module's as well; or that of the instance whose interface is read
} PromiseKind;

struct Promise {
  PromiseKind kind;
  Interface *interface;
  Declaration from;      // its node is a copy, whose default, range and text are those that count
  Scope *names;          // of the module that declares it
  GPtrArray *symbols;    // Symbol*: wherever it is known by its name inside
  const Node *setting;   // of the block of `wraps`
  Symbol *outer;         // of the module around it
  PortDecl *port;        // likewise
  Promise *requested_by; // while it is worked out
  bool busy, done;
};

struct Interface {
  const char *name; // of the instance
  const char *path;
  Location location;                // where the instance is made
  Location place;                   // where it is wrapped, or was read last
  const Value *brings;              // what the value of the module brings: other defaults
  Inst *running;                    // in whose body it is asked for
  Inst *inst;                       // whose settings count; NULL for that of `wraps`
  GPtrArray *levels;                // Scope*: names of the module, then of what it wraps, outer ones first
  GPtrArray *constants;             // Promise*, of all levels
  GPtrArray *members;               // Promise*: parameters, userpoints and ports of the module, in order
  bool incomplete;                  // what a module wraps could not be found out
  Promise *keeping;                 // what is being worked out, or NULL
  void (*decide)(Promise *promise); // of a member, as soon as it is read: what follows may depend on it
  Symbol (*keep)(Promise *promise); // what a member that is set or passed on means
};

// Reads the interface of a module; `module` is where that is declared.
void interface_read(Interface *interface, const Symbol *module);
const Promise *interface_member(const Interface *interface, const char *name); // NULL when there is none
// Works out what a promise means.
void promise_keep(Promise *promise);
// The default that the value of the module brings takes the place of the declaration's.
void promise_give(Promise *promise, Value *value); // NULL: nothing
void promise_bring(Promise *promise, const Value *module);
// What a block of settings says takes its place; what is named there means something in `scope`.
void promise_replace(Promise *promise, const Node *setting, Scope *scope);

#endif
