// Collects the statistics and sends them to the host.
#include "statistics.h"

static struct statistics block;

// What all processors have counted.
static u32 counted(const u32 *own) {
  return *own + second_counter((u32)(own - (const u32 *)&state->count));
}

// Two words that were counted by both processors, the low one with a carry into the high one.
static void counted_wide(volatile u32 *to, const u32 *high, const u32 *low) {
  u32 other = second_counter((u32)(low - (const u32 *)&state->count)), sum = *low + other;
  to[0] = counted(high) + (sum < other);
  to[1] = sum;
}

void send_statistics(void) {
  volatile struct statistics *to = &block;
  const volatile struct mac_statistics *mac = &shared_block()->mac_statistics;
  const struct shared *s = shared_block();
  request_second(SHOW_COUNTERS);
  u32 bad = mac->bad_fcs, cut = mac->too_short, longer = mac->too_long, line = mac->line_errors;
  to->dot3StatsFCSErrors = bad;
  to->dot3StatsInternalMacTransmitErrors = mac->underruns;
  to->dot3StatsFrameTooLongs = longer;
  to->ifMtu = s->mtu;
  to->ifSpeed = 1000000000;
  to->ifAdminStatus = to->ifOperStatus = state->running ? 1 : 2;
  to->ifInDiscards = mac->no_space + counted(&state->count.dropped_long);
  to->ifInErrors = bad + cut + longer + line;
  to->ifOutDiscards = counted(&state->count.dropped_send);
  counted_wide(to->ifHCInOctets, &state->count.bytes_in_high, &state->count.bytes_in);
  to->ifHCInUcastPkts[1] = mac->kept_unicast;
  to->ifHCInMulticastPkts[1] = mac->kept_multicast;
  to->ifHCInBroadcastPkts[1] = mac->kept_broadcast;
  counted_wide(to->ifHCOutOctets, &state->count.bytes_out_high, &state->count.bytes_out);
  to->ifHCOutUcastPkts[1] = counted(&state->count.frames_out);
  to->nicCmdsUnknown = counted(&state->count.commands_bad);
  to->nicInterrupts = counted(&state->count.interrupts);
  to->nicDmaWrMasterAborts = counted(&state->count.dma_errors[FAILED_WRITES]);
  to->nicDmaRdMasterAborts = counted(&state->count.dma_errors[FAILED_READS]);
  to->nicEventRingFull = counted(&state->count.events_lost);
  to->nicNoMoreRxBDs = counted(&state->count.waits_for_buffers);
  to->nicMacRxPhyDecodeErr = line;
  to->nicMacRxDropUla = mac->other_station;
  to->nicMacRxDropMcast = mac->other_group;
  to->nicMacRxDropSpace = mac->no_space;
  write_statistics((u32)&block);
}

void clear_statistics(void) {
  volatile u32 *mac = (volatile u32 *)&shared_block()->mac_statistics;
  for (u32 i = 0; i < sizeof(struct mac_statistics) / 4; i++) mac[i] = 0;
  request_second(CLEAR_COUNTERS);
  u32 *count = (u32 *)&state->count;
  for (u32 i = 0; i < sizeof state->count / 4; i++) count[i] = 0;
}
