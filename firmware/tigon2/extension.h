// What firmware does besides serving the host's rings: nothing.  A firmware that does more has an extension.h of its
// own in its folder, with the same functions, and the sources of the rings call those.
#ifndef TIGON2_EXTENSION_H
#define TIGON2_EXTENSION_H

// Start-up is over, and events are served next.
static inline void extension_start(void) {}

// The host has written the mailboxes `pending`; returns those that are left.
static inline u32 extension_mailboxes(u32 pending) {
  return pending;
}

// The MAC has received frames: takes those at the head of its ring that are not for the host's rings.
static inline void extension_receive(struct registers *r) {
  (void)r;
}

// Where the frames for the host's rings end.
static inline u32 extension_receive_end(struct registers *r) {
  return r->mac_rx_producer & ~7u;
}

// Frames of the host's ring are ready to be sent: whether they have to wait for other frames.
static inline u32 extension_sends(void) {
  return 0;
}

// A transfer of the DMA read ring that was watched with WATCH_EXTENSION is complete.
static inline void extension_read_done(void) {}

#endif
