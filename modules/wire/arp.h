// The address resolution protocol for IPv4 over Ethernet: RFC 826.
#ifndef ARP_H
#define ARP_H

#include "wire/ip_frame.h"

enum { ARP_BYTES = 28, ARP_REQUEST = 1, ARP_REPLY = 2 };

typedef struct {
  uint32_t operation;
  uint64_t sender_mac;
  uint32_t sender;
  uint32_t target;
} ArpPacket;

// False for what is no ARP packet of these protocols, or comes from an address that no station can have.  A sender
// without IPv4 address looks whether somebody has it (RFC 5227).
static inline bool arp_parse(const uint8_t *frame, uint32_t length, ArpPacket *packet) {
  const uint8_t *arp = frame + IP_FRAME_PAYLOAD;
  if (length < IP_FRAME_PAYLOAD + ARP_BYTES || ip_load(arp, 6) != UINT64_C(0x000108000604)) return false;
  *packet = (ArpPacket){.operation = (uint32_t)ip_load(arp + 6, 2),
                        .sender_mac = ip_load(arp + 8, 6),
                        .sender = (uint32_t)ip_load(arp + 14, 4),
                        .target = (uint32_t)ip_load(arp + 24, 4)};
  return (packet->operation == ARP_REQUEST || packet->operation == ARP_REPLY) && packet->sender_mac != 0 &&
         !ip_mac_is_group(packet->sender_mac) && (packet->sender == 0 || ip_is_unicast(packet->sender));
}

// Builds a packet to `ends.to`, whose MAC address is unknown in a request; returns the frame's length without FCS.
static inline uint32_t arp_build(uint8_t *frame, IpEnds ends, uint32_t operation) {
  uint8_t *arp = frame + IP_FRAME_PAYLOAD;
  const bool request = operation == ARP_REQUEST;
  ip_put_ethernet(frame, request ? IP_FRAME_BROADCAST : ends.to_mac, ends.from_mac, IP_FRAME_ARP);
  udp_store(arp, UINT64_C(0x000108000604), 6);
  udp_store(arp + 6, operation, 2);
  udp_store(arp + 8, ends.from_mac, 6);
  udp_store(arp + 14, ends.from, 4);
  udp_store(arp + 18, request ? 0 : ends.to_mac, 6);
  udp_store(arp + 24, ends.to, 4);
  return IP_FRAME_PAYLOAD + ARP_BYTES;
}

#endif
