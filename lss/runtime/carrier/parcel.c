// Bytes that grow; see parcel.h.
#include "lss/runtime/carrier/parcel.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 4096 };

void parcel_clear(Parcel *parcel) {
  parcel->size = 0;
}

void parcel_free(Parcel *parcel) {
  free(parcel->bytes);
  *parcel = (Parcel){0};
}

size_t parcel_add(Parcel *parcel, const void *bytes, size_t size) {
  const size_t at = parcel->size;
  while (at + size > parcel->room) {
    parcel->room = parcel->room ? 2 * parcel->room : FIRST_ROOM;
    parcel->bytes = realloc(parcel->bytes, parcel->room);
    if (!parcel->bytes) abort(); // a message is small: there is no memory for anything
  }
  parcel->size += size;
  if (bytes)
    memcpy(parcel->bytes + at, bytes, size);
  else
    memset(parcel->bytes + at, 0, size);
  return at;
}

void parcel_set(Parcel *parcel, size_t at, const void *bytes, size_t size) {
  memcpy(parcel->bytes + at, bytes, size);
}

void parcel_cut(Parcel *parcel, size_t at) {
  parcel->size = at;
}

const void *parcel_take(ParcelReader *reader, size_t size) {
  if (reader->size - reader->at < size) return NULL;
  reader->at += size;
  return reader->bytes + reader->at - size;
}

bool parcel_read(ParcelReader *reader, void *to, size_t size) {
  const void *from = parcel_take(reader, size);
  if (from) memcpy(to, from, size);
  return from;
}
