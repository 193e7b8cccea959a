// The pseudo-random pattern of both ends of the chain, the same in every implementation of it.
#ifndef CHAIN_SOURCE_H
#define CHAIN_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

static inline uint32_t chain_noise(uint32_t x) {
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  return x;
}

static inline bool chain_offers(uint32_t noise) {
  return (noise >> 7 & 3) != 0;
}

#endif
