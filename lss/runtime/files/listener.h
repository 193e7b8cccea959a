// Sockets at which a run waits for clients, at a path or at a port: for gdb, and for those of a console.
#ifndef SPINACH_LISTENER_H
#define SPINACH_LISTENER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum { LISTENER_PATH_MOST = 99 }; // bytes in the path of a socket, which has a longer name until it listens

// The descriptor of one that listens at a path, to which only this user can connect; a socket that a killed run left
// there is replaced.  On failure returns -1 and sets *error, the reason and what to do.
int listener_at_path(const char *path, GError **error);
// The same at a port of a host, which becomes *port; it is *exposed when computers other than this one may reach it.
// Host NULL is this computer alone, "*" all its interfaces, one in brackets an address of IPv6.
int listener_at_port(const char *host, uint16_t *port, bool *exposed, GError **error);

// In `PORT` or `HOST:PORT`: returns the port, and sets *host to what is before it, which the caller frees, or to NULL.
const char *listener_split(const char *text, char **host);

#endif
