// The command ring and the mailboxes that are rarely written.
#include "state.h"

// The host's address, from where it left it, into the MAC.
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
    state->count.commands_bad++;
    host_event(EVENT_ERROR, ERROR_COMMAND);
    return;
  }
  struct shared *s = shared_block();
  state->running = code == 1;
  state->received_ticks = s->receive_ticks;
  state->sent_ticks = s->send_ticks;
  state->max_unsent = state->send_countdown = s->max_send;
  state->max_unreported = s->max_receive;
  request_second(TAKE_SETTINGS);
  r->mac_tx_state = state->running ? MAC_ENABLE : MAC_STOP;
  r->mac_rx_state = (state->running ? MAC_ENABLE : MAC_STOP) | (r->mac_rx_state & MAC_FILTER);
  report_link(state->running);
}

u32 jumbo_length;

// Nothing of what the host has put into a ring is left, on the processor that fetches it.  A fetch in progress is
// awaited.
void invalidate_posted(struct receive_ring *ring) {
  ring->posted = ring->requested;
  while (ring->ready != ring->requested) {
    if (state->engine.on) drive_rings();
    try_again(&registers()->dma_read_state);
    dma_read_done();
  }
  ring->taken = ring->ready = ring->requested = ring->posted = 0;
}

// The host takes back all buffers of the jumbo ring, and begins it anew when it gives some again.  Until then there is
// no such ring: frames that only it could take are dropped and counted, one that waits for such a buffer waits no more.
// Frames that have a buffer go to the host before the event does.
static void reset_jumbo_ring(void) {
  state->jumbo.max_length = 0;
  empty_ring(&state->jumbo);
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
  case COMMAND_NEGOTIATE: report_link(state->running); break;
  case COMMAND_SET_ADDRESS: set_mac_address(); break;
  case COMMAND_CLEAR_STATISTICS: clear_statistics(); break;
  case COMMAND_REFRESH:
    send_statistics();
    host_event(EVENT_STATISTICS, 0);
    break;
  default: state->count.commands_bad++; host_event(EVENT_ERROR, 2);
  }
}

static void post(struct receive_ring *ring, u32 mailbox) {
  ring->posted = ring->requested + ((shared_block()->mailbox[mailbox].low - ring->requested) & ring->entries_mask);
  fetch_receive(ring);
}

void mailbox_rare(u32 pending) {
  struct shared *s = shared_block();
  if (pending & 1u << MAILBOX_INTERRUPT && state->interrupt_pending) raise_interrupt();
  if (pending & 1u << MAILBOX_COMMAND) {
    u32 producer = s->mailbox[MAILBOX_COMMAND].low % COMMAND_ENTRIES, consumer = s->command_consumer % COMMAND_ENTRIES;
    while (consumer != producer) {
      command(s->command[consumer]);
      consumer = (consumer + 1) % COMMAND_ENTRIES;
      s->command_consumer = consumer;
    }
  }
  if (pending & 1u << MAILBOX_JUMBO && jumbo_length) {
    post(&state->jumbo, MAILBOX_JUMBO);
    if (state->jumbo.posted) state->jumbo.max_length = jumbo_length;
  }
  if (pending & 1u << MAILBOX_MINI && state->mini.max_length) post(&state->mini, MAILBOX_MINI);
}
