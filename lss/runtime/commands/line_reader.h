// Lines of commands from a program: of a bounded length, whatever bytes they have.
#ifndef SPINACH_LINE_READER_H
#define SPINACH_LINE_READER_H

#include <glib.h>

enum { LONGEST_LINE = 1 << 16 }; // bytes, without its end

typedef enum {
  LINE_IS_READ,
  LINE_IS_TOO_LONG, // its end was found
  LINE_IS_LAST,     // there is none: the input is over
  LINE_IS_STOPPED,  // a signal asked the run to end
} LineRead;

// The next line, without its end.  No more is read than the line, since another process may read the next one.
LineRead line_reader_next(int handle, GString *line);

#endif
