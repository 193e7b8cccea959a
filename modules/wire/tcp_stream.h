// The stream that a station sends on a TCP connection, which any part of it can be made of again, and the CRC-32 of
// streams.
#ifndef TCP_STREAM_H
#define TCP_STREAM_H

#include "wire/ethernet_fcs.h"
#include "wire/udp_traffic.h"

// Puts `length` bytes of the stream of `seed` at `to`, from byte `offset` on: numbers of splitmix64, the most
// significant byte first.
static inline void tcp_stream_bytes(uint8_t *to, uint64_t offset, uint32_t length, uint64_t seed) {
  uint64_t state = seed + offset / 8 * UINT64_C(0x9E3779B97F4A7C15);
  for (uint32_t skipped = offset % 8; length > 0; skipped = 0) {
    const uint64_t word = __builtin_bswap64(udp_random(&state));
    const uint32_t count = length < 8 - skipped ? length : 8 - skipped;
    memcpy(to, (const uint8_t *)&word + skipped, count);
    to += count;
    length -= count;
  }
}

#endif
