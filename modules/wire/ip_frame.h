// Ethernet frames with IPv4 datagrams: taking headers apart, checking them, and building them.
// IEEE 802.3 clause 3 (frames), RFC 894 (IPv4 on Ethernet), RFC 791 (IPv4), RFC 1071 (checksum).
#ifndef IP_FRAME_H
#define IP_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "wire/udp_traffic.h"

// Places in a frame, and bytes of headers without options.
enum { IP_FRAME_TYPE = 12, IP_FRAME_PAYLOAD = 14, IP_HEADER = 20, IP_FRAME_DATA = IP_FRAME_PAYLOAD + IP_HEADER };
enum { IP_FRAME_IPV4 = 0x0800, IP_FRAME_ARP = 0x0806 };
enum { IP_PROTOCOL_ICMP = 1, IP_PROTOCOL_TCP = 6, IP_PROTOCOL_UDP = 17 };

#define IP_FRAME_BROADCAST UINT64_C(0xffffffffffff)

static inline uint64_t ip_load(const uint8_t *at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; i++) value = value << 8 | at[i];
  return value;
}

// Where a frame comes from and goes to.
typedef struct {
  uint64_t to_mac, from_mac;
  uint32_t to, from;
} IpEnds;

// A datagram within a frame: what is behind its header.
typedef struct {
  IpEnds ends;
  uint8_t protocol;
  bool fragment;
  const uint8_t *data;
  uint32_t length;
} IpDatagram;

static inline bool ip_mac_is_group(uint64_t mac) {
  return mac >> 40 & 1;
}

// Whether a station can have this address: not 0.x, not multicast or reserved.
static inline bool ip_is_unicast(uint32_t address) {
  return address >> 24 != 0 && address >> 24 < 224;
}

static inline void ip_put_ethernet(uint8_t *frame, uint64_t to, uint64_t from, uint32_t type) {
  udp_store(frame, to, 6);
  udp_store(frame + 6, from, 6);
  udp_store(frame + IP_FRAME_TYPE, type, 2);
}

// Takes the datagram of a frame of `length` bytes apart; false if its header is wrong.
static inline bool ip_parse(const uint8_t *frame, uint32_t length, IpDatagram *datagram) {
  const uint8_t *ip = frame + IP_FRAME_PAYLOAD;
  if (length < IP_FRAME_DATA || ip[0] >> 4 != 4) return false;
  const uint32_t header = (ip[0] & 0xfu) * 4, total = (uint32_t)ip_load(ip + 2, 2);
  if (header < IP_HEADER || total < header || total > length - IP_FRAME_PAYLOAD) return false;
  if (udp_sum(0, ip, header) != 0xffff) return false;
  *datagram = (IpDatagram){
      .ends = {.to_mac = ip_load(frame, 6),
               .from_mac = ip_load(frame + 6, 6),
               .to = (uint32_t)ip_load(ip + 16, 4),
               .from = (uint32_t)ip_load(ip + 12, 4)},
      .protocol = ip[9],
      .fragment = (ip_load(ip + 6, 2) & 0x3fff) != 0,
      .data = ip + header,
      .length = total - header,
  };
  return true;
}

// Puts the headers before `length` bytes that are at IP_FRAME_DATA; returns the frame's length without FCS.
static inline uint32_t ip_put_headers(uint8_t *frame, IpEnds ends, uint32_t protocol, uint32_t identification,
                                      uint32_t length) {
  uint8_t *ip = frame + IP_FRAME_PAYLOAD;
  ip_put_ethernet(frame, ends.to_mac, ends.from_mac, IP_FRAME_IPV4);
  udp_store(ip, 0x4500, 2);
  udp_store(ip + 2, IP_HEADER + length, 2);
  udp_store(ip + 4, identification, 2);
  udp_store(ip + 6, 0x4000, 2); // not to be fragmented
  udp_store(ip + 8, 64, 1);
  udp_store(ip + 9, protocol, 1);
  udp_store(ip + 10, 0, 2);
  udp_store(ip + 12, ends.from, 4);
  udp_store(ip + 16, ends.to, 4);
  udp_store(ip + 10, ~udp_sum(0, ip, IP_HEADER) & 0xffff, 2);
  return IP_FRAME_DATA + length;
}

// The checksum's sum over the pseudo header of UDP and TCP and `length` bytes: 0xffff if it is right.
static inline uint32_t ip_sum_with_pseudo_header(IpEnds ends, uint32_t protocol, const uint8_t *data, uint32_t length) {
  const uint32_t addresses = (ends.from >> 16) + (ends.from & 0xffff) + (ends.to >> 16) + (ends.to & 0xffff);
  return udp_sum(addresses + protocol + length, data, length);
}

static inline IpEnds ip_reversed(IpEnds ends) {
  return (IpEnds){.to_mac = ends.from_mac, .from_mac = ends.to_mac, .to = ends.from, .from = ends.to};
}

#endif
