// Conversations in recorded traffic, for traffic_replay.c: who talks to whom in a frame, and which data TCP has sent,
// acknowledged and made room for.
#ifndef TRAFFIC_REPLAY_H
#define TRAFFIC_REPLAY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TRAFFIC_REPLAY_FROM_HOST, TRAFFIC_REPLAY_FROM_WIRE };
#define TRAFFIC_REPLAY_OTHER(direction) (1 - (direction))
#define TRAFFIC_REPLAY_NONE             UINT32_MAX
enum { MOST_LOSSES = 15 }; // TCP gives up after about as many
enum {
  TRAFFIC_REPLAY_KEY = 40,
  TRAFFIC_REPLAY_FIN = 1,
  TRAFFIC_REPLAY_SYN = 2,
  TRAFFIC_REPLAY_RST = 4,
  TRAFFIC_REPLAY_ACK = 16
};

static const char *const replay_end[2] = {"the host", "the wire"};

// What matters of one frame.
typedef struct {
  uint8_t key[TRAFFIC_REPLAY_KEY]; // addresses, ports and protocol, the host's side first
  bool tcp;
  uint8_t flags;
  uint32_t seq, ack, length; // length: of the data, SYN and FIN included
  uint32_t window;           // as in the header
  int32_t scale;             // window scale that a SYN offers, -1 for none
} ReplayFrame;

static inline uint32_t replay_big(const uint8_t *at, int bytes) {
  uint32_t value = 0;
  for (int i = 0; i < bytes; i++) value = value << 8 | at[i];
  return value;
}

static inline int32_t replay_window_scale(const uint8_t *options, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes && options[i] != 0;) {
    if (options[i] == 1) {
      i++;
      continue;
    }
    if (i + 1 >= bytes || options[i + 1] < 2) break;
    if (options[i] == 3 && i + 2 < bytes) return options[i + 2] > 14 ? 14 : options[i + 2];
    i += options[i + 1];
  }
  return -1;
}

static inline void replay_put(ReplayFrame *frame, bool from_host, int at, const uint8_t *source, const uint8_t *target,
                              int bytes) {
  memcpy(frame->key + at + (from_host ? 0 : bytes), source, (size_t)bytes);
  memcpy(frame->key + at + (from_host ? bytes : 0), target, (size_t)bytes);
}

// Reads a frame's headers; what is not TCP or UDP in IP is distinguished by addresses and type.
static inline ReplayFrame replay_parse(const uint8_t *bytes, uint32_t length, bool from_host) {
  ReplayFrame frame = {.scale = -1};
  if (length < 14) return frame;
  uint32_t at = 12, type = replay_big(bytes + at, 2);
  while (type == 0x8100 && length >= at + 6) type = replay_big(bytes + (at += 4), 2);
  const uint8_t *ip = bytes + at + 2;
  uint32_t left = length - at - 2, header = 0, total = 0;
  frame.key[0] = (uint8_t)(type >> 8);
  frame.key[1] = (uint8_t)type;
  uint8_t protocol = 0;
  if (type == 0x0800 && left >= 20 && ip[0] >> 4 == 4) {
    header = (ip[0] & 15u) * 4;
    total = replay_big(ip + 2, 2);
    protocol = ip[9];
    replay_put(&frame, from_host, 3, ip + 12, ip + 16, 4);
    if (replay_big(ip + 6, 2) & 0x3fff) header = 0; // a fragment has no ports that one could go by
  } else if (type == 0x86dd && left >= 40) {
    header = 40;
    total = 40 + replay_big(ip + 4, 2);
    protocol = ip[6];
    replay_put(&frame, from_host, 3, ip + 8, ip + 24, 16);
  } else {
    return frame; // ARP and the like: one conversation for each type
  }
  frame.key[2] = protocol;
  if (header < 20 || total > left || total < header + 8 || (protocol != 6 && protocol != 17)) return frame;
  const uint8_t *transport = ip + header;
  replay_put(&frame, from_host, 35, transport, transport + 2, 2);
  uint32_t offset = protocol == 6 && total >= header + 20 ? (transport[12] >> 4) * 4u : 0;
  if (offset < 20 || header + offset > total) return frame;
  frame.tcp = true;
  frame.flags = transport[13];
  frame.seq = replay_big(transport + 4, 4);
  frame.ack = replay_big(transport + 8, 4);
  frame.window = replay_big(transport + 14, 2);
  frame.length = total - header - offset + !!(frame.flags & TRAFFIC_REPLAY_SYN) + !!(frame.flags & TRAFFIC_REPLAY_FIN);
  if (frame.flags & TRAFFIC_REPLAY_SYN) frame.scale = replay_window_scale(transport + 20, offset - 20);
  return frame;
}

// ---- A direction of a TCP conversation, its numbers counted from the first byte seen -------------------------------

typedef struct {
  int64_t from, to;
} ReplayHole;

typedef struct {
  uint32_t first, last; // its frames; UINT32_MAX: none
  bool based, syn;
  uint32_t base;
  int32_t scale;
  int64_t frontier;  // everything before it was sent
  ReplayHole *ahead; // what was sent beyond it, in any order
  uint32_t ahead_count;
  // Where the frames are that the other side's frames have been found to wait for.
  uint32_t acked_by, opened_by; // next frame to look at
  int64_t acked, opened;        // frontier, and limit of the window, up to there
  bool opened_before;
} ReplayFlow;

// A sequence number as a distance from the base, taken to be near `near`.
static inline int64_t replay_distance(const ReplayFlow *flow, uint32_t number, int64_t near) {
  return near + (int32_t)(number - (uint32_t)((uint64_t)flow->base + (uint64_t)near));
}

// Data [from, to) are sent; the frontier moves on as far as there is no hole.
static inline void replay_sent(ReplayFlow *flow, int64_t from, int64_t to) {
  if (to <= flow->frontier) return;
  if (from > flow->frontier) {
    flow->ahead = realloc(flow->ahead, (flow->ahead_count + 1) * sizeof *flow->ahead);
    flow->ahead[flow->ahead_count++] = (ReplayHole){from, to};
    return;
  }
  flow->frontier = to;
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t i = 0; i < flow->ahead_count; i++) {
      ReplayHole piece = flow->ahead[i];
      if (piece.from > flow->frontier) continue;
      if (piece.to > flow->frontier) flow->frontier = piece.to;
      flow->ahead[i--] = flow->ahead[--flow->ahead_count];
      moved = true;
    }
  }
}

#endif
