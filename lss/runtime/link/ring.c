// A ring in shared memory; see ring.h.
#include "lss/runtime/link/ring.h"

#include <string.h>

// However few items a receiver holds, a sender runs ahead by more.
enum { LEAST_ENTRIES = 64, LINE = 64 };

// The sender may be as far ahead as the cut allows: items of two flights are on their way then.
static uint32_t capacity_for(uint32_t slots) {
  uint32_t capacity = LEAST_ENTRIES;
  while (capacity < UINT32_C(1) << 30 && capacity / 2 < slots) capacity *= 2;
  return capacity;
}

static uint32_t stride_for(uint32_t item_size) {
  return (uint32_t)sizeof(RingEntry) + (item_size + 7) / 8 * 8;
}

size_t ring_bytes(uint32_t item_size, uint32_t slots) {
  const size_t entries = (size_t)capacity_for(slots) * stride_for(item_size);
  return sizeof(RingMemory) + (entries + LINE - 1) / LINE * LINE;
}

void ring_attach(Ring *ring, void *memory, uint32_t item_size, uint32_t slots, uint64_t cut) {
  *ring = (Ring){.memory = memory,
                 .cut = cut,
                 .item_size = item_size,
                 .stride = stride_for(item_size),
                 .capacity = capacity_for(slots)};
}

static uint8_t *entry_at(const Ring *ring, uint64_t place) {
  return ring->memory->entries + (size_t)(place % ring->capacity) * ring->stride;
}

static bool refuse(Ring *ring, const char *fault) {
  if (!ring->fault) ring->fault = fault;
  return false;
}

// ---- The sender

// How far the receiver is.
static bool look_at_head(Ring *ring) {
  const uint64_t head = atomic_load_explicit(&ring->memory->head, memory_order_acquire);
  if (ring->fault) return false;
  if (head < ring->other) return refuse(ring, "the receiver went back");
  if (head > ring->place) return refuse(ring, "the receiver took more than was sent");
  ring->other = head;
  return true;
}

static bool is_full(const Ring *ring) {
  return ring->place - ring->other == ring->capacity;
}

// Whether there is room after all.  Who takes entries looks at the word afterwards, so that one of the two sees the
// other.
static bool finds_room(Ring *ring) {
  if (!look_at_head(ring)) return false;
  if (is_full(ring)) {
    atomic_store(&ring->memory->lacks_room, 1);
    if (!look_at_head(ring) || is_full(ring)) return false;
  }
  atomic_store_explicit(&ring->memory->lacks_room, 0, memory_order_relaxed);
  return true;
}

bool ring_send(Ring *ring, uint64_t sent, uint64_t arrives, const void *item) {
  if (is_full(ring) && !finds_room(ring)) return false;
  uint8_t *at = entry_at(ring, ring->place);
  memcpy(at, &(RingEntry){sent, arrives}, sizeof(RingEntry));
  memcpy(at + sizeof(RingEntry), item, ring->item_size);
  atomic_store_explicit(&ring->memory->tail, ++ring->place, memory_order_release);
  return true;
}

uint64_t ring_oldest(Ring *ring) {
  if (!look_at_head(ring) || ring->other == ring->place) return UINT64_MAX;
  RingEntry entry;
  memcpy(&entry, entry_at(ring, ring->other), sizeof entry);
  return entry.sent;
}

uint64_t ring_taken(Ring *ring) {
  look_at_head(ring);
  return ring->other;
}

void ring_promise(Ring *ring, uint64_t instant) {
  if (instant <= ring->promise) return;
  ring->promise = instant;
  atomic_store_explicit(&ring->memory->promise, instant, memory_order_release);
}

bool ring_helps(const Ring *ring, uint64_t ticks) {
  const uint64_t needs = atomic_load_explicit(&ring->memory->needs, memory_order_relaxed);
  return ring->promise > needs && ring->promise - needs > ticks;
}

// ---- The receiver

bool ring_look(Ring *ring) {
  if (ring->fault) return false;
  const uint64_t promise = atomic_load_explicit(&ring->memory->promise, memory_order_acquire);
  const uint64_t tail = atomic_load_explicit(&ring->memory->tail, memory_order_acquire);
  if (promise < ring->promise) return refuse(ring, "the sender took a promise back");
  if (tail < ring->other) return refuse(ring, "the sender took items back");
  if (tail - ring->place > ring->capacity) return refuse(ring, "the sender wrote more items than there is room for");
  ring->promise = promise;
  ring->other = tail;
  return true;
}

static const void *refuse_entry(Ring *ring, const char *fault) {
  refuse(ring, fault);
  return NULL;
}

const void *ring_first(Ring *ring, RingEntry *entry) {
  if (ring->fault || ring->place == ring->other) return NULL;
  const uint8_t *at = entry_at(ring, ring->place);
  memcpy(entry, at, sizeof *entry);
  if (entry->sent < ring->sent) return refuse_entry(ring, "an item was sent before the one ahead of it");
  if (entry->arrives < entry->sent || entry->arrives - entry->sent < ring->cut)
    return refuse_entry(ring, "an item arrives sooner than the link takes");
  ring->sent = entry->sent;
  return at + sizeof *entry;
}

void ring_take(Ring *ring) {
  atomic_store_explicit(&ring->memory->head, ++ring->place, memory_order_release);
}

bool ring_lacks_room(const Ring *ring) {
  return atomic_load_explicit(&ring->memory->lacks_room, memory_order_relaxed);
}

void ring_need(Ring *ring, uint64_t instant) {
  atomic_store_explicit(&ring->memory->needs, instant, memory_order_relaxed);
}

bool ring_promises(const Ring *ring, uint64_t instant) {
  return atomic_load_explicit(&ring->memory->promise, memory_order_relaxed) > instant;
}
