/* The statistics block that the host is sent: 1,024 bytes, of which the first words are used. */
#ifndef TIGON2_STATISTICS_H
#define TIGON2_STATISTICS_H

#include "hot.h"

struct statistics {
  u32 mac[32];                               /* as kept by the MAC; word 27 counts frames dropped for want of memory */
  u32 frames_in, bytes_in_high, bytes_in;    /* given to the host */
  u32 frames_out, bytes_out_high, bytes_out; /* handed to the MAC */
  u32 dropped_long;                          /* received frames that no buffer of the host takes */
  u32 dropped_send;                          /* frames to send that are longer than any frame may be */
  u32 interrupts;
  u32 events_lost; /* because the event ring was full */
  u32 commands_bad;
  u32 dma_errors;        /* transfers that failed on the host's bus, and were tried again */
  u32 waits_for_buffers; /* times a received frame had to wait for the host to give a buffer */
  u32 unused[STATISTICS_BYTES / 4 - 45];
};
_Static_assert(sizeof(struct statistics) == STATISTICS_BYTES, "size of the statistics block");

void write_statistics(u32 local);

#endif
