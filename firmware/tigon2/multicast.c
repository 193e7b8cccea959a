// Groups: those whose frames the host wants besides the broadcast.  The MAC lets a group pass when the bit of the hash
// registers is set that its address leads to, and others that lead to the same bit; which groups were joined is kept
// here, so that one can be left again.
#include "state.h"

enum { GROUPS = 64, HASH_WORDS = 4, POLYNOMIAL = (int)0xedb88320 };

static struct {
  u32 high, low;
} joined[GROUPS];
static u32 groups; // in `joined`
static u32 all;    // every group is wanted,
static u32 open;   // or every frame

// The bit of a group: the last seven of its address's CRC-32, as in a frame check sequence.
static u32 hash_bit(u32 high, u32 low) {
  u32 crc = ~0u;
  for (s32 bit = 40; bit >= 0; bit -= 8) {
    crc ^= (bit < 32 ? low >> bit : high >> (bit - 32)) & 0xff;
    for (u32 i = 0; i < 8; i++) crc = crc >> 1 ^ (crc & 1 ? (u32)POLYNOMIAL : 0);
  }
  return ~crc & (HASH_WORDS * 32 - 1);
}

static void set_filter(void) {
  struct registers *r = registers();
  volatile u32 *to = &r->multicast_hash_0;
  u32 hash[HASH_WORDS];
  for (u32 i = 0; i < HASH_WORDS; i++) hash[i] = all || open ? ~0u : 0;
  for (u32 i = 0; i < groups; i++) {
    u32 bit = hash_bit(joined[i].high, joined[i].low);
    hash[bit / 32] |= 1u << bit % 32;
  }
  for (u32 i = 0; i < HASH_WORDS; i++) to[i] = hash[i];
  r->mac_rx_state = (r->mac_rx_state & ~MAC_FILTER) | (open ? 0 : MAC_FILTER);
}

// Every frame is wanted, or only those for this station, everybody and the groups.
void set_promiscuous(u32 on) {
  open = on;
  set_filter();
}
void set_all_groups(u32 on) {
  all = on;
  set_filter();
}

// Joins the group whose address the host has left, or leaves it; the host is notified, since it may then leave the
// next.
void change_group(u32 join) {
  struct shared *s = shared_block();
  u32 high = s->group[0] & 0xffff, low = s->group[1], at = 0;
  while (at < groups && (joined[at].high != high || joined[at].low != low)) at++;
  if (join && (at == GROUPS || !(high & 0x100))) {
    state->count.commands_bad++;
    host_event(EVENT_ERROR, ERROR_COMMAND);
    return;
  }
  if (join && at == groups) {
    joined[at].high = high;
    joined[at].low = low;
    groups++;
  } else if (!join && at < groups) {
    joined[at] = joined[--groups];
  }
  set_filter();
  host_event(EVENT_GROUPS, join ? 1 : 2);
}
