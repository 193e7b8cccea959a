// The bytes of a message from one host to another.  They are written one behind the other, and read again with a check:
// what came from another host is not trusted further.
#ifndef SPINACH_CARRIER_PARCEL_H
#define SPINACH_CARRIER_PARCEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint8_t *bytes;
  size_t size, room;
} Parcel;

void parcel_clear(Parcel *parcel);
void parcel_free(Parcel *parcel);
// Adds so many bytes, zero at first if `bytes` is NULL; returns where they begin.
size_t parcel_add(Parcel *parcel, const void *bytes, size_t size);
// Writes over what was added.
void parcel_set(Parcel *parcel, size_t at, const void *bytes, size_t size);
// Takes back what was added from there on.
void parcel_cut(Parcel *parcel, size_t at);

typedef struct {
  const uint8_t *bytes;
  size_t size, at;
} ParcelReader;

// False: there are not so many bytes left.
bool parcel_read(ParcelReader *reader, void *to, size_t size);
// The same without a copy; NULL: there are not so many.
const void *parcel_take(ParcelReader *reader, size_t size);

#endif
