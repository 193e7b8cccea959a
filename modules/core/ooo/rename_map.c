/* rename_map.c: register renaming; see rename_map.lss. */
#include "core/ooo/places.h"
#include "core/ooo/register_sets.h"

#define RING(n)     ((n) & (uint32_t)(param(ring) - 1))
#define BUFFERED(n) ((n) & (uint32_t)(param(depth) - 1))
#define NEGATIVE    0x20820820u /* the uppermost bits of the fields of rename_needs */
#define QUEUES      0x3ffffu    /* the fields that are room in queues */
#define WALKS       (param(snapshots) == 0)
#define PLACE(age)  place_of_age((age), param(list))
#define ALL         (param(snapshots) == 64 ? ~UINT64_C(0) : (UINT64_C(1) << param(snapshots) % 64) - 1)

init() {
  for (int i = 0; i < param(logical); i++) self->map[i] = (uint8_t)i;
  for (int i = param(logical); i < param(registers); i++) self->free[self->free_tail++] = (uint8_t)i;
  self->free_snapshots = (uint32_t)param(snapshots);
}

handler(show, i) {
  send(out, i, self->latched);
}

static inline uint32_t least(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

/* As many of something as a field of rename_needs can count down from, which is more than what two groups need. */
static inline uint32_t countable(uint32_t n) {
  return least(n, 31);
}

/* How many of the oldest n find room for everything that they need: no field of what is left becomes negative. */
static inline uint32_t fitting(const typeof_port(in) * ring, uint32_t n, uint32_t left) {
  for (uint32_t i = 0; i < (uint32_t)param(width); i++) {
    if (i >= n) break;
    left -= ring->op[BUFFERED(ring->head + i)].needs;
    if (left & NEGATIVE) return i;
  }
  return n;
}

handler(count) {
  const uint32_t n = least(least(data(in).count, (uint32_t)param(width)), data(list_room) - self->latched.count);
  if (n == 0 || data(squash).valid || (WALKS && self->behind > 0)) {
    send(take, 0);
    return;
  }
  uint32_t integer = ~0u, memory = ~0u, product = ~0u;
  for (int i = 0; i < width(integer_room); i++) integer = least(integer, data(integer_room, i));
  for (int i = 0; i < width(memory_room); i++) memory = least(memory, data(memory_room, i));
  for (int i = 0; i < width(product_room); i++) product = least(product, data(product_room, i));
  const uint32_t queues = countable(memory) | countable(integer) << 6 | countable(product) << 12;
  const uint32_t own =
      countable(self->free_tail - self->free_head) << 18 | (WALKS ? 31u : countable(self->free_snapshots)) << 24;
  send(take, fitting(&data(in), n, (queues - self->latched_needs) | own));
}

static inline void count_snapshots(self_t *self) {
  self->free_snapshots = (uint32_t)(param(snapshots) - __builtin_popcountll(self->used));
}

/* The map and the free registers are those behind a branch of this age again. */
static inline void restore(self_t *self, uint32_t snapshot, uint32_t age) {
  memcpy(self->map, self->saved[snapshot], sizeof self->map);
  self->free_head = self->saved_head[snapshot];
  self->age = age + 1;
  for (uint64_t m = self->used; m; m &= m - 1) {
    const uint32_t k = (uint32_t)__builtin_ctzll(m);
    if ((int32_t)(self->saved_age[k] - age) >= 0) self->used &= ~(UINT64_C(1) << k);
  }
  count_snapshots(self);
}

/* Undoes the youngest instructions, as many as a cycle allows. */
static inline void walk_back(self_t *self) {
  const uint32_t n = least(self->behind, (uint32_t)param(walk));
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t place = PLACE(--self->age);
    if (self->written[place] == 0) continue;
    self->map[self->written[place]] = self->before[place];
    self->free_head--;
  }
  self->behind -= n;
  count(walked);
}

/* Nothing is in flight: all registers are free but those of the map, which is what is committed. */
static inline void begin_anew(self_t *self, const uint8_t *map, uint32_t age) {
  memcpy(self->map, map, sizeof self->map);
  self->free_head = self->free_tail - (uint32_t)(param(registers) - param(logical));
  self->age = age;
  self->behind = 0;
  self->used = 0;
  count_snapshots(self);
}

static __attribute__((noinline)) void recover(self_t *self, const squash_order *squash, const uint8_t *map) {
  self->latched.count = 0;
  self->latched.dest = (register_set){{0, 0}};
  self->latched_needs = 0;
  if (width(committed) > 0 && squash->all) return begin_anew(self, map, squash->age + 1);
  if (!WALKS) return restore(self, squash->snapshot, squash->age);
  self->behind = self->age - (squash->age + 1);
  if (self->behind > 0) walk_back(self);
}

static inline void take_snapshot(self_t *self, renamed_op *op) {
  const uint32_t k = (uint32_t)__builtin_ctzll(~self->used & ALL);
  self->used |= UINT64_C(1) << k;
  op->snapshot = (uint8_t)k;
  memcpy(self->saved[k], self->map, sizeof self->map);
  self->saved_head[k] = self->free_head;
  self->saved_age[k] = op->age;
  self->free_snapshots--;
}

static inline void rename_one(self_t *self, renamed_op *to, const micro_op *from) {
  to->op = *from;
  for (int k = 0; k < param(sources); k++) to->op.source[k] = self->map[from->source[k]];
  to->logical = from->dest;
  to->old = 0;
  if (from->dest) {
    to->old = self->map[from->dest];
    self->map[from->dest] = to->op.dest = self->free[RING(self->free_head)];
    self->free_head++;
    register_add(&self->latched.dest, to->op.dest);
  }
  to->age = self->age++;
  if (WALKS) {
    self->written[PLACE(to->age)] = from->dest;
    self->before[PLACE(to->age)] = to->old;
  } else if (rename_needs_snapshot(from->needs)) {
    take_snapshot(self, to);
  }
}

/* Whether each physical register is free or has a name once at most. */
static __attribute__((unused)) bool is_sound(const self_t *self) {
  register_set seen = {{0, 0}};
  for (uint32_t k = 0; k < (uint32_t)param(logical); k++) {
    if (register_in(&seen, self->map[k])) return false;
    register_add(&seen, self->map[k]);
  }
  for (uint32_t k = self->free_head; k != self->free_tail; k++) {
    if (register_in(&seen, self->free[RING(k)])) return false;
    register_add(&seen, self->free[RING(k)]);
  }
  return true;
}

phase_end() {
  const uint32_t n = data(take), gone = data(retired).count;
  for (uint32_t i = 0; i < (uint32_t)param(width); i++) {
    if (i >= gone) break;
    if (data(retired).old[i]) self->free[RING(self->free_tail++)] = data(retired).old[i];
  }
  if (!WALKS && data(retired).resolved) {
    self->used &= ~data(retired).resolved;
    count_snapshots(self);
  }
  if (__builtin_expect(data(squash).valid, false)) {
    recover(self, &data(squash), data(committed).of);
    self->moved = true;
    return;
  }
  if (WALKS && self->behind > 0) {
    walk_back(self);
    self->moved = true;
    return;
  }
  if ((n | gone | self->latched.count) == 0 && data(retired).resolved == 0) {
    if (!self->moved) unchanged();
    self->moved = false;
    return;
  }
  self->moved = true;
  self->latched.dest = (register_set){{0, 0}};
  self->latched_needs = 0;
  for (uint32_t i = 0; i < (uint32_t)param(width); i++) {
    if (i >= n) break;
    const micro_op *from = &data(in).op[BUFFERED(data(in).head + i)];
    rename_one(self, &self->latched.op[i], from);
    self->latched_needs += from->needs & QUEUES;
  }
  self->latched.count = (uint8_t)n;
  count(renamed, n);
  sim_check(is_sound(self), "a physical register is free, or has a name, twice");
}

next_event() {
  return self->moved ? cycle() : never();
}
