// What the files about balances share: ports and sums as they are written, and the steps that they become.
#ifndef LSS_BALANCE_H
#define LSS_BALANCE_H

#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"

// A place in the state or in an item that is being found: where it is, how often it is there, and of which type it is.
typedef struct {
  BalanceStep step;
  Type *type;
  BalanceRange ranges[BALANCE_RANGES];
} BalancePlace;

// balance_steps.c

// Appends the step of a place.
void balance_append(GArray *steps, const BalancePlace *place);

// One index or star over `length` elements of `size` bytes; a member.  False after an error.
bool balance_element(Scope *scope, const Expr *part, BalancePlace *place, int length, gsize size);
bool balance_member(const Expr *part, BalancePlace *place);

void balance_operator(GArray *steps, int operator);

// The parts of a path from its name on: EXPR_NAME, then EXPR_FIELD, EXPR_INDEX and EXPR_INDEX_ALL.  NULL: it is none.
// The caller frees it.
GPtrArray *balance_parts(Expr *expr);

// balance_ports.c

// An own port of a leaf, `memory.request[2]`, and its lane as written (NULL without one).  NULL, with an error, where
// none is meant; a bundle must be followed by its member if `member`, else its first port stands for all.
Port *balance_port(Inst *inst, Expr *expr, const Expr **lane, bool member);

// Appends the items of a port, or, where a member of them is named or it `adds`, what they say; false after an error.
bool balance_items(Scope *scope, Inst *inst, Expr *expr, bool adds, GArray *steps);

// Appends how often an event, part `at` of a path, is emitted, or what the argument after it adds up to.
bool balance_event(Instance *instance, const GPtrArray *parts, guint at, GArray *steps);

// balance_terms.c

// Appends what computes an expression, in postfix order; false after an error.
bool balance_add(Scope *scope, Balance *balance, Expr *expr, GArray *steps);

#endif
