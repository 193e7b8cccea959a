// What a format of wave files does: declare variables in scopes, then write their changes in the order of time.
#ifndef SPINACH_WAVE_FORMAT_H
#define SPINACH_WAVE_FORMAT_H

#include "lss/runtime/text/type.h"

#include <stdio.h>

typedef enum { WAVE_MODULE, WAVE_PORT, WAVE_STRUCT } WaveScope;

typedef struct {
  // Starts a file on `out`, which its owner completes or removes; a unit of time is 10^exponent seconds.
  bool (*open)(FILE *out, const char *path, int exponent);
  void (*enter)(const char *name, WaveScope kind);
  void (*leave)(void);
  // Declares a variable of a scalar type and so many bits (0: a real number); `alias` is the number of one that always
  // has the same value, or 0.  Returns its number, which is not 0.
  uint32_t (*declare)(const char *name, const struct spinach_type *type, uint32_t width, uint32_t alias);
  void (*begin)(void);            // all are declared
  void (*time)(uint64_t instant); // of the changes that follow
  // A new value, as characters 0, 1 and z, the highest bit first.
  void (*bits)(uint32_t variable, const char *bits, uint32_t count);
  void (*real)(uint32_t variable, double value);
  bool (*close)(void); // false, with errno set, when something could not be written
} WaveFormat;

extern const WaveFormat wave_vcd, wave_fst;
extern const bool wave_has_fst; // this build of Spinach was made where there is a writer of FST

#endif
