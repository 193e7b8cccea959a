/* issue_queue.c: holds renamed instructions until their operands are there; see issue_queue.lss. */
#include "core/ooo/register_sets.h"

init() {
  for (int r = 0; r < param(logical); r++) self->available[r >> 6] |= UINT64_C(1) << (r & 63);
}

phase_start() {
  send(room, (uint32_t)param(entries) - self->occupied);
}

/* The places, among those here and those just granted, whose source k is in a set. */
static __attribute__((noinline)) uint64_t reading(const self_t *self, const register_set *set, int k) {
  uint64_t places = 0;
  for (uint64_t m = self->held | self->last; m; m &= m - 1)
    if (register_in(set, self->op[__builtin_ctzll(m)].source[k])) places |= m & -m;
  return places;
}

/* The places whose sources are not all there. */
static inline uint64_t missing(const self_t *self) {
  uint64_t places = 0;
  for (int k = 0; k < param(sources); k++) places |= self->lacks[k];
  return places;
}

handler(select) {
  uint64_t ready = self->held & ~missing(self), granted = 0, spoiled[param(sources)] = {0};
  register_set promised = {{0, 0}};
  if (__builtin_expect(register_any(&data(cancelled)), false)) {
    for (int k = 0; k < param(sources); k++) {
      spoiled[k] = reading(self, &data(cancelled), k);
      ready &= ~spoiled[k];
    }
  }
  if (__builtin_expect(data(squash).valid, false))
    ready &= places_from(data(head), data(squash).age + 1 - data(head), param(list));
  if (param(interval) > 1 && self->resting > 0) ready = 0;
  uint32_t n = 0;
  for (int unit = 0; unit < width(issue); unit++) {
    if (!ready) {
      send_nothing(issue, unit);
      continue;
    }
    const uint32_t at = call(choose, ready, data(head), param(list));
    const issued op = self->op[at];
    ready &= ~(UINT64_C(1) << at);
    granted |= UINT64_C(1) << at;
    n++;
    if (param(latency) > 0) register_add(&promised, op.dest);
    send(issue, unit, op);
  }
  set(chosen, granted);
  set(grants, n);
  set(promise, promised);
  for (int k = 0; k < param(sources); k++) set(spoiled, k, spoiled[k]);
}

/* What was granted latency - 1 cycles ago, and not in vain. */
handler(wake, i) {
  register_set set = get(promise);
  if (param(latency) > 1) {
    set = self->pending[self->turn];
    for (int k = 0; k < 2; k++) set.of[k] &= ~data(cancelled).of[k];
  }
  send(wakes, i, set);
}

static __attribute__((noinline)) void take_back(self_t *self, const register_set *set, const uint64_t *spoiled) {
  uint64_t places = 0;
  for (int k = 0; k < param(sources); k++) {
    places |= self->last & spoiled[k];
    self->lacks[k] |= spoiled[k];
    for (uint64_t m = spoiled[k]; m; m &= m - 1) self->waiters[k][self->op[__builtin_ctzll(m)].source[k]] |= m & -m;
  }
  const uint32_t again = (uint32_t)__builtin_popcountll(places);
  count(retaken, again);
  self->occupied += again;
  self->held |= places;
  for (int k = 0; k < 2; k++) {
    self->available[k] &= ~set->of[k];
    for (int d = 0; param(latency) > 1 && d < param(delays); d++) self->pending[d].of[k] &= ~set->of[k];
  }
}

static inline void delay_promise(self_t *self, register_set promised, uint64_t places) {
  self->pending[self->turn] = promised;
  self->pending_places[self->turn] = places;
  self->turn = self->turn + 1 < param(delays) ? self->turn + 1 : 0;
  self->promised = false;
  for (int d = 0; d < param(delays); d++) self->promised |= register_any(&self->pending[d]);
}

static inline void wake_waiters(self_t *self, const register_set *set) {
  for (int k = 0; k < 2; k++) {
    self->available[k] |= set->of[k];
    for (uint64_t m = set->of[k]; m; m &= m - 1) {
      const int number = 64 * k + __builtin_ctzll(m);
      if (number >= param(registers)) break;
      for (int s = 0; s < param(sources); s++) {
        self->lacks[s] &= ~self->waiters[s][number];
        self->waiters[s][number] = 0;
      }
    }
  }
}

/* What was granted and is dropped wakes nobody: its register may soon be another instruction's. */
static inline void withdraw_promises(self_t *self, uint64_t kept) {
  for (int d = 0; d < param(delays); d++) {
    for (uint64_t m = self->pending_places[d] & ~kept; m; m &= m - 1) {
      const uint32_t dest = self->op[__builtin_ctzll(m)].dest;
      self->pending[d].of[dest >> 6] &= ~(UINT64_C(1) << (dest & 63));
    }
    self->pending_places[d] &= kept;
  }
}

static __attribute__((noinline)) void drop_younger(self_t *self, uint64_t kept) {
  for (uint64_t m = self->held & ~kept; m; m &= m - 1) {
    const issued *op = &self->op[__builtin_ctzll(m)];
    for (int k = 0; k < param(sources); k++) self->waiters[k][op->source[k]] &= ~(m & -m);
  }
  if (param(latency) > 1) withdraw_promises(self, kept);
  self->held &= kept;
  self->last &= kept;
  for (int k = 0; k < param(sources); k++) self->lacks[k] &= kept;
  self->leaving = (uint32_t)__builtin_popcountll(self->last);
  self->occupied = (uint32_t)__builtin_popcountll(self->held) + self->leaving;
}

static inline void enter(self_t *self, const renamed_op *from) {
  const uint32_t place = place_of_age(from->age, param(list));
  const uint64_t bit = UINT64_C(1) << place;
  self->held |= bit;
  self->occupied++;
  for (int k = 0; k < param(sources); k++) {
    const uint32_t source = from->op.source[k];
    if (self->available[source >> 6] >> (source & 63) & 1) continue;
    self->lacks[k] |= bit;
    self->waiters[k][source] |= bit;
  }
  self->op[place] = (issued){
      .age = from->age, .source = {from->op.source[0], from->op.source[1], from->op.source[2]}, .dest = from->op.dest};
}

phase_end() {
  const uint32_t came = data(in).count;
  register_set set = {{0, 0}};
  for (int i = 0; i < width(awake); i++)
    for (int k = 0; k < 2; k++) set.of[k] |= data(awake, i).of[k];
  const bool cancels = register_any(&data(cancelled)), squashes = data(squash).valid;
  if (came == 0 && !(get(chosen) | self->last) && !register_any(&set) && !cancels && !squashes && !self->promised &&
      (param(interval) == 1 || self->resting == 0)) {
    if (!self->moved) unchanged();
    self->moved = false;
    return;
  }
  self->moved = true;
  self->occupied -= self->leaving;
  self->leaving = get(grants);
  if (__builtin_expect(cancels, false)) {
    uint64_t spoiled[param(sources)];
    for (int k = 0; k < param(sources); k++) spoiled[k] = get(spoiled, k);
    take_back(self, &data(cancelled), spoiled);
  }
  self->held &= ~get(chosen);
  self->last = get(chosen);
  count(granted, get(grants));
  if (param(interval) > 1) {
    if (self->resting > 0) self->resting--;
    if (get(grants) > 0) self->resting = (uint32_t)param(interval) - 1;
  }
  if (param(latency) > 1) delay_promise(self, get(promise), get(chosen));
  wake_waiters(self, &set);
  if (__builtin_expect(squashes, false)) {
    drop_younger(self, places_from(data(head), data(squash).age + 1 - data(head), param(list)));
    return;
  }
  for (int k = 0; k < 2; k++) self->available[k] &= ~data(in).dest.of[k];
  for (uint32_t i = 0; i < (uint32_t)param(width); i++) {
    if (i >= came) break;
    const renamed_op *op = &data(in).op[i];
    if (call(takes, op->op.control)) enter(self, op);
  }
}

next_event() {
  return self->moved ? cycle() : never();
}
