// Latencies counted in logarithmic buckets, 64 to an octave: exact below 128, within 1/64 above.
#ifndef LATENCY_HISTOGRAM_H
#define LATENCY_HISTOGRAM_H

#include <stdint.h>

enum { LATENCY_STEPS = 64, LATENCY_BUCKETS = 2560 };

static inline int latency_bucket(uint64_t value) {
  if (value < LATENCY_STEPS) return (int)value;
  int shift = 63 - __builtin_clzll(value) - 6;
  int bucket = (shift + 1) * LATENCY_STEPS + (int)((value >> shift) - LATENCY_STEPS);
  return bucket < LATENCY_BUCKETS ? bucket : LATENCY_BUCKETS - 1;
}

static inline uint64_t latency_of_bucket(int bucket) {
  if (bucket < LATENCY_STEPS) return (uint64_t)bucket;
  return (uint64_t)(bucket % LATENCY_STEPS + LATENCY_STEPS) << (bucket / LATENCY_STEPS - 1);
}

// The smallest value that at least `share` of the measured ones do not exceed; 0 when nothing was measured.
static inline uint64_t latency_quantile(const uint32_t *histogram, uint64_t measured, double share) {
  uint64_t wanted = (uint64_t)(share * (double)measured), seen = 0;
  if (measured && wanted >= measured) wanted = measured - 1;
  for (int b = 0; b < LATENCY_BUCKETS; b++) {
    seen += histogram[b];
    if (seen > wanted) return latency_of_bucket(b);
  }
  return 0;
}

#endif
