// instruction_buffer.c: decoded instructions that wait for renaming; see instruction_buffer.lss.
#include "core/ooo/places.h"

#define BUFFERED(n) ((n) & (uint32_t)(param(depth) - 1))

init() {
  for (int c = 0; c < param(contexts); c++) self->space.of[c] = param(depth);
}

handler(show, i) {
  send(out, i, self->ring[i]);
}

handler(show_room, i) {
  send(room, i, self->space);
}

handler(show_waiting, i) {
  send(waiting, i, self->counts);
}

// Instructions of a context that are in a stage.
#define STAGED(stage, context) self->staged[(uint32_t)(stage) * (uint32_t)param(contexts) + (context)]

static inline uint32_t staged(const self_t *self, uint32_t context) {
  uint32_t n = 0;
  for (int stage = 0; stage < param(front_stages); stage++) n += STAGED(stage, context);
  return n;
}

// Every stage hands on what it has, the last one to those that are shown; the contexts that have any.
static inline uint32_t shift(self_t *self) {
  uint32_t moved = 0;
  for (uint32_t c = 0; param(front_stages) > 0 && c < (uint32_t)param(contexts); c++) {
    if (staged(self, c) == 0) continue;
    moved |= UINT32_C(1) << c;
    self->ring[c].count += STAGED(param(front_stages) - 1, c);
    for (int stage = (int)param(front_stages) - 1; stage > 0; stage--) STAGED(stage, c) = STAGED(stage - 1, c);
    STAGED(0, c) = 0;
  }
  return moved;
}

static inline void update(self_t *self, uint32_t context) {
  const uint32_t n = self->ring[context].count + staged(self, context);
  self->space.of[context] = (uint32_t)param(depth) - n;
  if (width(waiting) > 0) self->counts = (self->counts & ~(UINT64_C(255) << 8 * context)) | (uint64_t)n << 8 * context;
  if (n > self->most) report(peak, self->most = n);
}

static inline void append(self_t *self, uint32_t context, const typeof_port(in) * group) {
  typeof_port(out) *ring = &self->ring[context];
  const uint32_t held = ring->count + staged(self, context), tail = ring->head + held, came = group->count;
  if (held + came > (uint32_t)param(depth)) sim_error("an instruction buffer got more than it has room for");
  for (uint32_t i = 0; i < (uint32_t)param(width); i++) {
    if (i >= came) break;
    ring->op[BUFFERED(tail + i)] = group->op[i];
  }
  if (param(front_stages) > 0)
    STAGED(0, context) = (uint8_t)(STAGED(0, context) + came);
  else
    ring->count += came;
}

static inline void drop(self_t *self, uint32_t context, uint32_t n) {
  event(taken, n);
  self->ring[context].head = BUFFERED(self->ring[context].head + n);
  self->ring[context].count -= n;
}

// A group that came is in the ring before what was taken leaves it; no more than that can wait at the most.
phase_end() {
  const bool squashes = data(squash).valid;
  const uint32_t squashed = age_context(data(squash).age, param(contexts));
  uint32_t changed = shift(self);
  for (int i = 0; i < width(in); i++) {
    const uint32_t context = param(contexts) > 1 ? context_with(data(in, i).context, param(contexts)) : 0;
    if (transferred(in, i) && squashes && context == squashed) event(squashed, data(in, i).count);
    if (!transferred(in, i) || data(in, i).count == 0 || (squashes && context == squashed)) continue;
    append(self, context, &data(in, i));
    changed |= UINT32_C(1) << context;
  }
  for (uint32_t taken = data(take); taken;) {
    const uint32_t context = param(contexts) > 1 ? (uint32_t)__builtin_ctz(taken) / 4 : 0;
    if (!squashes || context != squashed) drop(self, context, taken >> 4 * context & 15);
    changed |= UINT32_C(1) << context;
    taken &= ~(UINT32_C(15) << 4 * context);
  }
  if (__builtin_expect(squashes, false)) {
    event(squashed, self->ring[squashed].count + staged(self, squashed));
    self->ring[squashed].count = 0;
    for (int stage = 0; stage < param(front_stages); stage++) STAGED(stage, squashed) = 0;
    changed |= UINT32_C(1) << squashed;
  }
  if (!changed) {
    self->moved = false;
    return;
  }
  self->moved = true;
  for (uint32_t m = changed; m; m &= m - 1) update(self, param(contexts) > 1 ? (uint32_t)__builtin_ctz(m) : 0);
}

next_event() {
  return self->moved ? cycle() : unchanged(never());
}
