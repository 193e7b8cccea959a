// How far a part may step, and how it waits; see exchange.h.
#include "lss/runtime/link/exchange.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LONGEST_SLEEP = 100 }; // milliseconds between looks whether the neighbours are alive

static uint64_t sum(uint64_t instant, uint64_t ticks) {
  return instant > UINT64_MAX - ticks ? UINT64_MAX : instant + ticks;
}

static void add_neighbour(Exchange *exchange, uint32_t part) {
  for (uint32_t i = 0; i < exchange->neighbour_count; i++)
    if (exchange->neighbours[i] == part) return;
  exchange->neighbours[exchange->neighbour_count++] = part;
}

bool exchange_begin(Exchange *exchange) {
  size_t largest = 1;
  exchange->least_cut = exchange->pending = UINT64_MAX;
  exchange->fault_link = UINT32_MAX;
  exchange->neighbours = calloc((size_t)exchange->in_count + exchange->out_count + 1, sizeof *exchange->neighbours);
  if (!exchange->neighbours) return false;
  for (uint32_t i = 0; i < exchange->in_count; i++) {
    const Ring *ring = &exchange->in[i].ring;
    if (ring->item_size > largest) largest = ring->item_size;
    if (ring->cut < exchange->least_cut) exchange->least_cut = ring->cut;
    add_neighbour(exchange, exchange->in[i].peer);
  }
  for (uint32_t i = 0; i < exchange->out_count; i++) add_neighbour(exchange, exchange->out[i].peer);
  return (exchange->item = malloc(largest)) != NULL;
}

void exchange_end(Exchange *exchange) {
  for (uint32_t i = 0; i < exchange->out_count; i++) free(exchange->out[i].spill.bytes);
  free(exchange->item);
  free(exchange->neighbours);
}

static bool set_fault(Exchange *exchange, const char *fault, uint32_t part, uint32_t link) {
  if (exchange->fault) return false;
  exchange->fault = fault;
  exchange->fault_part = part;
  exchange->fault_link = link;
  return false;
}

// ---- What is sent -------------------------------------------------------------------------------------------------

static size_t spilled_bytes(const ExchangeLink *link) {
  return sizeof(RingEntry) + link->ring.item_size;
}

static void spill(Exchange *exchange, ExchangeLink *link, RingEntry entry, const void *item) {
  ExchangeSpill *spill = &link->spill;
  const size_t size = spilled_bytes(link);
  if (spill->end + size > spill->room) {
    const size_t room = spill->room ? 2 * spill->room : 64 * size;
    uint8_t *grown = realloc(spill->bytes, room);
    if (!grown) {
      set_fault(exchange, "out of memory", exchange->board.own, UINT32_MAX);
      return;
    }
    spill->bytes = grown;
    spill->room = room;
  }
  memcpy(spill->bytes + spill->end, &entry, sizeof entry);
  memcpy(spill->bytes + spill->end + sizeof entry, item, link->ring.item_size);
  spill->end += size;
}

// Sends what is kept, as far as there is room.
static void send_spilled(ExchangeLink *link) {
  ExchangeSpill *spill = &link->spill;
  while (spill->first < spill->end) {
    RingEntry entry;
    memcpy(&entry, spill->bytes + spill->first, sizeof entry);
    if (!ring_send(&link->ring, entry.sent, entry.arrives, spill->bytes + spill->first + sizeof entry)) return;
    spill->first += spilled_bytes(link);
  }
  spill->first = spill->end = 0;
}

void exchange_send(Exchange *exchange, uint32_t link, uint64_t now, uint64_t arrives, const void *item) {
  ExchangeLink *out = &exchange->out[link];
  exchange->sent++;
  if (out->spill.end || !ring_send(&out->ring, now, arrives, item))
    spill(exchange, out, (RingEntry){now, arrives}, item);
}

// What was not sent yet arrives then at the earliest; UINT64_MAX: all was sent.
static uint64_t first_spilled(const ExchangeLink *link) {
  RingEntry entry;
  if (!link->spill.end) return UINT64_MAX;
  memcpy(&entry, link->spill.bytes + link->spill.first, sizeof entry);
  return entry.arrives;
}

// Nothing happens here before the instant `from`: who receives something from here gets to know.  True: all is sent.
static bool publish(Exchange *exchange, uint64_t from) {
  bool all = true;
  for (uint32_t i = 0; i < exchange->out_count; i++) {
    ExchangeLink *link = &exchange->out[i];
    send_spilled(link);
    const uint64_t promise = sum(from, link->ring.cut), spilled = first_spilled(link);
    if (link->ring.fault) set_fault(exchange, link->ring.fault, link->peer, exchange->in_count + i);
    all &= spilled == UINT64_MAX;
    if (ring_promise(&link->ring, promise < spilled ? promise : spilled)) board_wake(&exchange->board, link->peer);
  }
  return all;
}

// ---- What comes ---------------------------------------------------------------------------------------------------

// Takes what was sent over a link before `now`; returns the instant before which nothing else arrives over it.
static uint64_t take(Exchange *exchange, uint32_t number, uint64_t now) {
  ExchangeLink *link = &exchange->in[number];
  const uint64_t before = link->ring.place;
  RingEntry entry;
  uint64_t bound = 0;
  if (ring_look(&link->ring)) bound = link->ring.promise;
  while (ring_first(&link->ring, &entry, exchange->item)) {
    if (entry.arrives > link->latest) link->latest = entry.arrives; // each comes out behind the one ahead of it
    if (link->latest < exchange->relied)
      set_fault(exchange, "an item arrives before an instant that is over here", link->peer, number);
    if (entry.sent >= now || exchange->fault) {
      bound = entry.arrives;
      if (bound < exchange->pending) exchange->pending = bound;
      break;
    }
    if (!exchange->deliver(exchange->data, number, entry.arrives, exchange->item))
      set_fault(exchange, "more items are on their way than there is room for", exchange->board.own, number);
    ring_take(&link->ring);
  }
  if (link->ring.fault) set_fault(exchange, link->ring.fault, link->peer, number);
  if (link->ring.place != before) board_wake(&exchange->board, link->peer); // it may have waited for room
  return bound;
}

// Takes what has come, and works out the limit.
static void look(Exchange *exchange, uint64_t now) {
  const uint64_t nothing_before = board_nothing_before(&exchange->board);
  uint64_t least = UINT64_MAX;
  exchange->pending = UINT64_MAX;
  exchange->seen = 0;
  for (uint32_t i = 0; i < exchange->in_count; i++) {
    const uint64_t bound = take(exchange, i, now);
    if (bound < least) least = bound;
    exchange->seen += exchange->in[i].ring.other;
  }
  const uint64_t agreed = exchange->in_count ? sum(nothing_before, exchange->least_cut) : UINT64_MAX;
  if (agreed > least) least = agreed;
  if (exchange->pending < least) least = exchange->pending;
  const uint64_t end = board_end_at(&exchange->board);
  if (end < least) least = end;
  exchange->limit = exchange->fault || board_is_broken(&exchange->board) ? 0 : least;
}

// ---- Waiting ------------------------------------------------------------------------------------------------------

static uint64_t nanoseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// Whether a wait for the step of `now` is in vain.
static bool is_over(Exchange *exchange, uint64_t now) {
  return board_end_at(&exchange->board) <= now || (exchange->is_stopped && exchange->is_stopped(exchange->data));
}

static bool is_broken(const Exchange *exchange) {
  return exchange->fault || board_is_broken(&exchange->board);
}

static bool may_step(Exchange *exchange, uint64_t now) {
  return exchange->limit > now || is_over(exchange, now);
}

// What was sent before `now` arrives before all that is promised by senders that have come to it.
static bool has_all(Exchange *exchange, uint64_t now) {
  if (board_nothing_before(&exchange->board) >= now) return true;
  for (uint32_t i = 0; i < exchange->in_count; i++)
    if (exchange->in[i].ring.promise < sum(now, exchange->in[i].ring.cut)) return false;
  return true;
}

static bool look_for_dead(Exchange *exchange) {
  const uint32_t gone = board_look_for_dead(&exchange->board, exchange->neighbours, exchange->neighbour_count);
  if (gone == UINT32_MAX) return false;
  board_break(&exchange->board, gone);
  return !set_fault(exchange, "it is gone without a word", gone, UINT32_MAX);
}

static bool is_complete(Exchange *exchange, uint64_t until);

// A part that leaves promises first all that others need of it.  What it has not promised then, nobody does any more.
static void look_for_left(Exchange *exchange, uint64_t now, bool (*is_enough)(Exchange *, uint64_t now)) {
  for (uint32_t i = 0; i < exchange->in_count; i++) {
    const ExchangeLink *link = &exchange->in[i];
    if (!atomic_load(&exchange->board.seats[link->peer].over)) continue;
    look(exchange, now);
    const uint64_t needed = is_enough == is_complete ? sum(now, link->ring.cut) : sum(now, 1);
    if (!is_enough(exchange, now) && link->ring.promise < needed)
      set_fault(exchange, "it has left too early", link->peer, i);
  }
}

// What was not sent to parts that have left is not sent any more.
static void drop_spilled(Exchange *exchange) {
  for (uint32_t i = 0; i < exchange->out_count; i++) {
    ExchangeLink *link = &exchange->out[i];
    if (atomic_load(&exchange->board.seats[link->peer].over)) link->spill.first = link->spill.end = 0;
  }
}

// Nothing has come for a while.
static void look_for_lost(Exchange *exchange, uint64_t now, bool (*is_enough)(Exchange *, uint64_t now)) {
  if (look_for_dead(exchange)) return;
  drop_spilled(exchange);
  look_for_left(exchange, now, is_enough);
}

// Posts what this part does by itself, unless it is posted.  What acts now would let nobody go further than its promise
// does, so it is not posted.
static void post(Exchange *exchange, uint64_t now) {
  if (exchange->board.posted || exchange->own_known == exchange->seen) return;
  exchange->own_known = exchange->seen;
  uint64_t since = now, own = exchange->own(exchange->data, now, &since);
  if (exchange->pending < own) own = exchange->pending;
  if (own > now) board_post(&exchange->board, since, own, exchange->sent, exchange->seen);
}

// A part that rests does nothing before something comes, wherever its next instant is.
static uint64_t nothing_here_before(const Exchange *exchange, uint64_t now) {
  const bool rests = exchange->rests && exchange->rests(exchange->data);
  return rests && exchange->limit > now ? exchange->limit : now;
}

// Waits until it is enough for a part whose next instant is `now`, and all it has sent is in the rings.
static void wait_for(Exchange *exchange, uint64_t now, bool (*is_enough)(Exchange *, uint64_t now)) {
  const uint64_t began = nanoseconds();
  exchange->waits++;
  exchange->own_known = UINT64_MAX;
  for (uint32_t looks = 0;; looks++) {
    const bool sleeps = looks >= exchange->spin;
    const uint32_t ticket = sleeps ? board_ticket(&exchange->board) : 0;
    const uint64_t seen = exchange->seen;
    const bool all_sent = publish(exchange, nothing_here_before(exchange, now));
    look(exchange, now);
    if (is_broken(exchange) || (all_sent && is_enough(exchange, now))) break;
    // What was posted holds for what had been seen.
    if (exchange->board.posted && exchange->seen != seen) board_withdraw(&exchange->board);
    if (!sleeps) {
      __builtin_ia32_pause();
      continue;
    }
    if (all_sent) post(exchange, now);
    if (board_agree(&exchange->board)) {
      board_wake_all(&exchange->board);
      continue;
    }
    if (!board_sleep(&exchange->board, ticket, LONGEST_SLEEP)) look_for_lost(exchange, now, is_enough);
  }
  board_awake(&exchange->board);
  if (exchange->board.posted) board_withdraw(&exchange->board);
  exchange->waited_ns += nanoseconds() - began;
}

static bool has_spilled(const Exchange *exchange) {
  for (uint32_t i = 0; i < exchange->out_count; i++)
    if (exchange->out[i].spill.end) return true;
  return false;
}

uint64_t exchange_reach(Exchange *exchange, uint64_t now) {
  look(exchange, now);
  if (exchange->limit <= now || has_spilled(exchange)) wait_for(exchange, now, may_step);
  if (exchange->limit > exchange->relied) exchange->relied = exchange->limit;
  return exchange->limit;
}

static bool is_woken(Exchange *exchange, uint64_t now) {
  const Board *board = &exchange->board;
  return !exchange->rests(exchange->data) || is_over(exchange, now) || board_end_at(board) != UINT64_MAX ||
         board_nothing_before(board) == UINT64_MAX || (exchange->in_count && exchange->limit > exchange->rest_until);
}

void exchange_rest(Exchange *exchange, uint64_t now, uint64_t until) {
  exchange->rest_until = until;
  look(exchange, now);
  if (!is_broken(exchange) && !is_woken(exchange, now)) wait_for(exchange, now, is_woken);
}

// The run ends before an instant that this part has come to, since it has nothing to step in between.
static bool ends_before(const Exchange *exchange, uint64_t until) {
  return board_end_at(&exchange->board) < until;
}

static bool is_met(Exchange *exchange, uint64_t now) {
  const Board *board = &exchange->board;
  return board_all_met(board, exchange->meeting) || board_has_left(board, exchange->meeting) ||
         ends_before(exchange, now) || board_nothing_before(board) == UINT64_MAX ||
         (exchange->is_stopped && exchange->is_stopped(exchange->data));
}

bool exchange_attend(Exchange *exchange, uint64_t now, uint64_t n) {
  exchange->meeting = n;
  look(exchange, now);
  if (!is_broken(exchange) && !is_met(exchange, now)) wait_for(exchange, now, is_met);
  return !is_broken(exchange) && board_all_met(&exchange->board, n);
}

static bool is_complete(Exchange *exchange, uint64_t until) {
  return has_all(exchange, until) || ends_before(exchange, until);
}

bool exchange_complete(Exchange *exchange, uint64_t until) {
  const bool all_sent = publish(exchange, until);
  look(exchange, until);
  if (!is_broken(exchange) && (!all_sent || !is_complete(exchange, until))) wait_for(exchange, until, is_complete);
  return !is_broken(exchange) && !ends_before(exchange, until);
}

void exchange_pass(Exchange *exchange, uint64_t until) {
  while (!publish(exchange, until) && !is_broken(exchange)) {
    const uint32_t ticket = board_ticket(&exchange->board);
    if (publish(exchange, until)) break;
    if (!board_sleep(&exchange->board, ticket, LONGEST_SLEEP)) look_for_dead(exchange);
    drop_spilled(exchange);
  }
  board_awake(&exchange->board);
}
