// Names used by mac_transmit.c.
#ifndef MAC_TRANSMIT_H
#define MAC_TRANSMIT_H

// What the reading side does.
enum { TRANSMIT_READS_NOTHING, TRANSMIT_READS_DESCRIPTOR, TRANSMIT_READS_WAIT, TRANSMIT_READS_DATA };
// Frames in the queue, and register updates, at most.
enum { TRANSMIT_FRAMES = 8, TRANSMIT_UPDATES = 16 };

#endif
