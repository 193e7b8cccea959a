// A console to which clients connect: a pseudo-terminal, or a socket at a path or a port.  One client at a time; when
// it has left, another may follow.  Nothing here waits for a client that does not read: what it does not take is kept,
// the last 64 KiB of it.
#ifndef SPINACH_CONSOLE_CLIENT_H
#define SPINACH_CONSOLE_CLIENT_H

#include "lss/runtime/files/console_place.h"

#include <stddef.h>
#include <stdint.h>

typedef struct ConsoleClient ConsoleClient;

// Opens it, and says on standard error where it is.  On failure returns NULL and sets *error, a whole sentence.
ConsoleClient *console_client_open(const ConsolePlace *place, GError **error);
// The next character from a client; false when there is none within the time.
bool console_client_read(ConsoleClient *client, uint8_t *character, int milliseconds);
// Sends bytes to the client, when there is one that takes them.
void console_client_write(ConsoleClient *client, const uint8_t *bytes, size_t size);
// Ends it: a client that reads gets the rest first.
void console_client_close(ConsoleClient *client);
// Removes its name from the file system, in a signal handler of a process that ends there.
void console_client_remove(ConsoleClient *client);

#endif
