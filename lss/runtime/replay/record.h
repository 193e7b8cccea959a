// What a cycle of a cluster does beside changing its behaviour state, while it is stepped for replay.
#ifndef LSS_RUNTIME_REPLAY_RECORD_H
#define LSS_RUNTIME_REPLAY_RECORD_H

#include <stddef.h>
#include <stdint.h>

// Called by the step: of memories, traces and counters in the state of the cluster.
void spinach_replay_loaded(const void *place, size_t size);
void spinach_replay_stored(const void *place);
void spinach_replay_noted(const void *place);
void spinach_replay_counted_cycles(const void *counter, int sign);

#endif
