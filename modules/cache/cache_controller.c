// cache_controller.c: tags and control of a cache; see cache_controller.lss.
//
// The write buffer drains first, so what leaves through `fill` leaves in order.  A dirty line that is evicted is
// read out before the new one arrives and written back after it.  Within a cycle a beat that arrives is written before
// what the requester reads or writes (the storage's lane 0 comes before lane 1).  Tags of what goes out: the number of
// the beat for fills, CACHE_WRITE_BACK for write-backs, CACHE_UNCACHED for the pending request, CACHE_POSTED for the
// write buffer.
//
// A beat whose reply is an error arrives, too, but reads of it get the error, the line is not kept, and a write that
// waited for the line is sent uncached, so that memory replies to it.
//
// Most cycles find nothing to do, read from the line of a set that was used last, or wait for memory: `busy`,
// `mru_line`, `request_pending` and `fill_pending` say so.
#include "memory/memory_error.h"

static inline uint32_t line_of(uint32_t address) {
  return address / CACHE_LINE;
}
#define LINE_REQUESTED(address) line_of(call(canonical_address, address)) // by a request
static inline uint32_t set_of(uint32_t line) {
  return line % (uint32_t)param(sets);
}
static inline uint32_t line_offset(uint32_t set, uint32_t way) {
  return (set * (uint32_t)param(ways) + way) * CACHE_LINE;
}
static inline uint32_t offset_of(uint32_t address) {
  return address % CACHE_LINE;
}
static inline bool fills(const self_t *self, uint32_t line) {
  return self->phase == cache_phase_fill && self->fill_line == line;
}

// The way that holds a line, or -1.
static inline int32_t find(const self_t *self, uint32_t line) {
  uint32_t set = set_of(line);
  int32_t found = -1;
  for (int w = 0; w < param(ways); w++)
    if (self->valid[set][w] && self->tag[set][w] == line) found = w;
  return found;
}

// The way that holds a line or is being filled with it, or -1.
static inline int32_t find_way(const self_t *self, uint32_t line) {
  return fills(self, line) ? (int32_t)self->fill_way : find(self, line);
}

// The way that a request may use, or -1.
static inline int32_t usable(const self_t *self, uint32_t address) {
  return call(cacheable, address) ? find_way(self, LINE_REQUESTED(address)) : -1;
}

// Whether a line was used last in its set; then it is of age 0, and using it again changes nothing.
static inline bool used_last(const self_t *self, uint32_t line) {
  return self->mru_line[set_of(line)] == line;
}

// The offset among `lines` of a line that is held, or is being filled.
static inline uint32_t line_offset_of(const self_t *self, uint32_t line) {
  const uint32_t set = set_of(line);
  return used_last(self, line) ? self->mru_offset[set] : line_offset(set, (uint32_t)find_way(self, line));
}

// Where links are kept, what begins one is a read, and what ends one a write.
static inline bool links(const self_t *self, mem_op op, uint32_t address) {
  return param(links) && (op == mem_op_load_linked || op == mem_op_store_conditional) && call(cacheable, address);
}
static inline mem_op served_as(const self_t *self, mem_op op, uint32_t address) {
  if (!links(self, op, address)) return op;
  return op == mem_op_load_linked ? mem_op_read : mem_op_write;
}

// Whether a request is a store_conditional whose link does not stand.
static inline bool unlinked(const self_t *self, mem_op op, uint32_t address, uint32_t tag) {
  const int context = request_context(tag, param(contexts), param(context_bit));
  return links(self, op, address) && op == mem_op_store_conditional &&
         !link_valid(self->linked, self->linked_line, context, LINE_REQUESTED(address));
}

init() {
  MEMORY_ERROR_CHOOSE();
  random_seed(&self->rng);
  for (int s = 0; s < param(sets); s++) self->mru_line[s] = CACHE_NONE;
}

handler(reset, on_memory_error) {
  MEMORY_ERROR_CHOOSE();
}

check_state() {
  const bool posts = self->posted_requested < self->posted_count,
             beats = !CACHE_MASKED && self->request_pending && !posts;
  if (self->phase == cache_phase_read_victim && self->victim_read >= CACHE_BEATS)
    sim_error("more of a line than it has is read to be written back");
  if (self->phase == cache_phase_write_back && beats && self->requested >= CACHE_BEATS)
    sim_error("more of a line than it has is written back");
  if (self->waiting && !self->uncached && offset_of(self->pending.address) + self->pending.size > CACHE_LINE)
    sim_error("the request that waits crosses a line of %d bytes", (int)param(line));
}

// What is offered to memory: false, if nothing is.  Out of line, since mostly nothing is.
static __attribute__((noinline)) bool next_request(const self_t *self, typeof_port(fill_request) * to) {
  typeof_port(fill_request) request = {0};
  bool offered = true;
  if (self->posted_requested < self->posted_count) {
    uint32_t slot = self->posted_head + self->posted_requested;
    const typeof_port(in_request) *posted = &self->posted[slot >= CACHE_SLOTS ? slot - CACHE_SLOTS : slot];
    CACHE_RETAG(request, *posted, CACHE_POSTED, posted->address);
  } else if (self->phase == cache_phase_fill) {
    uint32_t beat = (self->first_beat + self->requested) % CACHE_BEATS;
    CACHE_BEAT(request, mem_op_read, CACHE_BEAT_BYTES, self->fill_line * CACHE_LINE, beat);
    request.tag = beat;
  } else if (CACHE_MASKED && self->phase == cache_phase_write_back) {
    offered = CACHE_PART(request, self->victim_changed, self->victim, CACHE_LINE, CACHE_BEAT_BYTES, param(big_endian),
                         self->victim_line * CACHE_LINE);
    request.tag = CACHE_WRITE_BACK;
  } else if (self->phase == cache_phase_write_back) {
    CACHE_BEAT(request, mem_op_write, CACHE_BEAT_BYTES, self->victim_line * CACHE_LINE, self->requested);
    request.tag = CACHE_WRITE_BACK;
    memcpy(&request.data, &self->victim[self->requested], sizeof request.data);
  } else {
    CACHE_RETAG(request, self->pending, CACHE_UNCACHED, self->pending.address);
  }
  *to = request;
  return offered;
}

phase_start() {
  for (int i = 0; i < width(empty); i++) accept(empty, i, self->emptied && !self->busy);
  if (__builtin_expect(!self->request_pending, true)) {
    send_nothing(fill_request);
    return;
  }
  typeof_port(fill_request) request;
  const bool offered = next_request(self, &request);
  send_if(fill_request, offered, request);
}

// The beats that `pending` needs: a read those of its bytes, a write the whole line.
static inline uint64_t needed(const self_t *self) {
  return self->pending.op == mem_op_write
             ? CACHE_ALL_BEATS
             : cache_beats(offset_of(self->pending.address), self->pending.size, CACHE_BEAT_BYTES);
}

// Whether `pending` can be replied to with what has arrived, and for a write without an error.
static inline bool satisfied(const self_t *self, uint64_t arrived, bool failed) {
  if (!self->waiting || self->uncached || self->phase == cache_phase_read_victim) return false;
  if (self->phase != cache_phase_fill) return true; // it joined in the cycle in which the line became complete
  return (needed(self) & ~arrived) == 0 && !(param(write_allocate) && failed && self->pending.op == mem_op_write);
}

// The outcome of a request that does not simply read from the most recently used line.
static __attribute__((noinline)) int32_t lookup(const self_t *self, mem_op op, uint32_t address, uint32_t size,
                                                uint32_t tag) {
  if (unlinked(self, op, address, tag)) return CACHE_UNLINKED;
  op = served_as(self, op, address);
  const uint32_t line = LINE_REQUESTED(address);
  const bool idle = self->phase == cache_phase_idle && !(CACHE_INVALIDATES_DIRTY && self->pending_write_backs),
             room = self->posted_count < param(write_buffer);
  if (op >= mem_op_barrier) return idle && self->posted_count == 0 ? CACHE_BYPASS : CACHE_NOTHING;
  if (op == mem_op_write && !room && CACHE_POSTS_WRITES && (param(post_uncacheable) || !idle)) return CACHE_NOTHING;
  const int32_t held = find(self, line);
  if (op == mem_op_read && held >= 0 && offset_of(address) + size <= CACHE_LINE && call(cacheable, address) &&
      !(CACHE_INVALIDATES_DIRTY && self->write_back_pending[set_of(line)][held]))
    return CACHE_HIT;
  cache_situation is = {.reads = op == mem_op_read, .writes = op == mem_op_write, .idle = idle, .room = room};
  is.cacheable = (is.reads || is.writes) && call(cacheable, address);
  if (is.cacheable) {
    if (offset_of(address) + size > CACHE_LINE)
      sim_error("a request of %d bytes at 0x%x crosses a line of %d bytes: the requester must make two of it",
                (int)size, (unsigned)address, (int)param(line));
    is.filling = fills(self, line);
    is.here = (cache_beats(offset_of(address), size, CACHE_BEAT_BYTES) & (~self->arrived | self->failed)) == 0;
    is.victim = self->victim_dirty && self->victim_line == line;
    const int32_t found = is.filling ? (int32_t)self->fill_way : held;
    is.found = found >= 0;
    is.stale = CACHE_INVALIDATES_DIRTY && is.found && !is.filling && self->write_back_pending[set_of(line)][found];
  }
  return cache_decide(CACHE_RULES, is);
}

// The outcome of the pending request when beat number `tag`, or the reply to an uncached request, arrives; -1: nothing
// does.
static inline int32_t complete(const self_t *self, int64_t tag, bool error) {
  if (self->uncached) return tag == CACHE_UNCACHED ? CACHE_UNCACHED_REPLY : CACHE_NOTHING;
  const bool beat = self->phase == cache_phase_fill && tag >= 0 && tag < CACHE_BEATS;
  const bool failed = param(write_allocate) && (self->failed != 0 || (beat && error));
  return satisfied(self, self->arrived | (beat ? UINT64_C(1) << tag : 0), failed) ? CACHE_FILL_REPLY : CACHE_NOTHING;
}

// Whether `pending` needs a beat that failed, or beat number `tag`, which fails in this cycle (-1: none).
static __attribute__((noinline)) bool fails(const self_t *self, int64_t tag) {
  const bool beat = self->phase == cache_phase_fill && tag >= 0 && tag < CACHE_BEATS;
  return (needed(self) & (self->failed | (beat ? UINT64_C(1) << tag : 0))) != 0;
}

handler(probe) {
  int32_t result = CACHE_NOTHING;
  uint32_t found = 0;
  if (self->waiting) {
    if (self->fill_pending | some(fill_reply))
      result = complete(self, some(fill_reply) ? (int64_t)data(fill_reply).tag : -1,
                        some(fill_reply) && data(fill_reply).error);
    accept(in_request, false);
  } else if (some(in_request)) {
    const uint32_t address = item(in_request).address, size = item(in_request).size;
    const bool mru =
        used_last(self, LINE_REQUESTED(address)) && offset_of(address) + size <= CACHE_LINE && call(cacheable, address);
    result = item(in_request).op == mem_op_read && mru
                 ? CACHE_HIT
                 : lookup(self, item(in_request).op, address, size, item(in_request).tag);
    if (result == CACHE_HIT) found = line_offset_of(self, LINE_REQUESTED(address));
    accept(in_request, result != CACHE_NOTHING);
  } else {
    accept(in_request, true);
  }
  set(outcome, result);
  set(hit_offset, found);
  if (!CACHE_SEPARATE) return;
  const bool beat = self->phase == cache_phase_fill && some(fill_reply) && data(fill_reply).tag < CACHE_BEATS;
  typeof_port(storage_request) filling = {0}, storage_access = {0};
  CACHE_BEAT(filling, beat ? mem_op_write : mem_op_read, CACHE_BEAT_BYTES, CACHE_FILL_OFFSET,
             beat ? data(fill_reply).tag : self->victim_read);
  if (beat) filling.data = data(fill_reply).data;
  send_if(storage_request, 0, beat || self->phase == cache_phase_read_victim, filling);

  const typeof_port(in_request) *from = NULL;
  uint32_t where = CACHE_FILL_OFFSET;
  if (result == CACHE_FILL_REPLY) {
    from = &self->pending;
  } else if (result == CACHE_HIT ||
             (CACHE_WRITES_LINE(result, served_as(self, data(in_request).op, data(in_request).address)) &&
              usable(self, data(in_request).address) >= 0)) {
    from = &data(in_request);
    where = line_offset_of(self, LINE_REQUESTED(from->address));
  }
  if (from) {
    CACHE_RETAG(storage_access, *from, from->tag, where + offset_of(from->address));
    storage_access.op = served_as(self, from->op, from->address);
  }
  send_if(storage_request, 1, from != NULL, storage_access);
}

handler(commit) {
  if (!CACHE_SEPARATE) return;
  enable(storage_request, 0, self->phase == cache_phase_read_victim || enabled(fill_reply));
  enable(storage_request, 1,
         get(outcome) == CACHE_FILL_REPLY || (get(outcome) != CACHE_NOTHING && enabled(in_request)));
}

static inline void write_inside(self_t *self, const typeof_port(in_request) * request, uint32_t offset) {
  number_to_memory(store_span(lines, offset + offset_of(request->address), request->size), &request->data,
                   request->size, param(big_endian));
}

// Whether the request of this cycle, which hits, writes to its line.
#define WRITES_BACK                                                                                                    \
  (param(write_back) && served_as(self, item(in_request).op, item(in_request).address) == mem_op_write)

handler(reply) {
  if (get(outcome) == CACHE_HIT && !CACHE_SEPARATE && param(width) <= 64 && !WRITES_BACK) {
    const uint8_t *from = load_span(lines, get(hit_offset) + offset_of(item(in_request).address), 8);
    const uint64_t number = load_padded(from, item(in_request).size, param(big_endian), item(in_request).sign);
    typeof_port(in_reply) reply = {.tag = item(in_request).tag};
    memcpy(&reply.data, &number, sizeof reply.data < 8 ? sizeof reply.data : 8);
    send_if(in_reply, enabled(in_request), reply);
    return;
  }
  const bool same_cycle =
      get(outcome) == CACHE_HIT || get(outcome) == CACHE_POST || (param(links) && get(outcome) == CACHE_UNLINKED);
  if (get(outcome) == CACHE_NOTHING || !(get(outcome) >= CACHE_FILL_REPLY || (same_cycle && enabled(in_request)))) {
    send_nothing(in_reply);
    return;
  }
  typeof_port(in_reply) reply = {.tag = same_cycle ? item(in_request).tag : self->pending.tag};
  const uint8_t stored =
      same_cycle ? links(self, item(in_request).op, item(in_request).address) && get(outcome) != CACHE_UNLINKED
                 : param(links) && self->conditional;
  memcpy(&reply.data, &stored, 1);
  if (get(outcome) == CACHE_UNCACHED_REPLY) {
    reply.error = item(fill_reply).error;
    reply.latency = item(fill_reply).latency;
    if (!stored || reply.error) memcpy(&reply.data, &item(fill_reply).data, sizeof reply.data);
    send(in_reply, reply);
    return;
  }
  const bool reads = same_cycle ? get(outcome) == CACHE_HIT && !WRITES_BACK : self->pending.op == mem_op_read;
  if (reads && CACHE_SEPARATE && some(storage_reply, 1)) {
    reply.error = item(storage_reply, 1).error;
    memcpy(&reply.data, &item(storage_reply, 1).data, sizeof reply.data);
  } else if (reads && !CACHE_SEPARATE) {
    const bool beat =
        !same_cycle && self->phase == cache_phase_fill && some(fill_reply) && item(fill_reply).tag < CACHE_BEATS;
    const typeof_port(in_request) *request = same_cycle ? &item(in_request) : &self->pending;
    __typeof__(reply.data) value; // apart, so that only it is in memory
    CACHE_READ_LINE(value, *request, same_cycle ? get(hit_offset) : CACHE_FILL_OFFSET,
                    beat ? (int32_t)item(fill_reply).tag : -1, beat ? &item(fill_reply).data : NULL);
    memcpy(&reply.data, &value, sizeof value);
  }
  const bool wrong = some(fill_reply) && item(fill_reply).error;
  if (__builtin_expect(!same_cycle && (wrong || self->failed), false))
    reply.error |= fails(self, wrong ? (int64_t)item(fill_reply).tag : -1);
  // An unbuffered write-through gets its reply when memory has done it, too.
  send_if(in_reply, same_cycle || param(write_back) || param(write_buffer) > 0 || self->pending.op != mem_op_write,
          reply);
}

// A line is used; it is not valid while part of it is still to come.
static inline void touch(self_t *self, uint32_t line, uint32_t set, uint32_t way) {
  if (param(ways) > 1) cache_use_way(self->age[set], (uint32_t)param(ways), way);
  self->mru_line[set] = self->valid[set][way] ? line : CACHE_NONE;
  self->mru_offset[set] = line_offset(set, way);
}

static inline uint8_t *mask_of(self_t *self, uint32_t set, uint32_t way) {
  return &self->changed[(set * (uint32_t)param(ways) + way) * CACHE_MASK_BYTES];
}

// The requester writes to a line.
static inline void change(self_t *self, uint32_t set, uint32_t way, const typeof_port(in_request) * request) {
  self->dirty[set][way] = true;
  if (CACHE_MASKED) cache_mark(mask_of(self, set, way), offset_of(request->address), request->size, true);
}

// Evicts what a way holds; a dirty line is kept as the victim until it is written back.
static inline void evict_way(self_t *self, uint32_t set, uint32_t way) {
  if (CACHE_INVALIDATES_DIRTY) self->pending_write_backs -= self->write_back_pending[set][way];
  if (CACHE_INVALIDATES_DIRTY) self->write_back_pending[set][way] = false;
  if (CACHE_MASKED) {
    memcpy(self->victim_changed, mask_of(self, set, way), CACHE_MASK_BYTES);
    memset(mask_of(self, set, way), 0, CACHE_MASK_BYTES);
  }
  self->victim_dirty = param(write_back) && self->valid[set][way] && self->dirty[set][way];
  self->victim_line = self->tag[set][way];
  self->victim_read = self->victim_done = 0;
  self->valid[set][way] = self->dirty[set][way] = false;
  self->mru_line[set] = CACHE_NONE;
  self->fill_set = set;
  self->fill_way = way;
}

// Begins to write back the dirty line that was evicted.
static inline void begin_write_back(self_t *self) {
  self->phase = cache_phase_read_victim;
  count(evictions);
  event(evict, self->victim_line * CACHE_LINE);
}
static inline void begin_fill(self_t *self) {
  self->phase = cache_phase_fill;
  self->arrived = self->failed = self->requested = 0;
}
static inline void post(self_t *self, const typeof_port(in_request) * request) {
  uint32_t slot = self->posted_head + self->posted_count++;
  self->posted[slot >= CACHE_SLOTS ? slot - CACHE_SLOTS : slot] = *request;
}
static inline void wait_for(self_t *self, const typeof_port(in_request) * request, bool uncached) {
  self->pending = *request;
  self->waiting = true, self->uncached = uncached;
}

// A read hits a line, which is whole, and was not used last in its set.
static __attribute__((noinline)) void touch_line(self_t *self, uint32_t line) {
  touch(self, line, set_of(line), (uint32_t)find(self, line));
}

// Invalidates a way's line: in this cycle, or when its changes are in memory.
static inline void invalidate_way(self_t *self, uint32_t set, uint32_t way) {
  self->mru_line[set] = CACHE_NONE;
  if (!CACHE_INVALIDATES_DIRTY || !self->dirty[set][way]) {
    self->valid[set][way] = false;
  } else if (!self->write_back_pending[set][way]) {
    self->write_back_pending[set][way] = true;
    self->pending_write_backs++;
  }
}

// Invalidates every line, one that is being filled, too.
static __attribute__((noinline)) void invalidate_lines(self_t *self) {
  for (uint32_t s = 0; s < (uint32_t)param(sets); s++)
    for (uint32_t w = 0; w < (uint32_t)param(ways); w++)
      if (!CACHE_INVALIDATES_DIRTY || self->valid[s][w]) invalidate_way(self, s, w);
  self->fill_invalidated = true;
}

// Does with a line what `maintain` asks for, before the request is passed on.
static __attribute__((noinline)) void maintain_line(self_t *self, uint32_t address, cache_operation operation) {
  const uint32_t place = line_of(address), line = LINE_REQUESTED(address);
  const bool by_index = cache_operation_by_index(operation);
  const uint32_t set = by_index ? place % (uint32_t)param(sets) : set_of(line);
  const int32_t way = by_index ? (int32_t)(place / (uint32_t)param(sets) % (uint32_t)param(ways)) : find(self, line);
  if (way < 0 || !self->valid[set][way]) return;
  event(maintain, address, operation);
  if (!cache_operation_write_back(operation)) self->dirty[set][way] = false;
  evict_way(self, set, (uint32_t)way);
  if (self->victim_dirty) begin_write_back(self);
  if (!cache_operation_invalidate(operation)) {
    self->valid[set][way] = true;
    return;
  }
  count(maintained);
}

// Accepts a request that was transferred; `found` is the way that it hit, or -1.
static void accept_request(self_t *self, const typeof_port(in_request) * request, int32_t result, int32_t found) {
  uint32_t line = LINE_REQUESTED(request->address), set = set_of(line);
  if (result == CACHE_HIT || result == CACHE_SECONDARY_MISS || (result == CACHE_POST && found >= 0)) {
    count(hits);
    count(joined, result == CACHE_SECONDARY_MISS);
    event(hit, request->address);
    if (result != CACHE_SECONDARY_MISS && !used_last(self, line)) touch(self, line, set, (uint32_t)found);
  }
  if (!CACHE_SEPARATE && CACHE_WRITES_LINE(result, request->op) && found >= 0)
    write_inside(self, request, line_offset(set, (uint32_t)found));
  if (request->op != mem_op_read && request->op < mem_op_barrier && call(invalidates, request->address))
    invalidate_lines(self);
  switch (result) {
  case CACHE_HIT:
    if (request->op == mem_op_write) change(self, set, (uint32_t)found, request);
    break;
  case CACHE_POST:
    post(self, request);
    count(bypassed, found < 0);
    break;
  case CACHE_SECONDARY_MISS: wait_for(self, request, false); break;
  case CACHE_MISS: {
    wait_for(self, request, false);
    self->fill_invalidated = false;
    self->fill_line = line;
    const bool by_chance = param(ways) > 1 && param(replacement) == cache_replacement_random;
    const uint64_t chance = by_chance ? random_bits(&self->rng) : 0;
    evict_way(self, set, cache_choose_way(self->valid[set], self->age[set], (uint32_t)param(ways), by_chance, chance));
    self->first_beat = param(critical_first) ? offset_of(request->address) / CACHE_BEAT_BYTES : 0;
    if (self->victim_dirty)
      begin_write_back(self);
    else
      begin_fill(self);
    count(misses);
    event(miss, request->address);
    break;
  }
  case CACHE_BYPASS: {
    wait_for(self, request, true);
    self->requested = 0;
    self->phase = cache_phase_uncached;
    count(bypassed);
    if (request->op == mem_op_maintain) {
      maintain_line(self, request->address, (cache_operation)low_number(&request->data, 1));
      break;
    }
    const int32_t held = request->op > mem_op_write && request->op != mem_op_barrier ? find(self, line) : -1;
    if (held >= 0) evict_way(self, set, (uint32_t)held);
    if (held >= 0 && self->victim_dirty) begin_write_back(self);
    break;
  }
  }
}

// Begins a link with a request, or ends it; the request is from here on what it is served as.  False: nothing is left
// to do.
static __attribute__((noinline, unused)) bool link_line(self_t *self, typeof_port(in_request) * request,
                                                        int32_t result) {
  const bool writes = request->op != mem_op_read && request->op != mem_op_load_linked && request->op < mem_op_barrier;
  self->conditional = false;
  if (writes && result != CACHE_UNLINKED)
    links_end_of_others(CACHE_LINKS(self), request->tag, LINE_REQUESTED(request->address));
  if (!links(self, request->op, request->address)) return true;
  self->conditional = request->op == mem_op_store_conditional;
  if (self->conditional)
    link_end(CACHE_LINKS(self), request->tag);
  else
    link_begin(CACHE_LINKS(self), request->tag, LINE_REQUESTED(request->address));
  request->op = served_as(self, request->op, request->address);
  return result != CACHE_UNLINKED;
}

static inline bool unlink_if(self_t *self, int context, bool wanted) {
  if (wanted) self->linked[context] = false;
  return wanted;
}

// Bytes of a line were written by another: invalidates the line if a way holds it, or marks it if it is being filled.
static inline void invalidate_line(self_t *self, uint32_t line, const mem_snoop *write) {
  if (fills(self, line)) self->fill_invalidated = true;
  int32_t found = find(self, line);
  uint32_t set = set_of(line);
  bool victim = self->victim_dirty && self->victim_line == line;
  if (CACHE_MASKED && (victim || (found >= 0 && self->dirty[set][found]))) {
    if (write->tag == ~UINT32_C(0))
      sim_error("several writes snooped together hit the dirty line at 0x%x: it is unknown which of its bytes are new",
                (unsigned)(line * CACHE_LINE));
    uint32_t from, count = cache_overlap(line * CACHE_LINE, CACHE_LINE, write->address, write->size, &from);
    cache_mark(victim ? self->victim_changed : mask_of(self, set, (uint32_t)found), from, count, false);
  }
  if (found < 0 || (CACHE_INVALIDATES_DIRTY && self->write_back_pending[set][found])) return;
  invalidate_way(self, set, (uint32_t)found);
  count(invalidations);
  event(invalidate, line * CACHE_LINE);
}

static inline void invalidate_range(self_t *self, const mem_snoop *write) {
  if (write->size == 0) return;
  uint32_t first = line_of(write->address), last = line_of(write->address + write->size - 1);
  if (param(links)) links_end(CACHE_LINKS(self), -1, first, last);
  const bool few = last - first < (uint32_t)param(sets);
  for (uint32_t k = 0; few && k <= last - first; k++) invalidate_line(self, first + k, write);
  if (few) return;
  if (self->phase == cache_phase_fill && self->fill_line - first <= last - first) self->fill_invalidated = true;
  if (CACHE_MASKED && self->victim_dirty && self->victim_line - first <= last - first)
    invalidate_line(self, self->victim_line, write);
  for (int s = 0; s < param(sets); s++)
    for (int w = 0; w < param(ways); w++)
      if (self->valid[s][w] && self->tag[s][w] - first <= last - first) invalidate_line(self, self->tag[s][w], write);
}

// The line is complete.
static inline void finish_fill(self_t *self) {
  uint32_t set = self->fill_set, way = self->fill_way;
  self->valid[set][way] = !self->fill_invalidated && self->failed == 0;
  self->tag[set][way] = self->fill_line;
  touch(self, self->fill_line, set, way);
  self->requested = 0;
  self->phase = self->victim_dirty ? cache_phase_write_back : cache_phase_idle;
}

// The line is complete; `replied`: the pending request has got its reply, in this cycle.
static inline void complete_fill(self_t *self, bool replied) {
  const bool writes = self->pending.op == mem_op_write && (replied || (self->waiting && !self->uncached));
  finish_fill(self);
  if (!writes) return;
  if (self->failed || (!param(write_back) && param(write_buffer) == 0)) {
    self->waiting = self->uncached = true;
    self->phase = self->victim_dirty ? cache_phase_write_back : cache_phase_uncached;
  } else if (param(write_back)) {
    change(self, self->fill_set, self->fill_way, &self->pending);
    self->valid[self->fill_set][self->fill_way] = true;
    if (CACHE_INVALIDATES_DIRTY && self->fill_invalidated) invalidate_way(self, self->fill_set, self->fill_way);
  }
}

// Memory has an error for a write whose requester has its reply.
static __attribute__((noinline)) void lose_write(self_t *self, uint32_t tag) {
  const uint32_t address =
      tag == CACHE_POSTED ? self->posted[self->posted_head].address : self->victim_line * CACHE_LINE;
  MEMORY_ERROR("a write failed: nothing responds at address 0x%08x", (unsigned)address);
}

// Memory's reply to a beat of a fill, a write, or an uncached request.
static inline void accept_reply(self_t *self, uint32_t tag, bool error) {
  if (__builtin_expect(error, false) && (tag == CACHE_POSTED || tag == CACHE_WRITE_BACK)) lose_write(self, tag);
  if (tag == CACHE_POSTED) {
    self->posted_head = self->posted_head + 1 == CACHE_SLOTS ? 0 : self->posted_head + 1;
    self->posted_count--;
    self->posted_requested--;
  } else if (tag == CACHE_UNCACHED) {
    self->waiting = false;
    self->uncached = false;
    self->phase = cache_phase_idle;
  } else if (tag == CACHE_WRITE_BACK) {
    self->victim_done++;
  } else {
    self->arrived |= UINT64_C(1) << tag;
    if (error) self->failed |= UINT64_C(1) << tag;
  }
}

// Notes what the next cycle has to do.
static inline void update_flags(self_t *self) {
  const bool busy = self->phase != cache_phase_idle || self->posted_count > 0 || self->waiting ||
                    (CACHE_INVALIDATES_DIRTY && self->pending_write_backs);
  self->busy = busy;
  self->request_pending = self->posted_requested < self->posted_count ||
                          (self->phase == cache_phase_fill && self->requested < CACHE_BEATS) ||
                          (self->phase == cache_phase_write_back && (CACHE_MASKED || self->requested < CACHE_BEATS)) ||
                          (self->phase == cache_phase_uncached && self->requested == 0);
  self->fill_pending = self->phase == cache_phase_read_victim ||
                       (CACHE_MASKED && self->phase == cache_phase_write_back) ||
                       satisfied(self, self->arrived, self->failed != 0);
  set_until(changes, 2);
}

// `empties`: all lines are to go, and those of requests meanwhile; `done`: they are gone, in this cycle.
static inline void go_on_emptying(self_t *self, bool empties, bool done, bool requested) {
  if (__builtin_expect(!empties && !self->emptied, true)) return;
  if (!self->emptied || requested) invalidate_lines(self);
  self->emptied = empties && !done;
}

#define EMPTIES (width(empty) > 0 && some(empty) && data(empty))

// Without an invalidation, a request or one outstanding there is nothing to do.
phase_end() {
  bool invalidation = (width(invalidate_all) > 0 && some(invalidate_all)) || EMPTIES;
  for (int c = 0; c < width(unlink); c++) invalidation |= unlink_if(self, c, some(unlink, c) && data(unlink, c));
  for (int i = 0; i < width(snoop); i++) invalidation |= some(snoop, i);
  if (!(self->busy | invalidation)) {
    if (get(outcome) == CACHE_NOTHING) return;
    if (get(outcome) == CACHE_HIT && item(in_request).op == mem_op_read) {
      if (!transferred(in_request)) return;
      count(hits);
      event(hit, item(in_request).address);
      if (!used_last(self, LINE_REQUESTED(item(in_request).address)))
        touch_line(self, LINE_REQUESTED(item(in_request).address));
      return;
    }
  } else if (!((get(outcome) != CACHE_NOTHING) | invalidation | self->fill_pending | some(fill_reply) |
               (some(fill_request) & acked(fill_request)))) {
    return;
  }
  const int32_t found = some(in_request) ? usable(self, item(in_request).address) : -1;
  if (transferred(fill_request)) {
    if (data(fill_request).tag == CACHE_POSTED)
      self->posted_requested++;
    else
      self->requested++;
    if (CACHE_MASKED && data(fill_request).tag == CACHE_WRITE_BACK)
      cache_mark(self->victim_changed, offset_of(data(fill_request).address), data(fill_request).size, false);
  }
  if (self->phase == cache_phase_read_victim) {
    void *victim = &self->victim[self->victim_read];
    if (CACHE_SEPARATE)
      memcpy(victim, &data(storage_reply, 0).data, sizeof data(storage_reply, 0).data);
    else
      memory_to_number(victim,
                       load_span(lines, CACHE_FILL_OFFSET + self->victim_read * CACHE_BEAT_BYTES, CACHE_BEAT_BYTES),
                       CACHE_BEAT_BYTES, param(big_endian));
    if (++self->victim_read == CACHE_BEATS) {
      self->requested = 0;
      if (self->uncached || self->writing_back)
        self->phase = cache_phase_write_back;
      else
        begin_fill(self);
    }
  }
  const bool replied = get(outcome) == CACHE_FILL_REPLY;
  if (transferred(fill_reply)) {
    const uint32_t tag = data(fill_reply).tag;
    accept_reply(self, tag, data(fill_reply).error);
    if (!CACHE_SEPARATE && tag < CACHE_BEATS)
      number_to_memory(store_span(lines, CACHE_FILL_OFFSET + tag * CACHE_BEAT_BYTES, CACHE_BEAT_BYTES),
                       &data(fill_reply).data, CACHE_BEAT_BYTES, param(big_endian));
  }
  uint32_t at;
  if (self->phase == cache_phase_write_back && self->victim_done == (CACHE_MASKED ? self->requested : CACHE_BEATS) &&
      !(CACHE_MASKED && cache_run(self->victim_changed, CACHE_LINE, CACHE_BEAT_BYTES, &at))) {
    self->requested = 0;
    self->victim_dirty = self->writing_back = false;
    self->phase = self->uncached ? cache_phase_uncached : cache_phase_idle;
  }
  if (replied) {
    self->waiting = false;
    if (!CACHE_SEPARATE && self->pending.op == mem_op_write) write_inside(self, &self->pending, CACHE_FILL_OFFSET);
    if (self->pending.op == mem_op_write && !param(write_back) && param(write_buffer) > 0) post(self, &self->pending);
  }
  if (self->phase == cache_phase_fill && self->arrived == CACHE_ALL_BEATS) complete_fill(self, replied);
  if (transferred(in_request)) {
    typeof_port(in_request) request = data(in_request);
    if (!param(links) || link_line(self, &request, get(outcome))) accept_request(self, &request, get(outcome), found);
  }
  for (int i = 0; i < width(snoop); i++)
    if (transferred(snoop, i) && !call(is_own_write, data(snoop, i).tag)) invalidate_range(self, &data(snoop, i));
  if (width(invalidate_all) > 0 && transferred(invalidate_all) && data(invalidate_all)) invalidate_lines(self);
  if (width(empty) > 0) go_on_emptying(self, EMPTIES, transferred(empty), transferred(in_request));
  if (CACHE_INVALIDATES_DIRTY && self->pending_write_backs && self->phase == cache_phase_idle && !self->waiting) {
    uint32_t index = (uint32_t)cache_first(&self->write_back_pending[0][0], (uint32_t)(param(sets) * param(ways)));
    evict_way(self, index / (uint32_t)param(ways), index % (uint32_t)param(ways));
    self->writing_back = true;
    begin_write_back(self);
  }
  update_flags(self);
}

// A fill, and whatever else waits for memory, goes on with its reply.
next_event() {
  return self->emptied || !within(changes, 0) ? cycle() : self->busy ? unchanged() : never();
}

#undef EMPTIES
