// core_sampler.h: the limits of an interval; see core_sampler.lss.
#ifndef CORE_SAMPLER_H
#define CORE_SAMPLER_H

#include <math.h>
#include <stdint.h>

// Instructions between where the fast processor is to stop and the start of the warm-up: it may complete a delay slot
// and an access to a device in addition, and a window starts when the detailed one completes an instruction.
enum { SAMPLER_SLACK = 3 };

// What was measured in a window.
struct sampler_result {
  uint64_t cycles, instructions;
};

static inline double sampler_mean(struct sampler_result result) {
  return (double)result.cycles / (double)result.instructions;
}

// The 97.5 % quantile of Student's t with this number of degrees of freedom (1 or more): from the table, and above it
// by the first terms of its expansion about the normal distribution's quantile, whose error is below 0.0001 there.
static inline double student_t(double degrees) {
  static const double table[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
                                 2.2010,  2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860};
  enum { TABLE = sizeof table / sizeof *table };
  if (degrees <= TABLE) return table[(int)degrees - 1];
  const double z = 1.959964, n = degrees;
  const double first = (pow(z, 3) + z) / 4, second = (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / 96,
               third = (3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) / 384;
  return z + first / n + second / (n * n) + third / (n * n * n);
}

// The degrees of freedom of a variance from the differences between n neighbours (2 or more), rounded down: those of
// the chi-squared distribution with the same mean and variance, if what is measured is normal (von Neumann).
static inline double sampler_degrees(double n) {
  return floor(2 * (n - 1) * (n - 1) / (3 * n - 4));
}

#endif
