// Values as bytes that mean something: without the padding of structs, and of a stream only how far it has come.
#ifndef SPINACH_TYPE_BYTES_H
#define SPINACH_TYPE_BYTES_H

#include "lss/runtime/text/type.h"

#include <glib.h>

// Whether every byte of a value means something.
bool spinach_type_is_dense(const struct spinach_type *type);

// Appends those bytes of a value that do.
void spinach_type_append_bytes(const struct spinach_type *type, const void *value, GByteArray *bytes);

bool spinach_type_equal(const struct spinach_type *type, const void *a, const void *b);

#endif
