// Sockets at which a console waits for clients.
#ifndef SPINACH_CONSOLE_SOCKET_H
#define SPINACH_CONSOLE_SOCKET_H

#include "lss/runtime/files/console_place.h"

// The descriptor of one that listens at a path; a socket that a killed run left there is replaced.  On failure returns
// -1 and sets *error, a whole sentence.
int console_socket_unix(const char *path, GError **error);
// The same at a port, which becomes *port; warns if others than this machine can reach it.
int console_socket_tcp(const ConsolePlace *place, int *port, GError **error);

#endif
