// Accesses to devices whose registers are bytes: one to several of them is one to each, in the order of addresses; what
// a number's first byte is, the requester's byte order says.
#ifndef DEVICE_ACCESS_H
#define DEVICE_ACCESS_H

#include "memory/memory_access.h"

// The bytes of an access, in the order of addresses.
typedef struct {
  uint8_t byte[8];
} device_bytes;

// Whether a device carries out what a request asks for, be it no access at all, such as a barrier.
static inline bool device_knows(mem_op op) {
  return op <= mem_op_write || op >= mem_op_barrier;
}

// How many bytes a request accesses.
static inline uint32_t device_span(mem_op op, uint32_t size) {
  return op <= mem_op_write ? size : 0;
}

// What a request writes.
static inline device_bytes device_written(uint64_t value, uint32_t size, bool big_endian) {
  device_bytes bytes;
  number_to_memory(bytes.byte, &value, size, big_endian);
  return bytes;
}

// What a read returns.
static inline uint64_t device_number(device_bytes bytes, uint32_t size, bool big_endian, bool sign) {
  uint64_t value = 0;
  memory_to_number(&value, bytes.byte, size, big_endian);
  if (sign) extend_sign(&value, size, sizeof value);
  return value;
}

// Carries out a request by the module's own read_byte(self, address) and write_byte(self, address, value), and keeps
// the reply to it in self->reply.
#define DEVICE_SERVE(request, big_endian)                                                                              \
  do {                                                                                                                 \
    device_bytes bytes_ = device_written((request).data, (request).size, big_endian);                                  \
    for (uint32_t k_ = 0; k_ < device_span((request).op, (request).size); k_++) {                                      \
      if ((request).op == mem_op_write)                                                                                \
        write_byte(self, (request).address + k_, bytes_.byte[k_]);                                                     \
      else                                                                                                             \
        bytes_.byte[k_] = read_byte(self, (request).address + k_);                                                     \
    }                                                                                                                  \
    self->reply = (typeof(self->reply)){.tag = (request).tag, .error = !device_knows((request).op)};                   \
    if ((request).op == mem_op_read)                                                                                   \
      self->reply.data = (typeof(self->reply.data))device_number(bytes_, (request).size, big_endian, (request).sign);  \
  } while (0)

#endif
