// Messages between hosts; see carrier.h.
#include "lss/runtime/carrier/carrier.h"

#include "lss/runtime/carrier/transport.h"

#include <stdlib.h>
#include <string.h>

enum {
  LARGEST = 1 << 17, // bytes of a message, beyond which nothing is added
  MOST_TURNS = 16,   // in which promises are held back
  MOST_PAUSE = 64    // waits without that, after many in vain
};

// What a message begins with.  Behind it are so many records of links that leave, of links that come, and changes of
// seats.
typedef struct {
  uint32_t leaving, coming, changes;
  uint32_t broken;        // of the board
  uint32_t stopped, last; // of the carrier
  uint32_t end, end_seat;
  uint64_t end_at;
  char reason[BOARD_REASON];
} Head;

// Of a link that leaves: with so many entries behind it, each a RingEntry and an item.
typedef struct {
  uint32_t link, count;
  uint64_t promise;
} Leaving;

// Of a link that comes.
typedef struct {
  uint32_t link, pad;
  uint64_t taken;
} Coming;

static int by_host_and_number(const void *a, const void *b) {
  const CarriedLink *one = a, *other = b;
  if (one->host != other->host) return one->host < other->host ? -1 : 1;
  return one->number < other->number ? -1 : one->number > other->number;
}

bool carrier_begin(Carrier *carrier, uint32_t process) {
  carrier->fault_link = UINT32_MAX;
  carrier->others = calloc(carrier->host_count, sizeof *carrier->others);
  carrier->parts = calloc(carrier->board.count, sizeof *carrier->parts);
  carrier->known = calloc(carrier->board.count, sizeof *carrier->known);
  if (!carrier->others || !carrier->parts || !carrier->known) return false;
  qsort(carrier->links, carrier->link_count, sizeof *carrier->links, by_host_and_number);
  for (uint32_t i = 0; i < carrier->link_count; i++) {
    OtherHost *other = &carrier->others[carrier->links[i].host];
    if (!other->link_count++) other->links = &carrier->links[i];
  }
  for (uint32_t i = 0; i < carrier->board.count; i++) {
    if (carrier->host_of[i] == carrier->host)
      carrier->parts[carrier->part_count++] = i;
    else
      board_carry(&carrier->board, i, process);
  }
  for (uint32_t i = 0; i < carrier->host_count; i++)
    if (!(carrier->others[i].leaving = calloc(carrier->part_count + 1, sizeof(uint32_t)))) return false;
  return true;
}

void carrier_end(Carrier *carrier) {
  for (uint32_t i = 0; carrier->others && i < carrier->host_count; i++) {
    parcel_free(&carrier->others[i].parcel);
    free(carrier->others[i].leaving);
  }
  free(carrier->others);
  free(carrier->parts);
  changes_free(&carrier->changes);
  free(carrier->known);
}

static void set_fault(Carrier *carrier, const char *fault, uint32_t host, uint32_t link) {
  if (carrier->fault) return;
  carrier->fault = fault;
  carrier->fault_host = host;
  carrier->fault_link = link;
}

// Whether nothing that a part of this host has sent is wanted any more.
static bool is_over(Carrier *carrier, uint32_t part) {
  return atomic_load(&carrier->board.seats[part].over) || board_is_broken(&carrier->board);
}

// ---- What leaves --------------------------------------------------------------------------------------------------

// What came over a ring since the last look is known here: only more than that is worth a wake.
static bool look(Ring *ring) {
  const uint64_t before = ring->promise;
  const bool fine = ring_look(ring);
  if (ring->promise != before) ring_need(ring, ring->promise);
  return fine;
}

// Adds the entries that were written, as far as there is room, here and at the other end.
static void pack_entries(Carrier *carrier, CarriedLink *link, Parcel *parcel, Leaving *record) {
  Ring *ring = &link->ring;
  const uint64_t before = ring->place;
  RingEntry entry;
  link->all_said = true;
  for (const void *item; (item = ring_first(ring, &entry)); ring_take(ring)) {
    const bool fits = ring->place - link->taken < ring->capacity;
    link->all_said = is_over(carrier, link->peer) || (fits && parcel->size < LARGEST);
    if (!link->all_said) {
      if (entry.arrives < record->promise) record->promise = entry.arrives;
      break;
    }
    if (!fits) continue; // nobody wants it
    parcel_add(parcel, &entry, sizeof entry);
    parcel_add(parcel, item, ring->item_size);
    record->count++;
  }
  if (ring->place == before) return;
  atomic_thread_fence(memory_order_seq_cst); // what was taken comes before the look at who waits for it
  if (ring_lacks_room(ring)) board_wake(&carrier->board, link->part);
}

// Adds what is new on a link.
static void pack_leaving(Carrier *carrier, CarriedLink *link, Parcel *parcel, Head *head) {
  Leaving record = {link->number, 0, 0};
  if (look(&link->ring)) record.promise = link->ring.promise;
  const size_t at = parcel_add(parcel, &record, sizeof record);
  pack_entries(carrier, link, parcel, &record);
  if (link->ring.fault) set_fault(carrier, link->ring.fault, carrier->host, link->number);
  const bool is_held = carrier->holds_back && record.promise > link->said;
  if (!record.count && (is_held || record.promise <= link->said)) {
    link->all_said &= !is_held;
    parcel_cut(parcel, at);
    return;
  }
  if (record.promise > link->said) link->said = record.promise;
  parcel_set(parcel, at, &record, sizeof record);
  head->leaving++;
}

// Adds how much of what came was taken.  It is said when a quarter of the ring was, or with something else.
static void pack_coming(Carrier *carrier, CarriedLink *link, Parcel *parcel, Head *head) {
  const uint64_t taken = ring_taken(&link->ring);
  if (link->ring.fault) set_fault(carrier, link->ring.fault, carrier->host, link->number);
  if (taken - link->taken < (parcel->size > sizeof(Head) ? 1 : link->ring.capacity / 4)) return;
  parcel_add(parcel, &(Coming){link->number, 0, taken}, sizeof(Coming));
  link->taken = taken;
  head->coming++;
}

// Adds the end of the run, as this board has it.  True: the host does not know it yet.
static bool pack_end(Carrier *carrier, OtherHost *other, Head *head) {
  uint32_t seat = 0;
  const BoardEnd how =
      board_end_at(&carrier->board) == UINT64_MAX ? BOARD_RUNS : board_end_reason(&carrier->board, &seat, head->reason);
  if (how != BOARD_RUNS) {
    head->end = how;
    head->end_seat = seat;
    head->end_at = atomic_load(&carrier->board.seats[seat].end_at);
  }
  head->broken = atomic_load(&carrier->board.memory->broken);
  head->stopped = carrier->stopped;
  const bool known = head->end == other->end && head->end_seat == other->end_seat && head->end_at == other->end_at &&
                     head->broken == other->broken && head->stopped == other->stopped;
  other->end = head->end;
  other->end_seat = head->end_seat;
  other->end_at = head->end_at;
  other->broken = head->broken;
  other->stopped = head->stopped;
  return !known;
}

static bool has_said_all(const OtherHost *other, uint32_t part) {
  for (uint32_t i = 0; i < other->link_count; i++)
    if (other->links[i].leaves && other->links[i].part == part && !other->links[i].all_said) return false;
  return true;
}

// Adds what the host does not know of the parts of this one.
static void pack_changes(Carrier *carrier, OtherHost *other, Parcel *parcel, Head *head) {
  const Changes *changes = &carrier->changes;
  head->changes = (uint32_t)(changes->count - other->changes);
  if (head->changes) parcel_add(parcel, changes->list + other->changes, head->changes * sizeof *changes->list);
  other->changes = changes->count;
  for (uint32_t i = other->leaving_count; i-- > 0;) {
    const uint32_t part = other->leaving[i];
    if (!has_said_all(other, part)) continue;
    parcel_add(parcel, &(Change){part, CHANGE_LEFT, 0, {0}}, sizeof(Change));
    head->changes++;
    other->leaving[i] = other->leaving[--other->leaving_count];
  }
}

// True: there is something to send.
static bool pack(Carrier *carrier, uint32_t host) {
  OtherHost *other = &carrier->others[host];
  Parcel *parcel = &other->parcel;
  Head head = {0};
  bool all = carrier->exited; // before the last look at what they have left
  parcel_clear(parcel);
  parcel_add(parcel, NULL, sizeof head);
  for (uint32_t i = 0; i < other->link_count; i++) {
    if (!other->links[i].leaves) continue;
    pack_leaving(carrier, &other->links[i], parcel, &head);
    all &= other->links[i].all_said;
  }
  for (uint32_t i = 0; i < other->link_count; i++)
    if (!other->links[i].leaves) pack_coming(carrier, &other->links[i], parcel, &head);
  const bool ends = pack_end(carrier, other, &head);
  pack_changes(carrier, other, parcel, &head);
  head.last = other->last_sent = all;
  parcel_set(parcel, 0, &head, sizeof head);
  return all || ends || parcel->size > sizeof head;
}

// Which parts of this host have come, have met others, and have left.
static void look_at_parts(Carrier *carrier) {
  for (uint32_t i = 0; i < carrier->part_count; i++) {
    const uint32_t part = carrier->parts[i];
    ChangeKnown *known = &carrier->known[i];
    bool left;
    if (!changes_look(&carrier->changes, &carrier->board, part, known, &left))
      set_fault(carrier, "a part counts meetings in a wrong way", carrier->host, UINT32_MAX);
    if (!left || known->left) continue;
    known->left = true;
    for (uint32_t k = 0; k < carrier->host_count; k++)
      carrier->others[k].leaving[carrier->others[k].leaving_count++] = part;
  }
}

// All hosts know all changes: the list begins anew.
static void forget_changes(Carrier *carrier) {
  for (uint32_t i = 0; i < carrier->host_count; i++)
    if (i != carrier->host && !carrier->others[i].last_sent && carrier->others[i].changes < carrier->changes.count)
      return;
  for (uint32_t i = 0; i < carrier->host_count; i++) carrier->others[i].changes = 0;
  carrier->changes.count = 0;
}

// ---- What comes ---------------------------------------------------------------------------------------------------

static CarriedLink *find_link(Carrier *carrier, uint32_t host, uint32_t number, bool leaves) {
  const OtherHost *other = &carrier->others[host];
  const CarriedLink key = {.host = host, .number = number};
  CarriedLink *link =
      other->links ? bsearch(&key, other->links, other->link_count, sizeof *link, by_host_and_number) : NULL;
  return link && link->leaves == leaves ? link : NULL;
}

static bool unpack_entries(Carrier *carrier, uint32_t host, ParcelReader *reader) {
  Leaving record;
  if (!parcel_read(reader, &record, sizeof record)) return false;
  CarriedLink *link = find_link(carrier, host, record.link, false);
  if (!link) return false;
  for (uint32_t i = 0; i < record.count; i++) {
    RingEntry entry;
    const void *item = parcel_read(reader, &entry, sizeof entry) ? parcel_take(reader, link->ring.item_size) : NULL;
    if (!item || !ring_send(&link->ring, entry.sent, entry.arrives, item)) return false;
  }
  ring_promise(&link->ring, record.promise);
  atomic_thread_fence(memory_order_seq_cst); // what was written comes before the look at who sleeps
  if (record.count || ring_helps(&link->ring, 0)) board_wake(&carrier->board, link->part);
  return true;
}

static bool unpack_taken(Carrier *carrier, uint32_t host, ParcelReader *reader) {
  Coming record;
  if (!parcel_read(reader, &record, sizeof record)) return false;
  CarriedLink *link = find_link(carrier, host, record.link, true);
  if (!link || record.taken < link->taken || record.taken > link->ring.place) return false;
  link->taken = record.taken;
  return true;
}

static bool unpack_change(Carrier *carrier, uint32_t host, ParcelReader *reader, uint32_t process) {
  Change change;
  if (!parcel_read(reader, &change, sizeof change)) return false;
  if (change.part >= carrier->board.count || carrier->host_of[change.part] != host) return false;
  const char *fault = changes_apply(&change, &carrier->board, process);
  if (fault) set_fault(carrier, fault, host, UINT32_MAX);
  return true;
}

static bool unpack_end(Carrier *carrier, const Head *head) {
  char reason[BOARD_REASON];
  const bool fine =
      head->end <= BOARD_GONE && head->end_seat < carrier->board.count && head->broken <= carrier->board.count;
  if (!fine) return false;
  memcpy(reason, head->reason, sizeof reason);
  reason[BOARD_REASON - 1] = 0;
  // What parts of this host want is known here.
  if (head->end && carrier->host_of[head->end_seat] != carrier->host)
    board_end_of(&carrier->board, head->end_seat, head->end, head->end_at, reason);
  if (head->broken && !board_is_broken(&carrier->board)) board_break(&carrier->board, head->broken - 1);
  if (head->stopped) carrier->stopped = true;
  return true;
}

static bool unpack(Carrier *carrier, uint32_t host, ParcelReader *reader, uint32_t process) {
  Head head;
  if (host >= carrier->host_count || host == carrier->host || carrier->others[host].last_came) return false;
  bool fine = parcel_read(reader, &head, sizeof head) && unpack_end(carrier, &head);
  for (uint32_t i = 0; fine && i < head.leaving; i++) fine = unpack_entries(carrier, host, reader);
  for (uint32_t i = 0; fine && i < head.coming; i++) fine = unpack_taken(carrier, host, reader);
  for (uint32_t i = 0; fine && i < head.changes; i++) fine = unpack_change(carrier, host, reader, process);
  if (fine && head.last) carrier->others[host].last_came = true;
  return fine && reader->at == reader->size;
}

// ---- A turn -------------------------------------------------------------------------------------------------------

static bool receive_all(Carrier *carrier, uint32_t process) {
  uint32_t host = 0, count = 0;
  ParcelReader reader = {0};
  while (count < carrier->host_count && (reader.bytes = transport_receive(&host, &reader.size))) {
    reader.at = 0;
    if (!unpack(carrier, host, &reader, process)) set_fault(carrier, "a message makes no sense", host, UINT32_MAX);
    count++;
  }
  return count;
}

// Whether nothing goes to and fro any more.
static bool is_finished(const Carrier *carrier) {
  bool finished = carrier->exited;
  for (uint32_t i = 0; finished && i < carrier->host_count; i++)
    if (i != carrier->host)
      finished = carrier->others[i].last_sent && carrier->others[i].last_came && transport_is_free(i);
  return finished;
}

static void end_for_fault(Carrier *carrier) {
  if (!board_is_broken(&carrier->board)) board_break(&carrier->board, carrier->board.own);
  if (!board_is_full(&carrier->board)) carrier->stopped = true;
}

// Where all parts of this host wait, hosts may agree on an instant that is further than any promise.  A promise would
// let another host go on just before, so that it does not join the round.  So promises are held back for a while,
// unless that was in vain lately: each time in vain doubles the waits without that which follow.
static bool holds_back(Carrier *carrier, bool agreed) {
  HoldBack *holding = &carrier->holding;
  if (agreed) holding->in_vain = holding->pause = 0;
  if (carrier->exited || !agreement_is_awaited(&carrier->agreement, &carrier->board)) {
    holding->turns = 0;
    return false;
  }
  if (!holding->turns && holding->pause) {
    holding->pause--;
    holding->turns = MOST_TURNS;
  }
  if (holding->turns < MOST_TURNS && ++holding->turns == MOST_TURNS) {
    holding->in_vain = holding->in_vain ? 2 * holding->in_vain : 1;
    if (holding->in_vain > MOST_PAUSE) holding->in_vain = MOST_PAUSE;
    holding->pause = holding->in_vain;
  }
  return holding->turns < MOST_TURNS;
}

bool carrier_turn(Carrier *carrier, uint32_t process) {
  bool moved = receive_all(carrier, process);
  look_at_parts(carrier);
  const bool agreed = agreement_turn(&carrier->agreement, &carrier->board, carrier->host_count, is_finished(carrier));
  carrier->holds_back = holds_back(carrier, agreed);
  for (uint32_t i = 0; i < carrier->host_count; i++) {
    if (i == carrier->host || !transport_is_free(i) || carrier->others[i].last_sent || !pack(carrier, i)) continue;
    transport_send(i, carrier->others[i].parcel.bytes, carrier->others[i].parcel.size);
    moved = true;
  }
  forget_changes(carrier);
  if (carrier->fault) end_for_fault(carrier);
  return moved || agreed;
}

bool carrier_is_complete(const Carrier *carrier) {
  return carrier->agreement.complete;
}
