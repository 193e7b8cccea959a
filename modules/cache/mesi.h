// mesi.h: what caches that are agents of a system bus have in common: the MESI protocol as pure functions, the states
// of the lines of a set, and lines that are written back; see coherence_types.
#ifndef MESI_H
#define MESI_H

#include <stdbool.h>
#include <stdint.h>

// What an agent does about another's transaction for a line of which it has `now`.
typedef struct {
  snoop_result result;
  line_state next;
} mesi_step;

static inline mesi_step mesi_snooped(line_state now, bus_op op) {
  const snoop_result sent = now == line_state_modified    ? snoop_result_modified
                            : now == line_state_exclusive ? snoop_result_clean
                                                          : snoop_result_none;
  if (now == line_state_invalid) return (mesi_step){snoop_result_none, now};
  switch (op) {
  case bus_op_read_shared:
    return (mesi_step){sent == snoop_result_none ? snoop_result_shared : sent, line_state_shared};
  case bus_op_read_exclusive:
  case bus_op_upgrade: return (mesi_step){sent, line_state_invalid};
  case bus_op_read_once: return (mesi_step){now == line_state_modified ? sent : snoop_result_shared, now};
  case bus_op_write_part: return (mesi_step){now == line_state_modified ? sent : snoop_result_none, line_state_invalid};
  case bus_op_write_line: return (mesi_step){snoop_result_none, line_state_invalid};
  default: return (mesi_step){snoop_result_none, now}; // another's write_back is of a line that only it has
  }
}

// Whether a transaction writes the line, so that a link to it ends.
static inline bool mesi_writes(bus_op op) {
  return op == bus_op_read_exclusive || op == bus_op_upgrade || op == bus_op_write_part || op == bus_op_write_line;
}

// The request of a cache that has `now` of a line, for an operation that writes or only reads.
static inline bus_op mesi_request(line_state now, bool writes) {
  return !writes ? bus_op_read_shared : now == line_state_invalid ? bus_op_read_exclusive : bus_op_upgrade;
}

// What a cache has of a line after the response to that.
static inline line_state mesi_filled(bool writes, bool shared) {
  return writes ? line_state_modified : shared ? line_state_shared : line_state_exclusive;
}

// ---- A set's lines -------------------------------------------------------------------------------------------------

// The lines of a set, in the state of a module.
typedef struct {
  const bool *valid, *only, *dirty;
  const uint32_t *number;
  uint32_t ways;
} mesi_set;

#define MESI_SET(self, set)                                                                                            \
  ((mesi_set){.valid = (self)->valid[set],                                                                             \
              .only = (self)->only[set],                                                                               \
              .dirty = (self)->dirty[set],                                                                             \
              .number = (self)->number[set],                                                                           \
              .ways = (uint32_t)param(ways)})

// Whether each state is one, and no line is here twice.
static inline bool mesi_is_sound(mesi_set lines) {
  for (uint32_t w = 0; w < lines.ways; w++) {
    if (lines.valid[w] < lines.only[w] || lines.only[w] < lines.dirty[w]) return false;
    for (uint32_t v = 0; v < w; v++)
      if (lines.valid[w] && lines.valid[v] && lines.number[w] == lines.number[v]) return false;
  }
  return true;
}

// The way that holds a line; `ways`: none.
static inline uint32_t mesi_find(mesi_set lines, uint32_t number) {
  uint32_t found = lines.ways;
  for (uint32_t w = 0; w < lines.ways; w++)
    if (lines.valid[w] && lines.number[w] == number) found = w;
  return found;
}

static inline line_state mesi_state(mesi_set lines, uint32_t way) {
  if (way == lines.ways || !lines.valid[way]) return line_state_invalid;
  return lines.dirty[way] ? line_state_modified : lines.only[way] ? line_state_exclusive : line_state_shared;
}

// The state of a line as these three say it.
static inline void mesi_put_state(bool *valid, bool *only, bool *dirty, line_state next) {
  *valid = next != line_state_invalid;
  *only = next >= line_state_exclusive;
  *dirty = next == line_state_modified;
}

// ---- Lines that are written back -----------------------------------------------------------------------------------

// A ring of them, in the state of a module; their bytes are elsewhere.
typedef struct {
  const uint32_t *line;
  const bool *gone;
  victim_ring ring;
  uint32_t places;
} mesi_victims;

#define MESI_VICTIMS(self)                                                                                             \
  ((mesi_victims){.line = (self)->victim_line,                                                                         \
                  .gone = (self)->victim_gone,                                                                         \
                  .ring = (self)->ring,                                                                                \
                  .places = (uint32_t)param(victims)})

// The place of a line among them, -1: it is not there, or another agent has it.
static inline int32_t mesi_find_victim(mesi_victims victims, uint32_t number) {
  for (uint32_t k = 0; k < victims.ring.count; k++) {
    const uint32_t place = (victims.ring.head + k) % victims.places;
    if (victims.line[place] == number && !victims.gone[place]) return (int32_t)place;
  }
  return -1;
}

// The place of one more, for which there is room.
static inline uint32_t mesi_add_victim(victim_ring *ring, uint32_t places) {
  return (ring->head + ring->count++) % places;
}

// The first leaves; returns the place that it had.
static inline uint32_t mesi_free_victim(victim_ring *ring, uint32_t places) {
  const uint32_t place = ring->head;
  *ring = (victim_ring){.head = (place + 1) % places, .count = ring->count > 0 ? ring->count - 1 : 0};
  return place;
}

// Those at the head leave of which others have the line, and the bus no request.
static inline void mesi_free_gone(victim_ring *ring, const bool *gone, uint32_t places) {
  while (ring->count > 0 && !ring->requested && gone[ring->head]) mesi_free_victim(ring, places);
}

// Whether the bus is to be asked to take the first.
static inline bool mesi_writes_back(victim_ring ring) {
  return ring.count > 0 && !ring.requested;
}

// ---- Snoops --------------------------------------------------------------------------------------------------------

// What a cache has of the line of another's transaction, in a way of its set or among the victims, and what it does
// about it.
typedef struct {
  line_state now;
  uint32_t way;   // `ways`: in none
  int32_t victim; // -1: not there
  bool sends;     // its bytes go with the answer
  mesi_step step;
} mesi_copy;

static inline mesi_copy mesi_snoop(mesi_set lines, mesi_victims victims, uint32_t number, bus_op op) {
  mesi_copy copy = {.way = mesi_find(lines, number), .victim = -1};
  copy.now = mesi_state(lines, copy.way);
  if (copy.now == line_state_invalid) copy.victim = mesi_find_victim(victims, number);
  if (copy.victim >= 0) copy.now = line_state_modified;
  copy.step = mesi_snooped(copy.now, op);
  copy.sends = copy.step.result == snoop_result_clean || copy.step.result == snoop_result_modified;
  return copy;
}

// The answer of a cache that has a link to the line: where it has no copy any more nobody else is to believe that it
// has the only one, as its writes would not be seen here.
static inline snoop_result mesi_with_link(snoop_result result, bus_op op, bool linked) {
  return linked && op == bus_op_read_shared && result == snoop_result_none ? snoop_result_shared : result;
}

// ---- What modules do with such lines -------------------------------------------------------------------------------
//
// Macros, as events, statistics and memories are reached by words of the module. Its state, parameters, statistics and
// the event `transition` are called as those of mshr_controller; `set` is that of the line.

// Ways of all sets.
#define MESI_PLACES ((uint32_t)(param(sets) * param(ways)))

// Whether every way was emptied, and what was in them is on the bus.
#define MESI_IS_EMPTY(self) ((self)->emptied == MESI_PLACES && (self)->ring.count == 0)

// Empties as many ways as there is room for what was changed in them: `evict` is the module's.
#define MESI_EMPTY_WAYS(self)                                                                                          \
  do {                                                                                                                 \
    const uint32_t ways_ = (uint32_t)param(ways);                                                                      \
    for (; (self)->emptied < MESI_PLACES && (self)->ring.count < (uint32_t)param(victims); (self)->emptied++)          \
      evict(self, (self)->emptied / ways_, (self)->emptied % ways_);                                                   \
  } while (0)

// Where the bytes of a way are.
#define MESI_PLACE(set, way) (((set) * (uint32_t)param(ways) + (way)) * (uint32_t)param(line))

// What is here of the line in a way is another from now on.
#define MESI_CHANGE(self, set, way, next)                                                                              \
  do {                                                                                                                 \
    if (mesi_state(MESI_SET(self, set), way) == (next)) break;                                                         \
    mesi_put_state(&(self)->valid[set][way], &(self)->only[set][way], &(self)->dirty[set][way], next);                 \
    sim_check(mesi_is_sound(MESI_SET(self, set)), "the states of a set do not fit");                                   \
    event(transition, (self)->number[set][way] * (uint32_t)param(line), next);                                         \
  } while (0)

// Makes room in a way: what was changed in its line is to be written back, for which there is room.
#define MESI_EVICT(self, set, way)                                                                                     \
  do {                                                                                                                 \
    if ((self)->dirty[set][way]) {                                                                                     \
      sim_check(mesi_find_victim(MESI_VICTIMS(self), (self)->number[set][way]) < 0, "a line is written back twice");   \
      const uint32_t to = mesi_add_victim(&(self)->ring, (uint32_t)param(victims));                                    \
      (self)->victim_line[to] = (self)->number[set][way];                                                              \
      (self)->victim_gone[to] = false;                                                                                 \
      memcpy(&(self)->victim[to], load_span(lines, MESI_PLACE(set, way), (uint32_t)param(line)), param(line));         \
      count(write_backs);                                                                                              \
    }                                                                                                                  \
    if ((self)->valid[set][way]) MESI_CHANGE(self, set, way, line_state_invalid);                                      \
  } while (0)

// A line that arrived is in a way, but for its state.
#define MESI_PUT(self, set, way, its_number, bytes)                                                                    \
  do {                                                                                                                 \
    memcpy(store_span(lines, MESI_PLACE(set, way), (uint32_t)param(line)), bytes, param(line));                        \
    (self)->number[set][way] = (its_number);                                                                           \
  } while (0)

// The result for another's transaction, which does to a line what the protocol says; the bytes go to `sent`.
#define MESI_SNOOP(self, set, snoop, sent)                                                                             \
  ({                                                                                                                   \
    const uint32_t number_ = (snoop)->address / (uint32_t)param(line);                                                 \
    const mesi_copy copy_ = mesi_snoop(MESI_SET(self, set), MESI_VICTIMS(self), number_, (snoop)->op);                 \
    count(supplied, copy_.sends);                                                                                      \
    if (copy_.victim >= 0) {                                                                                           \
      if (copy_.sends) *(sent) = (self)->victim[copy_.victim];                                                         \
      (self)->victim_gone[copy_.victim] = copy_.step.next != line_state_modified;                                      \
    } else if (copy_.now != line_state_invalid) {                                                                      \
      if (copy_.sends) memcpy(sent, load_span(lines, MESI_PLACE(set, copy_.way), param(line)), param(line));           \
      count(invalidations, copy_.step.next == line_state_invalid);                                                     \
      MESI_CHANGE(self, set, copy_.way, copy_.step.next);                                                              \
    }                                                                                                                  \
    copy_.step.result;                                                                                                 \
  })

// The result for the write_back of the first victim, which is on the bus.
#define MESI_FREE_VICTIM(self, sent)                                                                                   \
  ({                                                                                                                   \
    const uint32_t place_ = mesi_free_victim(&(self)->ring, (uint32_t)param(victims));                                 \
    if (!(self)->victim_gone[place_]) *(sent) = (self)->victim[place_];                                                \
    (self)->victim_gone[place_] ? snoop_result_withdrawn : snoop_result_modified;                                      \
  })

#endif
