// Message queues of a user's program: opening and closing, doorbells, checks of what the program has posted,
// completions. message_queues.h describes what host software sees of them.
#include "messages.h"

struct messages messages __attribute__((section(".scratchpad.bss")));
volatile struct outgoing outgoing[MESSAGE_ENTRIES];
volatile struct incoming incoming[MESSAGE_ENTRIES];
volatile struct message_area message_area __attribute__((aligned(MESSAGE_PAGE)));

_Static_assert(sizeof(struct message_page) == MESSAGE_PAGE, "layout of the program's page");
_Static_assert(__builtin_offsetof(struct message_area, table) == 0x1000, "layout of the message area");
_Static_assert(__builtin_offsetof(struct message_area, control) == 0x2000, "layout of the message area");
_Static_assert(__builtin_offsetof(struct shared, extension) == MESSAGE_POINTER, "layout of the communications area");

extern u32 dispatch_table[];

// It stays in SRAM.
#define RARE __attribute__((noinline))

// Checks an entry, and copies what it says.  Returns 0, or the error it is refused with.
SMALL_CODE u32 check_entry(const volatile struct message_entry *posted, volatile struct message *checked) {
  u32 buffer = posted->buffer, offset = posted->offset, length = posted->length;
  checked->length = 0;
  if (posted->flags) return MESSAGE_ERROR_FLAGS;
  if (buffer >= MESSAGE_PAGES) return MESSAGE_ERROR_BUFFER;
  u32 pages = message_area.table[buffer] % MESSAGE_PAGE, bytes = pages * MESSAGE_PAGE;
  if (!pages || pages > MESSAGE_PAGES - buffer) return MESSAGE_ERROR_PAGE;
  if (!length || offset > bytes || length > bytes - offset) return MESSAGE_ERROR_LENGTH;
  u32 place = buffer * MESSAGE_PAGE + offset, last = (place + length - 1) / MESSAGE_PAGE;
  for (u32 page = place / MESSAGE_PAGE; page <= last; page++)
    if (message_area.table[page] < MESSAGE_PAGE) return MESSAGE_ERROR_PAGE;
  checked->place = place;
  checked->length = length;
  return 0;
}

// Queues a transfer between host and packet memory; returns the next entry of its ring.
SMALL_CODE u32 queue_transfer(u32 entry, u32 host, u32 local, u32 length, u32 control) {
  volatile struct dma_descriptor *d = (volatile struct dma_descriptor *)entry;
  d->host_high = 0;
  d->host_low = host;
  d->local = local;
  d->length = length;
  d->control = control;
  return ring_next(entry, DMA_ENTRY, DMA_RING);
}

// Queues the transfer of a frame's data between the program's pages and a packet buffer that begins at `base` and ends
// at `end`: a transfer for each page.  Returns the next entry of the ring; 0, and queues nothing, if the pages are no
// longer in the table.
SMALL_CODE u32 queue_data(u32 entry, u32 place, u32 local, u32 bytes, u32 control) {
  const volatile u32 *page = &message_area.table[place / MESSAGE_PAGE];
  u32 at = place % MESSAGE_PAGE, first = MESSAGE_PAGE - at, host = page[0] & -(u32)MESSAGE_PAGE;
  u32 end = state->send_buffer_end, size = end - state->send_buffer_base;
  if (local >= end) {
    size = PACKET_MEMORY_END - end;
    end = PACKET_MEMORY_END;
  }
  if (!host) return 0;
  if (first < bytes) {
    u32 next = page[1] & -(u32)MESSAGE_PAGE;
    if (!next) return 0;
    entry = queue_transfer(entry, host | at, local, first, state->data_control);
    host = next;
    at = 0;
    bytes -= first;
    local += first;
    if (local >= end) local -= size;
  }
  return queue_transfer(entry, host | at, local, bytes, state->data_control | control);
}

// Queues a completion, for which there must be room; returns the next entry of the DMA write ring.
SMALL_CODE u32 queue_completion(u32 entry, u32 at, u32 number, u32 status, u32 length) {
  volatile struct dma_descriptor *d = (volatile struct dma_descriptor *)entry;
  d->own[0] = length;
  d->own[1] = number << 8 | status;
  return queue_transfer(entry, own()->completions + at, (u32)&d->own[0], sizeof(struct message_completion),
                        state->descriptor_control);
}

// The first doorbell of a program.  Returns false if the queues are not open for one.
RARE static u32 begin_use(void) {
  volatile struct message_control *c = &message_area.control;
  const volatile u32 *own = shared_block()->mac_address;
  if (!c->open || !c->completions) return 0;
  messages = (struct messages){.in_use = 1, .completions = c->completions};
  messages.addresses[0] = c->peer_high << 16 | c->peer_low >> 16;
  messages.addresses[1] = c->peer_low << 16 | (own[0] & 0xffff);
  messages.addresses[2] = own[1];
  for (u32 i = 0; i < MESSAGE_ENTRIES; i++) incoming[i].received = (u32)MESSAGE_CLOSED;
  c->in_use = 1;
  return 1;
}

// The kernel has closed the queues: nothing is begun any more.  What is under way is awaited.
RARE static void begin_closing(void) {
  messages.send_posted = messages.send_taken;
  messages.receive_posted = messages.receive_taken;
  messages.left = messages.turn = 0;
  for (u32 i = 0; i < MESSAGE_ENTRIES; i++) incoming[i].received = (u32)MESSAGE_CLOSED;
  messages.closing_read = state->read_next - DMA_ENTRY;
  messages.closing_write = state->write_next - DMA_ENTRY;
  messages.closing = 1;
}

RARE static void end_closing(void) {
  struct registers *r = registers();
  if (!passed(state->read_next, r->dma_read_consumer, messages.closing_read) ||
      !passed(state->write_next, r->dma_write_consumer, messages.closing_write))
    return;
  if (state->watch_head != state->watch_tail) dma_read_done();
  messages.in_use = messages.closing = 0;
  message_area.control.in_use = 0;
  event_clear(MESSAGES_EVENT);
}

// How many entries have been posted by what the host says, if that may be: no place is used that is not free.
static u32 posted(u32 count, u32 before, u32 complete) {
  if (count - complete <= MESSAGE_ENTRIES && count - before <= MESSAGE_ENTRIES) return count;
  COUNT(ignored);
  return before;
}

// The host has written doorbells.
SMALL_CODE void ring_doorbell(u32 pending) {
  struct shared *s = shared_block();
  struct messages *m = own();
  if ((!m->in_use && !begin_use()) || m->closing) {
    COUNT(ignored);
    return;
  }
  if (!message_area.control.open) {
    begin_closing();
  } else {
    u32 send = m->send_posted, receive = m->receive_posted;
    if (pending & 1u << MESSAGE_SEND_MAILBOX) send = s->mailbox[MESSAGE_SEND_MAILBOX].low;
    if (pending & 1u << MESSAGE_RECEIVE_MAILBOX) receive = s->mailbox[MESSAGE_RECEIVE_MAILBOX].low;
    if (pending & 1u << MESSAGE_PAGE_MAILBOX) {
      u32 both = message_area.user.doorbell;
      send = m->send_posted + (u16)((both >> 16) - m->send_posted);
      receive = m->receive_posted + (u16)(both - m->receive_posted);
    }
    m->send_posted = posted(send, m->send_posted, m->send_reported);
    m->receive_posted = posted(receive, m->receive_posted, m->receive_taken);
    // At once, since what is to be received may be there before the next event.
    take_receive_entries();
  }
  event_set(MESSAGES_EVENT);
}

// Event: there are messages to send, or completions to report.  It stays on until nothing is left.
SMALL_CODE static void serve_messages(void) {
  if (own()->closing) {
    end_closing();
    return;
  }
  u32 more = take_receive_entries();
  more |= send_messages();
  if (!more) event_clear(MESSAGES_EVENT);
}

// Lets that serve its event: the entry of the dispatch table after that of no event.
void start_messages(void) {
  enum { NUMBER = 3, JUMP_AND_NOP = 2 };
  _Static_assert(MESSAGES_EVENT == 1u << NUMBER, "number of the event");
  *(volatile u32 *)&dispatch_table[(1 + NUMBER) * JUMP_AND_NOP] = jump_to(serve_messages);
  message_area.control.magic = MESSAGE_MAGIC;
  shared_block()->extension = (u32)&message_area;
  events_enable(MESSAGES_EVENT);
}
