// Names used by host.c.
#ifndef HOST_H
#define HOST_H

// Where the software's reference to the device stands.
enum { HOST_WINDOW_IDLE, HOST_WINDOW_WAITS, HOST_WINDOW_OFFERED, HOST_WINDOW_OPEN, HOST_WINDOW_ANSWERED };

#endif
