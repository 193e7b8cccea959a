// Meetings of the parts of a network, which find out together that none of them makes progress (--watchdog), that
// nothing new happens in any (--idle-timeout), and that nothing is left to do where modules do not say when they act.
//
// A part alone cannot tell, since it may wait for others.  So all parts come to meetings, at instants that all know,
// and each judges by what all have said.  What is found is the same everywhere, and does not depend on the host.
#ifndef SPINACH_MEETINGS_H
#define SPINACH_MEETINGS_H

#include "lss/runtime/engine/request.h"

typedef enum { MEETING_GOES_ON, MEETING_LATER, MEETING_STUCK, MEETING_IDLE, MEETING_OVER } Meeting;

// In a part; a whole machine has none.
void spinach_meetings_begin(const spinach_options *options);

// The instant of the next one; UINT64_MAX: there is none.
uint64_t spinach_meetings_tick(void);

// Holds the one of this instant.  STUCK and IDLE: *error is why, which the caller frees.  OVER: nothing is left to do.
// LATER: not all have come, since the run ends before or is to stop.
Meeting spinach_meetings_hold(uint64_t at, char **error);

#endif
