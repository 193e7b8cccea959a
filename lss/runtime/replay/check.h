// --check-replay: what a run leaves out is done all the same, and compared with what leaving it out would give.
//
// That is cycles of clusters that are replayed, cycles of clusters that sleep, and stretches of time in which nothing
// is said to happen.  So it is found in a release build when a module says `unchanged` or next_event wrongly, or
// depends on something beside its state and its inputs.  The first difference ends the run.
#ifndef LSS_RUNTIME_REPLAY_CHECK_H
#define LSS_RUNTIME_REPLAY_CHECK_H

#include "lss/runtime/replay/replay_table.h"

#include <stdio.h>

void spinach_replay_check(void); // from the beginning of the run

// --check-idle=INSTANCES: the same of what is left out since nothing is said to happen, and of the state of these
// instances alone, so that nothing else is compared.  False, after a line: a pattern matches none.
bool spinach_check_idle_of(const char *patterns);
void spinach_check_idle_report(FILE *out, const char *patterns);

// A segment was stepped from a node, where this edge was to be taken; `acts`: it did more than change the state.
void spinach_replay_compare(spinach_replay *r, const spinach_replay_node *from, const spinach_replay_edge *edge,
                            bool acts);

// For each cluster a line: what was replayed, and in how many cycles it slept.
void spinach_replay_check_report(FILE *out);

#endif
