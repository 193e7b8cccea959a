/* Accesses to devices whose registers are bytes: one to several of them is one to each, in the order of addresses; what
 * a number's first byte is, the requester's byte order says. */
#ifndef DEVICE_ACCESS_H
#define DEVICE_ACCESS_H

#include "memory/memory_access.h"

/* The bytes of an access, in the order of addresses. */
typedef struct {
  uint8_t byte[8];
} device_bytes;

/* Whether a device carries out what a request asks for, be it no access at all, such as a barrier. */
static inline bool device_knows(mem_op op) {
  return op <= mem_op_write || op >= mem_op_barrier;
}

/* How many bytes a request accesses. */
static inline uint32_t device_span(mem_op op, uint32_t size) {
  return op <= mem_op_write ? size : 0;
}

/* What a request writes. */
static inline device_bytes device_written(uint64_t value, uint32_t size, bool big_endian) {
  device_bytes bytes;
  number_to_memory(bytes.byte, &value, size, big_endian);
  return bytes;
}

/* What a read returns. */
static inline uint64_t device_number(device_bytes bytes, uint32_t size, bool big_endian, bool sign) {
  uint64_t value = 0;
  memory_to_number(&value, bytes.byte, size, big_endian);
  if (sign) extend_sign(&value, size, sizeof value);
  return value;
}

#endif
