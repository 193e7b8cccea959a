// The simulator of a part of a network among those of the others: how it joins them, how far it may step, and how all
// of them end at one instant.
//
// All that the parts of a run share is one file in /dev/shm: the board, then the ring of each link in the order of
// network.json.  Who comes first makes it, and its name is gone as soon as the last one has come.
//
// Where the machine is whole and has parts, ends follow the same rule: what a part finds at the instant T ends the run
// before T and the distance, which is as far as two parts can be apart.
#ifndef SPINACH_LINK_PART_H
#define SPINACH_LINK_PART_H

#include "lss/runtime/engine/request.h"
#include "lss/runtime/link/board.h"

// Reads the network, and gives the tables of this machine the names that they have in the part.  Before they are used.
// False: after a line.  Without a path nothing is done.
bool spinach_part_name(const spinach_part_request *request);
// The value that the network sets for parameter `index` of this part, and its name in *name; NULL: there is none.
const char *spinach_part_setting(guint index, const char **name);

// Takes its place among the others and waits for them, or runs alone from their records; when the machine has started.
// False: after a line.  The run begins at the instant `begins`.
bool spinach_part_join(const spinach_options *options, uint64_t begins);

// Whether it runs among others, which do not go back.
bool spinach_part_is_among_others(void);

// ---- The end

// The run is to end, as is found at the instant `at`; what is found first counts.
void spinach_part_end(BoardEnd how, uint64_t at, const char *reason);
// The instant at which it ends, as far as is known; UINT64_MAX: none.
uint64_t spinach_part_end_at(void);
// A part that rests is needed for something at an instant.
void spinach_part_appoint(uint64_t instant);
// The instant up to which such things may be done now; mostly the next instant.
uint64_t spinach_part_reached(void);
// Nothing will ever happen by itself in any part.
bool spinach_part_all_rest(void);
// This part repeats a loop that nothing ends, and nothing happens anywhere else.
bool spinach_part_loops(void);
// Meets the other parts at an instant up to which the state is complete: says something, and hears what all say.
// Returns that, BOARD_NOTE words a part, *count parts; NULL: the run ends before, or is to stop.  Once for each
// instant, also if it is called again after NULL.  A whole machine hears itself.
const uint64_t *spinach_part_attend(uint64_t instant, const uint64_t *words, uint32_t *count);

// Why it ends, when all instants before that have passed; NULL: it goes on.  An error is reported, and is an error
// here.
const char *spinach_part_ended(void);
// All that was sent before an instant is in the state, and nothing else (spinach_completed()): before it is looked at
// as a whole.  All instants before it are over here, and no other.  False: the run ends before it.
bool spinach_part_complete(uint64_t until);
// This part steps no more, for the reason `ended`.  `failed`: by an error, so that it is silent from here on.  False,
// after a line: its record could not be written.
bool spinach_part_leave(bool failed, const char *ended);

// ---- What it cost

uint64_t spinach_part_waits(void);
double spinach_part_waited(void); // seconds

#endif
