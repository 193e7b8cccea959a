// Items of links as values: what is in their padding does not count.
#ifndef SPINACH_LINK_ITEM_VALUE_H
#define SPINACH_LINK_ITEM_VALUE_H

#include "lss/runtime/text/type.h"

// Copies what an item holds; the padding of `to` stays as it is.
void item_value_copy(const struct spinach_type *type, const void *from, void *to);

#endif
