// Names used by nic10g_driver.c: the host's view of the chip, and where the driver puts things.
#ifndef NIC10G_DRIVER_H
#define NIC10G_DRIVER_H

#include <stdint.h>

// Registers in the host's window.
enum {
  NIC_INTERRUPT = 0x030,
  NIC_WINDOW_BASE = 0x034,
  NIC_CORE_PC = 0x038,
  NIC_CORE_RUN = 0x03c,
  NIC_SEND_PRODUCER = 0x040,
  NIC_RECEIVE_PRODUCER = 0x044,
  NIC_RETURN_CONSUMER = 0x048,
  NIC_WINDOW = 0x800,
  NIC_WINDOW_BYTES = 0x800
};
enum { NIC_SCRATCHPAD_BYTES = 0x40000, NIC_CODE = 0x04000000, NIC_CODE_BYTES = 0x20000, NIC_SETUP_WORDS = 14 };

// Where things are in host memory, and how many there are.
enum {
  NIC_HOST_STATUS = 0x1000,
  NIC_HOST_SEND_RING = 0x2000,
  NIC_HOST_RECEIVE_RING = 0x4000,
  NIC_HOST_RETURN_RING = 0x8000,
  NIC_HOST_SEND_BUFFERS = 0x100000,
  NIC_HOST_RECEIVE_BUFFERS = 0x200000,
  NIC_HOST_BUFFER_SPAN = 2048
};
enum { NIC_SEND_ENTRIES = 512, NIC_RECEIVE_ENTRIES = 512, NIC_RETURN_ENTRIES = 1024, NIC_SEND_END = 4 };

static inline uint32_t nic_load(const uint8_t *at) {
  return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}
static inline void nic_store(uint8_t *at, uint32_t value) {
  for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> (24 - 8 * i));
}

// Four words of a descriptor.
static inline void nic_describe(uint8_t *at, uint32_t address, uint32_t length_and_flags, uint32_t opaque) {
  nic_store(at, 0);
  nic_store(at + 4, address);
  nic_store(at + 8, length_and_flags);
  nic_store(at + 12, opaque);
}

#endif
