// What the files about instrumentation share.
#ifndef LSS_INSTRUMENT_H
#define LSS_INSTRUMENT_H

#include "lss/elab/elaborate.h"

// match.c
void attach_to_connections(Collector *collector); // all that its pattern matches
// All below `from` that its pattern matches and that have the event; `events` gets the names of all events there, *any
// is set when anything matches.
void attach_to_instances(Collector *collector, const Instance *from, GPtrArray *events, bool *any);
bool connection_matches(const char *pattern, const Connection *connection); // either end of it
Instance *find_instance(Instance *from, const char *path);                  // below `from`; NULL when there is none

// collectors.c
void attach_collector(const Attached *attached);

// views.c
void attach_debug(const Attached *attached);

// watches.c: a counter that a condition of the simulator's command line waits for
void attach_watch(const char *text);

// record.c: what a run records, and what it shows in waves
void attach_record(const char *what);
void attach_wave(const char *pattern);

// derived.c: a statistic worked out of others
void attach_derived(const Attached *attached);

// balance.c: all that is conserved, and all identities
void attach_balances(void);

#endif
