// Breakpoints and watchpoints, and what of them and of conditions is met.
//
// What happens is the run's alone: they are compared with what retires, what memory holds and which events there were
// after each instant, and change nothing of it.
#ifndef SPINACH_DEBUG_BREAKPOINTS_H
#define SPINACH_DEBUG_BREAKPOINTS_H

#include "lss/runtime/debug/stop.h"

void breakpoints_begin(void);

// Both return false when there is no such processor.
bool breakpoints_set(guint core, uint32_t address, bool hardware, bool set);
// Bytes that are watched, on behalf of a processor.
bool breakpoints_watch(guint core, WatchKind kind, uint32_t address, uint32_t count, bool set);
// What has to be recorded for a watchpoint that waits for more than another value, as --record of the compiler has it.
#define WATCH_WORD "memory"
void breakpoints_forget(guint core); // everything that was set for it; 0: for all

// All that was set, with what is not reported again, for another process, and back.
#define BREAKPOINTS_TYPE "(a(uub)a(uuuu)at)"
GVariant *breakpoints_pack(void);
void breakpoints_unpack(GVariant *packed);

// Whether something has to be looked at after each instant.
bool breakpoints_each_instant(void);
// What is so now: what comes is compared with it.
void breakpoints_see(void);
// After an instant that began at `before`: adds what was met in it; `stepped`: also what that processor retired.  Of
// several instructions of a processor one is met: the first, or going backwards the last.
void breakpoints_collect(uint64_t before, guint stepped, bool backwards, GArray *met);
// Whether there is a breakpoint at an address, and the stop that it is.
bool breakpoints_hit(guint core, uint32_t pc, Stop *stop);

// The stop is reported: its instruction is not reported again on the way on.
Stop breakpoints_report(Stop stop);
bool breakpoints_reported(guint core);
void breakpoints_pass(guint core, uint64_t retired); // UINT64_MAX: all are reported

#endif
