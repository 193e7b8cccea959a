// Where the state of a machine is, in words that two builds can be compared by.
#ifndef SPINACH_LAYOUT_H
#define SPINACH_LAYOUT_H

#include "lss/runtime/engine/machine.h"

#include <glib.h>

// The fields and runtime parameters of an instance's state, a line each: "uint32 pc @8".  The caller frees it.
char *layout_of_instance(uint32_t instance);

// The lines in which two such texts differ first, for people: "`pc` is uint32 here, uint64 there".  The caller frees
// it.
char *layout_difference(const char *here, const char *there);

// SHA-256 of everything that decides what a byte of the arena means.  The caller frees it.
char *layout_hash(void);

// Where an instance's state begins in the arena.
uint64_t layout_offset(uint32_t instance);

// The bytes of an instance's state that are the machine's; what collectors of this build keep for it follows them.
uint64_t layout_bytes(uint32_t instance);

#endif
