// What of the tree is at a place of a file.
#ifndef LSS_PLACES_H
#define LSS_PLACES_H

#include "lss/front/tree.h"

// Both from 1, the column in bytes.
typedef struct {
  int line, column;
} Place;

// Whether a place is in a location, or just past its end.
bool place_covers(Location where, Place at);

// Adds those of the nodes that are around a place, outermost first.
void place_enclose(const GPtrArray *nodes, Place at, GPtrArray *around);

// The innermost name, field, string, record, code or named setting of a node at a place; NULL when there is none.
const Expr *place_expr(const Node *node, Place at);

// Whether a name in a type is that of a type, not of a value in it: `mem` of `mem(width)[2]`.
bool place_is_type(const Expr *type, const Expr *name);

// Whether an expression begins with a name: `ring` of `ring[0].head`.
bool place_begins(const Expr *expr, const Expr *name);

// The number of the setting in `pipe(depth = 4)`, or of the field in a record, whose name is at a place; -1: none.
int place_named_at(const Expr *expr, Place at);

#endif
