// The past of a run in memory: marks to which its state can be taken back, exactly.
//
// The arena is write-protected behind a mark; the first write to a page since then keeps what the page held.  So a mark
// costs what is written after it, and going back copies the pages of all marks in between.
#ifndef SPINACH_HISTORY_H
#define SPINACH_HISTORY_H

#include "lss/runtime/engine/machine.h"

// Begins to keep at most about `budget` bytes, with a mark at the present instant; call between instants.  Marks at
// least `distance` ticks apart are kept when others have to go.
void history_begin(uint64_t budget, uint64_t distance);
// Forgets the past: its first mark is the present instant.
void history_restart(void);

void history_mark(void);
uint64_t history_marked(void);       // the instant of the latest mark
uint64_t history_oldest(void);       // and of the first
bool history_back(uint64_t instant); // to the latest mark not after it; false: there is none
// The arena holds an earlier state again, that of this moment: so does everything beside it.
void history_rewind(const struct spinach_moment *moment);
void history_end(void);
uint64_t history_bytes(void); // kept now

#endif
