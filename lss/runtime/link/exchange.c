// How far a part may step, and how it waits; see exchange.h.
#include "lss/runtime/link/exchange.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  LONGEST_SLEEP = 100, // milliseconds between looks whether the neighbours are alive
  PARTS_OF_CUT = 2,    // promises on the way in a cut
  MOST_PAUSE = 64      // waits without a look at what is lacking, after many in vain
};

static uint64_t sum(uint64_t instant, uint64_t ticks) {
  return instant > UINT64_MAX - ticks ? UINT64_MAX : instant + ticks;
}

static void add_neighbour(Exchange *exchange, uint32_t part) {
  for (uint32_t i = 0; i < exchange->neighbour_count; i++)
    if (exchange->neighbours[i] == part) return;
  exchange->neighbours[exchange->neighbour_count++] = part;
}

bool exchange_begin(Exchange *exchange) {
  uint64_t least_out = UINT64_MAX;
  exchange->least_cut = exchange->pending = UINT64_MAX;
  exchange->lacking = exchange->needing = exchange->in_count;
  exchange->fault_link = UINT32_MAX;
  exchange->neighbours = calloc((size_t)exchange->in_count + exchange->out_count + 1, sizeof *exchange->neighbours);
  if (!exchange->neighbours) return false;
  for (uint32_t i = 0; i < exchange->in_count; i++) {
    Ring *ring = &exchange->in[i].ring;
    if (ring->cut < exchange->least_cut) exchange->least_cut = ring->cut;
    if (ring->cut > exchange->greatest_cut) exchange->greatest_cut = ring->cut;
    ring_need(ring, UINT64_MAX);
    add_neighbour(exchange, exchange->in[i].peer);
  }
  for (uint32_t i = 0; i < exchange->out_count; i++) {
    if (exchange->out[i].ring.cut < least_out) least_out = exchange->out[i].ring.cut;
    add_neighbour(exchange, exchange->out[i].peer);
  }
  exchange->stride = least_out == UINT64_MAX ? least_out : (least_out + PARTS_OF_CUT - 1) / PARTS_OF_CUT;
  return true;
}

void exchange_end(Exchange *exchange) {
  for (uint32_t i = 0; i < exchange->out_count; i++) free(exchange->out[i].spill.bytes);
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
  exchange->spilled = true;
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
  out->fresh = true;
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

// Whether looks at what is lacking find it in time, so that the neighbours seem to run on cores of their own.
static bool looks_pay(const Exchange *exchange) {
  return exchange->spin && !exchange->in_vain;
}

// Whether it is time to wake who receives from here, and may sleep.  Who goes on itself wakes one that can go as far as
// it has come, if both can go on at the same time, and else one that has fallen so far behind as nobody can be who
// sends something back.
static bool is_to_be_woken(const Exchange *exchange, const ExchangeLink *link, bool waits) {
  const uint64_t cut = link->ring.cut;
  if (waits) return link->fresh || ring_helps(&link->ring, 0); // fresh: what it has posted may no longer hold
  return ring_helps(&link->ring, looks_pay(exchange) ? cut - 1 : sum(cut, exchange->greatest_cut));
}

// Nothing happens here before the instant `from`: who receives something from here gets to know.  True: all is sent.
static bool publish(Exchange *exchange, uint64_t from, bool waits) {
  bool all = true;
  for (uint32_t i = 0; i < exchange->out_count; i++) {
    ExchangeLink *link = &exchange->out[i];
    send_spilled(link);
    const uint64_t promise = sum(from, link->ring.cut), spilled = first_spilled(link);
    if (link->ring.fault) set_fault(exchange, link->ring.fault, link->peer, exchange->in_count + i);
    all &= spilled == UINT64_MAX;
    ring_promise(&link->ring, promise < spilled ? promise : spilled);
  }
  exchange->spilled = !all;
  exchange->publish_at = sum(from, exchange->stride);
  atomic_thread_fence(memory_order_seq_cst); // what was written comes before the looks at who sleeps
  for (uint32_t i = 0; i < exchange->out_count; i++) {
    ExchangeLink *link = &exchange->out[i];
    if (is_to_be_woken(exchange, link, waits)) board_wake(&exchange->board, link->peer);
    if (waits) link->fresh = false;
  }
  return all;
}

// ---- What comes ---------------------------------------------------------------------------------------------------

static void notify_of_room(Exchange *exchange, const ExchangeLink *link) {
  atomic_thread_fence(memory_order_seq_cst); // what was taken comes before the look at who waits for it
  if (ring_lacks_room(&link->ring)) board_wake(&exchange->board, link->peer);
}

// Takes what was sent over a link before `now`; returns the instant before which nothing else arrives over it.
static uint64_t take(Exchange *exchange, uint32_t number, uint64_t now) {
  ExchangeLink *link = &exchange->in[number];
  const uint64_t before = link->ring.place;
  RingEntry entry;
  uint64_t bound = 0;
  if (ring_look(&link->ring)) bound = link->ring.promise;
  for (const void *item; (item = ring_first(&link->ring, &entry));) {
    if (entry.arrives > link->latest) link->latest = entry.arrives; // each comes out behind the one ahead of it
    if (link->latest < exchange->relied)
      set_fault(exchange, "an item arrives before an instant that is over here", link->peer, number);
    if (entry.sent >= now || exchange->fault) {
      bound = entry.arrives;
      if (bound < exchange->pending) exchange->pending = bound;
      break;
    }
    if (!exchange->deliver(exchange->data, number, &entry, item))
      set_fault(exchange, "more items are on their way than there is room for", exchange->board.own, number);
    ring_take(&link->ring);
  }
  if (link->ring.fault) set_fault(exchange, link->ring.fault, link->peer, number);
  if (link->ring.place != before) notify_of_room(exchange, link);
  return bound;
}

// The limit, where nothing comes before `least` that is not known yet.
static void set_limit(Exchange *exchange, uint64_t least, uint64_t nothing_before) {
  const uint64_t agreed = exchange->in_count ? sum(nothing_before, exchange->least_cut) : UINT64_MAX;
  if (agreed > least) least = agreed;
  if (exchange->pending < least) least = exchange->pending;
  const uint64_t end = board_end_at(&exchange->board);
  if (end < least) least = end;
  exchange->limit = exchange->fault || board_is_broken(&exchange->board) ? 0 : least;
}

// Takes what has come, and works out the limit.
static void look(Exchange *exchange, uint64_t now) {
  const uint64_t nothing_before = board_nothing_before(&exchange->board);
  uint64_t least = UINT64_MAX;
  exchange->pending = UINT64_MAX;
  exchange->seen = 0;
  exchange->lacking = exchange->in_count;
  exchange->lacked = now;
  for (uint32_t i = 0; i < exchange->in_count; i++) {
    const uint64_t bound = take(exchange, i, now);
    if (bound < least) least = bound, exchange->lacking = i;
    exchange->seen += exchange->in[i].ring.other;
  }
  set_limit(exchange, least, nothing_before);
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
  for (uint32_t i = 0; i < exchange->in_count; i++) {
    const uint64_t passed = sum(now, exchange->in[i].ring.cut);
    if (exchange->in[i].ring.promise >= passed) continue;
    exchange->lacking = i;
    exchange->lacked = passed - 1;
    return false;
  }
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

// Looks for a while whether what is lacking comes, unless that was in vain lately: each time in vain doubles the waits
// without a look that follow.  True: it has come.
static bool spins(Exchange *exchange) {
  if (exchange->lacking == exchange->in_count || !exchange->spin) return false;
  if (exchange->pause && exchange->pause--) return false;
  const Ring *ring = &exchange->in[exchange->lacking].ring;
  for (uint32_t looks = 0; looks < exchange->spin; looks++) {
    if (ring_promises(ring, exchange->lacked)) {
      exchange->in_vain = 0;
      return true;
    }
    __builtin_ia32_pause();
  }
  exchange->in_vain = exchange->in_vain ? 2 * exchange->in_vain : 1;
  if (exchange->in_vain > MOST_PAUSE) exchange->in_vain = MOST_PAUSE;
  exchange->pause = exchange->in_vain;
  return false;
}

// Lets the neighbours know what this part lacks when it sleeps.  False: they know it already.
static bool posts_need(Exchange *exchange, uint32_t lacking) {
  if (exchange->needing == lacking) return false;
  if (exchange->needing != exchange->in_count) ring_need(&exchange->in[exchange->needing].ring, UINT64_MAX);
  if (lacking != exchange->in_count) ring_need(&exchange->in[lacking].ring, exchange->lacked);
  exchange->needing = lacking;
  return true;
}

// Waits until it is enough for a part whose next instant is `now`, and all it has sent is in the rings.
static void wait_for(Exchange *exchange, uint64_t now, bool (*is_enough)(Exchange *, uint64_t now)) {
  const uint64_t began = nanoseconds();
  bool all_sent = publish(exchange, nothing_here_before(exchange, now), true);
  exchange->waits++;
  exchange->own_known = UINT64_MAX;
  for (bool sleeps = false;;) {
    const uint32_t ticket = sleeps ? board_ticket(&exchange->board) : 0;
    const uint64_t seen = exchange->seen;
    const bool rests = exchange->rests && exchange->rests(exchange->data); // its promise grows with those that come
    if (!all_sent || rests) all_sent = publish(exchange, nothing_here_before(exchange, now), true);
    look(exchange, now);
    if (is_broken(exchange) || (all_sent && is_enough(exchange, now))) break;
    // What was posted holds for what had been seen.
    if (exchange->board.posted && exchange->seen != seen) board_withdraw(&exchange->board);
    if (!sleeps && all_sent && spins(exchange)) continue;
    if (posts_need(exchange, exchange->lacking) || !sleeps) {
      sleeps = true;
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
  posts_need(exchange, exchange->in_count);
  if (exchange->board.posted) board_withdraw(&exchange->board);
  exchange->waited_ns += nanoseconds() - began;
}

// Whether the limit that was worked out last still holds, and lets a part step that has sent all.
static bool is_within_limit(const Exchange *exchange, uint64_t now) {
  const Board *board = &exchange->board;
  return now < exchange->limit && !exchange->spilled && board_end_at(board) >= exchange->limit &&
         !board_is_broken(board);
}

uint64_t exchange_reach(Exchange *exchange, uint64_t now) {
  if (now >= exchange->publish_at) publish(exchange, now, false);
  if (is_within_limit(exchange, now)) return exchange->limit;
  look(exchange, now);
  if (exchange->limit <= now || exchange->spilled) wait_for(exchange, now, may_step);
  if (exchange->limit > exchange->relied) exchange->relied = exchange->limit;
  return exchange->limit;
}

// What lets a part go on is not a promise: it sleeps until any goes further than the least one does now, as its own may
// follow from that.
static void lack_more(Exchange *exchange) {
  const uint32_t least = exchange->lacking;
  if (least != exchange->in_count) exchange->lacked = exchange->in[least].ring.promise;
}

static bool is_woken(Exchange *exchange, uint64_t now) {
  const Board *board = &exchange->board;
  lack_more(exchange);
  return !exchange->rests(exchange->data) || is_over(exchange, now) || board_end_at(board) != UINT64_MAX ||
         board_nothing_before(board) == UINT64_MAX || (exchange->in_count && exchange->limit > exchange->rest_until);
}

// Nothing is taken here: what has come and was not seen lets the sums differ.  Hosts cannot agree at once; they do
// while their parts wait.
uint64_t exchange_reach_on(Exchange *exchange, uint64_t now, uint64_t own) {
  if (exchange->pending < own) own = exchange->pending;
  if (own > now && !exchange->spilled) {
    const uint64_t since = own == UINT64_MAX ? UINT64_MAX : now; // the loop at hand: nothing ends it
    if (!board_is_carried(&exchange->board)) {
      board_post(&exchange->board, since, own, exchange->sent, exchange->seen);
      if (board_agree(&exchange->board)) board_wake_all(&exchange->board);
      board_withdraw(&exchange->board);
    }
    set_limit(exchange, exchange->limit, board_nothing_before(&exchange->board));
    if (exchange->limit > exchange->relied) exchange->relied = exchange->limit;
  }
  return exchange->limit;
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
  lack_more(exchange);
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
  const bool all_sent = publish(exchange, until, true);
  look(exchange, until);
  if (!is_broken(exchange) && (!all_sent || !is_complete(exchange, until))) wait_for(exchange, until, is_complete);
  return !is_broken(exchange) && !ends_before(exchange, until);
}

// Nothing that comes is needed here any more: it is taken, so that those who send it need not wait for room.
static void discard(Exchange *exchange) {
  for (uint32_t i = 0; i < exchange->in_count; i++) {
    ExchangeLink *link = &exchange->in[i];
    const uint64_t before = link->ring.place;
    RingEntry entry;
    if (!ring_look(&link->ring)) continue;
    while (ring_first(&link->ring, &entry)) ring_take(&link->ring);
    if (link->ring.place != before) notify_of_room(exchange, link);
  }
}

void exchange_pass(Exchange *exchange, uint64_t until) {
  while (!publish(exchange, until, true) && !is_broken(exchange)) {
    const uint32_t ticket = board_ticket(&exchange->board);
    discard(exchange);
    if (publish(exchange, until, true)) break;
    if (!board_sleep(&exchange->board, ticket, LONGEST_SLEEP)) look_for_dead(exchange);
    drop_spilled(exchange);
  }
  board_awake(&exchange->board);
}
