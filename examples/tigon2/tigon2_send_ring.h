// Descriptors of frames to send, in host memory or in the NIC's own, below the firmware: there they are written word by
// word through the window, which is moved when the next one is outside.  Drivers that know no other place use 128 at
// 0x3800.
#ifndef TIGON2_SEND_RING_H
#define TIGON2_SEND_RING_H

#include "tigon2_driver.h"

enum { DRIVER_NIC_SEND_RING_END = 0x4000 };

static inline uint32_t driver_nic_send_ring(uint32_t entries) {
  return DRIVER_NIC_SEND_RING_END - 16 * entries;
}

// Changes the information block at `b` so that the ring is there.
static inline void driver_describe_nic_ring(uint8_t *b, uint32_t entries) {
  udp_store(b + 16 * 2 + 4, driver_nic_send_ring(entries), 4);
  udp_store(b + 16 * 2 + 10, driver_load_big(b + 16 * 2 + 10, 2) & ~(uint32_t)DRIVER_RING_ON_HOST, 2);
}

// Puts the descriptors of a frame at `address`, cut into `count` pieces, at `b`.
static inline void driver_describe_pieces(uint8_t *b, uint32_t address, const uint32_t *piece, uint32_t count,
                                          uint32_t flags) {
  for (uint32_t i = 0; i < count; address += piece[i++]) {
    memset(b + 16 * i, 0, 16);
    udp_store(b + 16 * i + 4, address, 4);
    udp_store(b + 16 * i + 8, piece[i], 2);
    udp_store(b + 16 * i + 10, (i + 1 == count ? DRIVER_SEND_END : 0) | flags, 2);
  }
}

#define STEP_WRITE_OF_DESCRIPTOR(address, n)                                                                           \
  STEP_WRITE(DRIVER_WINDOW + ((address) & (DRIVER_WINDOW_BYTES - 1)) + 4 * (n),                                        \
             driver_load_big(self->bytes + 4 * (n), 4))

// Writes the descriptor in `bytes` as number `index` of the ring, whether that is in host memory or in the NIC's.
#define STEP_DESCRIBE_PIECE(index, entries, in_nic)                                                                    \
  do {                                                                                                                 \
    if (!(in_nic)) {                                                                                                   \
      STEP_PUT(DRIVER_HOST_SEND_RING + 16 * (index), 16);                                                              \
      break;                                                                                                           \
    }                                                                                                                  \
    if (((driver_nic_send_ring(entries) + 16 * (index)) ^ self->window_base) >= DRIVER_WINDOW_BYTES) {                 \
      self->window_base = (driver_nic_send_ring(entries) + 16 * (index)) & ~(uint32_t)(DRIVER_WINDOW_BYTES - 1);       \
      STEP_WRITE(DRIVER_WINDOW_BASE, self->window_base);                                                               \
    }                                                                                                                  \
    STEP_WRITE_OF_DESCRIPTOR(driver_nic_send_ring(entries) + 16 * (index), 0);                                         \
    STEP_WRITE_OF_DESCRIPTOR(driver_nic_send_ring(entries) + 16 * (index), 1);                                         \
    STEP_WRITE_OF_DESCRIPTOR(driver_nic_send_ring(entries) + 16 * (index), 2);                                         \
    STEP_WRITE_OF_DESCRIPTOR(driver_nic_send_ring(entries) + 16 * (index), 3);                                         \
  } while (0)

#endif
