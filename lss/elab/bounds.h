// The ranges that fields declare, `uint32 head in 0..depth - 1;`: of state, of structs, of packed words.
#ifndef LSS_BOUNDS_H
#define LSS_BOUNDS_H

#include "lss/elab/elaborate.h"

// The range of a struct's or packed word's member into `field`, whose type is known; false after an error.
bool bounds_of_member(Scope *scope, const Node *node, Field *field);

// Adds the range that a state field's declaration has, or one of its members: `entry.way in 0..3;`.
// Or the remainder of either: `entry.age % 4 in 0..2;`.
void bounds_of_state(Scope *scope, const Expr *within, StateField *field);
void bounds_of_state_member(Scope *scope, const Node *node);

// Whether the ranges of a state field are of numbers, within their types, and allow what is there first.
void bounds_check(const StateField *field);

// "0 to 3", "at least 1".
const char *bounds_text(const Bounds *bounds);

#endif
