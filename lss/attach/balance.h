// What the files about balances share: ports and sums as they are written, and the steps that they become.
#ifndef LSS_BALANCE_H
#define LSS_BALANCE_H

#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"

// An own port of a leaf, `memory.request[2]`, and its lane as written (NULL without one).  NULL, with an error, where
// none is meant; a bundle must be followed by its member if `member`, else its first port stands for all.
Port *balance_port(Inst *inst, Expr *expr, const Expr **lane, bool member);

// Appends what computes an expression, in postfix order; false after an error.
bool balance_add(Scope *scope, Balance *balance, Expr *expr, GArray *steps);
void balance_operator(GArray *steps, int operator);

#endif
