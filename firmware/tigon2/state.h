// The firmware's working state, all of it in the scratchpad and reached through the global pointer: a field costs one
// instruction and one cycle.  The mask of enabled events is kept in k0, which compilers leave alone, for the dispatch
// loop.
//
// Indices into the host's rings count on without wrapping unless it says otherwise.
#ifndef TIGON2_STATE_H
#define TIGON2_STATE_H

#include "engine.h"
#include "machine.h"

#define SCRATCHPAD_CODE __attribute__((section(".scratchpad.text")))
// What only some hosts need; with work added there is no room for it in the scratchpad; for what runs less often
// there is room in the larger one.
#ifdef EXTRA_WORK
#define CHECKSUMS
#define CHECKSUMS_RARE
#else
#define CHECKSUMS      __attribute__((section(".checksums.text")))
#define CHECKSUMS_RARE __attribute__((section(".checksums.rare")))
#endif

// Buffers that the host gave for received frames: descriptors are fetched ahead into a cache in SRAM, filled in
// there and sent back from there, so they are never copied.  The cache is larger than what is fetched ahead by
// more than the DMA write ring can hold, so an entry has been sent back before it is fetched again.
struct receive_ring {
  struct host_address address;
  u32 entries_mask; // entries of the host's ring - 1
  u32 max_length;   // longest frame a buffer takes; 0 without the ring
  u32 cache;        // SRAM address
  u32 taken;        // used for frames
  u32 ready;        // fetched
  u32 requested;    // their fetch was queued
  u32 posted;       // given by the host
  u32 watch;        // what the end of a fetch is notified as; also distinguishes the rings
  u32 reported;     // `taken` as another processor knows it
};

enum {
  RECEIVE_CACHE = 256, // entries; a power of two
  RECEIVE_AHEAD = 128, // fetched ahead, at most
  RECEIVE_FETCH = 16,  // in one transfer, at most
  RECEIVE_ENOUGH = 32, // with so many ready, only a full transfer pays off
  SEND_CACHE = 128,
  SEND_FETCH = 32,
  SEND_ENOUGH = 16,  // with so many ready, half of that at least
  RECEIVE_BATCH = 8, // frames handled before other events are served
  SEND_BATCH = 16,   // descriptors handled likewise
};

// What is to be done when a certain entry of the DMA read ring is complete.
enum watch_kind {
  WATCH_STANDARD,
  WATCH_JUMBO,
  WATCH_MINI,
  WATCH_SEND,
  WATCH_SENT,
  WATCH_SENT_QUIET,
  WATCH_ROOM,
  WATCH_EXTENSION
};

// What makes one processor differ from the other: registers of its own and of the other one, and what it serves.
struct role {
  volatile u32 *mailboxes, *compare;
  u32 serves; // mailboxes, as bits
  // For firmware whose processors set each other's events.
  volatile u32 *events, *semaphore;
  volatile u32 *other_events, *other_semaphore;
};

// Frames of a host that asks for checksums on its send ring: they are held back from the MAC until these are in.  And
// where that ring is read.
struct held {
  u32 first, last; // send indices: of the oldest frame, and behind the newest
  u32 start;       // where the oldest one begins
  u32 piece;       // bits of the control word of each piece; 0: nothing is held, since nobody asks for checksums
  u32 end;         // and of a frame's last one
  u32 ring, mask;  // where descriptors are, and the bytes of that memory - 1; 0: in the cache
};

struct state {
  struct role role;

  // DMA rings: where the next descriptor goes.
  u32 read_next, write_next;
  u32 data_control, descriptor_control; // control words for frame data and for descriptors
  u32 watch_head, watch_tail;           // of watch[]
  u32 interrupt_at;                     // entry of the write ring after which to interrupt, | 1; without 1 only wake up
  u32 interrupt_later;                  // another one behind it, or 0
  u32 read_waiting;                     // somebody waits for room in the read ring
  u32 blocked;                          // events that wait for room in the write ring
  u32 events;                           // software bits of the event register

  // Receive.
  u32 mac_receive_next;
  struct receive_ring standard, jumbo, mini;
  struct host_address returns, return_producer;
  u32 returns_mask; // entries of the return ring - 1
  u32 returned;     // index in the return ring, wrapped
  u32 unreported;   // frames returned since the host was notified
  u32 max_unreported;
  u32 received_ticks;
  u32 receive_flags; // of the standard ring

  // Send.
  struct host_address sends, send_consumer;
  u32 sends_mask;
  u32 send_taken, send_ready, send_requested, send_posted;
  u32 send_fetching;
  u32 send_cache;
  u32 mac_send_next;
  u32 send_buffer_next; // where the next piece goes
  u32 send_buffer_base, send_buffer_end;
  u32 frame_start, frame_length; // of the frame in progress; length 0 between frames
  u32 skipping;                  // the rest of the frame in progress is passed over
  u32 send_countdown;            // descriptors until the host is notified
  u32 max_unsent;
  u32 sent_ticks;
  u32 send_flags;

  // Time: which deadlines run, and when.
  u32 deadlines;
  u32 compare;     // what the compare register holds
  u32 deadline[3]; // receive, send, statistics

  struct {
    u32 frames_in, bytes_in_high, bytes_in, frames_out, bytes_out_high, bytes_out, dropped_long, dropped_send;
    u32 interrupts, events_lost, commands_bad, dma_errors[FAILED_WAYS], waits_for_buffers;
  } count;

  struct engine engine; // rings carried out by this processor, when nothing else does it
  u32 running;          // the host said it is up
  u32 local_control;
  u32 interrupt_pending;
  u32 event_index;
  struct host_address event_ring, event_producer, statistics;

  u32 watch[64];   // entry of the read ring | kind, oldest first
  u32 sent_at[64]; // per entry of the read ring: send index that is complete once all before it are

  struct held held;
};

// The value is worked out here, between the stores before and after: a store to SRAM takes some ten cycles,
// in which another one would wait and this does not.
#define MEANWHILE(value) __asm__ volatile("" : "+r"(value))

// Bits of `deadlines`, in the order of `deadline`.
enum { DEADLINE_RECEIVE = 1, DEADLINE_SEND = 2, DEADLINE_STATISTICS = 4 };

extern struct state firmware_state;
register struct state *const state __asm__("$28");

static inline void events_enable(u32 bits) {
  __asm__ volatile("or $26, $26, %0" : : "r"(bits));
}
static inline void events_disable(u32 bits) {
  __asm__ volatile("and $26, $26, %0" : : "r"(~bits));
}

// The instruction in a dispatch table that lets `handler` serve an event.
static inline u32 jump_to(void (*handler)(void)) {
  return 2u << 26 | ((u32)handler >> 2 & 0x3ffffff);
}

// read_ring.c
void watch_read(u32 entry, u32 kind);
void wait_for_read_room(void);
void dma_read_done(void);
u32 sent_index(void);

// write_ring.c
void wait_for_write_room(u32 events);
void interrupt_after(u32 entry);
void raise_interrupt(void);
void dma_write_done(void);

// receive.c
void receive(void);
void choose_receive(void);

// send.c
void send(void);
void choose_send(void);
void report_sent(void);

// fetch.c
void fetch_receive(struct receive_ring *ring);
void fetch_send(void);

// report.c
void report_received(void);
void queue_received_report(u32 due);
void queue_sent_report(u32 index, u32 due);

// mailbox.c
void mailbox(void);
void mailbox_of_nic_ring(void);

// time.c
void timer(void);
void start_deadline(u32 which, u32 ticks);

// engine.c
void drive_rings(void);

// From here on, what is rare and stays in SRAM.  host_event.c
void host_event(u32 event, u32 code);
void dma_read_attention(void);
void dma_write_attention(void);
void mac_attention(void);

// command.c
void mailbox_rare(u32 pending);
void invalidate_posted(struct receive_ring *ring);
void set_mac_address(void);

extern u32 jumbo_length; // max_length of that ring, also while the host has taken its buffers back

// multicast.c
void set_promiscuous(u32 on);
void set_all_groups(u32 on);
void change_group(u32 join);

// second.c: processor B.
void start_second(void);
u32 second_drives_rings(void);
void start_roles(void);

// statistics.c
void send_statistics(void);
void clear_statistics(void);

// start.S: from here on events are served, for ever.
void dispatch(void) __attribute__((noreturn));
void dispatch_and_drive_rings(void) __attribute__((noreturn));

// The folder of a firmware says who does what, what there is besides the host's rings, and whether frames cost more
// than they need to.
#include <extension.h>
#include <roles.h>
#ifdef EXTRA_WORK
#include <extra_work.h>
#else
static inline void extra_receive_work(void) {}
static inline void extra_send_work(void) {}
#endif

#endif
