// The machine under the firmware: registers, the event bits of the dispatch loop, and the rings that DMA and MAC
// assists read.  The register layout itself is generated from the machine (registers.h).
#ifndef TIGON2_MACHINE_H
#define TIGON2_MACHINE_H

#include "host.h"
#include "registers.h"

// The registers, at a base the compiler does not see through: an access is then one instruction.
static inline struct registers *registers(void) {
  struct registers *base;
  __asm__("lui %0, %1" : "=r"(base) : "i"(MAP_REGISTERS_BASE >> 16));
  return base;
}

// Event register: a higher bit comes first.
#define TIMER_EVENT           (1u << 28)
#define MAC_SEND_ATTENTION    (1u << 26)
#define MAC_RECEIVE_ATTENTION (1u << 25)
#define REPORT_RECEIVED_EVENT (1u << 24) // software: notify the host how far the return ring is
#define REPORT_SENT_EVENT     (1u << 23) // software: notify the host of what has been sent
#define MAILBOX_EVENT         (1u << 22)
#define DMA_READ_ATTENTION    (1u << 20)
#define DMA_WRITE_ATTENTION   (1u << 19)
#define DMA_READ_EVENT        (1u << 15)
#define DMA_WRITE_EVENT       (1u << 14)
#define RECEIVE_EVENT         (1u << 6)
#define SEND_EVENT            (1u << 4) // software: send descriptors are ready

enum { ASSIST_ENABLE = 1 }; // in assist_state

enum { LOCAL_INTERRUPT = 0x2 }; // in misc_local_ctl: interrupts the host

// A transfer between host and NIC memory.  The assist leaves the two own words alone: index words and events for the
// host are sent from there, so they need no other memory and live exactly as long as their transfer.
struct dma_descriptor {
  u32 host_high, host_low;
  u32 local;
  u32 length;
  u32 control;
  u32 checksum_to;
  u32 own[2];
};

enum {
  DMA_ENTRY = sizeof(struct dma_descriptor),
  DMA_RING = 0x800,
  DMA_WORD_VALUES = 0x2, // 32-bit words keep their value; without it bytes keep their order
  DMA_ACTIVE = 0x4,
  DMA_THRESHOLDS = 0x1f0,
  DMA_CHECKSUM = 0x800,     // store the checksum,
  DMA_OWN_CHECKSUM = 0xc00, // which begins with this transfer
  DMA_FILLS_SEND_BUFFER = 0x20000,
  DMA_FREES_RECEIVE_BUFFER = 0x80000,
  DMA_ERRORS = 0x7f000000,
};

struct mac_descriptor {
  u32 buffer;
  u32 status_length; // received: status << 16 | length with FCS; to send: VLAN tag << 16 | length
};

enum {
  MAC_ENTRY = sizeof(struct mac_descriptor),
  MAC_SEND_RING = 0x800,
  MAC_RECEIVE_RING = 0x1000,
  MAC_INSERT_VLAN = 0x40000000,
  MAC_ENABLE = 2,
  MAC_STOP = 4,
  MAC_FILTER = 8, // receiving: only frames for this station, everybody and the groups of the hash
  FCS_BYTES = 4,
};

// Where the hardware expects its rings, from the start of the fixed region.
enum {
  FIXED_MAC_SEND = 0x2800,
  FIXED_MAC_RECEIVE = 0x3000,
  FIXED_DMA_READ = 0x4000,
  FIXED_DMA_WRITE = 0x4800,
  FIXED_BUFFERS = 0x5000,
  PACKET_MEMORY_END = 0x200000,
  OVERFLOW_AREA = 0xbff000, // 4 KiB below the scratchpad, mapped to the start of the fixed region
};

// The next entry of a ring at a multiple of its size.
static inline u32 ring_next(u32 entry, u32 size, u32 ring) {
  return (entry & -ring) | ((entry + size) & (ring - 1));
}

// Bytes of free entries in such a ring; one entry always stays free.
static inline u32 ring_room(u32 producer, u32 consumer, u32 size, u32 ring) {
  return (consumer - producer - size) & (ring - 1);
}

// Has the assist passed `entry`, which was queued before `producer`?
static inline u32 passed(u32 producer, u32 consumer, u32 entry) {
  return ((producer - consumer) & (DMA_RING - 1)) < ((producer - entry) & (DMA_RING - 1));
}

#endif
