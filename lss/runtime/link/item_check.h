// Whether an item that another process has sent is one that its type allows: a quick look, which most items pass.
#ifndef SPINACH_LINK_ITEM_CHECK_H
#define SPINACH_LINK_ITEM_CHECK_H

#include "lss/runtime/engine/machine.h"

// A number in an item: it is at least `least`, and at most by `span` more.
typedef struct {
  uint32_t offset, size;
  uint64_t least, span;
} ItemRange;

typedef struct {
  ItemRange *ranges;
  uint32_t count;
  bool knows_all; // there is nothing else in the item
} ItemCheck;

// What there is to look at in items of a type; NULL: it is not known.
ItemCheck item_check_new(const struct spinach_type *type);
// False: the item is to be looked at closely.
bool item_check_passes(const ItemCheck *check, const void *item);

#endif
