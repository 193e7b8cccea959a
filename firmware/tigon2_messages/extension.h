// What this firmware does besides serving the host's rings: message queues of a user's program (message_queues.h).
// Frames of both share the MAC's rings, the packet memory and the DMA rings, and take turns.
#ifndef TIGON2_EXTENSION_H
#define TIGON2_EXTENSION_H

#include "message_queues.h"

#define MESSAGES_EVENT (1u << 3) // software: there are messages to send, or completions to report

enum { MESSAGE_MAILBOXES = 1 << MESSAGE_SEND_MAILBOX | 1 << MESSAGE_RECEIVE_MAILBOX | 1 << MESSAGE_PAGE_MAILBOX };

// messages.c
void start_messages(void);
void ring_doorbell(u32 pending);

// message_receive.c
void receive_messages(struct registers *r);
u32 ring_frames_end(void);

// message_send.c
u32 messages_send_first(void);
void message_read(void);

static inline void extension_start(void) {
  start_messages();
}

static inline u32 extension_mailboxes(u32 pending) {
  if (pending & MESSAGE_MAILBOXES) ring_doorbell(pending);
  return pending & ~(u32)MESSAGE_MAILBOXES;
}

static inline void extension_receive(struct registers *r) {
  receive_messages(r);
}

static inline u32 extension_receive_end(struct registers *r) {
  (void)r;
  return ring_frames_end();
}

static inline u32 extension_sends(void) {
  return state->events & MESSAGES_EVENT ? messages_send_first() : 0;
}

static inline void extension_read_done(void) {
  message_read();
}

#endif
