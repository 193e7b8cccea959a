/* The command ring and the mailboxes that are rarely written. */
#include "hot.h"

/* The host's address, from where it left it, into the MAC. */
void set_mac_address(void) {
  struct registers *r = registers();
  struct shared *s = shared_block();
  r->mac_address_high = s->mac_address[0];
  r->mac_address_low = s->mac_address[1];
  r->mac_address_copy = s->mac_address[1];
}

static void report_link(u32 up) {
  struct shared *s = shared_block();
  s->link_state = up ? s->link : 0;
  host_event(EVENT_LINK, up ? 1 : 2);
}

static void host_state(u32 code) {
  struct registers *r = registers();
  if (code != 1 && code != 2) {
    hot->count.commands_bad++;
    host_event(EVENT_ERROR, ERROR_COMMAND);
    return;
  }
  struct shared *s = shared_block();
  hot->running = code == 1;
  hot->received_ticks = s->receive_ticks;
  hot->sent_ticks = s->send_ticks;
  hot->max_unsent = hot->send_countdown = s->max_send;
  hot->max_unreported = s->max_receive;
  ask_second(TAKE_SETTINGS);
  r->mac_tx_state = hot->running ? MAC_ENABLE : MAC_STOP;
  r->mac_rx_state = (hot->running ? MAC_ENABLE : MAC_STOP) | (r->mac_rx_state & MAC_FILTER);
  report_link(hot->running);
}

u32 jumbo_length;

/* Nothing of what the host has put into a ring is left, on the processor that fetches it.  A fetch under way is
 * awaited. */
void forget_posted(struct receive_ring *ring) {
  ring->posted = ring->asked;
  while (ring->ready != ring->asked) {
    if (hot->engine.on) drive_rings();
    try_again(&registers()->dma_read_state);
    dma_read_done();
  }
  ring->taken = ring->ready = ring->asked = ring->posted = 0;
}

/* The host takes back all buffers of the jumbo ring, and begins it anew when it gives some again.  Until then there is
 * no such ring: frames that only it could take are dropped and counted, one that waits for such a buffer waits no more.
 * Frames that have a buffer go to the host before the event does. */
static void reset_jumbo_ring(void) {
  hot->jumbo.max_length = 0;
  empty_ring(&hot->jumbo);
  events_enable(RECEIVE_EVENT);
  host_event(EVENT_JUMBO_RING_RESET, 0);
}

static void command(u32 word) {
  u32 code = word >> 12 & 0xfff;
  switch (word >> 24) {
  case COMMAND_HOST_STATE: host_state(code); break;
  case COMMAND_RESET_JUMBO_RING: reset_jumbo_ring(); break;
  case COMMAND_JOIN_GROUP: change_group(1); break;
  case COMMAND_LEAVE_GROUP: change_group(0); break;
  case COMMAND_PROMISCUOUS: set_promiscuous(code == 1); break;
  case COMMAND_ALL_GROUPS: set_all_groups(code == 1); break;
  case COMMAND_NEGOTIATE: report_link(hot->running); break;
  case COMMAND_SET_ADDRESS: set_mac_address(); break;
  case COMMAND_CLEAR_STATISTICS: clear_statistics(); break;
  case COMMAND_REFRESH:
    send_statistics();
    host_event(EVENT_STATISTICS, 0);
    break;
  default: hot->count.commands_bad++; host_event(EVENT_ERROR, 2);
  }
}

static void post(struct receive_ring *ring, u32 mailbox) {
  ring->posted = ring->asked + ((shared_block()->mailbox[mailbox].low - ring->asked) & ring->entries_mask);
  fetch_receive(ring);
}

void mailbox_rare(u32 pending) {
  struct shared *s = shared_block();
  if (pending & 1u << MAILBOX_INTERRUPT && hot->interrupt_pending) raise_interrupt();
  if (pending & 1u << MAILBOX_COMMAND) {
    u32 producer = s->mailbox[MAILBOX_COMMAND].low % COMMAND_ENTRIES, consumer = s->command_consumer % COMMAND_ENTRIES;
    while (consumer != producer) {
      command(s->command[consumer]);
      consumer = (consumer + 1) % COMMAND_ENTRIES;
      s->command_consumer = consumer;
    }
  }
  if (pending & 1u << MAILBOX_JUMBO && jumbo_length) {
    post(&hot->jumbo, MAILBOX_JUMBO);
    if (hot->jumbo.posted) hot->jumbo.max_length = jumbo_length;
  }
  if (pending & 1u << MAILBOX_MINI && hot->mini.max_length) post(&hot->mini, MAILBOX_MINI);
}
