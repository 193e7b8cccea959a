// What was met and is not yet reported: of several in one instant, or of a processor that nobody heeded.
#ifndef SPINACH_DEBUG_STOPS_H
#define SPINACH_DEBUG_STOPS_H

#include "lss/runtime/debug/stop.h"

void stops_begin(void);
// Of what was met in one instant the first is reported; the others wait for the next time somebody goes on.  `ahead`:
// the instant is the next one, so what only happens in it will be met again.
Stop stops_deliver(GArray *met, bool ahead);
bool stops_next(Stop *stop);
// Takes away what another processor met while only one is heeded, and while gdb takes one over a breakpoint what is
// nobody's.
void stops_drop_others(GArray *met, guint core, StopScope scope);
// To where that was met.
bool stops_go_back(Stop *stop);
void stops_forget(void);
void stops_cut_off(void); // nobody can go back to what was met

#endif
