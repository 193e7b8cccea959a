/* Event: the host has written mailboxes.  The send and standard producers come with traffic and are served here; what
 * is rare is passed on.
 */
#include "hot.h"

/* The host's producer index, wrapped, as an index that counts on. */
static inline u32 counted(u32 producer, u32 before, u32 mask) {
  return before + ((producer - before) & mask);
}

HOT void mailbox(void) {
  struct shared *s = shared_block();
  u32 pending = *hot->role.mailboxes;
  /* Cleared before it is read: a write in between is then seen twice rather than never. */
  *hot->role.mailboxes = pending;
  pending &= hot->role.serves;
  if (pending & 1u << MAILBOX_SEND) {
    hot->send_posted = counted(s->mailbox[MAILBOX_SEND].low, hot->send_asked, hot->sends_mask);
    fetch_send();
  }
  if (pending & 1u << MAILBOX_STANDARD) {
    hot->standard.posted = counted(s->mailbox[MAILBOX_STANDARD].low, hot->standard.asked, hot->standard.entries_mask);
    fetch_receive(&hot->standard);
  }
  if (pending & ~(1u << MAILBOX_SEND | 1u << MAILBOX_STANDARD)) mailbox_rare(pending);
}
