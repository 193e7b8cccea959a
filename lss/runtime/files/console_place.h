// Where a console of a machine is, in the words of a command line: `false`, `true` or `-`, `pty`, `pty:LINK`,
// `unix:PATH`, `tcp:PORT`, `tcp:HOST:PORT`; those from `pty` on also with `,wait`.
#ifndef SPINACH_CONSOLE_PLACE_H
#define SPINACH_CONSOLE_PLACE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum { CONSOLE_NOWHERE, CONSOLE_HERE, CONSOLE_PTY, CONSOLE_UNIX, CONSOLE_TCP } ConsoleKind;

typedef struct {
  ConsoleKind kind;
  bool waits;    // the run begins when a client is there
  char *path;    // of a link or socket; NULL: a pseudo-terminal without link
  char *host;    // as it is written; NULL: this machine alone
  uint16_t port; // 0: one that is free
} ConsolePlace;

// On failure sets *error, a whole sentence, and the place is empty.
bool console_place_read(const char *where, ConsolePlace *place, GError **error);
void console_place_clear(ConsolePlace *place);

#endif
