// The state of the message queues, of which the user's program sees nothing: what it has posted is checked once and
// copied, so that it cannot be changed afterwards.
#ifndef TIGON2_MESSAGES_H
#define TIGON2_MESSAGES_H

#include "state.h"

// The scratchpad has little room left.
#define SMALL_CODE SCRATCHPAD_CODE __attribute__((minsize))

// A message in the program's memory.  Its place counts bytes as if the pages of the table were one range of addresses.
struct message {
  u32 place, length;
};

enum { MESSAGE_CLOSED = -1, MESSAGE_BATCH = 8 }; // the latter: frames handled before other events are served

// In the scratchpad.
struct messages {
  u32 in_use;
  u32 closing; // what is under way is awaited: the transfers up to these entries of the DMA rings
  u32 closing_read, closing_write;
  u32 completions;  // in host memory
  u32 addresses[3]; // of the frames to send: the words of the Ethernet header before its type

  u32 send_posted;   // entries that the host has posted,
  u32 send_taken;    // that were begun or refused,
  u32 send_read;     // begun ones whose last transfer is done, and that are not reported
  u32 send_reported; // entries that are complete for the host
  u32 left;          // bytes of the message in progress that are not queued
  u32 offset;        // and those that are
  u32 turn;          // frames of the host's ring wait for messages

  u32 receive_posted, receive_taken;
  u32 receive_end; // in the MAC's ring: the end of the frames for the host's rings
  u32 dropped;     // frames
};
extern struct messages messages;

// Its address, which the compiler does not see through: an access is then one instruction.
static inline struct messages *own(void) {
  struct messages *base;
  __asm__("lui %0, %%hi(messages)\n\taddiu %0, %0, %%lo(messages)" : "=r"(base));
  return base;
}

// In SRAM: messages to send that are not reported, and what they are to be reported with, or 0; and posted entries,
// with how much of them was received, or MESSAGE_CLOSED.
extern volatile struct outgoing {
  struct message message;
  u32 status;
} outgoing[MESSAGE_ENTRIES];
extern volatile struct incoming {
  struct message message;
  u32 received;
} incoming[MESSAGE_ENTRIES];

extern volatile struct message_area message_area;

#define COUNT(counter) (message_area.control.counter++)

static inline u32 write_room(void) {
  return ring_room(state->write_next, registers()->dma_write_consumer, DMA_ENTRY, DMA_RING);
}

// messages.c
u32 check_entry(const volatile struct message_entry *posted, volatile struct message *checked);
u32 queue_completion(u32 entry, u32 at, u32 number, u32 status, u32 length);
u32 queue_transfer(u32 entry, u32 host, u32 local, u32 length, u32 control);
u32 queue_data(u32 entry, u32 place, u32 local, u32 bytes, u32 control_of_last);

// message_receive.c
u32 take_receive_entries(void);

// message_send.c
u32 send_messages(void);

// Where a completion is in their block.
#define COMPLETION(queue, number)                                                                                      \
  (__builtin_offsetof(struct message_completions, queue) +                                                             \
   (number) % MESSAGE_ENTRIES * sizeof(struct message_completion))

#endif
