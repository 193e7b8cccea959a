// Names used by tigon2_driver.c: the host's view of the chip, and where the driver puts things.
#ifndef TIGON2_DRIVER_H
#define TIGON2_DRIVER_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "modules/nic/driver_traffic.h"

// Registers and shared memory as the host's window shows them.
enum {
  DRIVER_MISC_HOST_CTL = 0x40,
  DRIVER_MISC_LOCAL_CTL = 0x44,
  DRIVER_MISC_CONFIG = 0x50,
  DRIVER_WINDOW_BASE = 0x68,
  DRIVER_ASSIST_STATE = 0x11c,
  DRIVER_CPU_A_STATE = 0x140,
  DRIVER_CPU_A_PC = 0x144,
  DRIVER_CPU_B_STATE = 0x240,
  DRIVER_MAILBOX_INTERRUPT = 0x504,
  DRIVER_MAILBOX_COMMAND = 0x50c,
  DRIVER_MAILBOX_SEND = 0x514,
  DRIVER_MAILBOX_STANDARD = 0x51c,
  DRIVER_MAILBOX_JUMBO = 0x524,
  DRIVER_MAILBOX_MINI = 0x52c,
  DRIVER_MAC_ADDRESS = 0x600,
  DRIVER_INFORMATION = 0x608,
  DRIVER_GROUP = 0x610,
  DRIVER_MODE = 0x618,
  DRIVER_DMA_READ_CONFIG = 0x61c,
  DRIVER_DMA_WRITE_CONFIG = 0x620,
  DRIVER_TRANSMIT_SHARE = 0x624,
  DRIVER_EVENT_CONSUMER = 0x628,
  DRIVER_COMMAND_CONSUMER = 0x62c,
  DRIVER_RECEIVE_TICKS = 0x630,
  DRIVER_SEND_TICKS = 0x634,
  DRIVER_STATISTICS_TICKS = 0x638,
  DRIVER_SEND_MOST = 0x63c,
  DRIVER_RECEIVE_MOST = 0x640,
  DRIVER_LINK = 0x648,
  DRIVER_SLOW_LINK = 0x64c,
  DRIVER_INTERFACE = 0x65c,
  DRIVER_MTU = 0x660,
  DRIVER_RETURN_CONSUMER = 0x680,
  DRIVER_COMMANDS = 0x700,
  DRIVER_WINDOW = 0x800,
  DRIVER_WINDOW_BYTES = 0x800
};
// Of misc_host_ctl; the same in either order of bytes, as that is not known before: reset; words in their places, clear
// the interrupt.
enum { DRIVER_RESET = 0x08000008, DRIVER_LANES = 0x22000022 };
// Of misc_local_ctl: the size of the SRAM's banks; of misc_config: the SRAM is synchronous.
enum { DRIVER_SRAM_BANKS = 0x200, DRIVER_SYNCHRONOUS_SRAM = 0x100000 };
// The station's address, 02:00:00:00:00:01: two bytes, and four behind them.
enum { DRIVER_STATION_HIGH = 0x0200, DRIVER_STATION_LOW = 0x00000001 };
// Of the configuration of both DMA rings: the threshold.  Of assist_state: the hardware walks the rings.
enum { DRIVER_DMA_THRESHOLD = 0x80, DRIVER_ASSIST_ON = 1 };
// The longest frame that the station takes, with its FCS; one with a VLAN tag may be longer by that.
enum { DRIVER_LONGEST_FRAME = 1518 };
// Firmware is behind what host, hardware and boot code share.
enum { DRIVER_LOAD_BEGIN = 0x2000 };
// Of the mode: bytes in order, of data and of what host and firmware share, as a big-endian host wants them.
enum {
  DRIVER_MODE_DATA_BYTES = 0x10,
  DRIVER_MODE_SHARED_BYTES = 0x2,
  DRIVER_MODE_BYTES = DRIVER_MODE_DATA_BYTES | DRIVER_MODE_SHARED_BYTES,
  DRIVER_MODE_ASSIST = 0x40
};
enum {
  DRIVER_HALT = 0x10000,
  DRIVER_SEND_END = 4,
  DRIVER_RING_DISABLED = 0x200,
  DRIVER_RING_ON_HOST = 0x40,
  DRIVER_RING_NO_PSEUDO = 8
};
// Flags of rings and of descriptors alike: checksums of the transport layer and of the IP header.
enum { DRIVER_CHECKSUM = 1, DRIVER_IP_CHECKSUM = 2, DRIVER_CHECKSUMS = DRIVER_CHECKSUM | DRIVER_IP_CHECKSUM };
enum {
  DRIVER_COMMAND_HOST_STATE = 0x01,
  DRIVER_COMMAND_JOIN_GROUP = 0x08,
  DRIVER_COMMAND_PROMISCUOUS = 0x0a,
  DRIVER_COMMAND_CLEAR_STATISTICS = 0x0f,
  DRIVER_EVENT_RUNNING = 1,
  DRIVER_EVENT_LINK = 6,
  DRIVER_LINK_DOWN = 2,
  DRIVER_EVENT_GROUPS = 8,
  DRIVER_EVENT_ERROR = 7,
  DRIVER_ERROR_TRANSFER = 4
};
// The link words: everything may be negotiated.
enum { DRIVER_NEGOTIATE = 0x70af0000 };

// What is zero when the firmware starts.
static const uint32_t driver_cleared[] = {DRIVER_MAILBOX_COMMAND,  DRIVER_MAILBOX_SEND,   DRIVER_MAILBOX_STANDARD,
                                          DRIVER_MAILBOX_JUMBO,    DRIVER_MAILBOX_MINI,   DRIVER_EVENT_CONSUMER,
                                          DRIVER_COMMAND_CONSUMER, DRIVER_RETURN_CONSUMER};

// Words of the statistics block, as drivers declare it: dot3StatsFCSErrors, dot3StatsFrameTooLongs, ifInErrors,
// nicMacRxPhyDecodeErr, nicMacRxDropSpace, and nicDmaWrMasterAborts with nicDmaRdMasterAborts behind it.
enum {
  DRIVER_REPORTED_BAD_FCS = 4 * 1,
  DRIVER_REPORTED_TOO_LONG = 4 * 10,
  DRIVER_REPORTED_IN_ERRORS = 4 * 20,
  DRIVER_REPORTED_DMA_ERRORS = 4 * 91,
  DRIVER_REPORTED_LINE_ERRORS = 4 * 113,
  DRIVER_REPORTED_NO_SPACE = 4 * 119,
  DRIVER_REPORTED_BYTES = 4 * 120
};

// Where things are in host memory.
enum {
  DRIVER_HOST_INFORMATION = 0x1000,
  DRIVER_HOST_RINGS = DRIVER_HOST_INFORMATION + 0x400,
  DRIVER_HOST_RINGS_BYTES = 0x90,
  DRIVER_HOST_EVENTS = 0x2000,
  DRIVER_HOST_STATUS = 0x3000,
  DRIVER_HOST_SEND_RING = 0x4000,
  DRIVER_HOST_STANDARD_RING = 0x8000,
  DRIVER_HOST_RETURN_RING = 0x10000,
  DRIVER_HOST_SEND_BUFFERS = 0x100000,
  DRIVER_HOST_RECEIVE_BUFFERS = 0x200000,
  DRIVER_HOST_BUFFER_SPAN = 2048,
  DRIVER_STATUS_EVENT = 0,
  DRIVER_STATUS_RETURN = 16,
  DRIVER_STATUS_SEND = 32,
  DRIVER_EVENT_ENTRIES = 256,
  DRIVER_STANDARD_ENTRIES = 512
};

static inline uint32_t driver_load_big(const uint8_t *at, int bytes) {
  uint32_t value = 0;
  for (int i = 0; i < bytes; i++) value = value << 8 | at[i];
  return value;
}

// Exchanges the first bytes of two buffers, in eights.
static inline void driver_swap(uint8_t *a, uint8_t *b, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; i += 8) {
    uint64_t swap;
    memcpy(&swap, a + i, 8);
    memcpy(a + i, b + i, 8);
    memcpy(b + i, &swap, 8);
  }
}

// Puts the ring control blocks and pointers of the information block at `b`.
static inline void driver_describe_rings(uint8_t *b, uint32_t send_entries, uint32_t buffer_bytes,
                                         uint32_t return_entries, bool checksums) {
  memset(b, 0, DRIVER_HOST_RINGS_BYTES);
  struct {
    uint32_t address, length, flags;
  } ring[7] = {
      {DRIVER_HOST_EVENTS, DRIVER_EVENT_ENTRIES, 0},
      {0, 64, 0},
      {DRIVER_HOST_SEND_RING, send_entries,
       DRIVER_RING_ON_HOST | (checksums ? DRIVER_CHECKSUMS | DRIVER_RING_NO_PSEUDO : 0)},
      {DRIVER_HOST_STANDARD_RING, buffer_bytes, checksums ? DRIVER_CHECKSUMS : 0},
      {0, 0, DRIVER_RING_DISABLED},
      {0, 0, DRIVER_RING_DISABLED},
      {DRIVER_HOST_RETURN_RING, return_entries, 0},
  };
  for (int i = 0; i < 7; i++) {
    udp_store(b + 16 * i + 4, ring[i].address, 4);
    udp_store(b + 16 * i + 8, ring[i].length, 2);
    udp_store(b + 16 * i + 10, ring[i].flags, 2);
  }
  uint32_t pointer[4] = {DRIVER_HOST_STATUS + DRIVER_STATUS_EVENT, DRIVER_HOST_STATUS + DRIVER_STATUS_RETURN,
                         DRIVER_HOST_STATUS + DRIVER_STATUS_SEND, DRIVER_HOST_INFORMATION};
  for (int i = 0; i < 4; i++) udp_store(b + 0x70 + 8 * i + 4, pointer[i], 4);
}

// Puts a receive descriptor for buffer `index` at `at`.
static inline void driver_describe_buffer(uint8_t *at, uint32_t index, uint32_t buffer_bytes) {
  memset(at, 0, 32);
  udp_store(at + 4, DRIVER_HOST_RECEIVE_BUFFERS + index * DRIVER_HOST_BUFFER_SPAN, 4);
  udp_store(at + 8, index, 2);
  udp_store(at + 10, buffer_bytes, 2);
  udp_store(at + 28, index, 4);
}

// ---- Groups

// Reads an address from a list like 01:00:5e:00:00:01,01:00:5e:00:00:02; returns the rest of the list, NULL if it is
// none.
static inline const char *driver_group(const char *list, uint64_t *address) {
  *address = 0;
  for (int i = 0; i < 6; i++) {
    char *end = NULL;
    if (!((*list >= '0' && *list <= '9') || (*list >= 'a' && *list <= 'f') || (*list >= 'A' && *list <= 'F')))
      return NULL;
    unsigned long byte = strtoul(list, &end, 16);
    if (byte > 255 || (i < 5 && *end != ':')) return NULL;
    *address = *address << 8 | byte;
    list = end + (i < 5);
  }
  if (!(*address >> 40 & 1)) return NULL;
  if (*list == ',' && list[1]) return list + 1;
  return *list == 0 ? list : NULL;
}

// How many groups the list has; -1: it is no such list.
static inline int driver_groups(const char *list) {
  int count = 0;
  for (uint64_t address; list && *list; count++) list = driver_group(list, &address);
  return list ? count : -1;
}

// Group `number` of it.
static inline uint64_t driver_group_at(const char *list, int number) {
  uint64_t address = 0;
  for (; number >= 0; number--) list = driver_group(list, &address);
  return address;
}

// ---- Checksums that are left to the NIC

// Those of a frame that is sent: the flags of its descriptors.
static inline uint32_t driver_checksum_flags(const uint8_t *frame, uint32_t length) {
  if (length < 34 || frame[12] != 8 || frame[13] != 0 || frame[14] >> 4 != 4) return 0;
  bool known = frame[23] == 6 || frame[23] == 17, fragment = driver_load_big(frame + 20, 2) & 0x3fff;
  return DRIVER_IP_CHECKSUM | (known && !fragment ? DRIVER_CHECKSUM : 0);
}

// Takes them out of it; in place of that of the transport layer is the sum of the pseudo-header.
static inline void driver_offload_checksums(uint8_t *frame, uint32_t length) {
  uint32_t flags = driver_checksum_flags(frame, length), header = (frame[14] & 15u) * 4,
           field = 14 + header + (frame[23] == 6 ? 16 : 6);
  if (flags & DRIVER_IP_CHECKSUM) udp_store(frame + 24, 0, 2);
  if (!(flags & DRIVER_CHECKSUM) || field + 2 > length) return;
  uint32_t sum = frame[23] + driver_load_big(frame + 16, 2) - header;
  for (uint32_t at = 26; at < 34; at += 2) sum += driver_load_big(frame + at, 2);
  sum = (sum & 0xffff) + (sum >> 16);
  udp_store(frame + field, (sum & 0xffff) + (sum >> 16), 2);
}

// Of a return descriptor: 0 there are no checksums, 1 they are correct (all ones), 2 they are not.
static inline int driver_checksum_status(const uint8_t *descriptor) {
  uint32_t flags = driver_load_big(descriptor + 14, 2) & DRIVER_CHECKSUMS;
  bool wrong = (flags & DRIVER_IP_CHECKSUM && driver_load_big(descriptor + 16, 2) != 0xffff) ||
               (flags & DRIVER_CHECKSUM && driver_load_big(descriptor + 18, 2) != 0xffff);
  return !flags ? 0 : wrong ? 2 : 1;
}

// ---- Steps: what run() is written in

// Gives the NIC receive buffer `index`.
#define STEP_POST_BUFFER(index)                                                                                        \
  do {                                                                                                                 \
    driver_describe_buffer(self->bytes, index, self->buffer_bytes);                                                    \
    STEP_PUT(DRIVER_HOST_STANDARD_RING + 32 * self->standard_producer, 32);                                            \
    self->standard_producer = (self->standard_producer + 1) % DRIVER_STANDARD_ENTRIES;                                 \
    self->posted++;                                                                                                    \
  } while (0)

#define STEP_COMMAND(code_of, sub)                                                                                     \
  do {                                                                                                                 \
    STEP_WRITE(DRIVER_COMMANDS + 4 * (self->command_producer % 64), (uint32_t)(code_of) << 24 | (uint32_t)(sub)        \
                                                                                                    << 12);            \
    self->command_producer = (self->command_producer + 1) % 64;                                                        \
    STEP_WRITE(DRIVER_MAILBOX_COMMAND, self->command_producer);                                                        \
  } while (0)

// Polls after a microsecond for events, and handles them; after the timeout the run ends with `message`.
#define STEP_AWAIT_EVENTS(message)                                                                                     \
  do {                                                                                                                 \
    self->next_poll = now() + ticks_per_second() / 1000000;                                                            \
    STEP_WAIT(due(self->next_poll));                                                                                   \
    if (now() - self->started_at > driver_ticks(param(timeout))) sim_error(message);                                   \
    STEP_GET(DRIVER_HOST_STATUS + DRIVER_STATUS_EVENT, 4);                                                             \
    self->event_producer = driver_load_big(self->bytes, 4) % DRIVER_EVENT_ENTRIES;                                     \
    while (self->event_consumer != self->event_producer) {                                                             \
      STEP_GET(DRIVER_HOST_EVENTS + 8 * self->event_consumer, 8);                                                      \
      handle_event(self);                                                                                              \
      self->event_consumer = (self->event_consumer + 1) % DRIVER_EVENT_ENTRIES;                                        \
    }                                                                                                                  \
  } while (0)

// Joins a group, and waits until the firmware says that it has joined `number`.
#define STEP_JOIN(address, number)                                                                                     \
  do {                                                                                                                 \
    STEP_WRITE(DRIVER_GROUP, (uint32_t)((address) >> 32));                                                             \
    STEP_WRITE(DRIVER_GROUP + 4, (uint32_t)(address));                                                                 \
    STEP_COMMAND(DRIVER_COMMAND_JOIN_GROUP, 0);                                                                        \
    while (self->joined < (number)) STEP_AWAIT_EVENTS("the firmware did not join a group");                            \
  } while (0)

#endif
