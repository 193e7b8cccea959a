// Items of links as values: what is in their padding does not count.
#ifndef SPINACH_LINK_ITEM_VALUE_H
#define SPINACH_LINK_ITEM_VALUE_H

#include "lss/runtime/text/type.h"

// Copies what an item holds; the padding of `to` stays as it is.
void item_value_copy(const struct spinach_type *type, const void *from, void *to);

// The type as text with what its members are called and where they are, which the caller frees: "uint32", or
// "wire_beat{bytes@0:8 count@8:1 start@9:1}" with offset and size.
char *item_value_shape(const struct spinach_type *type);

#endif
