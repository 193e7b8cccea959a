// The 10 Gb/s NIC under a firmware: registers, rings of the assists, what is in the scratchpad memory, and what the
// driver puts there.  The register layout and the memory map are generated from the machine (registers.h).  All is
// big-endian.  All pointers into rings are counts that continue without wrapping.
#ifndef NIC10G_H
#define NIC10G_H

#include "registers.h"

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;

// The registers, at a base the compiler does not see through: an access is then one instruction.
static inline struct registers *registers(void) {
  struct registers *base;
  __asm__("lui %0, %1" : "=r"(base) : "i"(MAP_REGISTERS_BASE >> 16));
  return base;
}

// Bits of the register `events`: a pointer is not where firmware's claim of it is.
enum {
  EVENT_SEND_POSTED = 1 << 0,
  EVENT_BUFFERS_POSTED = 1 << 1,
  EVENT_FETCHED = 1 << 2,
  EVENT_RECEIVED = 1 << 5,
};

enum { FEATURE_ATOMIC = 1, MAC_ENABLE = 2, DMA_ERRORS = 0x7f000000 };

// Rings of the assists.  One entry always stays free.
enum { RING = 512, RING_ROOM = RING - 1, LONGEST_FRAME = 1518 };

struct dma_descriptor {
  u32 host;
  u32 local;
  u32 control_length;
  u32 own; // not looked at by the hardware
};

// Moves the pointer of the buffer: data to send have arrived, the frame received may be overwritten.
enum { DMA_MOVES_POINTER = 2 << 16 };

struct mac_descriptor {
  u32 address;
  u32 status_length;
};

// An address that the compiler does not see through, so that fields are offsets from it.
static inline void *at_address(u32 base) {
  __asm__("" : "+r"(base));
  return (void *)base;
}

#define FETCH_RING  ((struct dma_descriptor *)at_address(MAP_FETCH_RING_BASE))
#define READ_RING   ((struct dma_descriptor *)at_address(MAP_READ_RING_BASE))
#define WRITE_RING  ((struct dma_descriptor *)at_address(MAP_WRITE_RING_BASE))
#define MAC_TX_RING ((struct mac_descriptor *)at_address(MAP_MAC_TX_RING_BASE))
#define MAC_RX_RING ((const struct mac_descriptor *)at_address(MAP_MAC_RX_RING_BASE))

// Frame n to send is in slot n modulo RING of the transmit buffer.
enum { SEND_SLOT = 2048 };
static inline u32 send_slot(u32 frame) {
  return MAP_TX_FRAMES_BASE + frame % RING * SEND_SLOT;
}

// What the driver fills in before the cores start.
struct setup {
  u32 send_ring, send_entries;
  u32 receive_ring, receive_entries;
  u32 return_ring, return_entries;
  u32 status_block;
  u32 receive_most, receive_ticks; // interrupt after so many frames received, or so many us
  u32 send_most, send_ticks;       // likewise for descriptors sent
  u32 buffer_bytes;
  u32 ordering; // enum ordering
  u32 bundle;   // frames in a task at most, a power of two; 0: as many as a bundle can hold
};

// How ordering flags are set: the best way there is, or as asked.
enum ordering { ORDER_BEST, ORDER_LOCKED, ORDER_LINKED, ORDER_ATOMIC };

// At address 0, which compilers take for nothing.
static inline const struct setup *setup(void) {
  const struct setup *block;
  __asm__("move %0, $zero" : "=r"(block));
  return block;
}

struct send_descriptor {
  u32 high, low;
  u32 length_flags;
  u32 unused;
};
enum { SEND_END = 4 };

struct receive_descriptor {
  u32 high, low;
  u32 length;
  u32 opaque;
};

struct return_entry {
  u32 opaque;
  u32 status_length;
};

struct status {
  u32 return_producer, send_consumer;
  u32 state;
  u32 failures; // transfers that failed on the bus
};

enum { STATE_UP = 1 };

#endif
