// Where the state of a machine is, in words that two builds can be compared by.
#ifndef SPINACH_LAYOUT_H
#define SPINACH_LAYOUT_H

#include "lss/runtime/engine/machine.h"

#include <glib.h>

// The fields and runtime parameters of an instance's state, a line each: "uint32 pc @8".  The caller frees it.
char *layout_of_instance(uint32_t instance);

// Why an instance with the layout `here` cannot have the state of one with the layout `there`, for people: `"pc :
// uint32
// @8" here, "pc : uint64 @8" there`; NULL: it can.  They are equal, but where one is an end of a crossing between two
// parts and the other is the whole crossing: then the fields are those of the end.  A whole crossing may have two ends
// (`other`, else NULL).  The caller frees it.
char *layout_misfit(const char *here, const char *there, const char *other);

// Whether such a text has a field of this machine, and where in the state.
bool layout_find_field(const char *text, const spinach_field *field, guint64 *offset);

// The instance with this path and a state; -1: there is none.
int32_t layout_instance(const char *path);

// SHA-256 of everything that decides what a byte of the arena means.  The caller frees it.
char *layout_hash(void);

// Where an instance's state begins in the arena.
uint64_t layout_offset(uint32_t instance);

// The bytes of an instance's state that are the machine's; what collectors of this build keep for it follows them.
uint64_t layout_bytes(uint32_t instance);

#endif
