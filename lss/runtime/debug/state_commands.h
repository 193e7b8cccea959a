// Commands that gdb's `monitor` and --interactive have in common: `where`, and `set`.
#ifndef SPINACH_STATE_COMMANDS_H
#define SPINACH_STATE_COMMANDS_H

#include "lss/runtime/cores/cores.h"

// "57 ns, cycle 57 of clk".
void where_append_time(GString *out);
// A line for each processor: its number, its path, `what` it does (with a space behind, or ""), and where that is.
void where_append_cores(GString *out, const char *what, uint32_t (*pc_of)(guint core));

// "PATH.STATE = VALUE": writes it.  NULL, or what is wrong, which the caller frees; then nothing has changed.  After a
// change the caller says so to whoever must know.
char *state_set(const char *words);

#endif
