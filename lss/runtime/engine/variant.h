// Variants of a simulator: the same machine, built with further words for `lss build`, run with the same options.
//
// What costs something in generated code (checks, events that are counted, signals that stay visible) is there only
// when it was asked for when the machine was built.  A simulator that is asked for more builds the variant that has it,
// with objects from the cache, and becomes it.
#ifndef SPINACH_VARIANT_H
#define SPINACH_VARIANT_H

#include <glib.h>

// Builds this machine with these words, beside those that this simulator was built with; returns the simulator's path,
// which the caller frees and removes.  NULL after a failure, which it has reported.
char *spinach_variant_build(const GPtrArray *words);
// What a word of those is called where this machine was built, if it has other names there: a text that the caller
// frees.  Without one words stay as they are.
extern char *(*spinach_variant_word)(const char *word);

// Runs that in place of this process; returns only when it cannot, and errno says why.
void spinach_variant_run(const char *variant, char **argv);
// A variant is not needed on disk once it runs.
void spinach_variant_remove(void);
// The machine's file, as the simulator named it that became this one.
const char *spinach_machine_file(void);

// Builds this machine with these words, beside those that this simulator was built with, and runs that in place of this
// process.  Returns only after a failure, which it has reported.
void spinach_become(int argc, char **argv, const GPtrArray *words);

#endif
