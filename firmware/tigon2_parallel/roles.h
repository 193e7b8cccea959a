// Who does what when two processors work: A receives, owns the DMA write ring and talks to the host; B sends, owns the
// DMA read ring and fetches the host's descriptors for both.  Handlers have no state but `state`, of which each
// processor has one in its scratchpad, and what both need is the same code at the same address in both.
#ifndef TIGON2_PARALLEL_ROLES_H
#define TIGON2_PARALLEL_ROLES_H

#include "messages.h"

enum {
  FIRST_EVENTS = (int)(TIMER_EVENT | MAC_SEND_ATTENTION | MAC_RECEIVE_ATTENTION | REPORT_RECEIVED_EVENT |
                       REPORT_SENT_EVENT | MAILBOX_EVENT | DMA_READ_ATTENTION | DMA_WRITE_ATTENTION |
                       BUFFERS_READY_EVENT | RECEIVE_EVENT | INDEX_SENT_EVENT),
  SECOND_EVENTS =
      (int)(TIMER_EVENT | REPORT_SENT_EVENT | MAILBOX_EVENT | BUFFERS_WANTED_EVENT | REQUEST_EVENT | SEND_EVENT),
  SERVED_MAILBOXES = 1 << MAILBOX_INTERRUPT | 1 << MAILBOX_COMMAND,
  SECOND_MAILBOXES = 1 << MAILBOX_SEND | 1 << MAILBOX_STANDARD | 1 << MAILBOX_JUMBO | 1 << MAILBOX_MINI,
};

// Sets or clears software bits of this processor's event register, which the other one may set.
static inline void event_set(u32 bits) {
  lock(state->role.semaphore);
  *state->role.events |= bits;
  unlock(state->role.semaphore);
}
static inline void event_clear(u32 bits) {
  lock(state->role.semaphore);
  *state->role.events &= ~bits;
  unlock(state->role.semaphore);
}

// On A: buffers of the host were used.  B is notified when it makes a whole fetch possible.
static inline void buffers_wanted(struct receive_ring *ring) {
  u32 taken = ring->taken;
  if (((taken ^ ring->reported) & -(u32)RECEIVE_FETCH) == 0) return;
  ring->reported = taken;
  messages.taken[ring->watch] = taken;
  event_set_other(BUFFERS_WANTED_EVENT);
}

// On B: how many fetched buffers A has used, as far as it has reported.
static inline u32 buffers_taken(const struct receive_ring *ring) {
  return messages.taken[ring->watch];
}

// On B: more buffers are ready.
static inline void buffers_ready(const struct receive_ring *ring) {
  messages.ready[ring->watch] = ring->ready;
  event_set_other(BUFFERS_READY_EVENT);
}

// On B: the host is to know what was sent.
static inline void notify_sent(u32 index, u32 due) {
  messages.sent = index;
  event_set_other(due ? REPORT_SENT_EVENT : INDEX_SENT_EVENT);
}

// On A: has B do something now.
void request_second(enum second_request what);

// On A: the host has taken back what is in the jumbo ring.
static inline void empty_ring(struct receive_ring *ring) {
  request_second(EMPTY_JUMBO_RING);
  ring->taken = ring->ready = ring->reported = 0;
  messages.taken[ring->watch] = 0;
}
static inline u32 second_counter(u32 number) {
  return messages.counter[number];
}

#endif
