// micro_tlb.c: segments and pages to physical addresses; see micro_tlb.lss.
#include "memory/memory_access.h"
#include "mmu/mmu_segment.h"

#define PAGE_4K  UINT32_C(0xfffff000)
#define NOT_NEAR UINT32_C(1) // is no page

static inline bool writes(mem_op op) {
  return op != mem_op_read && op != mem_op_load_linked && op < mem_op_barrier;
}

static inline cache_operation operation_of(const typeof_port(in_request) * request) {
  return (cache_operation)low_number(&request->data, 1);
}

// Lines are maintained whatever the cacheability of their page: those of the data side on the way of its requests.
static inline micro_tlb_route maintained(cache_operation operation) {
  const bool here = cache_operation_side(operation) == cache_side_data || !width(maintain_request);
  return here ? micro_tlb_route_cached : micro_tlb_route_maintain;
}

// The context of a request; of a tag that no requester has made, any.
static inline int context_of(uint32_t tag) {
  const int bits = param(contexts) > 4 ? 7 : param(contexts) > 2 ? 3 : param(contexts) > 1 ? 1 : 0;
  const int context = (int)(tag >> param(context_bit)) & bits;
  return context < param(contexts) ? context : 0;
}

// What is kept of a context was looked up for the address space that the processor is in, and nothing was written
// since.
static inline bool current(const self_t *self, int context, uint32_t generation, uint8_t asid) {
  return self->generation[context] == generation && self->context[context].asid == asid;
}

static inline bool same_context(address_context a, address_context b) {
  return memcmp(&a, &b, sizeof a) == 0; // there is nothing between its members
}

static inline bool is_of(uint8_t owner, int context) {
  return param(contexts) == 1 || owner == context;
}

// A page that is kept, or of which is known that nothing translates it.
static inline micro_tlb_translation find(const self_t *self, int context, uint32_t address, bool write) {
  micro_tlb_translation t = {.route = micro_tlb_route_lookup};
  if (self->missing && self->wanted == (address & PAGE_4K) && is_of(self->wanting, context))
    t = (micro_tlb_translation){.route = micro_tlb_route_fault, .fault = mem_fault_refill};
  for (int i = 0; i < param(entries); i++) {
    const translation_reply *e = &self->translated[i];
    if (!self->valid[i] || self->page[i] != (address & PAGE_4K) || !is_of(self->owner[i], context)) continue;
    t = mmu_physical(e->frame | (address & ~PAGE_4K), e->cacheability);
    if (!e->valid || (write && !e->dirty))
      t = (micro_tlb_translation){.route = micro_tlb_route_fault,
                                  .fault = e->valid ? mem_fault_modified : mem_fault_invalid};
  }
  return t;
}

// Whether what is outstanding may have its replies after that of a request that goes this way.
static inline bool in_turn(const self_t *self, micro_tlb_route route) {
  return self->outstanding == 0 || self->way == route;
}

init() {
  self->near_page = NOT_NEAR;
}

// Whether a request that was not preceded by anything unusual goes to the cache as the one before it did.
static inline bool is_near(const self_t *self, int context, uint32_t address, mem_op op) {
  return (address & PAGE_4K) == self->near_page && is_of(self->near_context, context) &&
         (op == mem_op_read || (op < mem_op_barrier && self->near_writes));
}

// What becomes of any other request; of one to maintain a line `operation` says what it asks for.
static __attribute__((noinline)) void translate(const self_t *self, int number, uint32_t address, mem_op op,
                                                cache_operation operation, address_context context, uint32_t generation,
                                                micro_tlb_translation *t) {
  *t = (micro_tlb_translation){.route = micro_tlb_route_none};
  if (self->barrier != micro_tlb_barrier_none) return;
  if (op == mem_op_barrier) {
    t->route = micro_tlb_route_barrier;
  } else {
    *t = mmu_unmapped(address, context);
    if (t->route == micro_tlb_route_none && current(self, number, generation, context.asid))
      *t = find(self, number, address, writes(op));
    else if (t->route == micro_tlb_route_none)
      t->route = micro_tlb_route_lookup;
  }
  if (op == mem_op_maintain && (t->route == micro_tlb_route_cached || t->route == micro_tlb_route_uncached))
    t->route = maintained(operation);
  if (t->route != micro_tlb_route_lookup && !in_turn(self, t->route)) t->route = micro_tlb_route_none;
}

// Whether what translation depends on is another than it was.
static inline bool is_new(const self_t *self, int context, uint32_t generation, address_context now) {
  return (generation != self->generation[context]) | !same_context(now, self->context[context]);
}

handler(translate) {
  micro_tlb_translation t = {.route = micro_tlb_route_none}, found; // two, so that one is not in memory
  const int c = some(in_request) ? context_of(item(in_request).tag) : 0;
  bool special = is_new(self, c, data(changed, c), data(context, c)) | self->unusual;
  if (some(in_request)) {
    const uint32_t address = item(in_request).address;
    if (__builtin_expect(!special && is_near(self, c, address, item(in_request).op), true)) {
      t.route = micro_tlb_route_cached;
      t.physical = self->near_frame | (address & ~PAGE_4K);
    } else {
      translate(self, c, address, item(in_request).op, operation_of(&item(in_request)), data(context, c),
                data(changed, c), &found);
      t.route = found.route, t.physical = found.physical, t.combine = found.combine, t.fault = found.fault;
      special |= found.route != micro_tlb_route_cached;
    }
  }
  set(translation, t);
  set(special, special);
}

handler(look_up) {
  if (__builtin_expect(!get(special), true) || get(translation).route != micro_tlb_route_lookup || self->looks_up) {
    for (int c = 0; c < param(contexts); c++) send_nothing(lookup_request, c);
    return;
  }
  const int context = context_of(item(in_request).tag);
  const translation_request request = {.address = item(in_request).address, .asid = data(context, context).asid};
  for (int c = 0; c < param(contexts); c++) send_if(lookup_request, c, c == context, request);
}

static __attribute__((noinline)) typeof_port(in_request) barrier_of(const self_t *self) {
  return (typeof_port(in_request)){.op = mem_op_barrier, .size = 1, .tag = self->barrier_tag};
}

handler(pass) {
  if (__builtin_expect(get(special), false) && self->barrier != micro_tlb_barrier_none) {
    const typeof_port(in_request) request = barrier_of(self);
    send_if(cached_request, self->barrier == micro_tlb_barrier_cached_offered, request);
    send_if(uncached_request, self->barrier == micro_tlb_barrier_uncached_offered, request);
    send_nothing(maintain_request);
    return;
  }
  if (!some(in_request)) {
    send_nothing(cached_request);
    send_nothing(uncached_request);
    send_nothing(maintain_request);
    return;
  }
  typeof_port(in_request) request = item(in_request);
  request.address = get(translation).physical;
  request.combine = get(translation).combine;
  send_if(cached_request, get(translation).route == micro_tlb_route_cached, request);
  send_if(uncached_request, get(special) && get(translation).route == micro_tlb_route_uncached, request);
  send_if(maintain_request, get(special) && get(translation).route == micro_tlb_route_maintain, request);
}

handler(commit) {
  const bool own = self->barrier != micro_tlb_barrier_none;
  for (int c = 0; c < param(contexts); c++)
    enable(lookup_request, c, true); // a requester may commit only once it is accepted, which is after the lookup
  enable(cached_request, own | enabled(in_request));
  enable(uncached_request, own | enabled(in_request));
  enable(maintain_request, enabled(in_request));
}

handler(accept) {
  const micro_tlb_route route = get(translation).route;
  bool taken = route == micro_tlb_route_cached && acked(cached_request);
  if (__builtin_expect(get(special), false) && route > micro_tlb_route_cached)
    taken = route == micro_tlb_route_uncached   ? acked(uncached_request)
            : route == micro_tlb_route_maintain ? acked(maintain_request)
                                                : route != micro_tlb_route_lookup;
  accept(in_request, taken);
}

static inline mem_snoop write_of(uint32_t physical, uint32_t size) {
  return (mem_snoop){.address = physical, .size = size, .tag = ~UINT32_C(0)};
}

handler(show_written, i) {
  if (__builtin_expect(!some(in_request) && self->taken.size == 0, true)) {
    send_nothing(written, i);
    enable(written, i, true);
    return;
  }
  const micro_tlb_route route = get(translation).route;
  const bool takes = some(in_request) && writes(item(in_request).op) &&
                     ((route == micro_tlb_route_cached && acked(cached_request)) ||
                      (route == micro_tlb_route_uncached && acked(uncached_request)));
  if (takes)
    send(written, i, write_of(get(translation).physical, item(in_request).size));
  else
    send_if(written, i, self->taken.size > 0, self->taken);
  enable(written, i, !takes || enabled(in_request));
}

// Nothing is outstanding when a request gets a fault as its reply.
handler(reply) {
  if (some(cached_reply)) {
    send_if(in_reply, !(get(special) && self->barrier != micro_tlb_barrier_none), item(cached_reply));
    enable(in_reply, enabled(cached_reply));
  } else if (__builtin_expect(!get(special), true)) {
    send_nothing(in_reply);
    enable(in_reply, true);
  } else if (get(translation).route == micro_tlb_route_fault) {
    typeof_port(in_reply) reply = {.error = true, .tag = item(in_request).tag};
    const uint32_t fault = (uint32_t)get(translation).fault;
    memcpy(&reply.data, &fault, sizeof fault);
    send(in_reply, reply);
    enable(in_reply, enabled(in_request));
  } else if (some(uncached_reply)) {
    send(in_reply, item(uncached_reply));
    enable(in_reply, enabled(uncached_reply));
  } else if (some(maintain_reply)) {
    send(in_reply, item(maintain_reply));
    enable(in_reply, enabled(maintain_reply));
  } else {
    send_nothing(in_reply);
    enable(in_reply, true);
  }
}

// A barrier goes to the caches, then past them; the second reply is its own.
static inline void proceed(self_t *self, bool moved) {
  if (moved)
    self->barrier = self->barrier == micro_tlb_barrier_uncached_sent ? micro_tlb_barrier_none : self->barrier + 1;
}

// What is known of a context belongs to another address space, or its joint TLB was written.
static inline void forget(self_t *self, int context) {
  for (int i = 0; i < param(entries); i++) self->valid[i] &= !is_of(self->owner[i], context);
  if (!is_of(self->wanting, context)) return;
  self->missing = false;
  self->overtaken = self->looks_up;
}

// What translation depends on is another than in the last cycle.
static __attribute__((noinline)) void follow(self_t *self, int number, uint32_t generation, address_context context) {
  if (!current(self, number, generation, context.asid)) forget(self, number);
  self->generation[number] = generation;
  self->context[number] = context;
  self->near_page = NOT_NEAR;
}

static __attribute__((noinline)) void remember(self_t *self, translation_reply reply) {
  self->looks_up = false;
  self->near_page = NOT_NEAR;
  if (self->overtaken) return;
  self->missing = !reply.hit;
  if (!reply.hit) return;
  const uint32_t victim = self->next_victim;
  self->next_victim = (victim + 1) % (uint32_t)param(entries);
  self->valid[victim] = true;
  self->page[victim] = self->wanted;
  self->owner[victim] = self->wanting;
  reply.frame |= self->wanted & reply.mask;
  self->translated[victim] = reply;
}

// A request went to the cache, and to another page than the one before it: until what is kept changes, the next to that
// page go there, too.
static __attribute__((noinline)) void move_near(self_t *self, int context, uint32_t address) {
  micro_tlb_translation t = mmu_unmapped(address, self->context[context]);
  const bool mapped = t.route == micro_tlb_route_none;
  if (mapped) t = find(self, context, address, false);
  self->near_page = NOT_NEAR;
  if (t.route != micro_tlb_route_cached) return;
  self->near_page = address & PAGE_4K;
  self->near_context = (uint8_t)context;
  self->near_frame = t.physical & PAGE_4K;
  self->near_writes = !mapped || find(self, context, address, true).route == t.route;
}

// The end of a special cycle, once lookups have been seen to: what was sent, what came back, whether a request was
// accepted.
static __attribute__((noinline)) void end_special(self_t *self, micro_tlb_translation t, bool sent, bool replied,
                                                  bool taken, typeof_port(in_request) request) {
  if (sent) self->way = t.route;
  self->outstanding += (uint32_t)sent - (uint32_t)replied;
  if (self->barrier != micro_tlb_barrier_none) {
    proceed(self, sent);
    proceed(self, replied);
  }
  if (taken) {
    count(requests);
    if (request.op == mem_op_maintain) event(maintained, request.address, operation_of(&request));
    if (t.route == micro_tlb_route_barrier) {
      self->barrier = micro_tlb_barrier_cached_offered;
      self->barrier_tag = request.tag;
    }
    if (t.route == micro_tlb_route_fault) {
      count(faults);
      event(refused, request.address, t.fault);
    }
  }
  self->unusual = self->holds || self->looks_up || self->moved || self->barrier != micro_tlb_barrier_none ||
                  (self->outstanding > 0 && self->way != micro_tlb_route_cached);
}

// Remembers the last write until nothing is outstanding.
static inline void keep_write(self_t *self, bool sent, const typeof_port(in_request) * request, uint32_t physical) {
  if (__builtin_expect(!sent && self->taken.size == 0, true)) return;
  if (sent && writes(request->op)) self->taken = write_of(physical, request->size);
  if (self->outstanding == 0) self->taken.size = 0;
}

phase_end() {
  const micro_tlb_translation t = get(translation);
  if (__builtin_expect(!get(special), true)) {
    const bool sent = transferred(cached_request);
    self->outstanding += (uint32_t)sent - (uint32_t)transferred(cached_reply);
    if (width(written) > 0) keep_write(self, sent, &data(in_request), t.physical);
    if (!sent) return;
    self->way = micro_tlb_route_cached;
    count(requests);
    if (item(in_request).op == mem_op_maintain)
      event(maintained, item(in_request).address, operation_of(&item(in_request)));
    const uint32_t address = item(in_request).address;
    const int context = context_of(item(in_request).tag);
    if (__builtin_expect((address & PAGE_4K) != self->near_page || !is_of(self->near_context, context), false))
      move_near(self, context, address);
    return;
  }
  for (int c = 0; c < param(contexts); c++)
    if (is_new(self, c, data(changed, c), data(context, c))) follow(self, c, data(changed, c), data(context, c));
  self->moved = false;
  for (int c = 0; c < param(contexts); c++) {
    if (!transferred(lookup_request, c)) continue;
    count(lookups);
    self->looks_up = self->moved = true;
    self->overtaken = self->missing = false;
    self->wanted = data(lookup_request, c).address & PAGE_4K;
    self->wanting = (uint8_t)c;
  }
  for (int c = 0; c < param(contexts); c++) {
    if (!transferred(lookup_reply, c)) continue;
    self->moved = true;
    remember(self, data(lookup_reply, c));
  }
  const bool holds = some(in_request) && t.route == micro_tlb_route_none && self->barrier == micro_tlb_barrier_none;
  if (holds != self->holds) count_cycles(holding, holds);
  self->holds = holds;
  const bool sent = transferred(cached_request) | transferred(uncached_request) |
                    (width(maintain_request) && transferred(maintain_request));
  const bool replied = transferred(cached_reply) | transferred(uncached_reply) |
                       (width(maintain_request) && transferred(maintain_reply));
  end_special(self, t, sent, replied, transferred(in_request), data(in_request));
  if (width(written) > 0)
    keep_write(self, transferred(cached_request) | transferred(uncached_request), &data(in_request), t.physical);
}

statistics() {
  report(held, counted(holding) + self->holds * cycle());
}

next_event() {
  return self->barrier != micro_tlb_barrier_none || self->moved ? cycle() : unchanged(never());
}
