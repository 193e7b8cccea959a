/* Collects the statistics and sends them to the host. */
#include "statistics.h"

static struct statistics block;

void send_statistics(void) {
  volatile u32 *to = (volatile u32 *)&block;
  for (u32 i = 0; i < 32; i++) *to++ = ((volatile u32 *)shared_block()->mac_statistics)[i];
  const u32 *from = (const u32 *)&hot->count;
  ask_second(SHOW_COUNTERS);
  for (u32 i = 0; i < sizeof hot->count / 4; i++) *to++ = from[i] + second_counter(i);
  write_statistics((u32)&block);
}

void clear_statistics(void) {
  for (u32 i = 0; i < 32; i++) ((volatile u32 *)shared_block()->mac_statistics)[i] = 0;
  ask_second(CLEAR_COUNTERS);
  u32 *count = (u32 *)&hot->count;
  for (u32 i = 0; i < sizeof hot->count / 4; i++) count[i] = 0;
}
