// A firmware to begin with: one processor that sends the host's frames and receives those of the wire, one at a time.
//
// Everything is in a ring: who writes an entry moves the producer, who takes it the consumer, and both are counts that
// never wrap, so their difference is what lies between.  The host posts descriptors of frames to send and of empty
// buffers; fetch() brings them here, send() has the frames fetched and sent, receive() stores what has arrived into the
// buffers, report() says to the host how far both are.  Nothing waits: a ring without room is looked at in the next
// turn.
#include "nic10g.h"

enum { FETCH = 16 }; // descriptors that are fetched at once, at most

// The host's descriptors, and what it gets back; entry k of a ring is at k modulo RING.
static struct send_descriptor sends[RING];
static struct receive_descriptor buffers[RING];
static struct return_entry returns[RING];
static struct status status[RING]; // one for each entry of the DMA ring that may carry it

// How far each is: counts that never wrap.
static u32 sends_requested, sends_here, sends_taken; // descriptors of frames to send
static u32 buffers_requested, buffers_here;          // descriptors of empty buffers
static u32 fetches, fetches_done;                    // entries of the fetch ring
static u32 frames_sent, frames_received;
static u32 writes; // entries of the DMA ring to the host

// What the host was notified of last, and the interrupt that is to follow.
static u32 reported_sent, reported_received, reported_at, interrupt_after, failures;
static u32 interrupting;

// The compiler may not move an access to memory past here: what was written is there before a pointer says so.
static inline void publish(void) {
  __asm__ volatile("" : : : "memory");
}

// Queues the fetch of descriptors, 16 bytes each: up to the end of the host's ring, whose size is a power of two, and
// up to that of ours.  Returns how many.
static u32 request(u32 begun, u32 posted, u32 taken, u32 ring, u32 entries, void *here, u32 what) {
  u32 count = posted - begun;
  u32 to_their_end = entries - (begun & (entries - 1)), to_our_end = RING - begun % RING, room = RING - (begun - taken);
  if (count > FETCH) count = FETCH;
  if (count > to_their_end) count = to_their_end;
  if (count > to_our_end) count = to_our_end;
  if (count > room) count = room;
  if (!count || fetches - fetches_done >= RING_ROOM) return 0;
  struct dma_descriptor *d = &FETCH_RING[fetches % RING];
  d->host = ring + (begun & (entries - 1)) * 16;
  d->local = (u32)here + begun % RING * 16;
  d->control_length = count * 16;
  d->own = what + count; // not looked at by the hardware
  publish();
  registers()->fetch_producer = ++fetches;
  return count;
}

// Brings the host's descriptors here.  Transfers of one ring end in its order.
static void fetch(void) {
  enum { SENDS = 0, BUFFERS = 1 << 16 };
  struct registers *r = registers();
  const struct setup *s = setup();
  sends_requested +=
      request(sends_requested, r->send_producer, sends_taken, s->send_ring, s->send_entries, sends, SENDS);
  buffers_requested += request(buffers_requested, r->receive_producer, frames_received, s->receive_ring,
                               s->receive_entries, buffers, BUFFERS);
  for (u32 done = r->fetch_consumer; fetches_done != done; fetches_done++) {
    u32 own = FETCH_RING[fetches_done % RING].own;
    if (own & BUFFERS)
      buffers_here += own & 0xffff;
    else
      sends_here += own;
  }
}

// Sends the next frame, if all its descriptors are here: a transfer for each piece, and a descriptor for the MAC, which
// waits for the pieces by itself.
static void send(void) {
  struct registers *r = registers();
  u32 end = sends_taken;
  do
    if (end == sends_here) return;
  while (!(sends[end++ % RING].length_flags & SEND_END));
  if (end - r->read_consumer > RING_ROOM || frames_sent - r->mac_tx_consumer >= RING_ROOM) return;
  u32 start = send_slot(frames_sent), local = start;
  for (; sends_taken != end; sends_taken++) {
    struct send_descriptor *s = &sends[sends_taken % RING];
    struct dma_descriptor *d = &READ_RING[sends_taken % RING];
    u32 length = s->length_flags >> 16;
    d->host = s->low;
    d->local = local;
    d->control_length = length | (s->length_flags & SEND_END ? DMA_MOVES_POINTER : 0);
    local += length;
  }
  struct mac_descriptor *m = &MAC_TX_RING[frames_sent % RING];
  m->address = start;
  m->status_length = local - start;
  publish();
  r->read_producer = sends_taken;
  r->mac_tx_producer = ++frames_sent;
}

// Queues a transfer to the host; there is room for it.
static void write(u32 host, const volatile void *local, u32 control_length) {
  struct dma_descriptor *d = &WRITE_RING[writes++ % RING];
  d->host = host;
  d->local = (u32)local;
  d->control_length = control_length;
}

// Stores the next frame that arrived into the next buffer of the host, and the entry that returns this buffer.
static void receive(void) {
  struct registers *r = registers();
  const struct setup *s = setup();
  if (frames_received == r->mac_rx_producer || frames_received == buffers_here) return;
  if (writes - r->write_consumer + 2 > RING_ROOM) return;
  const struct mac_descriptor *m = &MAC_RX_RING[frames_received % RING];
  const struct receive_descriptor *b = &buffers[frames_received % RING];
  struct return_entry *e = &returns[frames_received % RING];
  e->opaque = b->opaque;
  e->status_length = m->status_length;
  write(b->low, (void *)m->address, (m->status_length & 0xffff) | DMA_MOVES_POINTER);
  write(s->return_ring + (frames_received & (s->return_entries - 1)) * sizeof *e, e, sizeof *e);
  publish();
  r->write_producer = writes;
  r->mac_rx_reference = ++frames_received;
}

// Says to the host how far both directions are, and interrupts it when it can read that.
static void notify(void) {
  struct status *block = &status[writes % RING];
  reported_sent = registers()->read_consumer;
  reported_received = frames_received;
  reported_at = registers()->timer;
  *block = (struct status){reported_received, reported_sent, STATE_UP, failures};
  write(setup()->status_block, block, sizeof *block);
  publish();
  registers()->write_producer = interrupt_after = writes;
  interrupting = 1;
}

// Reports when enough has happened since the last time, or something long enough ago.
static void report(void) {
  struct registers *r = registers();
  const struct setup *s = setup();
  if (interrupting) {
    if ((s32)(r->write_consumer - interrupt_after) < 0) return;
    interrupting = 0;
    r->interrupt = 1;
  }
  u32 sent = r->read_consumer - reported_sent, received = frames_received - reported_received;
  u32 passed = r->timer - reported_at;
  if (!(sent && (sent >= s->send_most || passed >= s->send_ticks)) &&
      !(received && (received >= s->receive_most || passed >= s->receive_ticks)))
    return;
  if (writes - r->write_consumer < RING_ROOM) notify();
}

// A transfer that failed on the host's bus is repeated when its error is cleared.
static void clear_errors(void) {
  struct registers *r = registers();
  if (r->dma_read_state & DMA_ERRORS) failures++, r->dma_read_state = 0;
  if (r->dma_write_state & DMA_ERRORS) failures++, r->dma_write_state = 0;
}

__attribute__((noreturn)) void main(void) {
  registers()->mac_rx_state = MAC_ENABLE;
  notify(); // that the firmware is up
  for (;;) {
    fetch();
    send();
    receive();
    report();
    clear_errors();
  }
}
