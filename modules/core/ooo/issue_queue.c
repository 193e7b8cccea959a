// issue_queue.c: holds renamed instructions until their operands are there; see issue_queue.lss.
#include "core/ooo/register_sets.h"

#define CONTEXT(age)  age_context((age), param(contexts))
#define SLOT(c, at)   ((c) * (uint32_t)param(list) + (at))
#define REGISTERS     typeof_port(awake)
#define SPOILED(k, c) ((int)((c) + (uint32_t)((k) * param(contexts))))
#define PRESENT       (param(contexts) > 1 ? self->present : 1)
#define LOWEST(set)   (param(contexts) > 1 ? (uint32_t)__builtin_ctz(set) : 0)

init() {
  for (int r = 0; r < param(mapped); r++) register_add(self->available, (uint32_t)r);
}

phase_start() {
  send(room, (uint32_t)param(entries) - self->occupied);
  for (int i = 0; i < width(waiting); i++) send(waiting, i, self->counts);
}

// The places of a context, among those here and those just granted, whose source k is in a set.
static __attribute__((noinline)) uint64_t reading(const self_t *self, const uint64_t *set, int k, uint32_t context) {
  uint64_t places = 0;
  for (uint64_t m = self->held[context] | self->last[context]; m; m &= m - 1)
    if (register_in(set, self->op[SLOT(context, (uint32_t)__builtin_ctzll(m))].source[k])) places |= m & -m;
  return places;
}

// The places of a context whose sources are not all there.
static inline uint64_t missing(const self_t *self, uint32_t context) {
  uint64_t places = 0;
  for (int k = 0; k < param(sources); k++) places |= self->lacks[k][context];
  return places;
}

// The places of a context that a squash of it leaves, if it is one.
static inline uint64_t kept_places(const squash_order *squash, const typeof_port(head) * head, uint32_t context) {
  if (__builtin_expect(!squash->valid, true) || CONTEXT(squash->age) != context) return ~UINT64_C(0);
  return places_to(head->of[context], squash->age, param(contexts), param(list));
}

// What a context is granted next of what is ready, and when that came: the less, the longer ago.
static inline struct issue_candidate candidate_of(const self_t *self, uint32_t context, uint64_t ready, uint32_t head) {
  const uint32_t at = call(choose, ready, age_count(head, param(contexts)), param(list));
  return (struct issue_candidate){at, self->arrival[SLOT(context, at)] - self->arrivals};
}

// Of the contexts of a set the one whose candidate came first.
static inline uint32_t first_come(uint32_t set, const struct issue_candidate *candidate) {
  uint32_t first = LOWEST(set);
  for (uint32_t m = set & (set - 1); m; m &= m - 1)
    if (candidate[LOWEST(m)].since < candidate[first].since) first = LOWEST(m);
  return first;
}

handler(select) {
  uint64_t ready[param(contexts)], granted[param(contexts)] = {0}, spoiled[param(spoils)] = {0};
  struct issue_candidate candidate[param(contexts)];
  uint32_t ready_contexts = 0, n = 0;
  REGISTERS promised = {{0}};
  const bool cancels = register_any(data(cancelled).of, param(words));
  const bool rests = param(interval) > 1 && self->resting > 0;
  for (uint32_t m = PRESENT; m; m &= m - 1) {
    const uint32_t c = LOWEST(m);
    ready[c] = self->held[c] & ~missing(self, c) & kept_places(&data(squash), &data(head), c);
    if (__builtin_expect(cancels, false)) {
      for (int k = 0; k < param(sources); k++) {
        spoiled[SPOILED(k, c)] = reading(self, data(cancelled).of, k, c);
        ready[c] &= ~spoiled[SPOILED(k, c)];
      }
    }
    if (rests) ready[c] = 0;
    ready_contexts |= (uint32_t)(ready[c] != 0) << c;
    if (param(contexts) > 1 && ready[c]) candidate[c] = candidate_of(self, c, ready[c], data(head).of[c]);
  }
  for (int unit = 0; unit < width(issue); unit++) {
    if (!ready_contexts) {
      send_nothing(issue, unit);
      continue;
    }
    const uint32_t c = param(contexts) > 1 ? first_come(ready_contexts, candidate) : 0;
    const uint32_t at = param(contexts) > 1 ? candidate[c].at : call(choose, ready[c], data(head).of[c], param(list));
    const issued op = self->op[SLOT(c, at)];
    ready[c] &= ~(UINT64_C(1) << at);
    granted[c] |= UINT64_C(1) << at;
    n++;
    if (!ready[c])
      ready_contexts &= ~(UINT32_C(1) << c);
    else if (param(contexts) > 1)
      candidate[c] = candidate_of(self, c, ready[c], data(head).of[c]);
    if (param(latency) > 0) register_add(promised.of, op.dest);
    send(issue, unit, op);
  }
  for (int c = 0; c < param(contexts); c++) set(chosen, c, granted[c]);
  for (int k = 0; k < param(spoils); k++) set(spoiled, k, spoiled[k]);
  set(grants, n);
  set(promise, promised);
}

// What was granted latency - 1 cycles ago, and not in vain.
handler(wake, i) {
  REGISTERS set = get(promise);
  if (param(latency) > 1) {
    set = self->pending[self->turn];
    for (int k = 0; k < param(words); k++) set.of[k] &= ~data(cancelled).of[k];
  }
  send(wakes, i, set);
}

// What was granted in vain is here again, and misses what was cancelled.
static __attribute__((noinline)) void take_back(self_t *self, uint32_t context, const uint64_t *spoiled) {
  uint64_t places = 0;
  for (int k = 0; k < param(sources); k++) {
    places |= self->last[context] & spoiled[k];
    self->lacks[k][context] |= spoiled[k];
    for (uint64_t m = spoiled[k]; m; m &= m - 1) {
      const uint32_t source = self->op[SLOT(context, (uint32_t)__builtin_ctzll(m))].source[k];
      self->waiters[k][source] |= m & -m;
      self->reader[source] = (uint8_t)context;
    }
  }
  const uint32_t again = (uint32_t)__builtin_popcountll(places);
  count(retaken, again);
  self->occupied += again;
  if (param(contexts) > 1) self->counts += (uint64_t)again << 8 * context;
  self->held[context] |= places;
}

static __attribute__((noinline)) void withdraw(self_t *self, const uint64_t *cancelled) {
  for (int k = 0; k < param(words); k++) {
    self->available[k] &= ~cancelled[k];
    for (int d = 0; param(latency) > 1 && d < param(delays); d++) self->pending[d].of[k] &= ~cancelled[k];
  }
}

static inline void delay_promise(self_t *self, REGISTERS promised) {
  self->pending[self->turn] = promised;
  memcpy(self->pending_places[self->turn], self->last, sizeof self->last);
  self->turn = self->turn + 1 < param(delays) ? self->turn + 1 : 0;
  self->promised = false;
  for (int d = 0; d < param(delays); d++) self->promised |= register_any(self->pending[d].of, param(words));
}

// Who waits for a register does not miss it any more; of one context what is missing is kept beside the state, which
// the words of waiters may not overlap.
static inline void wake_waiters(self_t *self, const uint64_t *set) {
  uint64_t woken[param(sources)] = {0};
  for (int k = 0; k < param(words); k++) {
    self->available[k] |= set[k];
    for (uint64_t m = set[k]; m; m &= m - 1) {
      const int number = 64 * k + __builtin_ctzll(m);
      if (number >= param(registers)) break;
      for (int s = 0; s < param(sources); s++) {
        const uint64_t waiters = self->waiters[s][number];
        if (!waiters) continue;
        self->waiters[s][number] = 0;
        if (param(contexts) > 1)
          self->lacks[s][self->reader[number]] &= ~waiters;
        else
          woken[s] |= waiters;
      }
    }
  }
  for (int s = 0; param(contexts) == 1 && s < param(sources); s++) self->lacks[s][0] &= ~woken[s];
}

// What was granted and is dropped wakes nobody: its register may soon be another instruction's.
static inline void withdraw_promises(self_t *self, uint32_t context, uint64_t kept) {
  for (int d = 0; d < param(delays); d++) {
    for (uint64_t m = self->pending_places[d][context] & ~kept; m; m &= m - 1)
      register_remove(self->pending[d].of, self->op[SLOT(context, (uint32_t)__builtin_ctzll(m))].dest);
    self->pending_places[d][context] &= kept;
  }
}

static __attribute__((noinline)) void drop_younger(self_t *self, uint32_t context, uint64_t kept) {
  for (uint64_t m = self->held[context] & ~kept; m; m &= m - 1) {
    const issued *op = &self->op[SLOT(context, (uint32_t)__builtin_ctzll(m))];
    for (int k = 0; k < param(sources); k++) self->waiters[k][op->source[k]] &= ~(m & -m);
  }
  if (param(latency) > 1) withdraw_promises(self, context, kept);
  const uint32_t left = (uint32_t)__builtin_popcountll(self->last[context] & ~kept);
  const uint32_t dropped = (uint32_t)__builtin_popcountll(self->held[context] & ~kept);
  count(squashed, dropped);
  self->leaving -= left;
  self->occupied -= left + dropped;
  if (param(contexts) > 1) self->counts -= (uint64_t)dropped << 8 * context;
  self->held[context] &= kept;
  self->last[context] &= kept;
  for (int k = 0; k < param(sources); k++) self->lacks[k][context] &= kept;
}

static inline void enter(self_t *self, const renamed_op *from) {
  const uint32_t context = CONTEXT(from->age), at = place_of_age(age_count(from->age, param(contexts)), param(list));
  const uint64_t bit = UINT64_C(1) << at;
  self->held[context] |= bit;
  self->occupied++;
  for (int k = 0; k < param(sources); k++) {
    const uint32_t source = from->source[k];
    if (register_in(self->available, source)) continue;
    self->lacks[k][context] |= bit;
    self->waiters[k][source] |= bit;
    if (param(contexts) > 1) self->reader[source] = (uint8_t)context;
  }
  self->op[SLOT(context, at)] =
      (issued){.age = from->age, .source = {from->source[0], from->source[1], from->source[2]}, .dest = from->dest};
  if (param(contexts) == 1) return;
  self->arrival[SLOT(context, at)] = self->arrivals++;
  self->present |= UINT32_C(1) << context;
  self->counts += UINT64_C(1) << 8 * context;
}

// Contexts of which nothing is here any more are not looked at.
static inline void look_over(self_t *self) {
  for (uint32_t m = self->present; m; m &= m - 1)
    if ((self->held[LOWEST(m)] | self->last[LOWEST(m)]) == 0) self->present &= ~(m & -m);
}

// What was granted leaves, and what was granted in vain in the cycle before comes back.
static inline void move_granted(self_t *self, uint32_t context, uint64_t chosen, bool cancels,
                                const uint64_t *spoiled) {
  if (__builtin_expect(cancels, false)) take_back(self, context, spoiled);
  self->held[context] &= ~chosen;
  self->last[context] = chosen;
  if (param(contexts) == 1) return;
  for (uint64_t m = chosen; m; m &= m - 1) self->counts -= UINT64_C(1) << 8 * context;
}

phase_end() {
  const uint32_t came = data(in).count;
  REGISTERS set = {{0}};
  for (int i = 0; i < width(awake); i++)
    for (int k = 0; k < param(words); k++) set.of[k] |= data(awake, i).of[k];
  const bool cancels = register_any(data(cancelled).of, param(words)), squashes = data(squash).valid;
  if (came == 0 && !(get(grants) | self->leaving) && !register_any(set.of, param(words)) && !cancels && !squashes &&
      !self->promised && (param(interval) == 1 || self->resting == 0)) {
    self->moved = false;
    return;
  }
  self->moved = true;
  self->occupied -= self->leaving;
  self->leaving = get(grants);
  for (uint32_t m = PRESENT; m; m &= m - 1) {
    const uint32_t c = LOWEST(m);
    uint64_t spoiled[param(sources)] = {0};
    if (__builtin_expect(cancels, false))
      for (int k = 0; k < param(sources); k++) spoiled[k] = get(spoiled, SPOILED(k, c));
    move_granted(self, c, get(chosen, (int)c), cancels, spoiled);
  }
  if (__builtin_expect(cancels, false)) withdraw(self, data(cancelled).of);
  count(granted, get(grants));
  if (param(interval) > 1) {
    if (self->resting > 0) self->resting--;
    if (get(grants) > 0) self->resting = (uint32_t)param(interval) - 1;
  }
  if (param(latency) > 1) delay_promise(self, get(promise));
  wake_waiters(self, set.of);
  const uint32_t squashed = CONTEXT(data(squash).age);
  if (__builtin_expect(squashes, false))
    drop_younger(self, squashed, kept_places(&data(squash), &data(head), squashed));
  if (param(contexts) > 1 || !squashes) {
    for (int k = 0; k < param(words); k++) self->available[k] &= ~data(in).dest.of[k];
    for (uint32_t i = 0; i < (uint32_t)param(width); i++) {
      if (i >= came) break;
      const renamed_op *op = &data(in).op[i];
      if ((param(contexts) > 1 && squashes && CONTEXT(op->age) == squashed) || !call(takes, op->op.control)) {
        event(ignored, 1);
        continue;
      }
      event(entered);
      enter(self, op);
    }
  } else {
    event(ignored, came);
  }
  if (param(contexts) > 1) look_over(self);
}

next_event() {
  return self->moved ? cycle() : unchanged(never());
}
