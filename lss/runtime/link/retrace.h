// What has come to a part among others and what has left it, so that a debugger may take the part back and step it
// again, while the others go on: what came comes again, and what has left is not sent twice.
//
// The part does the same again, as nothing but what comes makes a difference.
#ifndef SPINACH_LINK_RETRACE_H
#define SPINACH_LINK_RETRACE_H

#include <stdbool.h>
#include <stdint.h>

// From here on; all that was sent to this part before the instant `begins` is in its state.
void retrace_begin(uint64_t begins);
// An item came over the link of that number in the machine's table.
void retrace_came(uint32_t link, const char *from, uint64_t sent, uint64_t arrives, const void *item);
// All that was sent before an instant has come.
void retrace_reached(uint64_t until);
// Whether that instant was reached before: then what was sent before it is put into the state, and before *limit may be
// stepped.
bool retrace_again(uint64_t until, uint64_t *limit);
// Whether what is sent at an instant over a link has left already; else it is noted.
bool retrace_has_left(uint32_t link, uint64_t now);
// The instant up to which the part has come.
uint64_t retrace_latest(void);

#endif
