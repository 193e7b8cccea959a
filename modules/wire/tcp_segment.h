// TCP segments: taking them apart, checking them, and building them.  RFC 9293 section 3.1.
#ifndef TCP_SEGMENT_H
#define TCP_SEGMENT_H

#include "wire/ip_frame.h"

enum { TCP_HEADER = 20, TCP_MSS_OPTION = 4, TCP_DEFAULT_MSS = 536 };
enum { TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4, TCP_PSH = 8, TCP_ACK = 16 };

typedef struct {
  uint32_t from_port, to_port;
  uint32_t seq, ack;
  uint32_t flags;
  uint32_t window;
  uint32_t mss; // of the option, 0: none
  const uint8_t *data;
  uint32_t length; // of the data
} TcpSegment;

// Of the sequence numbers that a segment takes.
static inline uint32_t tcp_sequence_length(const TcpSegment *segment) {
  return segment->length + !!(segment->flags & TCP_SYN) + !!(segment->flags & TCP_FIN);
}

// Finds the option that is looked for; false if the options are malformed.
static inline bool tcp_parse_options(const uint8_t *at, uint32_t length, uint32_t *mss) {
  for (uint32_t i = 0; i < length;) {
    const uint32_t kind = at[i];
    if (kind == 0) break;
    if (kind == 1) {
      i++;
      continue;
    }
    if (i + 1 >= length || at[i + 1] < 2 || i + at[i + 1] > length) return false;
    if (kind == 2) {
      if (at[i + 1] != TCP_MSS_OPTION) return false;
      *mss = (uint32_t)ip_load(at + i + 2, 2);
    }
    i += at[i + 1];
  }
  return true;
}

static inline bool tcp_parse(const IpDatagram *ip, TcpSegment *segment) {
  const uint8_t *at = ip->data;
  if (ip->length < TCP_HEADER) return false;
  const uint32_t header = (at[12] >> 4) * 4u;
  if (header < TCP_HEADER || header > ip->length) return false;
  if (ip_sum_with_pseudo_header(ip->ends, IP_PROTOCOL_TCP, at, ip->length) != 0xffff) return false;
  *segment = (TcpSegment){.from_port = (uint32_t)ip_load(at, 2),
                          .to_port = (uint32_t)ip_load(at + 2, 2),
                          .seq = (uint32_t)ip_load(at + 4, 4),
                          .ack = (uint32_t)ip_load(at + 8, 4),
                          .flags = at[13],
                          .window = (uint32_t)ip_load(at + 14, 2),
                          .data = at + header,
                          .length = ip->length - header};
  if (segment->flags & TCP_SYN && segment->flags & (TCP_FIN | TCP_RST)) return false;
  return tcp_parse_options(at + TCP_HEADER, header - TCP_HEADER, &segment->mss);
}

static inline uint32_t tcp_header_bytes(const TcpSegment *segment) {
  return segment->mss ? TCP_HEADER + TCP_MSS_OPTION : TCP_HEADER;
}

// Puts the headers before the data, which are in place; returns the frame's length without FCS.
static inline uint32_t tcp_put_headers(uint8_t *frame, IpEnds ends, const TcpSegment *segment,
                                       uint32_t identification) {
  uint8_t *at = frame + IP_FRAME_DATA;
  const uint32_t header = tcp_header_bytes(segment), length = header + segment->length;
  udp_store(at, segment->from_port, 2);
  udp_store(at + 2, segment->to_port, 2);
  udp_store(at + 4, segment->seq, 4);
  udp_store(at + 8, segment->ack, 4);
  udp_store(at + 12, header / 4 << 12 | segment->flags, 2);
  udp_store(at + 14, segment->window, 2);
  udp_store(at + 16, 0, 4);
  if (segment->mss) udp_store(at + 20, UINT32_C(0x02040000) | segment->mss, 4);
  udp_store(at + 16, ~ip_sum_with_pseudo_header(ends, IP_PROTOCOL_TCP, at, length) & 0xffff, 2);
  return ip_put_headers(frame, ends, IP_PROTOCOL_TCP, identification, length);
}

#endif
