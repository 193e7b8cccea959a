// Standing still: a processor before an instruction with nothing in flight, so that its state can be changed.
#ifndef SPINACH_DEBUG_DRAIN_H
#define SPINACH_DEBUG_DRAIN_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

void drain_begin(void);
// Makes the processor stand still before its next instruction; the past is forgotten.  On failure returns false and
// sets *error to words that stay valid.
bool drain_processor(guint core, const char **error);
// While it does, goes on until caches have done with what is at these addresses, so that a write reaches every copy.
bool drain_caches(guint core, uint32_t address, uint32_t count, const char **error);
void drain_set_pc(guint core, uint32_t pc); // of one that stands still
void drain_let_go(void);                    // processors that stand still for us go on

#endif
