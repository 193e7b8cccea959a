// rename_map.c: register renaming; see rename_map.lss.
#include "core/ooo/places.h"
#include "core/ooo/register_sets.h"

#define RING(n)     ((n) & (uint32_t)(param(ring) - 1))
#define BUFFERED(n) ((n) & (uint32_t)(param(depth) - 1))
#define NEGATIVE    0x20820820u // the uppermost bits of the fields of rename_needs
#define QUEUES      0x3ffffu    // the fields that are room in queues
#define WALKS       (param(snapshots) == 0)
#define SLOT(age)   slot_of_age((age), param(contexts), param(list))
#define LAST        (UINT64_C(1) << (param(snapshots) > 0 ? param(snapshots) - 1 : 0)) // the last snapshot

init() {
  for (int c = 0; c < param(contexts); c++) {
    self->age[c] = (uint32_t)c;
    for (int i = 1; i < param(logical); i++) self->map[c].of[i] = (uint16_t)(c * (param(logical) - 1) + i);
  }
  for (int i = param(mapped); i < param(registers); i++) self->free[self->free_tail++] = (uint16_t)i;
  self->free_snapshots = (uint32_t)param(snapshots);
}

handler(show, i) {
  send(out, i, self->latched);
}

static inline uint32_t least(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

// As many of something as a field of rename_needs can count down from, which is more than what two groups need.
static inline uint32_t countable(uint32_t n) {
  return least(n, 31);
}

// Whether nothing is renamed after an instruction before that is done.
static inline bool is_last(const micro_op *op) {
  return operation_trap(op->control) == trap_cause_system;
}

// How many of the oldest n find room for everything that they need, which is no longer left then: no field of that
// becomes negative.
static inline uint32_t fitting(const typeof_port(in) * ring, uint32_t n, uint32_t *left) {
  for (uint32_t i = 0; i < (uint32_t)param(width); i++) {
    if (i >= n) break;
    const uint32_t less = *left - ring->op[BUFFERED(ring->head + i)].needs;
    if (less & NEGATIVE) return i;
    *left = less;
    if (param(contexts) > 1 && is_last(&ring->op[BUFFERED(ring->head + i)])) return i + 1;
  }
  return n;
}

// Contexts of which nothing can be renamed in this cycle whatever there is room for, a bit for each.
static inline uint32_t barred(const self_t *self, const squash_order *squash) {
  const uint32_t squashed = squash->valid ? UINT32_C(1) << age_context(squash->age, param(contexts)) : 0;
  return squashed | (WALKS ? self->walking : 0);
}

// How many of a context are in the latch, which its list does not know of yet.
static inline uint32_t in_latch(const self_t *self, int context) {
  return param(contexts) > 1 ? self->latched_take >> 4 * context & 15 : self->latched.count;
}

handler(count) {
  uint32_t waiting = 0;
  for (int c = 0; c < param(contexts); c++) {
    const uint32_t listed = data(list_room).of[c], latched = in_latch(self, c);
    const bool alone =
        param(contexts) > 1 && self->alone >> c & 1 && (listed != (uint32_t)param(window) || latched > 0);
    waiting |= (uint32_t)(data(in, c).count > 0 && listed != latched && !alone) << c;
  }
  waiting &= ~barred(self, &data(squash));
  if (!waiting) {
    set(next, self->turn);
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
  uint32_t left = (queues - self->latched_needs) | own, taken = 0, room = (uint32_t)param(width);
  const uint32_t first = context_from(waiting, self->turn);
  while (waiting && room > 0) {
    const uint32_t c = param(contexts) > 1 ? context_from(waiting, self->turn) : 0;
    const uint32_t listed = least(data(list_room).of[c] - in_latch(self, (int)c), room);
    const uint32_t fit = fitting(&data(in, (int)c), least(data(in, (int)c).count, listed), &left);
    taken |= fit << 4 * c;
    room -= fit;
    waiting &= ~(UINT32_C(1) << c);
    if (param(contexts) == 1) break;
  }
  const uint32_t turn = first + (taken >> 4 * first & 15 ? 1 : 0);
  set(next, turn < (uint32_t)param(contexts) ? turn : 0);
  send(take, taken);
}

static inline void count_snapshots(self_t *self) {
  self->free_snapshots = (uint32_t)(param(snapshots) - __builtin_popcountll(self->used));
}

// Undoes the youngest n instructions of a context: the map is what it was, and what they named is free.
static inline void undo(self_t *self, uint32_t context, uint32_t n) {
  uint16_t *map = self->map[context].of;
  for (uint32_t i = 0; i < n; i++) {
    self->age[context] = age_behind(self->age[context], ~0u, param(contexts));
    const uint32_t slot = SLOT(self->age[context]), written = self->written[slot];
    if (written == 0) continue;
    self->free[RING(self->free_tail++)] = map[written];
    event(undone);
    map[written] = self->before[slot];
  }
}

// As many instructions are undone as a cycle allows.
static inline void walk_back(self_t *self) {
  uint32_t most = (uint32_t)param(walk);
  for (uint32_t m = self->walking; m && most > 0; m &= m - 1) {
    const uint32_t c = (uint32_t)__builtin_ctz(m), n = least(self->behind[c], most);
    undo(self, c, n);
    most -= n;
    self->behind[c] -= n;
    if (self->behind[c] == 0) self->walking &= ~(m & -m);
  }
  count(walked);
}

// Branches that are dropped, and the one that is resolved by that, have no snapshots any more.
static inline void drop_snapshots(self_t *self, uint32_t age) {
  for (uint64_t m = self->used; m; m &= m - 1) {
    const uint32_t saved = self->saved_age[__builtin_ctzll(m)];
    if (saved == age || age_follows(saved, age, param(contexts))) self->used &= ~(m & -m);
  }
  count_snapshots(self);
}

static __attribute__((noinline)) void recover(self_t *self, const squash_order *squash) {
  const uint32_t context = age_context(squash->age, param(contexts));
  const uint32_t behind = ages_between(squash->age, self->age[context], param(contexts)) - 1;
  if (behind > (uint32_t)param(list))
    sim_error("%u instructions are dropped, of a list of %d", (unsigned)behind, param(list));
  const bool walks = WALKS && !squash->all && behind > 0;
  self->alone &= ~(UINT32_C(1) << context);
  if (!WALKS) drop_snapshots(self, squash->age);
  if (!walks) undo(self, context, behind);
  self->behind[context] = walks ? behind : 0;
  self->walking &= ~(UINT32_C(1) << context);
  self->walking |= (uint32_t)walks << context;
}

static inline void take_snapshot(self_t *self, renamed_op *op) {
  const uint32_t k = (uint32_t)__builtin_ctzll(~self->used | LAST);
  self->used |= UINT64_C(1) << k;
  op->snapshot = (uint8_t)k;
  self->saved_age[k] = op->age;
  self->free_snapshots--;
}

static inline void rename_one(self_t *self, uint32_t context, renamed_op *to, const micro_op *from) {
  uint16_t *map = self->map[context].of;
  to->op = *from;
  for (int k = 0; k < param(sources); k++) to->source[k] = map[from->source[k]];
  to->logical = from->dest;
  to->dest = to->old = 0;
  if (from->dest) {
    to->old = map[from->dest];
    map[from->dest] = to->dest = self->free[RING(self->free_head)];
    self->free_head++;
    event(named);
    register_add(self->latched.dest.of, to->dest);
  }
  to->age = self->age[context];
  self->age[context] = age_behind(to->age, 1, param(contexts));
  self->written[SLOT(to->age)] = from->dest;
  self->before[SLOT(to->age)] = to->old;
  if (!WALKS && rename_needs_snapshot(from->needs)) take_snapshot(self, to);
}

// Renames the oldest n of a context, behind those of others that are in the latch.
static inline void rename_some(self_t *self, uint32_t context, const typeof_port(in) * ring, uint32_t n) {
  renamed_op *to = &self->latched.op[self->latched.count];
  for (uint32_t i = 0; i < (uint32_t)param(width); i++) {
    if (i >= n) break;
    const micro_op *from = &ring->op[BUFFERED(ring->head + i)];
    rename_one(self, context, &to[i], from);
    self->latched_needs += from->needs & QUEUES;
  }
  self->latched.count = (uint8_t)(self->latched.count + n);
  if (param(contexts) > 1 && n > 0) {
    const uint32_t bit = UINT32_C(1) << context;
    self->alone = (self->alone & ~bit) | (is_last(&ring->op[BUFFERED(ring->head + n - 1)]) ? bit : 0);
  }
}

// Whether each physical register is free or has a name once at most.
static __attribute__((unused)) bool is_sound(const self_t *self) {
  uint64_t seen[param(words)] = {0};
  for (int c = 0; c < param(contexts); c++) {
    for (int k = 1; k < param(logical); k++) {
      if (self->map[c].of[k] == 0 || register_in(seen, self->map[c].of[k])) return false;
      register_add(seen, self->map[c].of[k]);
    }
  }
  for (uint32_t k = self->free_head; k != self->free_tail; k++) {
    if (self->free[RING(k)] == 0 || register_in(seen, self->free[RING(k)])) return false;
    register_add(seen, self->free[RING(k)]);
  }
  return true;
}

// What was committed gives back the registers that it replaced, and what was resolved its snapshots.
static inline void give_back(self_t *self, const typeof_port(retired) * gone) {
  for (uint32_t i = 0; i < (uint32_t)param(width); i++) {
    if (i >= gone->count) break;
    if (!gone->old[i]) continue;
    self->free[RING(self->free_tail++)] = gone->old[i];
    event(returned);
  }
  if (WALKS) return;
  for (uint64_t m = gone->resolved & self->used; m; m &= m - 1) self->free_snapshots++;
  self->used &= ~gone->resolved;
}

phase_end() {
  const uint32_t taken = data(take), gone = data(retired).count;
  const bool recovers = __builtin_expect(data(squash).valid | (self->walking != 0), false);
  if ((taken | gone | self->latched.count) == 0 && data(retired).resolved == 0 && !recovers) {
    self->moved = false;
    return;
  }
  self->moved = true;
  give_back(self, &data(retired));
  memset(self->latched.dest.of, 0, sizeof self->latched.dest.of);
  self->latched_needs = 0;
  self->latched.count = 0;
  self->latched_take = taken;
  if (recovers) {
    if (data(squash).valid) recover(self, &data(squash));
    if (self->walking) walk_back(self);
  }
  if (param(contexts) == 1) {
    rename_some(self, 0, &data(in), taken);
  } else {
    for (uint32_t m = taken; m;) {
      const uint32_t c = (uint32_t)__builtin_ctz(m) / 4;
      rename_some(self, c, &data(in, (int)c), taken >> 4 * c & 15);
      m &= ~(UINT32_C(15) << 4 * c);
    }
    if (taken) self->turn = get(next);
  }
  count(renamed, self->latched.count);
  sim_check(is_sound(self), "a physical register is free, or has a name, twice");
}

next_event() {
  return self->moved ? cycle() : unchanged(never());
}
