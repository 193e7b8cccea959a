// The messages between the two processors, words in SRAM.  Every word has one writer, and whoever has written one
// sets an event of the other; only the event registers have two writers, and for them there are the hardware
// semaphores: semaphore A guards the events of A, B those of B.
#ifndef TIGON2_PARALLEL_MESSAGES_H
#define TIGON2_PARALLEL_MESSAGES_H

enum { COUNTERS = sizeof(((struct state *)0)->count) / sizeof(u32) };

// Events that the other processor sets: of A,
#define BUFFERS_READY_EVENT (1u << 9) // receive descriptors were fetched
#define INDEX_SENT_EVENT    (1u << 3) // notify the host of what has been sent, without an interrupt
// and of B.
#define BUFFERS_WANTED_EVENT (1u << 9) // fetched receive descriptors were used
#define REQUEST_EVENT        (1u << 8) // A requests something rare

enum second_request { TAKE_SETTINGS, SHOW_COUNTERS, CLEAR_COUNTERS, EMPTY_JUMBO_RING };

struct messages {
  // Written by B.
  volatile u32 alive;    // it runs
  volatile u32 ready[3]; // per receive ring: descriptors fetched
  volatile u32 sent;     // send index up to which everything has been transferred
  volatile u32 replies;  // requests carried out
  volatile u32 counter[COUNTERS];
  // Written by A.
  volatile u32 go;       // `initial` is complete
  volatile u32 taken[3]; // per receive ring: descriptors used
  volatile u32 request;
  struct state initial; // the state that B starts with
};
extern struct messages messages;

// A semaphore register: writing asks for it, or gives it back when held; reading says whether it is held.
static inline void lock(volatile u32 *semaphore) {
  do *semaphore = 1;
  while (!*semaphore);
}
static inline void unlock(volatile u32 *semaphore) {
  *semaphore = 1;
}

// Sets an event of the other processor.  What was written to memory before is there before the event is.
static inline void event_set_other(u32 bits) {
  volatile u32 *events = state->role.other_events, *semaphore = state->role.other_semaphore;
  lock(semaphore);
  *events |= bits;
  unlock(semaphore);
}

#endif
