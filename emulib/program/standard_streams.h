// Standard input, output and error of a tool or a simulator: what is printed there is a result like any file.
#ifndef EMULIB_STANDARD_STREAMS_H
#define EMULIB_STANDARD_STREAMS_H

#include <glib.h>
#include <stdio.h>

// Call first in main().  A descriptor that the process was started without is taken, so that no file that is opened
// later gets its number and with it what is printed; writing there fails.  A process that ends with status 0 though
// something that it printed is lost says so and ends with 1.
void standard_streams_open(const char *tool);

// Writes what was printed to one of them at once; FALSE if that fails.
gboolean standard_streams_pass_on(FILE *stream);

// Whether all that was printed so far has been written.  If not, prints once "TOOL: cannot write to standard output:
// why".
gboolean standard_streams_flush(const char *tool);

#endif
