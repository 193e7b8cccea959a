// The replies to commands: text for people, printed as it comes, or one line of JSON for each command.
//
// Lines of JSON are {"ok": true, "time_fs", "cycles", "ended", "result"} or {"ok": false, "error"}.  They have a
// descriptor of their own, and what the machine prints to standard output goes to standard error instead.
#ifndef SPINACH_REPLIES_H
#define SPINACH_REPLIES_H

#include <glib.h>
#include <stdbool.h>

// From here on replies are lines of JSON: at this descriptor, or (-1) in place of standard output.  Prints a line and
// returns false when that cannot be.
bool replies_open(int given);
int replies_handle(void); // -1: replies are text

// Around each command that has a line as its reply.  False: it could not be written.
void replies_begin(void);
bool replies_end(const char *ended);
// The run is over by an error within a command, and this process ends: replies to that command, if there is one.
void replies_fail(const char *text);

// What commands show.  False after a mistake, which is reported.
void reply_where(void);                  // the time, and where each processor is
void reply_places(const GArray *places); // spinach_place: states and their values
bool reply_states(const char *pattern);  // names of states
bool reply_events(const char *pattern);  // of events
bool reply_registers(const char *pattern);
bool reply_statistics(const char *words); // statistics_command.h
bool reply_connections(void);             // the counts of connections
void reply_status(void);
void reply_open_list(void); // rows of it follow
void reply_command(const char *name, const char *arguments, const char *help);
void reply_close_list(void);

#endif
