// What the command lines of all tools of an instruction set have in common.
#ifndef EMULIB_CHOOSE_H
#define EMULIB_CHOOSE_H

#include <stdint.h>

#include "program/program.h"

// The number of the set called `name`, of a list up to NULL; NULL leaves *set as it is.  FALSE, after a line on
// standard error, when there is none.
gboolean choose_set(const char *tool, const char *const *sets, const char *name, unsigned *set);

// The program in a file, for this machine (as ELF numbers them) and instruction set, or NULL after a line on standard
// error.
Program *choose_program(const char *tool, const char *path, gboolean raw, guint16 machine, const char *set);

// The number from `least` to `most` that an option's text is; NULL leaves *value as it is.  FALSE, after a line on
// standard error, when it is no such number.
gboolean choose_number(const char *tool, const char *option, const char *text, uint64_t least, uint64_t most,
                       uint64_t *value);

#endif
