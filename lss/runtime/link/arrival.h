// Items that come over the links of a part: each goes into the flight of its crossing.
#ifndef SPINACH_LINK_ARRIVAL_H
#define SPINACH_LINK_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>

// Once, before items come.
void arrival_begin(void);
// An item that `from` has sent over a link, by its number in the machine's table.  It may hold any bits: what is none
// of its type ends the run.  False: there is no room.
bool arrival_add(uint32_t link, const char *from, uint64_t arrives, const void *item);

#endif
