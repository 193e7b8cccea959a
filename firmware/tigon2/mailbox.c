// Event: the host has written mailboxes.  The send and standard producers come with traffic and are served here; what
// is rare is passed on.
#include "state.h"

// The host's producer index, wrapped, as an index that counts on.
static inline u32 counted(u32 producer, u32 before, u32 mask) {
  return before + ((producer - before) & mask);
}

// `nic_ring` is a constant: the send ring is in NIC memory, so its descriptors need no fetch.
static inline __attribute__((always_inline)) void serve_mailboxes(u32 nic_ring) {
  struct shared *s = shared_block();
  u32 pending = *state->role.mailboxes;
  // Cleared before it is read: a write in between is then seen twice rather than never.
  *state->role.mailboxes = pending;
  pending &= state->role.serves;
  if (pending & 1u << MAILBOX_SEND) {
    state->send_posted = counted(s->mailbox[MAILBOX_SEND].low, state->send_requested, state->sends_mask);
    if (nic_ring) {
      state->send_ready = state->send_requested = state->send_posted;
      event_set(SEND_EVENT);
    } else {
      fetch_send();
    }
  }
  if (pending & 1u << MAILBOX_STANDARD) {
    state->standard.posted =
        counted(s->mailbox[MAILBOX_STANDARD].low, state->standard.requested, state->standard.entries_mask);
    fetch_receive(&state->standard);
  }
  pending = extension_mailboxes(pending);
  if (pending & ~(1u << MAILBOX_SEND | 1u << MAILBOX_STANDARD)) mailbox_rare(pending);
}

SCRATCHPAD_CODE void mailbox(void) {
  serve_mailboxes(0);
}

CHECKSUMS_RARE void mailbox_of_nic_ring(void) {
  serve_mailboxes(1);
}
