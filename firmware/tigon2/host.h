// What is in memory that host and firmware share: the host's rings and descriptors, its information block, the
// mailboxes and the general communications area at the bottom of the SRAM.  In SRAM all of it is big-endian.
#ifndef TIGON2_HOST_H
#define TIGON2_HOST_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;

struct host_address {
  u32 high, low;
};

// A ring as the host describes it in its information block.
struct ring_control {
  struct host_address address;
  u16 max_length; // send, command, event, return ring: entries; receive rings: bytes of a buffer
  u16 flags;
  u32 unused;
};

enum {
  RING_CHECKSUM = 0x1,         // the transport layer's checksum: put it in, or sum what is received
  RING_IP_CHECKSUM = 0x2,      // the IP header's, likewise
  RING_NO_PSEUDO_HEADER = 0x8, // the transport layer's sum is without that; who sends has put it into the field
  RING_INDEX_AT_ONCE = 0x20,   // coalesce interrupts only: the index goes to the host with every batch
  RING_ON_HOST = 0x40,         // send ring: in host memory; without this at an address of the NIC's
  RING_DISABLED = 0x200,
};

// The end of the information block, behind the statistics.
struct host_rings {
  struct ring_control event, command, send, standard, jumbo, mini, returns;
  struct host_address event_producer, return_producer, send_consumer, statistics;
};

enum { HOST_RINGS_OFFSET = 0x400, STATISTICS_BYTES = 0x400 };

struct send_descriptor {
  u32 host_high, host_low;
  u32 length_flags; // length << 16 | flags
  u32 vlan;         // low half
};

enum {
  SEND_CHECKSUM = 0x1,    // put in the transport layer's checksum,
  SEND_IP_CHECKSUM = 0x2, // the IP header's; in the first piece of a frame
  SEND_END = 0x4,         // last piece of a frame
  SEND_VLAN = 0x200,
  SEND_REPORT_NOW = 0x800,
};

// Written by the host to give a buffer, and back to it, in place, with the frame's length.
struct receive_descriptor {
  u32 host_high, host_low;
  u16 index; // the host's own number of the buffer
  u16 length;
  u32 type_flags;
  u32 checksums; // IP << 16 | transport
  u32 error_vlan;
  u32 unused;
  u32 opaque;
};

enum { RECEIVE_CHECKSUM = 0x1, RECEIVE_IP_CHECKSUM = 0x2 }; // that sum is valid

// The words that the MAC counts.
struct mac_statistics {
  u32 collisions[18];
  u32 bad_fcs, underruns, carrier_lost;
  u32 too_short, too_long, line_errors; // that drivers do not name
  u32 other_station, other_group, flow_control, no_space, collided;
  u32 kept_broadcast, kept_multicast, kept_unicast;
};

// SRAM, from address 0: what the host sees from 0x400 of its window.
struct shared {
  u32 fixed[32];
  volatile struct mac_statistics mac_statistics; // kept by the MAC
  struct {
    u32 high, low;
  } volatile mailbox[32];
  volatile u32 mac_address[2];     // 0x200
  struct host_address information; // 0x208
  volatile u32 group[2];           // 0x210: the address of a group to join or leave
  volatile u32 mode;               // 0x218
  volatile u32 dma_read_setup, dma_write_setup;
  volatile u32 transmit_share; // 0x224: 64ths of the packet memory
  volatile u32 event_consumer;
  volatile u32 command_consumer;
  volatile u32 receive_ticks; // 0x230: microseconds
  volatile u32 send_ticks;
  volatile u32 statistics_ticks;
  volatile u32 max_send; // 0x23c: descriptors per report
  volatile u32 max_receive;
  volatile u32 trace;           // 0x244
  volatile u32 link, fast_link; // 0x248: what the host asks for
  volatile u32 trace_pointer, trace_start, trace_length;
  volatile u32 interface; // 0x25c
  volatile u32 mtu;
  volatile u32 interrupt_mask; // 0x264
  volatile u32 link_state, fast_link_state;
  u32 reserved_270[4];
  volatile u32 return_consumer; // 0x280
  volatile u32 extension;       // 0x284: of firmware that does more than this: where that begins
  u32 reserved_288[30];
  volatile u32 command[64]; // 0x300
};
_Static_assert(__builtin_offsetof(struct shared, return_consumer) == 0x280, "layout of the communications area");
_Static_assert(__builtin_offsetof(struct shared, command) == 0x300, "layout of the communications area");

enum {
  MODE_SHARED_BYTES = 0x2, // bytes in order, of descriptors and all else that both read; else words keep their value
  MODE_DATA_BYTES = 0x10,  // likewise, of frames
  MODE_ASSIST = 0x40,
  MODE_NO_EVENT_INTERRUPT = 0x1000,
  MODE_NO_SEND_INTERRUPT = 0x2000,
  MODE_NO_RECEIVE_INTERRUPT = 0x4000
};

enum {
  MAILBOX_INTERRUPT = 0,
  MAILBOX_COMMAND = 1,
  MAILBOX_SEND = 2,
  MAILBOX_STANDARD = 3,
  MAILBOX_JUMBO = 4,
  MAILBOX_MINI = 5
};

enum { COMMAND_ENTRIES = 64, EVENT_ENTRIES = 256 };

enum host_command {
  COMMAND_HOST_STATE = 0x01,       // code 1 up, 2 down
  COMMAND_RESET_JUMBO_RING = 0x05, // the host takes its jumbo buffers back
  COMMAND_JOIN_GROUP = 0x08,
  COMMAND_LEAVE_GROUP = 0x09,
  COMMAND_PROMISCUOUS = 0x0a, // code 1 on, 2 off
  COMMAND_NEGOTIATE = 0x0b,
  COMMAND_SET_ADDRESS = 0x0c,
  COMMAND_ALL_GROUPS = 0x0e, // code 1 on, 2 off
  COMMAND_CLEAR_STATISTICS = 0x0f,
  COMMAND_REFRESH = 0x11,
};

enum host_event {
  EVENT_RUNNING = 1,
  EVENT_STATISTICS = 4,
  EVENT_LINK = 6,   // code 1 gigabit up, 2 down
  EVENT_ERROR = 7,  // code 1 invalid command, 2 unknown command, 3 bad configuration, or the next
  EVENT_GROUPS = 8, // code 1 joined, 2 left
  EVENT_JUMBO_RING_RESET = 9,
};
enum {
  ERROR_COMMAND = 1,
  ERROR_TRANSFER = 4, // a transfer on the host's bus failed, and is done again
};

// The block at address 0; hidden from the compiler, which takes address 0 for nothing.
static inline struct shared *shared_block(void) {
  struct shared *block;
  __asm__("move %0, $zero" : "=r"(block));
  return block;
}

#endif
