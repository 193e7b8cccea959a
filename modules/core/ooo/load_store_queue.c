// load_store_queue.c: orders loads and stores; see load_store_queue.lss.
#include "core/ooo/register_sets.h"
#include "memory/memory_error.h"

#define CONTEXT(age)     age_context((age), param(contexts))
#define SLOT(age)        slot_of_age((age), param(contexts), param(list))
#define CONTEXT_OF(slot) (param(contexts) > 1 ? (slot) / (uint32_t)param(list) : 0)
#define PLACE_OF(slot)   ((slot) & (uint32_t)(param(list) - 1))
#define BIT(slot)        (UINT64_C(1) << PLACE_OF(slot))
#define BUFFERED(n)      ((n) & (uint32_t)(param(buffer) - 1))

// Tags are a place, and above it as much of the number of squashes as there is room for, and the context.
#define PLACE_BITS 6
#define EPOCHS     ((UINT32_C(1) << (CONTEXT_BIT - PLACE_BITS)) - 1)
#define TAG_OF(c)  (param(contexts) > 1 ? (uint32_t)(c) << CONTEXT_BIT : 0)

// The tag of what goes only as the oldest, with its context: a memory takes a load-linked and a store-conditional of
// one tag for a pair.
#define OLDEST_TAG (UINT32_C(1) << 22)

// The bit of `ready_contexts` of a context with barriers.
#define FENCED(c) (UINT32_C(1) << (8 + (c)))

// The tag of a barrier, with its context.
#define BARRIER_TAG (UINT32_C(1) << 23)

init() {
  MEMORY_ERROR_CHOOSE();
  for (int c = 0; c < param(contexts); c++) self->oldest.of[c] = (uint32_t)c;
}

handler(reset, on_memory_error) {
  MEMORY_ERROR_CHOOSE();
}

// The committed stores of a context that are not in memory.
static inline uint32_t committed_stores(const self_t *self, uint32_t context) {
  return param(contexts) > 1 ? self->buffered[context] : self->buffer_count;
}

phase_start() {
  const uint32_t b = BUFFERED(self->buffer_head);
  const typeof_port(store_request) request = {.op = mem_op_write,
                                              .size = self->buffer_size[b],
                                              .tag = TAG_OF(self->buffer_context[b]),
                                              .address = self->buffer_address[b],
                                              .data = self->buffer_value[b]};
  send(room, (uint32_t)param(entries) - self->occupied);
  send(store_room, (uint32_t)param(buffer) - self->buffer_count);
  send_if(store_request, (self->buffer_count > 0) & !self->outstanding, request);
}

// Whether an instruction that was committed in the last cycle is a store, which moves to the buffer in this one.
static inline bool store_moves(const self_t *self, uint32_t context, uint32_t head) {
  const uint32_t oldest = self->oldest.of[context];
  if (head == oldest) return false;
  return self->store_places[context] &
         places_from(age_count(oldest, param(contexts)), ages_between(oldest, head, param(contexts)), param(list));
}

handler(show_drained) {
  bool drained[param(contexts)];
  for (uint32_t c = 0; c < (uint32_t)param(contexts); c++)
    drained[c] = committed_stores(self, c) == 0 && !store_moves(self, c, data(head).of[c]);
  for (int i = 0; i < width(drained); i++) send(drained, i, drained[i % param(contexts)]);
}

handler(ask, i) {
  address_query query = {.context = (uint8_t)CONTEXT(data(in).age),
                         .writes = operation_kind(data(in).op.control) == operation_class_store};
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
  send(cancel, i, self->cancelled_registers);
}

handler(show_overtaken, i) {
  send(overtaken, i, self->passed);
}

// What a load gets of an older store that has one of its bytes; none if that store does not cover it.
static inline load_outcome forward(const self_t *self, const struct load_store_bytes *store, uint32_t slot,
                                   uint32_t *value) {
  const uint32_t address = self->address[slot], size = self->size[slot];
  if (!load_store_cover(store, address, size)) return load_outcome_none;
  *value = load_store_value(store, address, size, operation_sign(self->control[slot]), param(big_endian));
  return load_outcome_forwarded;
}

// What an instruction here may be is known when a machine is built, so that what it cannot be costs nothing.
static inline bool is_kind(operation control, operation_class kind) {
  return param(links) && operation_kind(control) == kind;
}

static inline bool is_part(operation control) {
  return param(word_parts) && operation_part(control) != word_part_whole;
}

static inline bool is_barrier(operation control) {
  return param(barriers) && operation_kind(control) == operation_class_barrier;
}

static inline bool is_link(operation control) {
  return is_kind(control, operation_class_linked) || is_kind(control, operation_class_conditional);
}

// Whether it goes only as the oldest, when all stores are in memory.
static inline bool goes_last(const self_t *self, uint32_t slot) {
  return is_link(self->control[slot]) || !call(cacheable, self->address[slot]);
}

// The same of a load and the stores that were committed.
static inline load_outcome find_committed(const self_t *self, uint32_t slot, uint32_t *value) {
  const uint32_t context = CONTEXT_OF(slot);
  if (param(contexts) > 1 && committed_stores(self, context) == 0) return load_outcome_memory;
  for (uint32_t k = self->buffer_count; k-- > 0;) {
    const uint32_t b = BUFFERED(self->buffer_head + k);
    const struct load_store_bytes store = {self->buffer_address[b], self->buffer_size[b], self->buffer_value[b]};
    if (param(contexts) > 1 && self->buffer_context[b] != context) continue;
    if (load_store_overlap(&store, self->address[slot], self->size[slot])) return forward(self, &store, slot, value);
  }
  return load_outcome_memory;
}

// Where a load whose older stores all have addresses gets its value.
static inline load_outcome find_value(const self_t *self, uint32_t slot, uint32_t *value) {
  const uint32_t context = CONTEXT_OF(slot), oldest = self->oldest.of[context];
  if (__builtin_expect(goes_last(self, slot), false)) {
    const bool last = self->age[slot] == oldest && committed_stores(self, context) == 0;
    return last ? load_outcome_memory : load_outcome_none;
  }
  uint64_t older = self->store_places[context];
  if (older)
    older &= places_from(age_count(oldest, param(contexts)), ages_between(oldest, self->age[slot], param(contexts)),
                         param(list));
  struct load_store_bytes youngest = {0};
  uint32_t best = 0;
  for (uint64_t m = older; m; m &= m - 1) {
    const uint32_t s = context * param(list) + (uint32_t)__builtin_ctzll(m);
    const struct load_store_bytes store = {self->address[s], self->size[s], self->value[s]};
    const uint32_t distance = self->age[s] - oldest + 1;
    if (distance < best || !load_store_overlap(&store, self->address[slot], self->size[slot])) continue;
    best = distance;
    youngest = store;
  }
  return best ? forward(self, &youngest, slot, value) : find_committed(self, slot, value);
}

static inline uint32_t tag_of(const self_t *self, uint32_t slot) {
  const uint32_t tag = TAG_OF(CONTEXT_OF(slot));
  return tag | (is_link(self->control[slot]) ? OLDEST_TAG : PLACE_OF(slot) | (self->epoch & EPOCHS) << PLACE_BITS);
}

// The place to which a reply with this tag belongs, if it is still wanted.
static inline uint32_t slot_of_tag(const self_t *self, uint32_t tag) {
  const uint32_t context = tag_context(tag, param(contexts));
  if (param(links) && tag & OLDEST_TAG) return SLOT(self->oldest.of[context]);
  return context * (uint32_t)param(list) + PLACE_OF(tag);
}

static inline typeof_port(memory_request) request_of(const self_t *self, uint32_t slot) {
  const operation c = self->control[slot];
  typeof_port(memory_request) request = {.op = mem_op_read,
                                         .size = self->size[slot],
                                         .sign = operation_sign(c),
                                         .address = self->address[slot],
                                         .tag = tag_of(self, slot)};
  if (is_kind(c, operation_class_linked)) request.op = mem_op_load_linked;
  if (is_kind(c, operation_class_conditional)) {
    request.op = mem_op_store_conditional;
    request.data = self->value[slot];
  }
  return request;
}

static inline typeof_port(memory_request) barrier_of(uint32_t context) {
  return (typeof_port(memory_request)){.op = mem_op_barrier, .size = 1, .tag = BARRIER_TAG | TAG_OF(context)};
}

// The loads of a context whose older stores all have addresses.  A store-conditional is among the stores without a
// known place until it was decided, and may go itself; so is a barrier until it is done, which does not go as a load.
static inline uint64_t ready_loads(const self_t *self, uint32_t context) {
  const uint64_t waiting = self->waiting[context], unknown = self->store_places[context] & ~self->known[context];
  if (__builtin_expect(!unknown, true)) return waiting;
  const uint32_t oldest = age_count(self->oldest.of[context], param(contexts));
  const uint32_t first = places_oldest(unknown, oldest, param(list));
  const uint32_t before = (first - oldest) & (uint32_t)(param(list) - 1);
  const uint32_t itself = param(links) ? waiting >> first & 1 : 0;
  return waiting & places_from(oldest, before + itself, param(list));
}

// A barrier goes when it is the oldest of its context and all stores are in memory.
static inline bool barrier_may_go(const self_t *self, uint32_t context) {
  const uint32_t slot = SLOT(self->oldest.of[context]);
  return self->fences[context] & BIT(slot) && committed_stores(self, context) == 0;
}

// A barrier goes before all loads, so that what it waits for comes to an end.
static __attribute__((noinline)) bool choose_barrier(const self_t *self, uint32_t *slot) {
  for (uint32_t m = self->ready_contexts / FENCED(0); m; m &= m - 1) {
    const uint32_t context = (uint32_t)__builtin_ctz(m);
    *slot = SLOT(self->oldest.of[context]);
    if (barrier_may_go(self, context)) return true;
  }
  return false;
}

// The load that goes: the oldest whose value is somewhere, of the first context in turn that has one.
static __attribute__((noinline)) load_outcome choose_load(const self_t *self, uint32_t *slot, uint32_t *value) {
  if (param(barriers) && __builtin_expect(self->ready_contexts >= FENCED(0), false) && choose_barrier(self, slot))
    return load_outcome_barrier;
  for (uint32_t left = param(barriers) ? self->ready_contexts & (FENCED(0) - 1) : self->ready_contexts; left;) {
    const uint32_t context = param(contexts) > 1 ? context_from(left, self->turn) : 0;
    const uint32_t oldest = age_count(self->oldest.of[context], param(contexts));
    for (uint64_t ready = ready_loads(self, context); ready; ready &= ~BIT(*slot)) {
      *slot = context * (uint32_t)param(list) + places_oldest(ready, oldest, param(list));
      const load_outcome found = find_value(self, *slot, value);
      if (found != load_outcome_none) return found;
    }
    left &= ~(UINT32_C(1) << context);
  }
  return load_outcome_none;
}

handler(search) {
  uint32_t slot = 0, value = 0;
  const load_outcome found = self->ready_contexts ? choose_load(self, &slot, &value) : load_outcome_none;
  set(outcome, found);
  set(picked, slot);
  set(covered, value);
  const bool passes = param(barriers) && found == load_outcome_barrier;
  send_if(memory_request, passes || found == load_outcome_memory,
          __builtin_expect(passes, false) ? barrier_of(CONTEXT_OF(slot)) : request_of(self, slot));
}

// Whether a reply is to a load that is still wanted; the one that goes in this cycle has no mark of it yet.
static inline bool wanted(const self_t *self, uint32_t tag, uint32_t goes, bool to_memory) {
  const uint32_t slot = slot_of_tag(self, tag);
  if (self->sent[CONTEXT_OF(slot)] & BIT(slot)) return self->tag[slot] == tag;
  return to_memory && slot == goes && tag == tag_of(self, slot);
}

handler(wake) {
  typeof_port(wakes) set = {{0}};
  if (get(outcome) == load_outcome_forwarded) register_add(set.of, self->dest[get(picked)]);
  if (some(memory_reply)) {
    const uint32_t tag = data(memory_reply).tag;
    if (wanted(self, tag, get(picked), get(outcome) == load_outcome_memory))
      register_add(set.of, self->dest[slot_of_tag(self, tag)]);
  }
  if (param(speculate) && some(in) && operation_kind(data(in).op.control) == operation_class_load)
    register_add(set.of, data(in).dest);
  for (int i = 0; i < width(wakes); i++) send(wakes, i, set);
}

// A store that was committed moves to the buffer.
static inline void move_store(self_t *self, uint32_t slot) {
  const uint32_t b = BUFFERED(self->buffer_head + self->buffer_count), context = CONTEXT_OF(slot);
  if (self->buffer_count++ == (uint32_t)param(buffer)) sim_error("more stores were committed than there is room for");
  self->buffer_address[b] = self->address[slot];
  self->buffer_value[b] = self->value[slot];
  self->buffer_size[b] = self->size[slot];
  if (param(contexts) > 1) {
    self->buffer_context[b] = (uint8_t)context;
    self->buffered[context]++;
  }
  count(stores);
}

// What of a context was committed at the end of the cycle before leaves.
static inline void commit(self_t *self, uint32_t context, uint32_t head) {
  const uint32_t oldest = self->oldest.of[context], count = age_count(oldest, param(contexts));
  const uint64_t gone = places_from(count, ages_between(oldest, head, param(contexts)), param(list));
  const uint64_t leaving = gone & (self->load_places[context] | self->store_places[context]);
  self->oldest.of[context] = head;
  if (!leaving) return;
  event(left, (uint32_t)__builtin_popcountll(leaving));
  for (uint64_t m = gone & self->store_places[context]; m;) {
    const uint32_t place = places_oldest(m, count, param(list));
    m &= ~(UINT64_C(1) << place);
    move_store(self, context * (uint32_t)param(list) + place);
  }
  self->store_places[context] &= ~gone;
  self->load_places[context] &= ~gone;
  self->known[context] &= ~gone;
  self->occupied -= (uint32_t)__builtin_popcountll(leaving);
}

static __attribute__((noinline)) void lose_store(self_t *self) {
  const uint32_t address = self->buffer_address[BUFFERED(self->buffer_head)];
  MEMORY_ERROR("a store failed: nothing responds at address 0x%08x", (unsigned)address);
}

static inline void become_load(self_t *self, uint32_t slot) {
  self->store_places[CONTEXT_OF(slot)] &= ~BIT(slot);
  self->load_places[CONTEXT_OF(slot)] |= BIT(slot);
}

static __attribute__((noinline)) void decide_conditional(self_t *self, uint32_t slot, uint32_t stored) {
  event(conditional, self->named[slot], self->value[slot], stored != 0, CONTEXT_OF(slot));
  become_load(self, slot);
}

static inline void wait_no_more(self_t *self, uint32_t slot) {
  self->waiting[CONTEXT_OF(slot)] &= ~BIT(slot);
  if (!self->waiting[CONTEXT_OF(slot)]) self->ready_contexts &= ~(UINT32_C(1) << CONTEXT_OF(slot));
}

// A load that has its value, or a store-conditional that was decided.
static inline void complete(self_t *self, uint32_t slot, uint32_t value, bool fault, int lane, int port) {
  const operation c = self->control[slot];
  if (is_part(c)) value = load_store_merge(operation_part(c), self->size[slot], self->value[slot], value);
  if (is_kind(c, operation_class_conditional) && !fault) decide_conditional(self, slot, value);
  self->shown[port] = (result){.dest = self->dest[slot], .value = value};
  self->finished[lane] = (completion){.status = completion_status_of_valid(true) |
                                                (fault ? completion_status_of_fault(trap_cause_access) : 0),
                                      .age = self->age[slot],
                                      .target = self->named[slot],
                                      .value = value};
  wait_no_more(self, slot);
  self->sent[CONTEXT_OF(slot)] &= ~BIT(slot);
  if (slot == self->promised_slot) self->promised = false;
}

// Why something whose address arrived is executed by somebody else, or not at all.
static inline trap_cause note_of(const self_t *self, bool unaligned, bool plain, uint32_t address) {
  if (unaligned) return trap_cause_unaligned;
  if (width(translation_query) == 0) return trap_cause_none;
  return plain && call(cacheable, address) ? trap_cause_none : trap_cause_serial;
}

// A barrier has no address: it waits, unknown among the stores, until it may go.
static __attribute__((noinline)) void arrive_barrier(self_t *self, const typeof_port(in) * o) {
  const uint32_t slot = SLOT(o->age);
  self->control[slot] = o->op.control;
  self->age[slot] = o->age;
  self->named[slot] = 0;
  self->dest[slot] = 0;
  self->fences[CONTEXT(o->age)] |= BIT(slot);
  self->ready_contexts |= FENCED(CONTEXT(o->age));
}

// An address that arrived, and what a store stores.
static inline void arrive(self_t *self, const typeof_port(in) * o, address_reply reply) {
  const uint32_t slot = SLOT(o->age), context = CONTEXT(o->age);
  const operation c = o->op.control;
  if (__builtin_expect(is_barrier(c), false)) {
    arrive_barrier(self, o);
    return;
  }
  const bool stores = operation_kind(c) == operation_class_store;
  uint32_t address = o->value[0] + o->op.immediate, size = operation_size(c), value = o->value[1];
  const bool unaligned = !is_part(c) && (address & (size - 1)) != 0;
  if (is_part(c)) {
    load_store_part(operation_part(c), param(big_endian), &address, &size);
    if (stores && operation_part(c) == word_part_left) value >>= 8 * (4 - size);
  }
  const uint32_t physical =
      width(translation_query) == 0 ? call(locate, address, context) : (reply.physical & ~(uint32_t)3) | (address & 3);
  const trap_cause note = note_of(self, unaligned, reply.plain, physical);
  self->address[slot] = physical;
  self->named[slot] = address;
  self->size[slot] = (uint8_t)size;
  self->value[slot] = stores && size < 4 ? value & ((1u << 8 * size) - 1) : value;
  self->control[slot] = c;
  self->age[slot] = o->age;
  self->dest[slot] = o->dest;
  // What executes alone reads when it is its turn, and no write overtakes it.
  const bool alone = width(translation_query) > 0 && note != trap_cause_none;
  if (!is_kind(c, operation_class_conditional) && !alone) self->known[context] |= BIT(slot);
  if (param(speculate) && operation_kind(c) == operation_class_load) {
    self->promised = true;
    self->promised_slot = slot;
  }
  if (alone && stores) become_load(self, slot); // nothing is stored
  if (stores || note != trap_cause_none) {
    self->finished[1] = (completion){.status = completion_status_of_valid(true) | completion_status_of_size(size) |
                                               completion_status_of_fault(note),
                                     .age = o->age,
                                     .target = address,
                                     .value = self->value[slot]};
  } else {
    self->waiting[context] |= BIT(slot);
    self->ready_contexts |= UINT32_C(1) << context;
  }
}

// What was promised and is not there.
static inline void take_back(self_t *self, const uint64_t *kept) {
  memset(&self->cancelled_registers, 0, sizeof self->cancelled_registers);
  if (self->promised && kept[CONTEXT_OF(self->promised_slot)] & BIT(self->promised_slot)) {
    register_add(self->cancelled_registers.of, self->dest[self->promised_slot]);
    count(cancelled);
  }
  self->cancelled_registers.of[0] &= ~UINT64_C(1); // register 0 is always there
  self->promised = false;
}

static inline void enter(self_t *self, const renamed_op *op) {
  const uint32_t slot = SLOT(op->age), context = CONTEXT(op->age);
  if (operation_kind(op->op.control) == operation_class_load || is_kind(op->op.control, operation_class_linked))
    self->load_places[context] |= BIT(slot);
  else
    self->store_places[context] |= BIT(slot);
  self->occupied++;
}

// These barriers of a context are still to be sent.
static inline void keep_barriers(self_t *self, uint32_t context, uint64_t kept) {
  self->fences[context] &= kept;
  if (!self->fences[context]) self->ready_contexts &= ~FENCED(context);
}

// Memory has done all that came before a barrier.  It is still the oldest: nothing older is left that could squash it,
// and a core with interrupts executes barriers alone.
static __attribute__((noinline)) void finish_barrier(self_t *self, uint32_t context, bool error) {
  const uint32_t slot = SLOT(self->oldest.of[context]);
  become_load(self, slot);
  complete(self, slot, 0, error, 0, 0);
  count(barriers);
}

// The load that went, and the reply that came.
static inline void finish_loads(self_t *self, load_outcome outcome, uint32_t slot, uint32_t covered, bool accepted,
                                const typeof_port(memory_reply) * reply, const uint64_t *kept) {
  if (param(barriers) && __builtin_expect(outcome == load_outcome_barrier && accepted, false)) {
    keep_barriers(self, CONTEXT_OF(slot), ~BIT(slot));
    event(fenced);
  }
  if (param(barriers) && reply && __builtin_expect(reply->tag & BARRIER_TAG, false))
    finish_barrier(self, tag_context(reply->tag, param(contexts)), reply->error);
  if (reply && wanted(self, reply->tag, slot, outcome == load_outcome_memory)) {
    const uint32_t replied = slot_of_tag(self, reply->tag);
    if (kept[CONTEXT_OF(replied)] & BIT(replied)) complete(self, replied, (uint32_t)reply->data, reply->error, 0, 0);
    if (outcome == load_outcome_memory && replied == slot) accepted = false;
  }
  if (outcome == load_outcome_forwarded && kept[CONTEXT_OF(slot)] & BIT(slot)) {
    complete(self, slot, covered, false, 2, 1);
    count(forwarded);
  }
  if (outcome == load_outcome_memory && accepted) {
    wait_no_more(self, slot);
    self->sent[CONTEXT_OF(slot)] |= BIT(slot);
    self->tag[slot] = tag_of(self, slot);
  }
  if (param(contexts) > 1 && outcome != load_outcome_none)
    self->turn = CONTEXT_OF(slot) + 1 < (uint32_t)param(contexts) ? CONTEXT_OF(slot) + 1 : 0;
}

// The loads of a context that have read, or are about to, where others write in this cycle.
static inline uint64_t reading(const self_t *self, uint32_t context, const struct load_store_bytes *written) {
  uint64_t places = 0;
  for (uint64_t m = self->load_places[context] & self->known[context] & ~self->waiting[context]; m; m &= m - 1) {
    const uint32_t slot = context * (uint32_t)param(list) + (uint32_t)__builtin_ctzll(m);
    if (load_store_overlap(written, self->address[slot], self->size[slot])) places |= m & -m;
  }
  return places;
}

static __attribute__((noinline)) void forget_passed(self_t *self) {
  memset(&self->passed, 0, sizeof self->passed);
  self->any_passed = false;
}

// Notes the loads that a write overtakes, of all contexts but that of the writer, if it is one.
static __attribute__((noinline)) void pass(self_t *self, uint32_t address, uint32_t size, uint32_t writer,
                                           const uint64_t *kept) {
  const struct load_store_bytes written = {.address = address, .size = size};
  for (uint32_t c = 0; c < (uint32_t)param(contexts); c++) {
    if (c == writer) continue;
    self->passed.of[c] |= kept[c] & reading(self, c, &written);
    self->any_passed |= self->passed.of[c] != 0;
  }
}

// Whether a snooped write is the core's own; of one that stands for several nobody knows.
static inline bool is_own(const self_t *self, uint32_t tag) {
  return tag != ~UINT32_C(0) && call(is_own_write, tag);
}

// The oldest committed store, in each cycle from that in which memory takes it to that of its reply: nobody knows when
// in between it is done, and other contexts' loads may see it before or behind that.
static inline void note_store(self_t *self, bool last, const uint64_t *kept) {
  const uint32_t b = BUFFERED(self->buffer_head), context = param(contexts) > 1 ? self->buffer_context[b] : 0;
  event(stored, self->buffer_address[b], self->buffer_size[b], self->buffer_value[b], last, context);
  if (param(contexts) > 1 && width(overtaken) > 0)
    pass(self, self->buffer_address[b], self->buffer_size[b], context, kept);
}

// Whether this cycle shows nothing that the next will not show, and has nothing under way.
static inline bool idle(const self_t *self) {
  const bool shows =
      (self->finished[0].status | self->finished[1].status | self->finished[2].status) != 0 || self->promised;
  const bool passed = width(overtaken) > 0 && self->any_passed;
  return !shows && self->ready_contexts == 0 && !passed && !register_any(self->cancelled_registers.of, param(words));
}

// What of a context is younger than a squash goes.
static __attribute__((noinline)) void drop(self_t *self, uint32_t context, uint64_t kept) {
  const uint64_t here = self->load_places[context] | self->store_places[context];
  const uint32_t gone = (uint32_t)__builtin_popcountll(here & ~kept);
  self->occupied -= gone;
  count(squashed, gone);
  event(dropped, (uint32_t)__builtin_popcountll((self->waiting[context] | self->sent[context]) & ~kept) +
                     (uint32_t)__builtin_popcountll(self->fences[context] & ~kept));
  self->load_places[context] &= kept;
  self->store_places[context] &= kept;
  self->known[context] &= kept;
  self->waiting[context] &= kept;
  self->sent[context] &= kept;
  if (param(barriers)) keep_barriers(self, context, kept);
  if (!self->waiting[context]) self->ready_contexts &= ~(UINT32_C(1) << context);
  self->epoch++;
}

// The contexts of which something was committed, a bit for each.
static inline uint32_t committed(const self_t *self, const typeof_port(head) * head) {
  uint32_t contexts = 0;
  for (int c = 0; c < param(contexts); c++) contexts |= (uint32_t)(head->of[c] != self->oldest.of[c]) << c;
  return contexts;
}

// The oldest committed store is in memory.
static inline void finish_store(self_t *self, bool error) {
  if (__builtin_expect(error, false)) lose_store(self);
  self->outstanding = false;
  if (param(contexts) > 1) self->buffered[self->buffer_context[BUFFERED(self->buffer_head)]]--;
  self->buffer_head = BUFFERED(self->buffer_head + 1);
  self->buffer_count--;
}

phase_end() {
  const bool squashes = data(squash).valid;
  const uint32_t squashed = CONTEXT(data(squash).age);
  bool writes = false;
  for (int i = 0; i < width(written); i++) writes |= some(written, i);
  const uint32_t commits = committed(self, &data(head));
  if (data(alloc).count == 0 && !commits && !squashes && idle(self) && !some(in) && !some(memory_reply) &&
      !some(store_request) && !some(store_reply) && !writes) {
    self->moved = false;
    return;
  }
  uint64_t kept[param(contexts)];
  for (int c = 0; c < param(contexts); c++) kept[c] = ~UINT64_C(0);
  if (__builtin_expect(squashes, false))
    kept[squashed] = places_to(data(head).of[squashed], data(squash).age, param(contexts), param(list));
  self->moved = true;
  for (int i = 0; i < 3; i++) self->finished[i].status = 0;
  self->shown[0].dest = self->shown[1].dest = 0;
  const bool accepted = transferred(memory_request);
  count(loads, accepted && (!param(barriers) || get(outcome) != load_outcome_barrier));
  finish_loads(self, get(outcome), get(picked), get(covered), accepted, some(memory_reply) ? &data(memory_reply) : NULL,
               kept);
  for (uint32_t m = commits; m; m &= m - 1) {
    const uint32_t c = param(contexts) > 1 ? (uint32_t)__builtin_ctz(m) : 0;
    commit(self, c, data(head).of[c]);
  }
  if (width(overtaken) > 0 && self->any_passed) forget_passed(self);
  for (int i = 0; i < (__builtin_expect(writes, false) ? width(written) : 0); i++)
    if (some(written, i) && !is_own(self, data(written, i).tag))
      pass(self, data(written, i).address, data(written, i).size, (uint32_t)param(contexts), kept);
  self->outstanding |= transferred(store_request);
  if (self->outstanding) note_store(self, some(store_reply), kept);
  if (self->outstanding && some(store_reply)) finish_store(self, data(store_reply).error);
  if (param(speculate)) take_back(self, kept);
  if (some(in) && kept[CONTEXT(item(in).age)] & BIT(SLOT(item(in).age)))
    arrive(self, &item(in), data(translation_reply));
  else if (some(in) && squashes)
    event(dropped, 1);
  if (__builtin_expect(squashes, false)) drop(self, squashed, kept[squashed]);
  const uint32_t came = data(alloc).count;
  if (param(contexts) == 1 && squashes) {
    event(ignored, came);
    return;
  }
  for (uint32_t i = 0; i < (uint32_t)param(width); i++) {
    if (i >= came) break;
    const renamed_op *op = &data(alloc).op[i];
    if ((param(contexts) > 1 && squashes && CONTEXT(op->age) == squashed) || !rename_needs_memory(op->op.needs)) {
      event(ignored, 1);
      continue;
    }
    event(entered);
    enter(self, op);
  }
}

next_event() {
  return self->moved ? cycle() : unchanged(never());
}
