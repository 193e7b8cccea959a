/* cache_controller.c: tags and control of a cache; see cache_controller.lss.
 *
 * The write buffer drains first, so what leaves through `fill` leaves in order.  A line that is given up and changed is read out before the
 * new one arrives and written back after it.  Within a cycle a beat that arrives is written before what the requester reads or writes (the
 * storage's lane 0 comes before lane 1).  Tags of what goes out: the number of the beat for fills, BACK for write-backs, PASSING for the
 * pending reference, POSTED for the write buffer. */
#define BEAT_BYTES (param(fill_width) / 8)
#define LINE       ((uint32_t)param(line))
#define BEATS      (param(line) / BEAT_BYTES)
#define ALL_BEATS  (BEATS == 64 ? ~UINT64_C(0) : (UINT64_C(1) << (BEATS & 63)) - 1)
#define BACK       ((uint32_t)BEATS)
#define PASSING    ((uint32_t)BEATS + 1)
#define SLOTS      ((uint32_t)(param(write_buffer) > 0 ? param(write_buffer) : 1))
#define POSTED     ((uint32_t)BEATS + 2)

/* Whether the lines lie in a memory of their own. */
#define SEPARATE (width(storage_request) == 2)

/* Whether changed lines may have to be dropped, and whether then only their changed bytes are written back. */
#define CLEANS     (param(write_back) && (width(snoop) > 0 || width(flush) > 0))
#define MASKED     (param(write_back) && width(snoop) > 0)
#define MASK_BYTES ((uint32_t)(param(line) + 7) / 8)

/* Whether a request writes to the line that it hits. */
#define WRITES_LINE(result, found, op)                                                                                                               \
  ((op) == mem_op_write && (found) >= 0 && ((result) == CACHE_HIT || (result) == CACHE_POST || (result) == CACHE_BYPASS))

static inline uint32_t line_of(uint32_t address) { return address / LINE; }
static inline uint32_t set_of(uint32_t line) { return line & (uint32_t)(param(sets) - 1); }
static inline uint32_t place_of(uint32_t set, uint32_t way) { return (set * (uint32_t)param(ways) + way) * LINE; }
static inline uint32_t offset_of(uint32_t address) { return address & (uint32_t)(param(line) - 1); }
static inline bool fills(const self_t *self, uint32_t line) { return self->phase == CACHE_FILL && self->fill_line == line; }

/* The way that holds a line, or -1. */
static inline int32_t find(const self_t *self, uint32_t line) {
  uint32_t set = set_of(line);
  int32_t found = -1;
  for (int w = 0; w < param(ways); w++)
    if (self->valid[set][w] && self->number[set][w] == line) found = w;
  return found;
}

init() { random_seed(&self->rng); }

phase_start() {
  if (__builtin_expect(!self->busy, true)) {
    send_nothing(fill_request);
    return;
  }

  typeof_port(fill_request) request = {0};
  bool asks = true;
  if (self->posted_asked < self->posted_count) {
    uint32_t slot = self->posted_head + self->posted_asked;
    const typeof_port(in_request) *posted = &self->posted[slot >= SLOTS ? slot - SLOTS : slot];
    CACHE_RETAG(request, *posted, POSTED, posted->address);
  } else if (self->phase == CACHE_FILL && self->asked < BEATS) {
    uint32_t beat = (self->first + self->asked) % BEATS;
    CACHE_BEAT(request, mem_op_read, BEAT_BYTES, self->fill_line * LINE, beat);
    request.tag = beat;
  } else if (MASKED && self->phase == CACHE_WRITE_BACK) {
    asks = CACHE_PART(request, self->victim_changed, self->victim, LINE, BEAT_BYTES, param(big_endian), self->victim_line * LINE);
    request.tag = BACK;
  } else if (self->phase == CACHE_WRITE_BACK && self->asked < BEATS) {
    CACHE_BEAT(request, mem_op_write, BEAT_BYTES, self->victim_line * LINE, self->asked);
    request.tag = BACK;
    memcpy(&request.data, &self->victim[self->asked], sizeof request.data);
  } else if (self->phase == CACHE_PASS && self->asked == 0) {
    CACHE_RETAG(request, self->pending, PASSING, self->pending.address);
  } else {
    asks = false;
  }
  send_if(fill_request, asks, request);
}

/* Whether `pending` can be answered with what has arrived: a read needs its bytes, a write the whole line. */
static inline bool satisfied(const self_t *self, uint64_t arrived) {
  if (!self->waiting || self->past || self->phase == CACHE_READ_VICTIM) return false;
  if (self->phase != CACHE_FILL) return true; /* it joined in the cycle in which the line became complete */
  uint64_t needed = self->pending.op == mem_op_write ? ALL_BEATS : cache_beats(offset_of(self->pending.address), self->pending.size, BEAT_BYTES);
  return (needed & ~arrived) == 0;
}

handler(look) {
  if (__builtin_expect(!(some(in_request) | self->busy), true)) {
    set(outcome, CACHE_NOTHING);
    set(way, -1);
    set(answers, false);
    accept(in_request, true);
    if (SEPARATE) {
      send_nothing(storage_request, 0);
      send_nothing(storage_request, 1);
    }
    return;
  }

  /* What becomes of the request. */
  int32_t result = CACHE_NOTHING, found = -1;
  if (some(in_request) && !self->waiting) {
    const typeof_port(in_request) *request = &data(in_request);
    uint32_t line = line_of(request->address);
    const cache_rules rules = {.write_back = param(write_back),
                               .write_allocate = param(write_allocate),
                               .post_uncacheable = param(post_uncacheable),
                               .buffered = param(write_buffer) > 0};
    cache_situation is = {.reads = request->op == mem_op_read,
                          .writes = request->op == mem_op_write,
                          .idle = self->phase == CACHE_IDLE && !(CLEANS && self->to_clean),
                          .room = self->posted_count < param(write_buffer)};
    is.cacheable = (is.reads || is.writes) && call(cacheable, request->address);
    if (is.cacheable) {
      if (request->size > 0 && line_of(request->address + request->size - 1) != line)
        sim_error("a reference of %d bytes at 0x%x crosses a line of %d bytes: the requester must make two of it", (int)request->size,
                  (unsigned)request->address, (int)param(line));
      is.filling = fills(self, line);
      is.here = (cache_beats(offset_of(request->address), request->size, BEAT_BYTES) & ~self->arrived) == 0;
      is.leaving = self->victim_dirty && self->victim_line == line;
      found = is.filling ? (int32_t)self->fill_way : find(self, line);
      is.found = found >= 0;
      is.stale = CLEANS && is.found && !is.filling && self->leaving[set_of(line)][found];
    }
    result = cache_decide(rules, is);
  }
  set(outcome, result);
  set(way, found);
  accept(in_request, some(in_request) ? result != CACHE_NOTHING : !self->waiting);

  /* Whether what arrives completes the pending reference. */
  uint64_t arrived = self->arrived;
  bool beat = self->phase == CACHE_FILL && some(fill_reply) && data(fill_reply).tag < BEATS;
  if (beat) arrived |= UINT64_C(1) << data(fill_reply).tag;
  bool complete = satisfied(self, arrived);
  set(answers, complete);
  if (!SEPARATE) return;

  typeof_port(storage_request) filling = {0}, asking = {0};
  if (beat) {
    CACHE_BEAT(filling, mem_op_write, BEAT_BYTES, place_of(self->fill_set, self->fill_way), data(fill_reply).tag);
    filling.data = data(fill_reply).data;
  } else {
    CACHE_BEAT(filling, mem_op_read, BEAT_BYTES, place_of(self->fill_set, self->fill_way), self->victim_read);
  }
  send_if(storage_request, 0, beat || self->phase == CACHE_READ_VICTIM, filling);

  const typeof_port(in_request) *from = NULL;
  uint32_t where = 0;
  if (complete) {
    from = &self->pending;
    where = place_of(self->fill_set, self->fill_way);
  } else if (result == CACHE_HIT || (some(in_request) && WRITES_LINE(result, found, data(in_request).op))) {
    from = &data(in_request);
    where = place_of(set_of(line_of(from->address)), (uint32_t)found);
  }
  if (from) CACHE_RETAG(asking, *from, from->tag, where + offset_of(from->address));
  send_if(storage_request, 1, from != NULL, asking);
}

handler(commit) {
  if (SEPARATE) {
    enable(storage_request, 0, self->phase == CACHE_READ_VICTIM || enabled(fill_reply));
    enable(storage_request, 1, get(answers) || (get(outcome) != CACHE_NOTHING && enabled(in_request)));
  }
}

static inline void write_inside(self_t *self, const typeof_port(in_request) * request, uint32_t place) {
  number_to_memory(&self->lines[place + offset_of(request->address)], &request->data, request->size, param(big_endian));
}

/* What `request` reads of the line at `place`, where beat number `beat` is arriving. */
#define READ_LINE(request, place, beat, fresh)                                                                                                       \
  cache_read_line(&reply.data, sizeof reply.data, &self->lines[place], offset_of((request).address), (request).size, (request).sign,                 \
                  param(big_endian), beat, fresh, BEAT_BYTES)

handler(answer) {
  if (__builtin_expect(!((get(outcome) != CACHE_NOTHING) | self->busy), true)) {
    send_nothing(in_reply);
    return;
  }
  typeof_port(in_reply) reply = {0};
  bool answered = false;
  if (self->past && some(fill_reply) && data(fill_reply).tag == PASSING) {
    reply.tag = self->pending.tag;
    reply.error = data(fill_reply).error;
    reply.latency = data(fill_reply).latency;
    memcpy(&reply.data, &data(fill_reply).data, sizeof reply.data);
    answered = self->waiting;
  } else if (get(answers) || ((get(outcome) == CACHE_HIT || get(outcome) == CACHE_POST) && enabled(in_request))) {
    /* A write through that nothing buffers is answered when memory has done it, too. */
    answered = !get(answers) || param(write_back) || param(write_buffer) > 0 || self->pending.op != mem_op_write;
    reply.tag = get(answers) ? self->pending.tag : data(in_request).tag;
    bool reads = get(answers) ? self->pending.op == mem_op_read : get(outcome) == CACHE_HIT && data(in_request).op == mem_op_read;
    if (SEPARATE) {
      if (reads && some(storage_reply, 1)) {
        reply.error = data(storage_reply, 1).error;
        memcpy(&reply.data, &data(storage_reply, 1).data, sizeof reply.data);
      }
    } else if (reads && get(answers)) {
      bool beat = self->phase == CACHE_FILL && some(fill_reply) && data(fill_reply).tag < BEATS;
      READ_LINE(self->pending, place_of(self->fill_set, self->fill_way), beat ? (int32_t)data(fill_reply).tag : -1, &data(fill_reply).data);
    } else if (reads && param(width) <= 64) {
      uint32_t address = data(in_request).address, size = data(in_request).size;
      uint32_t at = place_of(set_of(line_of(address)), (uint32_t)get(way)) + offset_of(address);
      uint64_t number = sign_extended(load_number(&self->lines[at], size, param(big_endian)), size, data(in_request).sign);
      memcpy(&reply.data, &number, sizeof reply.data < 8 ? sizeof reply.data : 8);
    } else if (reads) {
      READ_LINE(data(in_request), place_of(set_of(line_of(data(in_request).address)), (uint32_t)get(way)), -1, NULL);
    }
  }
  send_if(in_reply, answered, reply);
}

static inline void touch(self_t *self, uint32_t set, uint32_t way) { if (param(ways) > 1) self->used[set][way] = ++self->uses; }

static inline uint8_t *mask_of(self_t *self, uint32_t set, uint32_t way) { return &self->changed[(set * (uint32_t)param(ways) + way) * MASK_BYTES]; }

/* The requester writes to a line. */
static inline void change(self_t *self, uint32_t set, uint32_t way, const typeof_port(in_request) * request) {
  self->dirty[set][way] = true;
  if (MASKED) cache_mark(mask_of(self, set, way), offset_of(request->address), request->size, true);
}

/* Gives up what a way holds; a changed line is remembered for the write-back. */
static inline void give_up(self_t *self, uint32_t set, uint32_t way) {
  if (CLEANS) self->to_clean -= self->leaving[set][way];
  if (CLEANS) self->leaving[set][way] = false;
  if (MASKED) {
    memcpy(self->victim_changed, mask_of(self, set, way), MASK_BYTES);
    memset(mask_of(self, set, way), 0, MASK_BYTES);
  }
  self->victim_dirty = param(write_back) && self->valid[set][way] && self->dirty[set][way];
  self->victim_line = self->number[set][way];
  self->victim_read = self->victim_done = 0;
  self->valid[set][way] = self->dirty[set][way] = false;
  self->fill_set = set;
  self->fill_way = way;
}

/* Begins to write back the changed line that was given up. */
static inline void evict(self_t *self) {
  self->phase = CACHE_READ_VICTIM;
  self->evictions++;
  event(evict, self->victim_line * LINE);
}
static inline void begin_fill(self_t *self) {
  self->phase = CACHE_FILL;
  self->asked = 0;
  self->arrived = 0;
}
static inline void post(self_t *self, const typeof_port(in_request) * request) {
  uint32_t slot = self->posted_head + self->posted_count;
  self->posted[slot >= SLOTS ? slot - SLOTS : slot] = *request;
  self->posted_count++;
}
static inline void wait_for(self_t *self, const typeof_port(in_request) * request, bool past) {
  self->pending = *request;
  self->waiting = true;
  self->past = past;
}

/* Takes over a request that was transferred. */
static inline void take(self_t *self, const typeof_port(in_request) * request, int32_t result, int32_t found) {
  uint32_t line = line_of(request->address), set = set_of(line);
  if (result == CACHE_HIT || result == CACHE_JOIN || (result == CACHE_POST && found >= 0)) {
    self->hits++;
    event(hit, request->address);
    if (result != CACHE_JOIN) touch(self, set, (uint32_t)found);
  }
  switch (result) {
  case CACHE_HIT:
    if (param(write_back) && request->op == mem_op_write) change(self, set, (uint32_t)found, request);
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
    give_up(self, set,
            cache_choose_way(self->valid[set], self->used[set], (uint32_t)param(ways), by_chance, by_chance ? random_bits(&self->rng) : 0));
    self->first = param(critical_first) ? offset_of(request->address) / BEAT_BYTES : 0;
    if (self->victim_dirty) evict(self);
    else begin_fill(self);
    self->misses++;
    event(miss, request->address);
    break;
  }
  case CACHE_BYPASS: {
    wait_for(self, request, true);
    self->asked = 0;
    self->phase = CACHE_PASS;
    self->passed++;
    const int32_t held = request->op > mem_op_write ? find(self, line) : -1;
    if (held >= 0) give_up(self, set, (uint32_t)held);
    if (held >= 0 && self->victim_dirty) evict(self);
    break;
  }
  }
}

/* A way's line must go: at once, or when its changes are in memory. */
static inline void drop_way(self_t *self, uint32_t set, uint32_t way) {
  if (!CLEANS || !self->dirty[set][way]) {
    self->valid[set][way] = false;
  } else if (!self->leaving[set][way]) {
    self->leaving[set][way] = true;
    self->to_clean++;
  }
}

/* Bytes of a line were written by another: drops the line if a way holds it, or marks it if it is on its way. */
static inline void drop_line(self_t *self, uint32_t line, const mem_snoop *write) {
  if (fills(self, line)) self->dropped = true;
  int32_t found = find(self, line);
  uint32_t set = set_of(line);
  bool leaves = self->victim_dirty && self->victim_line == line;
  if (MASKED && (leaves || (found >= 0 && self->dirty[set][found]))) {
    if (write->tag == ~UINT32_C(0))
      sim_error("several writes announced together touch the changed line at 0x%x: which of its bytes are new?", (unsigned)(line * LINE));
    uint32_t from, count = cache_overlap(line * LINE, LINE, write->address, write->size, &from);
    cache_mark(leaves ? self->victim_changed : mask_of(self, set, (uint32_t)found), from, count, false);
  }
  if (found < 0 || (CLEANS && self->leaving[set][found])) return;
  drop_way(self, set, (uint32_t)found);
  self->drops++;
  event(drop, line * LINE);
}

static inline void drop_range(self_t *self, const mem_snoop *write) {
  if (write->size == 0) return;
  uint32_t first = line_of(write->address), last = line_of(write->address + write->size - 1);
  const bool few = last - first < (uint32_t)param(sets);
  for (uint32_t k = 0; few && k <= last - first; k++) drop_line(self, first + k, write);
  if (few) return;
  if (self->phase == CACHE_FILL && self->fill_line - first <= last - first) self->dropped = true;
  if (MASKED && self->victim_dirty && self->victim_line - first <= last - first) drop_line(self, self->victim_line, write);
  for (int s = 0; s < param(sets); s++)
    for (int w = 0; w < param(ways); w++)
      if (self->valid[s][w] && self->number[s][w] - first <= last - first) drop_line(self, self->number[s][w], write);
}

/* The line is complete. */
static inline void finish_fill(self_t *self) {
  uint32_t set = self->fill_set, way = self->fill_way;
  self->valid[set][way] = !self->dropped;
  self->number[set][way] = self->fill_line;
  touch(self, set, way);
  self->asked = 0;
  self->phase = self->victim_dirty ? CACHE_WRITE_BACK : CACHE_IDLE;
}

phase_end() {
  bool heard = width(flush) > 0 && some(flush);
  for (int i = 0; i < width(snoop); i++) heard |= some(snoop, i);
  if (__builtin_expect(!((get(outcome) != CACHE_NOTHING) | self->busy | heard), true)) return;
  if (transferred(fill_request)) {
    if (data(fill_request).tag == POSTED) self->posted_asked++;
    else self->asked++;
    if (MASKED && data(fill_request).tag == BACK)
      cache_mark(self->victim_changed, offset_of(data(fill_request).address), data(fill_request).size, false);
  }
  if (self->phase == CACHE_READ_VICTIM) {
    if (SEPARATE) memcpy(&self->victim[self->victim_read], &data(storage_reply, 0).data, sizeof data(storage_reply, 0).data);
    else
      memory_to_number(&self->victim[self->victim_read], &self->lines[place_of(self->fill_set, self->fill_way) + self->victim_read * BEAT_BYTES],
                       BEAT_BYTES, param(big_endian));
    if (++self->victim_read == BEATS) {
      self->asked = 0;
      if (self->past || self->cleaning) self->phase = CACHE_WRITE_BACK;
      else begin_fill(self);
    }
  }
  bool answered = get(answers);
  if (transferred(fill_reply)) {
    uint32_t tag = data(fill_reply).tag;
    if (data(fill_reply).error && tag != PASSING) sim_error("memory answered with an error to a %s", tag < BEATS ? "fill" : "write");
    if (tag == POSTED) {
      self->posted_head = self->posted_head + 1 == SLOTS ? 0 : self->posted_head + 1;
      self->posted_count--;
      self->posted_asked--;
    } else if (tag == PASSING) {
      self->waiting = self->past = false;
      self->phase = CACHE_IDLE;
    } else if (tag == BACK) {
      self->victim_done++;
    } else {
      self->arrived |= UINT64_C(1) << tag;
      if (!SEPARATE)
        number_to_memory(&self->lines[place_of(self->fill_set, self->fill_way) + tag * BEAT_BYTES], &data(fill_reply).data, BEAT_BYTES,
                         param(big_endian));
    }
  }
  uint32_t at;
  if (self->phase == CACHE_WRITE_BACK && self->victim_done == (MASKED ? self->asked : BEATS) &&
      !(MASKED && cache_run(self->victim_changed, LINE, BEAT_BYTES, &at))) {
    self->asked = 0;
    self->victim_dirty = self->cleaning = false;
    self->phase = self->past ? CACHE_PASS : CACHE_IDLE;
  }
  if (answered) {
    self->waiting = false;
    if (!SEPARATE && self->pending.op == mem_op_write) write_inside(self, &self->pending, place_of(self->fill_set, self->fill_way));
    if (self->pending.op == mem_op_write && !param(write_back) && param(write_buffer) > 0) post(self, &self->pending);
  }
  if (self->phase == CACHE_FILL && self->arrived == ALL_BEATS) {
    finish_fill(self);
    if (answered && self->pending.op == mem_op_write) {
      if (param(write_back)) {
        change(self, self->fill_set, self->fill_way, &self->pending);
        self->valid[self->fill_set][self->fill_way] = true;
        if (CLEANS && self->dropped) drop_way(self, self->fill_set, self->fill_way);
      } else if (param(write_buffer) == 0) {
        self->waiting = self->past = true;
        self->phase = CACHE_PASS;
      }
    }
  }
  if (transferred(in_request)) {
    const typeof_port(in_request) request = data(in_request);
    if (!SEPARATE && WRITES_LINE(get(outcome), get(way), request.op))
      write_inside(self, &request, place_of(set_of(line_of(request.address)), (uint32_t)get(way)));
    take(self, &request, get(outcome), get(way));
  }
  for (int i = 0; i < width(snoop); i++)
    if (transferred(snoop, i) && !call(ours, data(snoop, i).tag)) drop_range(self, &data(snoop, i));
  if (width(flush) > 0 && transferred(flush) && data(flush)) {
    for (uint32_t s = 0; s < (uint32_t)param(sets); s++)
      for (uint32_t w = 0; w < (uint32_t)param(ways); w++)
        if (!CLEANS || self->valid[s][w]) drop_way(self, s, w);
    self->dropped = true;
  }
  if (CLEANS && self->to_clean && self->phase == CACHE_IDLE && !self->waiting) {
    uint32_t place = (uint32_t)cache_first(&self->leaving[0][0], (uint32_t)(param(sets) * param(ways)));
    give_up(self, place / (uint32_t)param(ways), place % (uint32_t)param(ways));
    self->cleaning = true;
    evict(self);
  }
  self->busy = self->phase != CACHE_IDLE || self->posted_count > 0 || self->waiting || (CLEANS && self->to_clean);
}

next_event() { return self->busy ? cycle() : never(); }
