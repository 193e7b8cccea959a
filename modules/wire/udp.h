// Datagrams of the user datagram protocol: RFC 768, and the ports of its echo (RFC 862) and discard (RFC 863) services.
#ifndef UDP_H
#define UDP_H

#include "wire/ip_frame.h"

enum { UDP_HEADER = 8, UDP_PORT_ECHO = 7, UDP_PORT_DISCARD = 9 };

// A datagram's ports, and how much of it is payload.
typedef struct {
  uint32_t from_port, to_port;
  uint32_t length;
} UdpDatagram;

// False if length or checksum are wrong; a checksum of 0 is none.
static inline bool udp_parse(const IpDatagram *ip, UdpDatagram *udp) {
  const uint8_t *at = ip->data;
  if (ip->length < UDP_HEADER) return false;
  const uint32_t length = (uint32_t)ip_load(at + 4, 2);
  if (length < UDP_HEADER || length > ip->length) return false;
  if (ip_load(at + 6, 2) != 0 && ip_sum_with_pseudo_header(ip->ends, IP_PROTOCOL_UDP, at, length) != 0xffff)
    return false;
  *udp = (UdpDatagram){
      .from_port = (uint32_t)ip_load(at, 2), .to_port = (uint32_t)ip_load(at + 2, 2), .length = length - UDP_HEADER};
  return true;
}

// Puts the headers before the payload, which is in place; returns the frame's length without FCS.
static inline uint32_t udp_put_headers(uint8_t *frame, IpEnds ends, UdpDatagram udp, uint32_t identification) {
  uint8_t *at = frame + IP_FRAME_DATA;
  const uint32_t length = UDP_HEADER + udp.length;
  udp_store(at, udp.from_port, 2);
  udp_store(at + 2, udp.to_port, 2);
  udp_store(at + 4, length, 2);
  udp_store(at + 6, 0, 2);
  const uint32_t check = ~ip_sum_with_pseudo_header(ends, IP_PROTOCOL_UDP, at, length) & 0xffff;
  udp_store(at + 6, check ? check : 0xffff, 2);
  return ip_put_headers(frame, ends, IP_PROTOCOL_UDP, identification, length);
}

#endif
