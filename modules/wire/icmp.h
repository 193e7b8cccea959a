// The echo of the internet control message protocol: RFC 792.
#ifndef ICMP_H
#define ICMP_H

#include "wire/ip_frame.h"

enum { ICMP_HEADER = 8, ICMP_ECHO_REPLY = 0, ICMP_ECHO = 8 };

static inline bool icmp_is_valid(const IpDatagram *datagram) {
  return datagram->length >= ICMP_HEADER && udp_sum(0, datagram->data, datagram->length) == 0xffff;
}

static inline bool icmp_is_echo(const IpDatagram *datagram) {
  return datagram->data[0] == ICMP_ECHO && datagram->data[1] == 0;
}

// Builds the reply to an echo; returns the frame's length without FCS.
static inline uint32_t icmp_build_reply(uint8_t *frame, const IpDatagram *echo, uint32_t identification) {
  uint8_t *icmp = frame + IP_FRAME_DATA;
  memcpy(icmp, echo->data, echo->length);
  icmp[0] = ICMP_ECHO_REPLY;
  udp_store(icmp + 2, 0, 2);
  udp_store(icmp + 2, ~udp_sum(0, icmp, echo->length) & 0xffff, 2);
  return ip_put_headers(frame, ip_reversed(echo->ends), IP_PROTOCOL_ICMP, identification, echo->length);
}

#endif
