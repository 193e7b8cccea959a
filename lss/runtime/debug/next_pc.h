// The instruction that a processor retires next.  It is known once it does: the machine goes on until then, and back.
#ifndef SPINACH_DEBUG_NEXT_PC_H
#define SPINACH_DEBUG_NEXT_PC_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

void next_pc_begin(void);
// Its address; in a delay slot that of the branch.
uint32_t next_pc_of(guint core);
// It is valid for this instant; `within`: instructions before it that retire in the same instant, and are shown as if
// they had.
void next_pc_know(guint core, uint32_t pc, uint32_t within);
uint32_t next_pc_within(guint core);
void next_pc_forget(void);

// At this instant the processor stands still: what it fetches next is what it retires next.
void next_pc_fetch(guint core);
bool next_pc_is_fetched(guint core);

#endif
