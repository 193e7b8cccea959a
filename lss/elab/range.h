// The ranges that parameters declare, `in 1..64`.
#ifndef LSS_RANGE_H
#define LSS_RANGE_H

#include "lss/elab/elaborate.h"

// The bounds that a parameter's declaration gives, NULL where it gives none; false after errors.
bool range_evaluate(Scope *scope, const Node *node, Value **least, Value **most);

// False, with an error at `where`, when the value, or one of a list, is outside.
bool range_check(const Node *node, const Value *value, const Value *least, const Value *most, Location where);

#endif
