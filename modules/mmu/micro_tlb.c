// micro_tlb.c: segments and pages to physical addresses; see micro_tlb.lss.
#include "mmu/mmu_entry.h"

#define PAGE_4K UINT32_C(0xfffff000)

static inline bool writes(mem_op op) {
  return op != mem_op_read && op != mem_op_load_linked && op < mem_op_barrier;
}

static inline micro_tlb_translation physical(uint32_t address, uint32_t cacheability) {
  const bool combine = cacheability == MMU_UNCACHED_ACCELERATED, uncached = cacheability == MMU_UNCACHED || combine;
  return (micro_tlb_translation){
      .route = uncached ? micro_tlb_route_uncached : micro_tlb_route_cached, .physical = address, .combine = combine};
}

// Lines are maintained whatever the cacheability of their page: those of the data side on the way of its requests.
static inline micro_tlb_route maintained(cache_operation operation) {
  const bool here = cache_operation_side(operation) == cache_side_data || !width(maintain_request);
  return here ? micro_tlb_route_cached : micro_tlb_route_maintain;
}

// What is kept was looked up for the address space that the processor is in, and nothing was written since.
static inline bool current(const self_t *self, uint32_t generation, uint8_t asid) {
  return self->generation == generation && self->asid == asid;
}

// A page that is kept, or of which is known that nothing translates it.
static inline micro_tlb_translation find(const self_t *self, uint32_t address, bool write) {
  micro_tlb_translation t = {.route = micro_tlb_route_lookup};
  if (self->missing && self->wanted == (address & PAGE_4K))
    t = (micro_tlb_translation){.route = micro_tlb_route_fault, .fault = mem_fault_refill};
  for (int i = 0; i < param(entries); i++) {
    const translation_reply *e = &self->translated[i];
    if (!self->valid[i] || self->page[i] != (address & PAGE_4K)) continue;
    t = physical(e->frame | (address & ~PAGE_4K), e->cacheability);
    if (!e->valid || (write && !e->dirty))
      t = (micro_tlb_translation){.route = micro_tlb_route_fault,
                                  .fault = e->valid ? mem_fault_modified : mem_fault_invalid};
  }
  return t;
}

// The segments that are not translated; micro_tlb_route_none is no such.
static inline micro_tlb_translation unmapped(uint32_t address, address_context context) {
  if (address < 0x80000000u)
    return (micro_tlb_translation){.route = context.erl ? micro_tlb_route_uncached : micro_tlb_route_none,
                                   .physical = address};
  if (!context.kernel) return (micro_tlb_translation){.route = micro_tlb_route_fault, .fault = mem_fault_address};
  switch (address >> 29) {
  case 4: return physical(address & 0x1fffffff, context.k0);
  case 5: return physical(address & 0x1fffffff, MMU_UNCACHED);
  default: return (micro_tlb_translation){.route = micro_tlb_route_none};
  }
}

// Whether what is outstanding may have its replies after that of a request that goes this way.
static inline bool in_turn(const self_t *self, micro_tlb_route route) {
  return self->outstanding == 0 || self->way == route;
}

handler(translate) {
  micro_tlb_translation t = {.route = micro_tlb_route_none};
  if (some(in_request) && self->barrier == micro_tlb_barrier_none) {
    const uint32_t address = item(in_request).address;
    if (__builtin_expect(item(in_request).op == mem_op_barrier, false)) {
      t.route = micro_tlb_route_barrier;
    } else {
      t = unmapped(address, data(context));
      if (t.route == micro_tlb_route_none && current(self, data(changed), data(context).asid))
        t = find(self, address, writes(item(in_request).op));
      else if (t.route == micro_tlb_route_none)
        t.route = micro_tlb_route_lookup;
    }
    if (item(in_request).op == mem_op_maintain &&
        (t.route == micro_tlb_route_cached || t.route == micro_tlb_route_uncached))
      t.route = maintained((cache_operation)item(in_request).data);
    if (t.route != micro_tlb_route_lookup && !in_turn(self, t.route)) t.route = micro_tlb_route_none;
  }
  set(translation, t);
}

handler(look_up) {
  translation_request request = {.asid = data(context).asid};
  if (some(in_request)) request.address = item(in_request).address;
  send_if(lookup_request, get(translation).route == micro_tlb_route_lookup && !self->looks_up, request);
}

handler(pass) {
  typeof_port(in_request) request = {0};
  if (__builtin_expect(self->barrier != micro_tlb_barrier_none, false)) {
    request = (typeof_port(in_request)){.op = mem_op_barrier, .size = 1, .tag = self->barrier_tag};
    send_if(cached_request, self->barrier == micro_tlb_barrier_cached_offered, request);
    send_if(uncached_request, self->barrier == micro_tlb_barrier_uncached_offered, request);
    send_nothing(maintain_request);
    return;
  }
  if (some(in_request)) {
    request = item(in_request);
    request.address = get(translation).physical;
    request.combine = get(translation).combine;
  }
  send_if(cached_request, get(translation).route == micro_tlb_route_cached, request);
  send_if(uncached_request, get(translation).route == micro_tlb_route_uncached, request);
  send_if(maintain_request, get(translation).route == micro_tlb_route_maintain, request);
}

handler(commit) {
  const bool own = self->barrier != micro_tlb_barrier_none;
  enable(lookup_request, true); // a requester may commit only once it is accepted, which is after the lookup
  enable(cached_request, own | enabled(in_request));
  enable(uncached_request, own | enabled(in_request));
  enable(maintain_request, enabled(in_request));
}

handler(accept) {
  bool taken = false;
  switch (get(translation).route) {
  case micro_tlb_route_cached: taken = acked(cached_request); break;
  case micro_tlb_route_uncached: taken = acked(uncached_request); break;
  case micro_tlb_route_maintain: taken = acked(maintain_request); break;
  case micro_tlb_route_fault:
  case micro_tlb_route_barrier: taken = true; break;
  case micro_tlb_route_none:
  case micro_tlb_route_lookup: break;
  }
  accept(in_request, taken);
}

handler(reply) {
  typeof_port(in_reply) reply = {.error = true};
  bool any = true, committed = true;
  if (get(translation).route == micro_tlb_route_fault) {
    reply.tag = item(in_request).tag;
    reply.data = (uint32_t)get(translation).fault;
    committed = enabled(in_request);
  } else if (some(cached_reply)) {
    reply = item(cached_reply);
    committed = enabled(cached_reply);
    any = self->barrier == micro_tlb_barrier_none;
  } else if (some(uncached_reply)) {
    reply = item(uncached_reply);
    committed = enabled(uncached_reply);
  } else if (some(maintain_reply)) {
    reply = item(maintain_reply);
    committed = enabled(maintain_reply);
  } else {
    any = false;
  }
  send_if(in_reply, any, reply);
  enable(in_reply, committed);
}

// A barrier goes to the caches, then past them; the second reply is its own.
static inline void proceed(self_t *self, bool moved) {
  if (moved)
    self->barrier = self->barrier == micro_tlb_barrier_uncached_sent ? micro_tlb_barrier_none : self->barrier + 1;
}

// What is known belongs to another address space, or the joint TLB was written.
static inline void forget(self_t *self, uint32_t generation, uint8_t asid) {
  for (int i = 0; i < param(entries); i++) self->valid[i] = false;
  self->missing = false;
  self->overtaken = self->looks_up;
  self->generation = generation;
  self->asid = asid;
}

static inline void remember(self_t *self, translation_reply reply) {
  self->looks_up = false;
  if (self->overtaken) return;
  self->missing = !reply.hit;
  if (!reply.hit) return;
  const uint32_t victim = self->next_victim;
  self->next_victim = (victim + 1) % (uint32_t)param(entries);
  self->valid[victim] = true;
  self->page[victim] = self->wanted;
  reply.frame |= self->wanted & reply.mask;
  self->translated[victim] = reply;
}

phase_end() {
  const bool sent = transferred(cached_request) | transferred(uncached_request) |
                    (width(maintain_request) && transferred(maintain_request));
  const bool replied = transferred(cached_reply) | transferred(uncached_reply) |
                       (width(maintain_request) && transferred(maintain_reply));
  if (sent) self->way = get(translation).route;
  self->outstanding += (uint32_t)sent - (uint32_t)replied;
  if (__builtin_expect(self->barrier != micro_tlb_barrier_none, false)) {
    proceed(self, sent);
    proceed(self, replied);
  }
  if (__builtin_expect(!current(self, data(changed), data(context).asid), false))
    forget(self, data(changed), data(context).asid);
  if (transferred(lookup_request)) {
    count(lookups);
    self->looks_up = true;
    self->overtaken = self->missing = false;
    self->wanted = data(lookup_request).address & PAGE_4K;
  }
  if (transferred(lookup_reply)) remember(self, data(lookup_reply));
  if (some(in_request) && get(translation).route == micro_tlb_route_none && self->barrier == micro_tlb_barrier_none)
    count(held);
  if (!transferred(in_request)) return;
  count(requests);
  if (data(in_request).op == mem_op_maintain)
    event(maintained, data(in_request).address, (cache_operation)data(in_request).data);
  if (get(translation).route == micro_tlb_route_barrier) {
    self->barrier = micro_tlb_barrier_cached_offered;
    self->barrier_tag = data(in_request).tag;
  }
  if (get(translation).route != micro_tlb_route_fault) return;
  count(faults);
  event(refused, data(in_request).address, get(translation).fault);
}

next_event() {
  return self->barrier != micro_tlb_barrier_none ? cycle() : never();
}
