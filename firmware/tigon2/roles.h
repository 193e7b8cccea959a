// Who does what when processor A handles all events: what one part of the work asks of another is done on the spot, and
// nobody else touches A's events.
#ifndef TIGON2_ROLES_H
#define TIGON2_ROLES_H

enum {
  FIRST_EVENTS =
      (int)(TIMER_EVENT | MAC_SEND_ATTENTION | MAC_RECEIVE_ATTENTION | REPORT_RECEIVED_EVENT | REPORT_SENT_EVENT |
            MAILBOX_EVENT | DMA_READ_ATTENTION | DMA_WRITE_ATTENTION | RECEIVE_EVENT | SEND_EVENT),
  SERVED_MAILBOXES = -1,
};

// Sets or clears software bits of the event register.  Only this processor does so, hence no semaphore.
static inline void event_set(u32 bits) {
  registers()->event_a = state->events |= bits;
}
static inline void event_clear(u32 bits) {
  registers()->event_a = state->events &= ~bits;
}

// Buffers of the host were used, or a frame waits for one: more descriptors can be fetched.
static inline void buffers_wanted(struct receive_ring *ring) {
  fetch_receive(ring);
}

// How many fetched buffers were used, for those who fetch.
static inline u32 buffers_taken(const struct receive_ring *ring) {
  return ring->taken;
}

// More buffers are ready.
static inline void buffers_ready(const struct receive_ring *ring) {
  (void)ring;
  events_enable(RECEIVE_EVENT);
}

// The host has taken back what is in the ring.
static inline void empty_ring(struct receive_ring *ring) {
  invalidate_posted(ring);
}

// The host is to know what was sent.
static inline void notify_sent(u32 index, u32 due) {
  queue_sent_report(index, due);
}

// Settings or counters of another processor: it counts the transfers that it saw fail, and nothing else.
enum second_request { TAKE_SETTINGS, SHOW_COUNTERS, CLEAR_COUNTERS };
static inline void request_second(enum second_request what) {
  if (what == CLEAR_COUNTERS) second.failed[FAILED_WRITES] = second.failed[FAILED_READS] = 0;
}
static inline u32 second_counter(u32 number) {
  u32 way = number - (u32)(state->count.dma_errors - (u32 *)&state->count);
  return way < FAILED_WAYS ? second.failed[way] : 0;
}

#endif
