// The state of a whole machine by kinds; see loop_state.h.
#include "lss/runtime/replay/loop_state.h"

#include "lss/runtime/engine/machine.h"
#include "lss/runtime/engine/names.h"

#include <glib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  LEAST_MEMORY = 1024,     // bytes of a memory that is not compared: what is stored there ends an attempt
  LEAST_GUARDED = 1 << 15, // bytes of other state that is not compared either, but protected while an attempt lasts
};

static const spinach_machine *const machine = &spinach_machine_table;

typedef struct {
  uint8_t *place;
  uint64_t size;
} Stretch; // is what it was

typedef struct {
  uint64_t *place;
  uint64_t unit; // ticks
  int32_t clock; // of an instant; -1: a stamp
} Time;

typedef struct {
  uint8_t *place;
  uint64_t size, elements, first; // bytes of each; how many were counted before
} Counters;

typedef struct {
  uint8_t *place;
  uint64_t size, elements, first; // the latest laps grow as counters do
  spinach_ring *ring;
} Ring;

static GArray *guarded; // Stretch, of whole pages
static GArray *stretches, *times, *counters, *rings;
static uint64_t byte_count, counter_bytes, counter_count;
static bool *moved;     // of each time: the loop that was compared last moves it
static uint64_t *turns; // of each ring: by how many elements a loop moves its oldest one

struct spinach_loop_state {
  uint8_t *bytes, *counters;         // stretches, then rings from their oldest element on; counters, then laps
  uint64_t *times, *cycles, *values; // `values`: times in ascending order
  uint32_t *next;                    // of each ring
};

#define EACH(type, one, all)                                                                                           \
  for (const type *one = (const type *)(void *)(all)->data; one < (const type *)(void *)(all)->data + (all)->len; one++)

// ---- What there is

static void add_stretch(uint8_t *place, uint64_t size) {
  Stretch *last = stretches->len ? &g_array_index(stretches, Stretch, stretches->len - 1) : NULL;
  byte_count += size;
  if (last && last->place + last->size == place) {
    last->size += size;
    return;
  }
  const Stretch stretch = {place, size};
  g_array_append_val(stretches, stretch);
}

// Large arrays are hardly ever written.
static void add_bytes(uint8_t *place, uint64_t size) {
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), before = (page - (uintptr_t)place % page) % page;
  if (!guarded || size < LEAST_GUARDED || size < before + page) {
    add_stretch(place, size);
    return;
  }
  const uint64_t pages = (size - before) / page * page;
  const Stretch guard = {place + before, pages};
  g_array_append_val(guarded, guard);
  add_stretch(place, before);
  add_stretch(place + before + pages, size - before - pages);
}

static bool may_write(void *place) {
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  EACH(Stretch, s, guarded) {
    if ((uint8_t *)place < s->place || (uint8_t *)place >= s->place + s->size) continue;
    spinach_effects++;
    return !mprotect((uint8_t *)place - (uintptr_t)place % page, page, PROT_READ | PROT_WRITE);
  }
  return false;
}

void spinach_loop_state_guard(bool on) {
  if (guarded) EACH(Stretch, s, guarded) mprotect(s->place, s->size, on ? PROT_READ : PROT_READ | PROT_WRITE);
}

static bool is_integer(const struct spinach_type *type) {
  return type->kind == SPINACH_INT || type->kind == SPINACH_UINT || type->kind == SPINACH_BITS;
}

// A crossing's functions run on several clocks, so its stamps are instants.
static bool is_crossing(const spinach_instance *instance) {
  return instance->layout->crossing;
}

static void add_field(const spinach_instance *instance, uint8_t *state, const spinach_field *field) {
  const uint64_t elements = spinach_field_elements(field), size = field->type->size;
  uint8_t *place = state + field->offset;
  const bool counts = field->kind == SPINACH_COUNTER && is_integer(field->type) && size <= sizeof(uint64_t);
  if (field->kind == SPINACH_INSTANT || field->kind == SPINACH_STAMP) {
    const bool stamp = field->kind == SPINACH_STAMP;
    for (uint64_t k = 0; k < elements; k++) {
      const Time time = {(uint64_t *)(void *)place + k,
                         stamp && is_crossing(instance) ? 1 : machine->clocks[instance->clock].period,
                         stamp ? -1 : instance->clock};
      g_array_append_val(times, time);
    }
  } else if (counts) {
    const Counters all = {place, size, elements, counter_count};
    g_array_append_val(counters, all);
    counter_count += elements;
    counter_bytes += elements * size;
  } else if (field->kind == SPINACH_TRACE && field->ring_offset) {
    const Ring ring = {place, size, elements, counter_count, (spinach_ring *)(void *)(state + field->ring_offset)};
    g_array_append_val(rings, ring);
    byte_count += (size + sizeof(uint64_t)) * elements + sizeof *ring.ring;
    counter_count++;
  } else if (field->kind != SPINACH_MEMORY || size * elements < LEAST_MEMORY) {
    add_bytes(place, size * elements);
  }
}

static void find_all(void) {
  if (spinach_expect_access(may_write)) guarded = g_array_new(FALSE, FALSE, sizeof(Stretch));
  stretches = g_array_new(FALSE, FALSE, sizeof(Stretch));
  times = g_array_new(FALSE, FALSE, sizeof(Time));
  counters = g_array_new(FALSE, FALSE, sizeof(Counters));
  rings = g_array_new(FALSE, FALSE, sizeof(Ring));
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const spinach_instance *instance = &machine->instances[i];
    for (uint32_t k = 0; instance->layout && k < instance->layout->field_count; k++)
      add_field(instance, spinach_instance_state((int32_t)i), &instance->layout->fields[k]);
  }
  counter_bytes += rings->len * sizeof(uint64_t);
  moved = g_new0(bool, times->len + 1);
  turns = g_new0(uint64_t, rings->len + 1);
}

spinach_loop_state *spinach_loop_state_new(void) {
  if (!stretches) find_all();
  spinach_loop_state *state = g_new0(spinach_loop_state, 1);
  state->bytes = g_malloc0(byte_count + 1);
  state->times = g_new0(uint64_t, times->len + 1);
  state->values = g_new0(uint64_t, times->len + 1);
  state->counters = g_malloc0(counter_bytes + 1);
  state->cycles = g_new0(uint64_t, machine->clock_count);
  state->next = g_new0(uint32_t, rings->len + 1);
  return state;
}

uint64_t *spinach_loop_state_counters(void) {
  return g_new0(uint64_t, counter_count + 1);
}

// ---- Kept and compared

static uint64_t load(const uint8_t *place, uint64_t size) {
  uint64_t value = 0;
  memcpy(&value, place, size); // the low bytes come first
  return value;
}

static int compare_values(const void *a, const void *b) {
  const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
  return one < other ? -1 : one > other;
}

static uint64_t *latest_laps(const Ring *ring) {
  return &spinach_ring_laps(ring->ring)[spinach_ring_back(ring->ring, 1, (uint32_t)ring->elements)];
}

// An array from its element `first` on, and back to where it was.
static uint8_t *turn(uint8_t *to, const void *array, uint64_t all, uint64_t older) {
  memcpy(to, (const uint8_t *)array + older, all - older);
  memcpy(to + all - older, array, older);
  return to + all;
}

// All but where the oldest element is, and the laps that go on.
static uint8_t *keep_ring(uint8_t *to, const Ring *ring) {
  const uint64_t next = ring->ring->next, word = sizeof(uint64_t);
  spinach_ring place = *ring->ring;
  place.next = 0;
  to = turn(to, ring->place, ring->elements * ring->size, next * ring->size);
  to = turn(to, spinach_ring_laps(ring->ring), ring->elements * word, next * word);
  memset(to - word, 0, word);
  memcpy(to, &place, sizeof place);
  return to + sizeof place;
}

static const uint8_t *put_ring(const uint8_t *from, const Ring *ring, uint32_t next) {
  const uint64_t word = sizeof(uint64_t), later = ring->elements - next;
  turn(ring->place, from, ring->elements * ring->size, later * ring->size);
  from += ring->elements * ring->size;
  turn((uint8_t *)spinach_ring_laps(ring->ring), from, ring->elements * word, later * word);
  from += ring->elements * word;
  memcpy(ring->ring, from, sizeof *ring->ring);
  ring->ring->next = next;
  return from + sizeof *ring->ring;
}

void spinach_loop_state_keep(spinach_loop_state *state) {
  uint8_t *to = state->bytes;
  EACH(Stretch, s, stretches) memcpy(to, s->place, s->size), to += s->size;
  for (uint32_t i = 0; i < rings->len; i++) {
    const Ring *ring = &g_array_index(rings, Ring, i);
    state->next[i] = ring->ring->next;
    to = keep_ring(to, ring);
  }
  for (uint32_t i = 0; i < times->len; i++) state->times[i] = *g_array_index(times, Time, i).place;
  to = state->counters;
  EACH(Counters, c, counters) memcpy(to, c->place, c->size * c->elements), to += c->size * c->elements;
  EACH(Ring, r, rings) memcpy(to, latest_laps(r), sizeof(uint64_t)), to += sizeof(uint64_t);
  for (uint32_t i = 0; i < machine->clock_count; i++) state->cycles[i] = spinach_cycles((int32_t)i);
}

void spinach_loop_state_sort(spinach_loop_state *state) {
  memcpy(state->values, state->times, times->len * sizeof *state->values);
  qsort(state->values, times->len, sizeof *state->values, compare_values);
}

bool spinach_loop_state_has_time(const spinach_loop_state *state, uint64_t value) {
  return bsearch(&value, state->values, times->len, sizeof value, compare_values);
}

static bool is_past(const spinach_loop_state *state, const Time *time, uint64_t value) {
  return time->clock >= 0 && value <= state->cycles[time->clock];
}

bool spinach_loop_state_repeats(const spinach_loop_state *before, const spinach_loop_state *now, uint64_t ticks) {
  if (memcmp(before->bytes, now->bytes, byte_count) != 0) return false;
  for (uint32_t i = 0; i < times->len; i++) {
    const Time *time = &g_array_index(times, Time, i);
    const uint64_t from = before->times[i], to = now->times[i];
    moved[i] = to != from && !(is_past(before, time, from) && is_past(now, time, to));
    if (moved[i] && (from == UINT64_MAX || to == UINT64_MAX || to - from != ticks / time->unit)) return false;
  }
  return true;
}

void spinach_loop_state_grown(const spinach_loop_state *before, const spinach_loop_state *now, uint64_t *grown) {
  uint64_t at = 0;
  memset(grown, 0, counter_count * sizeof *grown);
  EACH(Counters, c, counters) {
    const bool same = !memcmp(before->counters + at, now->counters + at, c->size * c->elements);
    for (uint64_t k = 0; !same && k < c->elements; k++)
      grown[c->first + k] =
          load(now->counters + at + k * c->size, c->size) - load(before->counters + at + k * c->size, c->size);
    at += c->size * c->elements;
  }
  for (uint32_t i = 0; i < rings->len; i++, at += sizeof(uint64_t)) {
    const Ring *ring = &g_array_index(rings, Ring, i);
    turns[i] = (now->next[i] + ring->elements - before->next[i]) % ring->elements;
    grown[ring->first] = load(now->counters + at, sizeof(uint64_t)) - load(before->counters + at, sizeof(uint64_t));
  }
}

// Counters after n loops more.
static void grow(uint8_t *to, const uint8_t *from, const uint64_t *grown, uint64_t n) {
  memcpy(to, from, counter_bytes);
  EACH(Counters, c, counters) {
    for (uint64_t k = 0; k < c->elements; k++, to += c->size) {
      if (!grown[c->first + k]) continue;
      const uint64_t value = load(to, c->size) + n * grown[c->first + k];
      memcpy(to, &value, c->size);
    }
  }
  EACH(Ring, r, rings) {
    const uint64_t value = load(to, sizeof value) + n * grown[r->first];
    memcpy(to, &value, sizeof value);
    to += sizeof value;
  }
}

bool spinach_loop_state_grows_so(const spinach_loop_state *before, const spinach_loop_state *now,
                                 const uint64_t *grown) {
  g_autofree uint8_t *expected = g_malloc(counter_bytes + 1);
  grow(expected, before->counters, grown, 1);
  return !memcmp(expected, now->counters, counter_bytes);
}

// ---- Taken on

void spinach_loop_state_work_out(spinach_loop_state *expected, spinach_loop_state *now, const uint64_t *grown,
                                 uint64_t n, uint64_t ticks) {
  uint8_t *bytes = expected->bytes;
  expected->bytes = now->bytes;
  now->bytes = bytes;
  for (uint32_t i = 0; i < times->len; i++)
    expected->times[i] = now->times[i] + (moved[i] ? n * (ticks / g_array_index(times, Time, i).unit) : 0);
  grow(expected->counters, now->counters, grown, n);
  for (uint32_t i = 0; i < machine->clock_count; i++)
    expected->cycles[i] = now->cycles[i] + n * (ticks / machine->clocks[i].period);
  for (uint32_t i = 0; i < rings->len; i++) {
    const uint64_t elements = g_array_index(rings, Ring, i).elements;
    expected->next[i] = (uint32_t)((now->next[i] + turns[i] * (n % elements)) % elements);
  }
}

void spinach_loop_state_apply(const spinach_loop_state *state) {
  for (uint32_t i = 0; i < times->len; i++) *g_array_index(times, Time, i).place = state->times[i];
  const uint8_t *from = state->counters;
  EACH(Counters, c, counters) memcpy(c->place, from, c->size * c->elements), from += c->size * c->elements;
  const uint8_t *laps = from;
  from = state->bytes;
  EACH(Stretch, s, stretches) from += s->size;
  for (uint32_t i = 0; i < rings->len; i++) {
    const Ring *ring = &g_array_index(rings, Ring, i);
    from = put_ring(from, ring, state->next[i]);
    memcpy(latest_laps(ring), laps, sizeof(uint64_t));
    laps += sizeof(uint64_t);
  }
}

// ---- Checked

static _Noreturn void differs(const void *place) {
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const spinach_layout *layout = machine->instances[i].layout;
    const uint8_t *state = spinach_instance_state((int32_t)i);
    if (!layout || (const uint8_t *)place < state || (const uint8_t *)place >= state + layout->size) continue;
    const uint64_t offset = (uint64_t)((const uint8_t *)place - state);
    for (uint32_t k = 0; k < layout->field_count; k++) {
      const spinach_field *field = &layout->fields[k];
      if (offset - field->offset < field->type->size * spinach_field_elements(field))
        spinach_error(i, "%s differs from the result of that many loops", field->name);
    }
  }
  spinach_error(UINT32_MAX, "the state differs from the result of that many loops");
}

void spinach_loop_state_compare(const spinach_loop_state *expected, const spinach_loop_state *now) {
  uint64_t at = 0;
  EACH(Stretch, s, stretches) {
    for (uint64_t k = 0; k < s->size; k++)
      if (expected->bytes[at + k] != now->bytes[at + k]) differs(s->place + k);
    at += s->size;
  }
  for (uint32_t i = 0; i < rings->len; i++) {
    const Ring *ring = &g_array_index(rings, Ring, i);
    const uint64_t size = (ring->size + sizeof(uint64_t)) * ring->elements + sizeof *ring->ring;
    if (memcmp(expected->bytes + at, now->bytes + at, size) != 0 || expected->next[i] != now->next[i])
      differs(ring->place);
    at += size;
  }
  for (uint32_t i = 0; i < times->len; i++) {
    const Time *time = &g_array_index(times, Time, i);
    if (expected->times[i] != now->times[i] &&
        !(is_past(expected, time, expected->times[i]) && is_past(now, time, now->times[i])))
      differs(time->place);
  }
  at = 0;
  EACH(Counters, c, counters) {
    if (memcmp(expected->counters + at, now->counters + at, c->size * c->elements) != 0) differs(c->place);
    at += c->size * c->elements;
  }
  EACH(Ring, r, rings) {
    if (memcmp(expected->counters + at, now->counters + at, sizeof(uint64_t)) != 0) differs(r->place);
    at += sizeof(uint64_t);
  }
}
