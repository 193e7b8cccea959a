// What makes a machine this one beyond the layout of its state: compile-time parameters, userpoints, connections and
// the C of its modules.  A checkpoint names all of it, and a run that goes on from there compares.
#ifndef SPINACH_IDENTITY_H
#define SPINACH_IDENTITY_H

#include "lss/runtime/engine/request.h"

#define IDENTITY_TYPE   "a(ayay)"      // names and what each is, in the order in which differences are named
#define DIFFERENCE_TYPE "a(ayayay)"    // a name, what it was at the checkpoint, what it is here; "" where there is none
#define ORIGINS_TYPE "a(aysa(ayayay))" // checkpoints that a run went on from, first to last: file, SHA-256, differences

// This machine's.
GVariant *identity_describe(void);

// What differs between the checkpoint's machine and this one, as DIFFERENCE_TYPE, if the user lets all of it differ
// (options->may_differ).  Otherwise NULL, with *error: the first difference that is not allowed.
GVariant *identity_compare(GVariant *there, const spinach_options *options, GError **error);

// The checkpoints that this run went on from, as ORIGINS_TYPE; empty without one.  The caller frees it.
GVariant *identity_origins(void);
// It went on from these, as a checkpoint holds them or another process hands them over.
void identity_set_origins(GVariant *origins);
// And from this one.
void identity_add_origin(const char *file, const char *sha256, GVariant *differences);

#endif
