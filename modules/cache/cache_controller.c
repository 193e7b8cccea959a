/* cache_controller.c: tags and control of a cache; see cache_controller.lss.
 *
 * The write buffer drains first, so what leaves through `fill` leaves in order.  A line that is given up and changed is
 * read out before the new one arrives and written back after it.  Within a cycle a beat that arrives is written before
 * what the requester reads or writes (the storage's lane 0 comes before lane 1).  Tags of what goes out: the number of
 * the beat for fills, CACHE_BACK for write-backs, CACHE_PASSING for the pending request, CACHE_POSTED for the write
 * buffer.
 *
 * A beat that memory answers with an error arrives, too, but is only good for an error: reads of it are told, the line
 * is not kept, and a write that waited for the line goes past the cache, so that memory answers it.
 *
 * Most cycles find nothing to do, read from the line used last, or wait for memory; `busy`, `recent`, `asks` and
 * `stirs` tell. */

static inline uint32_t line_of(uint32_t address) {
  return address / CACHE_LINE;
}
#define LINE_MEANT(address) line_of(call(cell, address)) /* by a request */
static inline uint32_t set_of(uint32_t line) {
  return line % (uint32_t)param(sets);
}
static inline uint32_t place_of(uint32_t set, uint32_t way) {
  return (set * (uint32_t)param(ways) + way) * CACHE_LINE;
}
static inline uint32_t offset_of(uint32_t address) {
  return address % CACHE_LINE;
}
static inline bool fills(const self_t *self, uint32_t line) {
  return self->phase == cache_phase_fill && self->fill_line == line;
}

/* The way that holds a line, or -1. */
static inline int32_t find(const self_t *self, uint32_t line) {
  uint32_t set = set_of(line);
  int32_t found = -1;
  for (int w = 0; w < param(ways); w++)
    if (self->valid[set][w] && self->number[set][w] == line) found = w;
  return found;
}

/* The way that holds a line or takes it, or -1. */
static inline int32_t whereabouts(const self_t *self, uint32_t line) {
  return fills(self, line) ? (int32_t)self->fill_way : find(self, line);
}

/* The way that a request may use, or -1. */
static inline int32_t usable(const self_t *self, uint32_t address) {
  return call(cacheable, address) ? whereabouts(self, LINE_MEANT(address)) : -1;
}

/* Where the bytes of a line lie that is here, or is being filled. */
static inline uint32_t place_of_line(const self_t *self, uint32_t line) {
  return line == self->recent ? self->recent_place : place_of(set_of(line), (uint32_t)whereabouts(self, line));
}

init() {
  random_seed(&self->rng);
  self->recent = CACHE_NONE;
}

phase_start() {
  if (__builtin_expect(!self->asks, true)) {
    send_nothing(fill_request);
    return;
  }
  typeof_port(fill_request) request = {0};
  bool asks = true;
  if (self->posted_asked < self->posted_count) {
    uint32_t slot = self->posted_head + self->posted_asked;
    const typeof_port(in_request) *posted = &self->posted[slot >= CACHE_SLOTS ? slot - CACHE_SLOTS : slot];
    CACHE_RETAG(request, *posted, CACHE_POSTED, posted->address);
  } else if (self->phase == cache_phase_fill) {
    uint32_t beat = (self->first + self->asked) % CACHE_BEATS;
    CACHE_BEAT(request, mem_op_read, CACHE_BEAT_BYTES, self->fill_line * CACHE_LINE, beat);
    request.tag = beat;
  } else if (CACHE_MASKED && self->phase == cache_phase_write_back) {
    asks = CACHE_PART(request, self->victim_changed, self->victim, CACHE_LINE, CACHE_BEAT_BYTES, param(big_endian),
                      self->victim_line * CACHE_LINE);
    request.tag = CACHE_BACK;
  } else if (self->phase == cache_phase_write_back) {
    CACHE_BEAT(request, mem_op_write, CACHE_BEAT_BYTES, self->victim_line * CACHE_LINE, self->asked);
    request.tag = CACHE_BACK;
    memcpy(&request.data, &self->victim[self->asked], sizeof request.data);
  } else {
    CACHE_RETAG(request, self->pending, CACHE_PASSING, self->pending.address);
  }
  send_if(fill_request, asks, request);
}

/* The beats that `pending` needs: a read those of its bytes, a write the whole line. */
static inline uint64_t needed(const self_t *self) {
  return self->pending.op == mem_op_write
             ? CACHE_ALL_BEATS
             : cache_beats(offset_of(self->pending.address), self->pending.size, CACHE_BEAT_BYTES);
}

/* Whether `pending` can be answered with what has arrived, and for a write without an error. */
static inline bool satisfied(const self_t *self, uint64_t arrived, bool failed) {
  if (!self->waiting || self->past || self->phase == cache_phase_read_victim) return false;
  if (self->phase != cache_phase_fill) return true; /* it joined in the cycle in which the line became complete */
  return (needed(self) & ~arrived) == 0 && !(param(write_allocate) && failed && self->pending.op == mem_op_write);
}

/* What becomes of a request that does not simply read from the line used last. */
static __attribute__((noinline)) int32_t meet(const self_t *self, mem_op op, uint32_t address, uint32_t size) {
  const uint32_t line = LINE_MEANT(address);
  const bool idle = self->phase == cache_phase_idle && !(CACHE_CLEANS && self->to_clean),
             room = self->posted_count < param(write_buffer);
  if (op == mem_op_barrier) return idle && self->posted_count == 0 ? CACHE_BYPASS : CACHE_NOTHING;
  if (op == mem_op_write && !room && CACHE_POSTS_WRITES && (param(post_uncacheable) || !idle)) return CACHE_NOTHING;
  const int32_t held = find(self, line);
  if (op == mem_op_read && held >= 0 && offset_of(address) + size <= CACHE_LINE && call(cacheable, address) &&
      !(CACHE_CLEANS && self->leaving[set_of(line)][held]))
    return CACHE_HIT;
  cache_situation is = {.reads = op == mem_op_read, .writes = op == mem_op_write, .idle = idle, .room = room};
  is.cacheable = (is.reads || is.writes) && call(cacheable, address);
  if (is.cacheable) {
    if (offset_of(address) + size > CACHE_LINE)
      sim_error("a request of %d bytes at 0x%x crosses a line of %d bytes: the requester must make two of it",
                (int)size, (unsigned)address, (int)param(line));
    is.filling = fills(self, line);
    is.here = (cache_beats(offset_of(address), size, CACHE_BEAT_BYTES) & (~self->arrived | self->failed)) == 0;
    is.leaving = self->victim_dirty && self->victim_line == line;
    const int32_t found = is.filling ? (int32_t)self->fill_way : held;
    is.found = found >= 0;
    is.stale = CACHE_CLEANS && is.found && !is.filling && self->leaving[set_of(line)][found];
  }
  return cache_decide(CACHE_RULES, is);
}

/* What becomes of the pending request when beat number `tag`, or the answer to what went past the cache, arrives; -1:
 * nothing does. */
static inline int32_t settle(const self_t *self, int64_t tag, bool error) {
  if (self->past) return tag == CACHE_PASSING ? CACHE_RETURNS : CACHE_NOTHING;
  const bool beat = self->phase == cache_phase_fill && tag >= 0 && tag < CACHE_BEATS;
  const bool failed = param(write_allocate) && (self->failed != 0 || (beat && error));
  return satisfied(self, self->arrived | (beat ? UINT64_C(1) << tag : 0), failed) ? CACHE_ARRIVES : CACHE_NOTHING;
}

/* Whether `pending` needs a beat that failed, or beat number `tag`, which fails in this cycle (-1: none). */
static __attribute__((noinline)) bool fails(const self_t *self, int64_t tag) {
  const bool beat = self->phase == cache_phase_fill && tag >= 0 && tag < CACHE_BEATS;
  return (needed(self) & (self->failed | (beat ? UINT64_C(1) << tag : 0))) != 0;
}

handler(look) {
  int32_t result = CACHE_NOTHING;
  uint32_t found = 0;
  if (self->waiting) {
    if (self->stirs | some(fill_reply))
      result = settle(self, some(fill_reply) ? (int64_t)data(fill_reply).tag : -1,
                      some(fill_reply) && data(fill_reply).error);
    accept(in_request, false);
  } else if (some(in_request)) {
    const uint32_t address = item(in_request).address, size = item(in_request).size;
    const bool recent =
        LINE_MEANT(address) == self->recent && offset_of(address) + size <= CACHE_LINE && call(cacheable, address);
    result = item(in_request).op == mem_op_read && recent ? CACHE_HIT : meet(self, item(in_request).op, address, size);
    if (result == CACHE_HIT) found = place_of_line(self, LINE_MEANT(address));
    accept(in_request, result != CACHE_NOTHING);
  } else {
    accept(in_request, true);
  }
  set(outcome, result);
  set(place, found);
  if (!CACHE_SEPARATE) return;
  const bool beat = self->phase == cache_phase_fill && some(fill_reply) && data(fill_reply).tag < CACHE_BEATS;
  typeof_port(storage_request) filling = {0}, asking = {0};
  CACHE_BEAT(filling, beat ? mem_op_write : mem_op_read, CACHE_BEAT_BYTES, CACHE_FILLED,
             beat ? data(fill_reply).tag : self->victim_read);
  if (beat) filling.data = data(fill_reply).data;
  send_if(storage_request, 0, beat || self->phase == cache_phase_read_victim, filling);

  const typeof_port(in_request) *from = NULL;
  uint32_t where = CACHE_FILLED;
  if (result == CACHE_ARRIVES) {
    from = &self->pending;
  } else if (result == CACHE_HIT ||
             (CACHE_WRITES_LINE(result, data(in_request).op) && usable(self, data(in_request).address) >= 0)) {
    from = &data(in_request);
    where = place_of_line(self, LINE_MEANT(from->address));
  }
  if (from) CACHE_RETAG(asking, *from, from->tag, where + offset_of(from->address));
  send_if(storage_request, 1, from != NULL, asking);
}

handler(commit) {
  if (!CACHE_SEPARATE) return;
  enable(storage_request, 0, self->phase == cache_phase_read_victim || enabled(fill_reply));
  enable(storage_request, 1, get(outcome) == CACHE_ARRIVES || (get(outcome) != CACHE_NOTHING && enabled(in_request)));
}

static inline void write_inside(self_t *self, const typeof_port(in_request) * request, uint32_t place) {
  number_to_memory(&self->lines[place + offset_of(request->address)], &request->data, request->size, param(big_endian));
}

handler(answer) {
  if (get(outcome) == CACHE_HIT && !CACHE_SEPARATE && param(width) <= 64 &&
      !(param(write_back) && item(in_request).op == mem_op_write)) {
    const uint8_t *from = &self->lines[get(place) + offset_of(item(in_request).address)];
    const uint64_t number = load_padded(from, item(in_request).size, param(big_endian), item(in_request).sign);
    typeof_port(in_reply) reply = {.tag = item(in_request).tag};
    memcpy(&reply.data, &number, sizeof reply.data < 8 ? sizeof reply.data : 8);
    send_if(in_reply, enabled(in_request), reply);
    return;
  }
  const bool at_once = get(outcome) == CACHE_HIT || get(outcome) == CACHE_POST;
  if (get(outcome) == CACHE_NOTHING || !(get(outcome) >= CACHE_ARRIVES || (at_once && enabled(in_request)))) {
    send_nothing(in_reply);
    return;
  }
  typeof_port(in_reply) reply = {.tag = at_once ? item(in_request).tag : self->pending.tag};
  if (get(outcome) == CACHE_RETURNS) {
    reply.error = item(fill_reply).error;
    reply.latency = item(fill_reply).latency;
    memcpy(&reply.data, &item(fill_reply).data, sizeof reply.data);
    send(in_reply, reply);
    return;
  }
  const bool reads = at_once ? get(outcome) == CACHE_HIT && !(param(write_back) && item(in_request).op == mem_op_write)
                             : self->pending.op == mem_op_read;
  if (reads && CACHE_SEPARATE && some(storage_reply, 1)) {
    reply.error = item(storage_reply, 1).error;
    memcpy(&reply.data, &item(storage_reply, 1).data, sizeof reply.data);
  } else if (reads && !CACHE_SEPARATE) {
    const bool beat =
        !at_once && self->phase == cache_phase_fill && some(fill_reply) && item(fill_reply).tag < CACHE_BEATS;
    const typeof_port(in_request) *request = at_once ? &item(in_request) : &self->pending;
    __typeof__(reply.data) value; /* apart, so that only it lies in memory */
    CACHE_READ_LINE(value, *request, at_once ? get(place) : CACHE_FILLED, beat ? (int32_t)item(fill_reply).tag : -1,
                    beat ? &item(fill_reply).data : NULL);
    memcpy(&reply.data, &value, sizeof value);
  }
  const bool wrong = some(fill_reply) && item(fill_reply).error;
  if (__builtin_expect(!at_once && (wrong || self->failed), false))
    reply.error |= fails(self, wrong ? (int64_t)item(fill_reply).tag : -1);
  /* A write through that nothing buffers is answered when memory has done it, too. */
  send_if(in_reply, at_once || param(write_back) || param(write_buffer) > 0 || self->pending.op != mem_op_write, reply);
}

/* A line is used; it is not valid while part of it is still to come. */
static inline void touch(self_t *self, uint32_t line, uint32_t set, uint32_t way) {
  if (param(ways) > 1) self->used[set][way] = ++self->uses;
  self->recent = self->valid[set][way] ? line : CACHE_NONE;
  self->recent_place = place_of(set, way);
}

static inline uint8_t *mask_of(self_t *self, uint32_t set, uint32_t way) {
  return &self->changed[(set * (uint32_t)param(ways) + way) * CACHE_MASK_BYTES];
}

/* The requester writes to a line. */
static inline void change(self_t *self, uint32_t set, uint32_t way, const typeof_port(in_request) * request) {
  self->dirty[set][way] = true;
  if (CACHE_MASKED) cache_mark(mask_of(self, set, way), offset_of(request->address), request->size, true);
}

/* Gives up what a way holds; a changed line is remembered for the write-back. */
static inline void give_up(self_t *self, uint32_t set, uint32_t way) {
  if (CACHE_CLEANS) self->to_clean -= self->leaving[set][way];
  if (CACHE_CLEANS) self->leaving[set][way] = false;
  if (CACHE_MASKED) {
    memcpy(self->victim_changed, mask_of(self, set, way), CACHE_MASK_BYTES);
    memset(mask_of(self, set, way), 0, CACHE_MASK_BYTES);
  }
  self->victim_dirty = param(write_back) && self->valid[set][way] && self->dirty[set][way];
  self->victim_line = self->number[set][way];
  self->victim_read = self->victim_done = 0;
  self->valid[set][way] = self->dirty[set][way] = false;
  self->recent = CACHE_NONE;
  self->fill_set = set;
  self->fill_way = way;
}

/* Begins to write back the changed line that was given up. */
static inline void evict(self_t *self) {
  self->phase = cache_phase_read_victim;
  self->evictions++;
  event(evict, self->victim_line * CACHE_LINE);
}
static inline void begin_fill(self_t *self) {
  self->phase = cache_phase_fill;
  self->arrived = self->failed = self->asked = 0;
}
static inline void post(self_t *self, const typeof_port(in_request) * request) {
  uint32_t slot = self->posted_head + self->posted_count++;
  self->posted[slot >= CACHE_SLOTS ? slot - CACHE_SLOTS : slot] = *request;
}
static inline void wait_for(self_t *self, const typeof_port(in_request) * request, bool past) {
  self->pending = *request;
  self->waiting = true, self->past = past;
}

/* A read finds its line, which is whole, and is not the one used last. */
static __attribute__((noinline)) void touch_other(self_t *self, uint32_t line) {
  touch(self, line, set_of(line), (uint32_t)find(self, line));
}

/* A way's line must go: at once, or when its changes are in memory. */
static inline void drop_way(self_t *self, uint32_t set, uint32_t way) {
  self->recent = CACHE_NONE;
  if (!CACHE_CLEANS || !self->dirty[set][way]) {
    self->valid[set][way] = false;
  } else if (!self->leaving[set][way]) {
    self->leaving[set][way] = true;
    self->to_clean++;
  }
}

/* Every line must go, one that is on its way, too. */
static __attribute__((noinline)) void drop_all(self_t *self) {
  for (uint32_t s = 0; s < (uint32_t)param(sets); s++)
    for (uint32_t w = 0; w < (uint32_t)param(ways); w++)
      if (!CACHE_CLEANS || self->valid[s][w]) drop_way(self, s, w);
  self->dropped = true;
}

/* Takes over a request that was transferred; `found` is the way in which it met its line, or -1. */
static void take(self_t *self, const typeof_port(in_request) * request, int32_t result, int32_t found) {
  uint32_t line = LINE_MEANT(request->address), set = set_of(line);
  if (result == CACHE_HIT || result == CACHE_JOIN || (result == CACHE_POST && found >= 0)) {
    self->hits++;
    event(hit, request->address);
    if (result != CACHE_JOIN && line != self->recent) touch(self, line, set, (uint32_t)found);
  }
  if (!CACHE_SEPARATE && CACHE_WRITES_LINE(result, request->op) && found >= 0)
    write_inside(self, request, place_of(set, (uint32_t)found));
  if (request->op != mem_op_read && call(clears, request->address)) drop_all(self);
  switch (result) {
  case CACHE_HIT:
    if (request->op == mem_op_write) change(self, set, (uint32_t)found, request);
    break;
  case CACHE_POST:
    post(self, request);
    self->passed += found < 0;
    break;
  case CACHE_JOIN: wait_for(self, request, false); break;
  case CACHE_MISS: {
    wait_for(self, request, false);
    self->dropped = false;
    self->fill_line = line;
    const bool by_chance = param(ways) > 1 && param(replacement) == cache_replacement_random;
    const uint64_t chance = by_chance ? random_bits(&self->rng) : 0;
    give_up(self, set, cache_choose_way(self->valid[set], self->used[set], (uint32_t)param(ways), by_chance, chance));
    self->first = param(critical_first) ? offset_of(request->address) / CACHE_BEAT_BYTES : 0;
    if (self->victim_dirty)
      evict(self);
    else
      begin_fill(self);
    self->misses++;
    event(miss, request->address);
    break;
  }
  case CACHE_BYPASS: {
    wait_for(self, request, true);
    self->asked = 0;
    self->phase = cache_phase_pass;
    self->passed++;
    const int32_t held = request->op > mem_op_write && request->op != mem_op_barrier ? find(self, line) : -1;
    if (held >= 0) give_up(self, set, (uint32_t)held);
    if (held >= 0 && self->victim_dirty) evict(self);
    break;
  }
  }
}

/* Bytes of a line were written by another: drops the line if a way holds it, or marks it if it is on its way. */
static inline void drop_line(self_t *self, uint32_t line, const mem_snoop *write) {
  if (fills(self, line)) self->dropped = true;
  int32_t found = find(self, line);
  uint32_t set = set_of(line);
  bool leaves = self->victim_dirty && self->victim_line == line;
  if (CACHE_MASKED && (leaves || (found >= 0 && self->dirty[set][found]))) {
    if (write->tag == ~UINT32_C(0))
      sim_error("several writes announced together touch the changed line at 0x%x: which of its bytes are new?",
                (unsigned)(line * CACHE_LINE));
    uint32_t from, count = cache_overlap(line * CACHE_LINE, CACHE_LINE, write->address, write->size, &from);
    cache_mark(leaves ? self->victim_changed : mask_of(self, set, (uint32_t)found), from, count, false);
  }
  if (found < 0 || (CACHE_CLEANS && self->leaving[set][found])) return;
  drop_way(self, set, (uint32_t)found);
  self->drops++;
  event(drop, line * CACHE_LINE);
}

static inline void drop_range(self_t *self, const mem_snoop *write) {
  if (write->size == 0) return;
  uint32_t first = line_of(write->address), last = line_of(write->address + write->size - 1);
  const bool few = last - first < (uint32_t)param(sets);
  for (uint32_t k = 0; few && k <= last - first; k++) drop_line(self, first + k, write);
  if (few) return;
  if (self->phase == cache_phase_fill && self->fill_line - first <= last - first) self->dropped = true;
  if (CACHE_MASKED && self->victim_dirty && self->victim_line - first <= last - first)
    drop_line(self, self->victim_line, write);
  for (int s = 0; s < param(sets); s++)
    for (int w = 0; w < param(ways); w++)
      if (self->valid[s][w] && self->number[s][w] - first <= last - first) drop_line(self, self->number[s][w], write);
}

/* The line is complete. */
static inline void finish_fill(self_t *self) {
  uint32_t set = self->fill_set, way = self->fill_way;
  self->valid[set][way] = !self->dropped && self->failed == 0;
  self->number[set][way] = self->fill_line;
  touch(self, self->fill_line, set, way);
  self->asked = 0;
  self->phase = self->victim_dirty ? cache_phase_write_back : cache_phase_idle;
}

/* The line is complete; `answered`: the pending request has just been, in this cycle. */
static inline void complete(self_t *self, bool answered) {
  const bool writes = self->pending.op == mem_op_write && (answered || (self->waiting && !self->past));
  finish_fill(self);
  if (!writes) return;
  if (self->failed || (!param(write_back) && param(write_buffer) == 0)) {
    self->waiting = self->past = true;
    self->phase = self->victim_dirty ? cache_phase_write_back : cache_phase_pass;
  } else if (param(write_back)) {
    change(self, self->fill_set, self->fill_way, &self->pending);
    self->valid[self->fill_set][self->fill_way] = true;
    if (CACHE_CLEANS && self->dropped) drop_way(self, self->fill_set, self->fill_way);
  }
}

/* Memory answers a beat of a fill, a write, or what goes past the cache. */
static inline void take_answer(self_t *self, uint32_t tag, bool error) {
  if (error && (tag == CACHE_POSTED || tag == CACHE_BACK))
    sim_error("memory answered with an error to a write at 0x%x, which the requester believes done",
              tag == CACHE_POSTED ? self->posted[self->posted_head].address : self->victim_line * CACHE_LINE);
  if (tag == CACHE_POSTED) {
    self->posted_head = self->posted_head + 1 == CACHE_SLOTS ? 0 : self->posted_head + 1;
    self->posted_count--;
    self->posted_asked--;
  } else if (tag == CACHE_PASSING) {
    self->waiting = self->past = false;
    self->phase = cache_phase_idle;
  } else if (tag == CACHE_BACK) {
    self->victim_done++;
  } else {
    self->arrived |= UINT64_C(1) << tag;
    if (error) self->failed |= UINT64_C(1) << tag;
  }
}

/* Sums up what the next cycle has to do. */
static inline void sum_up(self_t *self) {
  self->busy =
      self->phase != cache_phase_idle || self->posted_count > 0 || self->waiting || (CACHE_CLEANS && self->to_clean);
  self->asks = self->posted_asked < self->posted_count ||
               (self->phase == cache_phase_fill && self->asked < CACHE_BEATS) ||
               (self->phase == cache_phase_write_back && (CACHE_MASKED || self->asked < CACHE_BEATS)) ||
               (self->phase == cache_phase_pass && self->asked == 0);
  self->stirs = self->phase == cache_phase_read_victim || (CACHE_MASKED && self->phase == cache_phase_write_back) ||
                satisfied(self, self->arrived, self->failed != 0);
}

phase_end() {
  bool heard =
      width(flush) > 0 && some(flush); /* if nothing is heard, is under way or is asked, there is nothing to do */
  for (int i = 0; i < width(snoop); i++) heard |= some(snoop, i);
  if (!(self->busy | heard)) {
    if (get(outcome) == CACHE_NOTHING) return unchanged();
    if (get(outcome) == CACHE_HIT && item(in_request).op == mem_op_read) {
      if (!transferred(in_request)) return;
      self->hits++;
      event(hit, item(in_request).address);
      if (LINE_MEANT(item(in_request).address) != self->recent) touch_other(self, LINE_MEANT(item(in_request).address));
      return;
    }
  } else if (!((get(outcome) != CACHE_NOTHING) | heard | self->stirs | some(fill_reply) |
               (some(fill_request) & acked(fill_request)))) {
    return unchanged();
  }
  const int32_t found = some(in_request) ? usable(self, item(in_request).address) : -1;
  if (transferred(fill_request)) {
    if (data(fill_request).tag == CACHE_POSTED)
      self->posted_asked++;
    else
      self->asked++;
    if (CACHE_MASKED && data(fill_request).tag == CACHE_BACK)
      cache_mark(self->victim_changed, offset_of(data(fill_request).address), data(fill_request).size, false);
  }
  if (self->phase == cache_phase_read_victim) {
    void *victim = &self->victim[self->victim_read];
    if (CACHE_SEPARATE)
      memcpy(victim, &data(storage_reply, 0).data, sizeof data(storage_reply, 0).data);
    else
      memory_to_number(victim, &self->lines[CACHE_FILLED + self->victim_read * CACHE_BEAT_BYTES], CACHE_BEAT_BYTES,
                       param(big_endian));
    if (++self->victim_read == CACHE_BEATS) {
      self->asked = 0;
      if (self->past || self->cleaning)
        self->phase = cache_phase_write_back;
      else
        begin_fill(self);
    }
  }
  const bool answered = get(outcome) == CACHE_ARRIVES;
  if (transferred(fill_reply)) {
    const uint32_t tag = data(fill_reply).tag;
    take_answer(self, tag, data(fill_reply).error);
    if (!CACHE_SEPARATE && tag < CACHE_BEATS)
      number_to_memory(&self->lines[CACHE_FILLED + tag * CACHE_BEAT_BYTES], &data(fill_reply).data, CACHE_BEAT_BYTES,
                       param(big_endian));
  }
  uint32_t at;
  if (self->phase == cache_phase_write_back && self->victim_done == (CACHE_MASKED ? self->asked : CACHE_BEATS) &&
      !(CACHE_MASKED && cache_run(self->victim_changed, CACHE_LINE, CACHE_BEAT_BYTES, &at))) {
    self->asked = 0;
    self->victim_dirty = self->cleaning = false;
    self->phase = self->past ? cache_phase_pass : cache_phase_idle;
  }
  if (answered) {
    self->waiting = false;
    if (!CACHE_SEPARATE && self->pending.op == mem_op_write) write_inside(self, &self->pending, CACHE_FILLED);
    if (self->pending.op == mem_op_write && !param(write_back) && param(write_buffer) > 0) post(self, &self->pending);
  }
  if (self->phase == cache_phase_fill && self->arrived == CACHE_ALL_BEATS) complete(self, answered);
  if (transferred(in_request)) {
    const typeof_port(in_request) request = data(in_request);
    take(self, &request, get(outcome), found);
  }
  for (int i = 0; i < width(snoop); i++)
    if (transferred(snoop, i) && !call(ours, data(snoop, i).tag)) drop_range(self, &data(snoop, i));
  if (width(flush) > 0 && transferred(flush) && data(flush)) drop_all(self);
  if (CACHE_CLEANS && self->to_clean && self->phase == cache_phase_idle && !self->waiting) {
    uint32_t place = (uint32_t)cache_first(&self->leaving[0][0], (uint32_t)(param(sets) * param(ways)));
    give_up(self, place / (uint32_t)param(ways), place % (uint32_t)param(ways));
    self->cleaning = true;
    evict(self);
  }
  sum_up(self);
}

next_event() {
  return self->busy ? cycle() : never();
}
