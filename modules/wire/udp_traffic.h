// Generated UDP traffic: frames whose payload says which stream they belong to and which frame of it they are, as
// described in docs/traces.md.  Used by whatever plays frames, the wire and a host's driver.
#ifndef UDP_TRAFFIC_H
#define UDP_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "wire/vlan_tag.h"

// The traffic_mode that a word names, -1 for none.
static inline int traffic_mode_named(const char *word) {
  static const char *const words[] = {"fast", "rate", "timed", "correlated"};
  for (int i = 0; i < 4; i++)
    if (!strcmp(word, words[i])) return i;
  return -1;
}

// Instead of a frame's number: no more will come.
#define TRAFFIC_NO_MORE UINT32_MAX
enum { UDP_HEADERS = 42, UDP_MINIMUM_FRAME = 60 };

// A frame's time on the wire in bytes: padding, FCS, preamble and gap included.
static inline uint64_t udp_wire_bytes(uint32_t length) {
  return (length < UDP_MINIMUM_FRAME ? UDP_MINIMUM_FRAME : length) + 24u;
}

static inline void udp_store(uint8_t *at, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++) at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
}

// The ones' complement sum (RFC 1071) of `bytes` bytes, on top of `sum`.
static inline uint32_t udp_sum(uint32_t sum, const uint8_t *at, uint32_t bytes) {
  for (uint32_t i = 0; i + 1 < bytes; i += 2) sum += (uint32_t)at[i] << 8 | at[i + 1];
  if (bytes & 1) sum += (uint32_t)at[bytes - 1] << 8;
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

// One step of splitmix64.
static inline uint64_t udp_random(uint64_t *state) {
  uint64_t z = *state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// Puts the payload of frame `sequence` of `stream` at `data`; returns its ones' complement sum.
static inline uint32_t udp_fill(uint8_t *data, uint32_t stream, uint64_t sequence, uint32_t payload, uint64_t seed) {
  memcpy(data, "SPNC", 4);
  udp_store(data + 4, stream, 4);
  udp_store(data + 8, sequence, 8);
  uint64_t random = seed ^ (uint64_t)stream << 56 ^ sequence * 0x2545F4914F6CDD1Du, sum = 0;
  uint32_t at = 16;
  for (; at + 8 <= payload; at += 8) {
    uint64_t number = udp_random(&random), word = __builtin_bswap64(number);
    sum += (number >> 32) + (uint32_t)number;
    memcpy(data + at, &word, 8);
  }
  uint64_t word = __builtin_bswap64(udp_random(&random));
  memcpy(data + at, &word, payload - at);
  sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32); // of whole words, in halves of 16 bits
  return udp_sum((uint32_t)sum, data, 16) + udp_sum(0, data + at, payload - at);
}

// Builds frame `sequence` of `stream` (0 host to wire, 1 wire to host) with `payload` (18 to 1472) bytes of UDP payload
// at `frame`, which has room for 1514 bytes; returns its length without FCS.
static inline uint32_t udp_frame(uint8_t *frame, uint32_t stream, uint64_t sequence, uint32_t payload, uint64_t seed) {
  static const uint8_t addresses[2][4] = {{192, 0, 2, 1}, {192, 0, 2, 2}};
  uint8_t *ip = frame + 14, *udp = frame + 34, *data = frame + UDP_HEADERS;
  memset(frame, 0, UDP_MINIMUM_FRAME);
  frame[0] = frame[6] = 2;
  frame[5] = stream ? 1 : 2;
  frame[11] = stream ? 2 : 1;
  frame[12] = 0x08;
  ip[0] = 0x45;
  udp_store(ip + 2, 28 + payload, 2);
  udp_store(ip + 4, sequence, 2);
  ip[6] = 0x40;
  ip[8] = 64;
  ip[9] = 17;
  memcpy(ip + 12, addresses[stream & 1], 4);
  memcpy(ip + 16, addresses[!(stream & 1)], 4);
  udp_store(ip + 10, ~udp_sum(0, ip, 20) & 0xffff, 2);
  udp_store(udp, 5001, 2);
  udp_store(udp + 2, 5001, 2);
  udp_store(udp + 4, 8 + payload, 2);
  udp_store(udp + 6, 0, 2);
  uint32_t sum = udp_fill(data, stream, sequence, payload, seed);
  sum += udp_sum(17 + 8 + payload, ip + 12, 8);
  uint32_t check = ~udp_sum(sum, udp, 8) & 0xffff;
  udp_store(udp + 6, check ? check : 0xffff, 2);
  uint32_t length = UDP_HEADERS + payload;
  return length < UDP_MINIMUM_FRAME ? UDP_MINIMUM_FRAME : length;
}

// True for an unfragmented UDP datagram in an IPv4 frame with all its headers.
static inline bool udp_is(const uint8_t *frame, uint32_t length) {
  return length >= UDP_HEADERS && frame[12] == 0x08 && frame[13] == 0 && frame[14] == 0x45 && frame[23] == 17 &&
         ((frame[20] & 0x3f) | frame[21]) == 0;
}

// Bytes of UDP payload of a frame, 0 when it is no such datagram; it may have a VLAN tag.
static inline uint32_t udp_payload(const uint8_t *frame, uint32_t length) {
  const uint32_t tag = length > UDP_HEADERS ? vlan_longest(frame, 0, VLAN_TAG_BYTES) : 0;
  frame += tag;
  length -= tag;
  if (!udp_is(frame, length)) return 0;
  uint32_t udp = (uint32_t)frame[38] << 8 | frame[39];
  return udp >= 8 && 34 + udp <= length ? udp - 8 : 0;
}

#endif
