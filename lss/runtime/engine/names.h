// Named access to the state: "cpu[0].fetch.pc", "cpu[1].regs.bytes[4]".
#ifndef SPINACH_NAMES_H
#define SPINACH_NAMES_H

#include "lss/runtime/engine/machine.h"

// Finds what `name` means: "regs.bytes", "regs.bytes[4]", "regs.bytes[4..7]".  On failure returns false and sets *error
// to words that suggest the nearest name; the caller frees them.
bool spinach_look_up(const char *name, spinach_place *place, char **error);

// What is behind the last dot of a name that is in no brackets.
const char *spinach_last_part(const char *name);

// The same as spinach_look_up(); prints the words.
bool spinach_find(const char *name, spinach_place *place);

// The address of an element of a field in an instance's state, which may be a copy.  The elements of a ring are in the
// order in which they were noted, the latest last.
void *spinach_field_element(const spinach_field *field, void *state, uint64_t index);

// The same in the arena.  An instant that is past is 0 from now on.
void *spinach_element(const spinach_place *place, uint64_t index);

// Element i of the state that a role names, and how many there are: through its map if it has one, where what is out of
// range means the first.
void *spinach_role_element(const spinach_debug_role *role, uint64_t index);
uint64_t spinach_role_elements(const spinach_debug_role *role);

// All elements of a field.
uint64_t spinach_field_elements(const spinach_field *field);

// What spinach_look_up() calls one of them behind the instance's path: "bytes[4]".  The caller frees it.
char *spinach_element_name(const spinach_field *field, uint64_t index);

// The first element in which two states of a layout differ, as the function above calls it; NULL when there is none.
char *spinach_first_difference(const spinach_layout *layout, void *one, void *other);

// Whether the field's type is a number, a truth or an enumerator, and its value as such.
bool spinach_is_integer(const struct spinach_type *type);
int64_t spinach_integer(const struct spinach_type *type, const void *value);

// The nearest to `wanted` of `count` names given by `name(i)`; NULL when none is near.
const char *spinach_nearest(const char *wanted, uint32_t count, const char *(*name)(uint32_t index));

#endif
