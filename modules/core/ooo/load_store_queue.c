/* load_store_queue.c: orders loads and stores; see load_store_queue.lss. */
#include "core/ooo/register_sets.h"

#define PLACE(age)  place_of_age((age), param(list))
#define BIT(place)  (UINT64_C(1) << (place))
#define BUFFERED(n) ((n) & (uint32_t)(param(buffer) - 1))

/* The tag of what goes only as the oldest: a memory takes a load-linked and a store-conditional of one tag for a pair.
 */
#define OLDEST_TAG (UINT32_C(1) << 22)

phase_start() {
  const uint32_t b = BUFFERED(self->buffer_head);
  const typeof_port(store_request) request = {.op = mem_op_write,
                                              .size = self->buffer_size[b],
                                              .address = self->buffer_address[b],
                                              .data = self->buffer_value[b]};
  send(room, (uint32_t)param(entries) - self->occupied);
  send(store_room, (uint32_t)param(buffer) - self->buffer_count);
  send_if(store_request, (self->buffer_count > 0) & !self->outstanding, request);
  for (int i = 0; i < width(drained); i++) send(drained, i, self->buffer_count == 0);
}

handler(ask, i) {
  address_query query = {.writes = operation_kind(data(in).op.control) == operation_class_store};
  query.address = data(in).value[0] + data(in).op.immediate;
  send_if(translation_query, i, some(in), query);
}

handler(show_result, i) {
  send(results, i, self->shown[i / 2]);
}

handler(show_done, i) {
  send(done, i, self->finished[i]);
}

handler(show_cancel, i) {
  send(cancel, i, self->taken_back);
}

handler(show_overtaken, i) {
  send(overtaken, i, self->passed);
}

/* What a load gets of an older store that has one of its bytes; none if that store does not cover it. */
static inline load_outcome forward(const self_t *self, const struct load_store_bytes *store, uint32_t place,
                                   uint32_t *value) {
  const uint32_t address = self->address[place], size = self->size[place];
  if (!load_store_cover(store, address, size)) return load_outcome_none;
  *value = load_store_value(store, address, size, operation_sign(self->control[place]), param(big_endian));
  return load_outcome_forwarded;
}

/* What an instruction here may be is known when a machine is built, so that what it cannot be costs nothing. */
static inline bool is_kind(operation control, operation_class kind) {
  return param(links) && operation_kind(control) == kind;
}

static inline bool is_part(operation control) {
  return param(word_parts) && operation_part(control) != word_part_whole;
}

static inline bool is_link(operation control) {
  return is_kind(control, operation_class_linked) || is_kind(control, operation_class_conditional);
}

/* Whether it goes only as the oldest, when all stores are in memory. */
static inline bool goes_last(const self_t *self, uint32_t place) {
  return is_link(self->control[place]) || !call(cacheable, self->address[place]);
}

/* Where a load whose older stores all have addresses gets its value. */
static inline load_outcome find_value(const self_t *self, uint32_t place, uint32_t *value) {
  const uint32_t address = self->address[place], size = self->size[place];
  if (__builtin_expect(goes_last(self, place), false)) {
    const bool last = self->age[place] == self->oldest && self->buffer_count == 0;
    return last ? load_outcome_memory : load_outcome_none;
  }
  uint64_t older = self->store_places;
  if (older) older &= places_from(self->oldest, self->age[place] - self->oldest, param(list));
  struct load_store_bytes youngest = {0};
  uint32_t best = 0;
  for (uint64_t m = older; m; m &= m - 1) {
    const int s = __builtin_ctzll(m);
    const struct load_store_bytes store = {self->address[s], self->size[s], self->value[s]};
    const uint32_t distance = self->age[s] - self->oldest + 1;
    if (distance < best || !load_store_overlap(&store, address, size)) continue;
    best = distance;
    youngest = store;
  }
  if (best) return forward(self, &youngest, place, value);
  for (uint32_t k = self->buffer_count; k-- > 0;) {
    const uint32_t b = BUFFERED(self->buffer_head + k);
    const struct load_store_bytes store = {self->buffer_address[b], self->buffer_size[b], self->buffer_value[b]};
    if (load_store_overlap(&store, address, size)) return forward(self, &store, place, value);
  }
  return load_outcome_memory;
}

static inline uint32_t tag_of(const self_t *self, uint32_t place) {
  return is_link(self->control[place]) ? OLDEST_TAG : place | (self->epoch & 0xffff) << 6;
}

/* The place to which a reply with this tag belongs, if it is still wanted. */
static inline uint32_t place_of_tag(const self_t *self, uint32_t tag) {
  return param(links) && tag == OLDEST_TAG ? PLACE(self->oldest) : tag & 63;
}

static inline typeof_port(memory_request) request_of(const self_t *self, uint32_t place) {
  const operation c = self->control[place];
  typeof_port(memory_request) request = {.op = mem_op_read,
                                         .size = self->size[place],
                                         .sign = operation_sign(c),
                                         .address = self->address[place],
                                         .tag = tag_of(self, place)};
  if (is_kind(c, operation_class_linked)) request.op = mem_op_load_linked;
  if (is_kind(c, operation_class_conditional)) {
    request.op = mem_op_store_conditional;
    request.data = self->value[place];
  }
  return request;
}

/* A store-conditional is among the stores without a known place until it was decided, and may go itself. */
handler(search) {
  uint64_t able = self->waiting;
  const uint64_t unknown = self->store_places & ~self->known;
  if (able && unknown) {
    const uint32_t first = places_oldest(unknown, self->oldest, param(list));
    const uint32_t before = (first - self->oldest) & (uint32_t)(param(list) - 1);
    const uint32_t itself = param(links) ? self->waiting >> first & 1 : 0;
    able &= places_from(self->oldest, before + itself, param(list));
  }
  load_outcome found = load_outcome_none;
  uint32_t place = 0, value = 0;
  for (; able && found == load_outcome_none; able &= ~BIT(place)) {
    place = places_oldest(able, self->oldest, param(list));
    found = find_value(self, place, &value);
  }
  set(outcome, found);
  set(picked, place);
  set(covered, value);
  send_if(memory_request, found == load_outcome_memory, request_of(self, place));
}

/* Whether a reply is to a load that is still wanted; the one that goes in this cycle has no mark of it yet. */
static inline bool wanted(const self_t *self, uint32_t tag, uint32_t goes, bool to_memory) {
  const uint32_t place = place_of_tag(self, tag);
  if (self->sent >> place & 1) return self->tag[place] == tag;
  return to_memory && place == goes && tag == tag_of(self, place);
}

handler(wake) {
  register_set set = {{0, 0}};
  if (get(outcome) == load_outcome_forwarded) register_add(&set, self->dest[get(picked)]);
  if (some(memory_reply)) {
    const uint32_t tag = data(memory_reply).tag;
    if (wanted(self, tag, get(picked), get(outcome) == load_outcome_memory))
      register_add(&set, self->dest[place_of_tag(self, tag)]);
  }
  if (param(speculate) && some(in) && operation_kind(data(in).op.control) == operation_class_load)
    register_add(&set, data(in).dest);
  for (int i = 0; i < width(wakes); i++) send(wakes, i, set);
}

/* Stores that were committed at the end of the cycle before move to the buffer. */
static inline void commit(self_t *self, uint32_t head) {
  const uint64_t gone = places_from(self->oldest, head - self->oldest, param(list));
  if (!(gone & (self->load_places | self->store_places))) {
    self->oldest = head;
    return;
  }
  for (uint64_t m = gone & self->store_places; m;) {
    const uint32_t place = places_oldest(m, self->oldest, param(list));
    const uint32_t b = BUFFERED(self->buffer_head + self->buffer_count);
    m &= ~BIT(place);
    if (self->buffer_count++ == (uint32_t)param(buffer)) sim_error("more stores were committed than there is room for");
    self->buffer_address[b] = self->address[place];
    self->buffer_value[b] = self->value[place];
    self->buffer_size[b] = self->size[place];
    count(stores);
  }
  self->store_places &= ~gone;
  self->load_places &= ~gone;
  self->known &= ~gone;
  self->oldest = head;
  self->occupied = (uint32_t)__builtin_popcountll(self->load_places | self->store_places);
}

static __attribute__((noinline)) void fail(const self_t *self) {
  sim_error("nothing responds at the address 0x%08x of a store",
            (unsigned)self->buffer_address[BUFFERED(self->buffer_head)]);
}

static __attribute__((noinline)) void decide_conditional(self_t *self, uint32_t place, uint32_t stored) {
  event(conditional, self->address[place], self->value[place], stored != 0);
  self->store_places &= ~BIT(place);
  self->load_places |= BIT(place);
}

/* A load that has its value, or a store-conditional that was decided. */
static inline void complete(self_t *self, uint32_t place, uint32_t value, bool fault, int lane, int port) {
  const operation c = self->control[place];
  if (is_part(c)) value = load_store_merge(operation_part(c), self->size[place], self->value[place], value);
  if (is_kind(c, operation_class_conditional) && !fault) decide_conditional(self, place, value);
  self->shown[port] = (result){.dest = self->dest[place], .value = value};
  self->finished[lane] = (completion){.valid = true,
                                      .age = self->age[place],
                                      .target = self->address[place],
                                      .value = value,
                                      .fault = fault ? trap_cause_access : trap_cause_none};
  self->waiting &= ~BIT(place);
  self->sent &= ~BIT(place);
  self->promised &= ~BIT(place);
}

/* Why something whose address arrived is executed by somebody else, or not at all. */
static inline trap_cause note_of(const self_t *self, bool unaligned, bool plain, uint32_t address) {
  if (unaligned) return trap_cause_unaligned;
  if (width(translation_query) == 0) return trap_cause_none;
  return plain && call(cacheable, address) ? trap_cause_none : trap_cause_serial;
}

/* An address that arrived, and what a store stores. */
static inline void arrive(self_t *self, const typeof_port(in) * o, address_reply reply) {
  const uint32_t place = PLACE(o->age);
  const operation c = o->op.control;
  const bool stores = operation_kind(c) == operation_class_store;
  uint32_t address = o->value[0] + o->op.immediate, size = operation_size(c), value = o->value[1];
  const bool unaligned = !is_part(c) && (address & (size - 1)) != 0;
  if (is_part(c)) {
    load_store_part(operation_part(c), param(big_endian), &address, &size);
    if (stores && operation_part(c) == word_part_left) value >>= 8 * (4 - size);
  }
  const uint32_t physical = width(translation_query) == 0 ? address : (reply.physical & ~(uint32_t)3) | (address & 3);
  const trap_cause note = note_of(self, unaligned, reply.plain, physical);
  self->address[place] = physical;
  self->size[place] = (uint8_t)size;
  self->value[place] = stores && size < 4 ? value & ((1u << 8 * size) - 1) : value;
  self->control[place] = c;
  self->age[place] = o->age;
  self->dest[place] = o->dest;
  if (!is_kind(c, operation_class_conditional)) self->known |= BIT(place);
  if (param(speculate) && operation_kind(c) == operation_class_load) self->promised |= BIT(place);
  if (width(translation_query) > 0 && note != trap_cause_none && stores) { /* it stores nothing from here */
    self->store_places &= ~BIT(place);
    self->load_places |= BIT(place);
  }
  if (stores || note != trap_cause_none)
    self->finished[1] = (completion){.valid = true,
                                     .age = o->age,
                                     .target = address,
                                     .value = self->value[place],
                                     .size = (uint8_t)size,
                                     .fault = note};
  else
    self->waiting |= BIT(place);
}

/* What was promised and is not there. */
static inline void take_back(self_t *self, uint64_t kept) {
  self->taken_back = (register_set){{0, 0}};
  for (uint64_t m = self->promised & kept; m; m &= m - 1) {
    register_add(&self->taken_back, self->dest[__builtin_ctzll(m)]);
    count(cancelled);
  }
  self->taken_back.of[0] &= ~UINT64_C(1); /* register 0 is always there */
  self->promised = 0;
}

static inline void enter(self_t *self, const renamed_op *op) {
  if (!rename_needs_memory(op->op.needs)) return;
  const uint64_t bit = place_bit(op->age, param(list));
  if (operation_kind(op->op.control) == operation_class_load || is_kind(op->op.control, operation_class_linked))
    self->load_places |= bit;
  else
    self->store_places |= bit;
  self->occupied++;
}

/* The load that went, and the reply that came. */
static inline void finish_loads(self_t *self, load_outcome outcome, uint32_t place, uint32_t covered, bool accepted,
                                const typeof_port(memory_reply) * reply, uint64_t kept) {
  if (reply && wanted(self, reply->tag, place, outcome == load_outcome_memory)) {
    const uint32_t replied = place_of_tag(self, reply->tag);
    if (kept >> replied & 1) complete(self, replied, (uint32_t)reply->data, reply->error, 0, 0);
    if (outcome == load_outcome_memory && replied == place) accepted = false;
  }
  if (outcome == load_outcome_forwarded && kept >> place & 1) {
    complete(self, place, covered, false, 2, 1);
    count(forwarded);
  }
  if (outcome == load_outcome_memory && accepted) {
    self->waiting &= ~BIT(place);
    self->sent |= BIT(place);
    self->tag[place] = tag_of(self, place);
  }
}

/* The loads that have read, or are about to, where others write in this cycle. */
static inline uint64_t reading(const self_t *self, const mem_snoop *write) {
  uint64_t places = 0;
  if (call(is_own_write, write->tag)) return 0;
  for (uint64_t m = self->load_places & self->known & ~self->waiting; m; m &= m - 1) {
    const int place = __builtin_ctzll(m);
    const struct load_store_bytes written = {.address = write->address, .size = write->size};
    if (load_store_overlap(&written, self->address[place], self->size[place])) places |= m & -m;
  }
  return places;
}

/* Whether this cycle shows nothing that the next will not show, and has nothing under way. */
static inline bool idle(const self_t *self) {
  const bool shows = self->finished[0].valid | self->finished[1].valid | self->finished[2].valid;
  const uint64_t passed = width(overtaken) > 0 ? self->passed : 0;
  return !shows && (self->waiting | self->promised | self->taken_back.of[0] | self->taken_back.of[1] | passed) == 0;
}

phase_end() {
  const bool squashes = data(squash).valid;
  bool writes = false;
  for (int i = 0; i < width(written); i++) writes |= some(written, i);
  if (data(alloc).count == 0 && data(head) == self->oldest && !squashes && idle(self) && !some(in) &&
      !some(memory_reply) && !some(store_request) && !some(store_reply) && !writes) {
    if (!self->moved) unchanged();
    self->moved = false;
    return;
  }
  const uint64_t kept = __builtin_expect(squashes, false)
                            ? places_from(data(head), data(squash).age + 1 - data(head), param(list))
                            : ~UINT64_C(0);
  self->moved = true;
  for (int i = 0; i < 3; i++) self->finished[i].valid = false;
  self->shown[0].dest = self->shown[1].dest = 0;
  if (transferred(store_request)) self->outstanding = true;
  if (self->outstanding && some(store_reply)) {
    if (data(store_reply).error) fail(self);
    self->outstanding = false;
    self->buffer_head = BUFFERED(self->buffer_head + 1);
    self->buffer_count--;
  }
  const bool accepted = transferred(memory_request);
  count(loads, accepted);
  finish_loads(self, get(outcome), get(picked), get(covered), accepted, some(memory_reply) ? &data(memory_reply) : NULL,
               kept);
  if (data(head) != self->oldest) commit(self, data(head));
  if (width(written) > 0) self->passed = 0;
  for (int i = 0; i < width(written); i++)
    if (some(written, i)) self->passed |= kept & reading(self, &data(written, i));
  if (param(speculate)) take_back(self, kept);
  if (some(in) && kept >> PLACE(item(in).age) & 1) arrive(self, &item(in), data(translation_reply));
  if (__builtin_expect(squashes, false)) {
    self->load_places &= kept;
    self->store_places &= kept;
    self->known &= kept;
    self->waiting &= kept;
    self->sent &= kept;
    self->promised &= kept;
    self->epoch++;
    self->occupied = (uint32_t)__builtin_popcountll(self->load_places | self->store_places);
    return;
  }
  const uint32_t came = data(alloc).count;
  for (uint32_t i = 0; i < (uint32_t)param(width); i++) {
    if (i >= came) break;
    enter(self, &data(alloc).op[i]);
  }
}

next_event() {
  return self->moved ? cycle() : never();
}
