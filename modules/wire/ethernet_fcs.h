// The frame check sequence of IEEE 802.3: CRC-32, reflected polynomial 0xedb88320, eight bytes at a time.
// Used by the MAC assists, which add and check it, and by the wire, which checks what a MAC sends.
//
// A CRC is linear: what a byte, with k bytes behind it, adds to the running value is the sum of what its bits add, and
// these 64 values are successive states of the shift register that starts with the polynomial.  Table k is made of
// eight of them.
#ifndef ETHERNET_FCS_H
#define ETHERNET_FCS_H

#include <stdint.h>
#include <string.h>

// What the bits of one byte, from bit 0 to bit 7, add with 0 to 7 bytes behind it.
#define ETHERNET_FCS_BITS_0(M, x)                                                                                      \
  M(x, 0x77073096u, 0xee0e612cu, 0x076dc419u, 0x0edb8832u, 0x1db71064u, 0x3b6e20c8u, 0x76dc4190u, 0xedb88320u)
#define ETHERNET_FCS_BITS_1(M, x)                                                                                      \
  M(x, 0x191b3141u, 0x32366282u, 0x646cc504u, 0xc8d98a08u, 0x4ac21251u, 0x958424a2u, 0xf0794f05u, 0x3b83984bu)
#define ETHERNET_FCS_BITS_2(M, x)                                                                                      \
  M(x, 0x01c26a37u, 0x0384d46eu, 0x0709a8dcu, 0x0e1351b8u, 0x1c26a370u, 0x384d46e0u, 0x709a8dc0u, 0xe1351b80u)
#define ETHERNET_FCS_BITS_3(M, x)                                                                                      \
  M(x, 0xb8bc6765u, 0xaa09c88bu, 0x8f629757u, 0xc5b428efu, 0x5019579fu, 0xa032af3eu, 0x9b14583du, 0xed59b63bu)
#define ETHERNET_FCS_BITS_4(M, x)                                                                                      \
  M(x, 0x3d6029b0u, 0x7ac05360u, 0xf580a6c0u, 0x30704bc1u, 0x60e09782u, 0xc1c12f04u, 0x58f35849u, 0xb1e6b092u)
#define ETHERNET_FCS_BITS_5(M, x)                                                                                      \
  M(x, 0xcb5cd3a5u, 0x4dc8a10bu, 0x9b914216u, 0xec53826du, 0x03d6029bu, 0x07ac0536u, 0x0f580a6cu, 0x1eb014d8u)
#define ETHERNET_FCS_BITS_6(M, x)                                                                                      \
  M(x, 0xa6770bb4u, 0x979f1129u, 0xf44f2413u, 0x33ef4e67u, 0x67de9cceu, 0xcfbd399cu, 0x440b7579u, 0x8816eaf2u)
#define ETHERNET_FCS_BITS_7(M, x)                                                                                      \
  M(x, 0xccaa009eu, 0x4225077du, 0x844a0efau, 0xd3e51bb5u, 0x7cbb312bu, 0xf9766256u, 0x299dc2edu, 0x533b85dau)
#define ETHERNET_FCS_SUM(x, b0, b1, b2, b3, b4, b5, b6, b7)                                                            \
  (((x) & 1 ? b0 : 0) ^ ((x) & 2 ? b1 : 0) ^ ((x) & 4 ? b2 : 0) ^ ((x) & 8 ? b3 : 0) ^ ((x) & 16 ? b4 : 0) ^           \
   ((x) & 32 ? b5 : 0) ^ ((x) & 64 ? b6 : 0) ^ ((x) & 128 ? b7 : 0))
#define ETHERNET_FCS_1(k, x) ETHERNET_FCS_BITS_##k(ETHERNET_FCS_SUM, x)
#define ETHERNET_FCS_4(k, x)                                                                                           \
  ETHERNET_FCS_1(k, x), ETHERNET_FCS_1(k, (x) + 1), ETHERNET_FCS_1(k, (x) + 2), ETHERNET_FCS_1(k, (x) + 3)
#define ETHERNET_FCS_16(k, x)                                                                                          \
  ETHERNET_FCS_4(k, x), ETHERNET_FCS_4(k, (x) + 4), ETHERNET_FCS_4(k, (x) + 8), ETHERNET_FCS_4(k, (x) + 12)
#define ETHERNET_FCS_64(k, x)                                                                                          \
  ETHERNET_FCS_16(k, x), ETHERNET_FCS_16(k, (x) + 16), ETHERNET_FCS_16(k, (x) + 32), ETHERNET_FCS_16(k, (x) + 48)
#define ETHERNET_FCS_256(k)                                                                                            \
  {ETHERNET_FCS_64(k, 0), ETHERNET_FCS_64(k, 64), ETHERNET_FCS_64(k, 128), ETHERNET_FCS_64(k, 192)}

static const uint32_t ethernet_fcs_table[8][256] = {ETHERNET_FCS_256(0), ETHERNET_FCS_256(1), ETHERNET_FCS_256(2),
                                                    ETHERNET_FCS_256(3), ETHERNET_FCS_256(4), ETHERNET_FCS_256(5),
                                                    ETHERNET_FCS_256(6), ETHERNET_FCS_256(7)};

#define ETHERNET_FCS_START 0xffffffffu
// What the running value is after a frame and its correct FCS.
#define ETHERNET_FCS_RESIDUE 0xdebb20e3u

// Feeds `count` bytes, the first in bits 7:0.  The FCS is the complement of the final value, sent low byte first.
static inline uint32_t ethernet_fcs(uint32_t running, uint64_t bytes, uint32_t count) {
  if (__builtin_expect(count == 8, 1)) {
    uint64_t x = bytes ^ running;
    return ethernet_fcs_table[7][x & 0xff] ^ ethernet_fcs_table[6][x >> 8 & 0xff] ^
           ethernet_fcs_table[5][x >> 16 & 0xff] ^ ethernet_fcs_table[4][x >> 24 & 0xff] ^
           ethernet_fcs_table[3][x >> 32 & 0xff] ^ ethernet_fcs_table[2][x >> 40 & 0xff] ^
           ethernet_fcs_table[1][x >> 48 & 0xff] ^ ethernet_fcs_table[0][x >> 56];
  }
  for (uint32_t i = 0; i < count; i++, bytes >>= 8)
    running = ethernet_fcs_table[0][(running ^ bytes) & 0xff] ^ (running >> 8);
  return running;
}

// Feeds `length` bytes in memory.
static inline uint32_t ethernet_fcs_add(uint32_t running, const uint8_t *at, uint32_t length) {
  uint64_t bytes = 0;
  for (; length >= 8; length -= 8, at += 8) {
    memcpy(&bytes, at, 8);
    running = ethernet_fcs(running, bytes, 8);
  }
  memcpy(&bytes, at, length);
  return ethernet_fcs(running, bytes, length);
}

// The running value after `length` bytes in memory, from the start.
static inline uint32_t ethernet_fcs_of(const uint8_t *at, uint32_t length) {
  return ethernet_fcs_add(ETHERNET_FCS_START, at, length);
}

#endif
