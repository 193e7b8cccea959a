// The statistics block that the host is sent: 1,024 bytes, laid out as public drivers declare them, with their names.
// What this firmware does not count stays 0.
#ifndef TIGON2_STATISTICS_H
#define TIGON2_STATISTICS_H

#include "state.h"

struct statistics {
  u32 unused_0;
  u32 dot3StatsFCSErrors;
  u32 unused_2[6];
  u32 dot3StatsInternalMacTransmitErrors; // frames that memory was too slow for
  u32 unused_9;
  u32 dot3StatsFrameTooLongs; // word 10
  u32 unused_11[3];
  u32 ifMtu, ifSpeed, ifAdminStatus, ifOperStatus; // word 14; bits per second; 1 up, 2 down
  u32 unused_18;
  u32 ifInDiscards; // whole frames that found no room, or no buffer large enough
  u32 ifInErrors;   // damaged frames, of all kinds; word 20
  u32 unused_21;
  u32 ifOutDiscards; // frames to send that are longer than any frame may be
  u32 unused_23[13];
  u32 ifHCInOctets[2]; // word 36; high word first
  u32 ifHCInUcastPkts[2], ifHCInMulticastPkts[2], ifHCInBroadcastPkts[2];
  u32 ifHCOutOctets[2];
  u32 ifHCOutUcastPkts[2]; // all frames: nobody looks whom they are for
  u32 unused_48[24];
  u32 nicCmdsUnknown; // word 72
  u32 unused_73[9];
  u32 nicInterrupts; // word 82
  u32 unused_83[8];
  u32 nicDmaWrMasterAborts, nicDmaRdMasterAborts; // word 91: failed on the host's bus, and were tried again
  u32 unused_93[2];
  u32 nicEventRingFull; // word 95: events lost for that
  u32 unused_96[4];
  u32 nicNoMoreRxBDs; // word 100: times a received frame had to wait for the host to give a buffer
  u32 unused_101[12];
  u32 nicMacRxPhyDecodeErr; // word 113: errors of the line
  u32 unused_114[2];
  u32 nicMacRxDropUla, nicMacRxDropMcast; // word 116
  u32 unused_118;
  u32 nicMacRxDropSpace; // word 119
  u32 unused_120[STATISTICS_BYTES / 4 - 120];
};
_Static_assert(sizeof(struct statistics) == STATISTICS_BYTES, "size of the statistics block");
_Static_assert(__builtin_offsetof(struct statistics, nicMacRxDropSpace) == 4 * 119, "layout of the statistics block");

void write_statistics(u32 local);

#endif
