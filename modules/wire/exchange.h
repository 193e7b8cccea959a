// Conversations in recorded traffic, for exchange.c: who talks to whom in a frame, and which data TCP has sent,
// acknowledged and made room for.
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { EXCHANGE_FROM_HOST, EXCHANGE_FROM_WIRE };
#define EXCHANGE_OTHER(direction) (1 - (direction))
#define EXCHANGE_NONE             UINT32_MAX
enum { FRAME_TCP = 1, FRAME_DATA = 2, FRAME_ARRIVED = 4 };
enum { ORDER_LOST = 1u << 31, MOST_LOSSES = 15 }; // TCP gives up after about as many
enum { EXCHANGE_KEY = 40, EXCHANGE_FIN = 1, EXCHANGE_SYN = 2, EXCHANGE_RST = 4, EXCHANGE_ACK = 16 };

static const char *const exchange_end[2] = {"the host", "the wire"};

// What matters of one frame.
typedef struct {
  uint8_t key[EXCHANGE_KEY]; // addresses, ports and protocol, the host's side first
  bool tcp;
  uint8_t flags;
  uint32_t seq, ack, length; // length: of the data, SYN and FIN included
  uint32_t window;           // as it stands in the header
  int32_t scale;             // window scale that a SYN offers, -1 for none
} ExchangeFrame;

static inline uint32_t exchange_big(const uint8_t *at, int bytes) {
  uint32_t value = 0;
  for (int i = 0; i < bytes; i++) value = value << 8 | at[i];
  return value;
}

static inline int32_t exchange_window_scale(const uint8_t *options, uint32_t bytes) {
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

static inline void exchange_put(ExchangeFrame *frame, bool from_host, int at, const uint8_t *source,
                                const uint8_t *target, int bytes) {
  memcpy(frame->key + at + (from_host ? 0 : bytes), source, (size_t)bytes);
  memcpy(frame->key + at + (from_host ? bytes : 0), target, (size_t)bytes);
}

// Reads a frame's headers; what is not TCP or UDP in IP is told apart by addresses and type.
static inline ExchangeFrame exchange_parse(const uint8_t *bytes, uint32_t length, bool from_host) {
  ExchangeFrame frame = {.scale = -1};
  if (length < 14) return frame;
  uint32_t at = 12, type = exchange_big(bytes + at, 2);
  while (type == 0x8100 && length >= at + 6) type = exchange_big(bytes + (at += 4), 2);
  const uint8_t *ip = bytes + at + 2;
  uint32_t left = length - at - 2, header = 0, total = 0;
  frame.key[0] = (uint8_t)(type >> 8);
  frame.key[1] = (uint8_t)type;
  uint8_t protocol = 0;
  if (type == 0x0800 && left >= 20 && ip[0] >> 4 == 4) {
    header = (ip[0] & 15u) * 4;
    total = exchange_big(ip + 2, 2);
    protocol = ip[9];
    exchange_put(&frame, from_host, 3, ip + 12, ip + 16, 4);
    if (exchange_big(ip + 6, 2) & 0x3fff) header = 0; // a fragment has no ports that one could go by
  } else if (type == 0x86dd && left >= 40) {
    header = 40;
    total = 40 + exchange_big(ip + 4, 2);
    protocol = ip[6];
    exchange_put(&frame, from_host, 3, ip + 8, ip + 24, 16);
  } else {
    return frame; // ARP and the like: one conversation for each type
  }
  frame.key[2] = protocol;
  if (header < 20 || total > left || total < header + 8 || (protocol != 6 && protocol != 17)) return frame;
  const uint8_t *transport = ip + header;
  exchange_put(&frame, from_host, 35, transport, transport + 2, 2);
  uint32_t offset = protocol == 6 && total >= header + 20 ? (transport[12] >> 4) * 4u : 0;
  if (offset < 20 || header + offset > total) return frame;
  frame.tcp = true;
  frame.flags = transport[13];
  frame.seq = exchange_big(transport + 4, 4);
  frame.ack = exchange_big(transport + 8, 4);
  frame.window = exchange_big(transport + 14, 2);
  frame.length = total - header - offset + !!(frame.flags & EXCHANGE_SYN) + !!(frame.flags & EXCHANGE_FIN);
  if (frame.flags & EXCHANGE_SYN) frame.scale = exchange_window_scale(transport + 20, offset - 20);
  return frame;
}

// ---- A direction of a TCP conversation, its numbers counted from the first byte seen -------------------------------
typedef struct {
  int64_t from, to;
} ExchangeHole;

typedef struct {
  uint32_t first, last; // its frames; UINT32_MAX: none
  bool based, syn;
  uint32_t base;
  int32_t scale;
  int64_t frontier;    // everything before it was sent
  ExchangeHole *ahead; // what was sent beyond it, in any order
  uint32_t ahead_count;
  // Where the frames stand that the other side's frames have been found to wait for.
  uint32_t acked_by, opened_by; // next frame to look at
  int64_t acked, opened;        // frontier, and limit of the window, up to there
  bool opened_before;
} ExchangeFlow;

// A sequence number as a distance from the base, taken to be near `near`.
static inline int64_t exchange_distance(const ExchangeFlow *flow, uint32_t number, int64_t near) {
  return near + (int32_t)(number - (uint32_t)((uint64_t)flow->base + (uint64_t)near));
}

// Data [from, to) are sent; the frontier moves on as far as there is no hole.
static inline void exchange_sent(ExchangeFlow *flow, int64_t from, int64_t to) {
  if (to <= flow->frontier) return;
  if (from > flow->frontier) {
    flow->ahead = realloc(flow->ahead, (flow->ahead_count + 1) * sizeof *flow->ahead);
    flow->ahead[flow->ahead_count++] = (ExchangeHole){from, to};
    return;
  }
  flow->frontier = to;
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t i = 0; i < flow->ahead_count; i++) {
      ExchangeHole piece = flow->ahead[i];
      if (piece.from > flow->frontier) continue;
      if (piece.to > flow->frontier) flow->frontier = piece.to;
      flow->ahead[i--] = flow->ahead[--flow->ahead_count];
      moved = true;
    }
  }
}

#endif
