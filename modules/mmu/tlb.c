// tlb.c: pairs of pages, looked up by address and address space; see tlb.lss.
#include "mmu/mmu_entry.h"

// An entry that no address matches: the TLB of the kernel's unmapped segment is never asked.
init() {
  for (int i = 0; i < param(entries); i++) self->entry[i].hi = 0x80000000u + 0x2000u * (uint32_t)i;
}

static inline int match(const self_t *self, uint32_t address, uint32_t asid) {
  for (int i = 0; i < param(entries); i++) {
    const tlb_entry *e = &self->entry[i];
    if (mmu_matches(e->mask, e->hi, e->lo0 & e->lo1, address, asid)) return i;
  }
  return -1;
}

static inline translation_reply translate(const self_t *self, translation_request request) {
  const int i = match(self, request.address, request.asid);
  if (i < 0) return (translation_reply){0};
  const tlb_entry *e = &self->entry[i];
  const uint32_t page = mmu_page_mask(e->mask), lo = request.address & (page + 1) ? e->lo1 : e->lo0;
  return (translation_reply){.hit = true,
                             .valid = lo >> MMU_VALID & 1,
                             .dirty = lo >> MMU_DIRTY & 1,
                             .cacheability = lo >> MMU_CACHEABILITY & 7,
                             .mask = page,
                             .frame = mmu_frame(lo) & ~page};
}

phase_start() {
  for (int i = 0; i < width(changed); i++) send(changed, i, self->writes);
}

handler(find) {
  if (param(lookup_cycles) == 0) {
    for (int i = 0; i < width(lookup_request); i++) {
      accept(lookup_request, i, true);
      if (some(lookup_request, i))
        send(lookup_reply, i, translate(self, data(lookup_request, i)));
      else
        send_nothing(lookup_reply, i);
    }
    return;
  }
  bool taken = false;
  for (int i = 0; i < width(lookup_request); i++) {
    accept(lookup_request, i, !taken);
    taken |= some(lookup_request, i);
    send_if(lookup_reply, i, self->found[0] && self->found_lane[0] == (uint32_t)i, self->found_reply[0]);
  }
}

handler(maintain) {
  tlb_reply reply = {0};
  if (some(operate_request)) {
    const tlb_request request = data(operate_request);
    if (request.op == tlb_op_probe) {
      const int i = match(self, request.entry.hi & MMU_HI_PAGE, request.entry.hi & MMU_HI_ASID);
      reply.index = i < 0 ? MMU_NO_INDEX : (uint32_t)i;
    }
    if (request.op == tlb_op_read) reply.entry = self->entry[request.index % (uint32_t)param(entries)];
  }
  send_if(operate_reply, some(operate_request), reply);
}

handler(serve) {
  if (width(access_request) == 0) return;
  tlb_reply reply = {0};
  if (some(access_request)) reply.entry = self->entry[data(access_request).index % (uint32_t)param(entries)];
  send_if(access_reply, some(access_request), reply);
}

handler(commit_access) {
  enable(access_reply, enabled(access_request));
}

handler(commit) {
  for (int i = 0; i < width(lookup_request); i++)
    enable(lookup_reply, i, param(lookup_cycles) > 0 || enabled(lookup_request, i));
  enable(operate_reply, enabled(operate_request));
}

// What a lookup finds is on its way for lookup_cycles.
static inline void proceed(self_t *self) {
  for (int k = 0; k + 1 < param(stages); k++) {
    self->found[k] = self->found[k + 1];
    self->found_lane[k] = self->found_lane[k + 1];
    self->found_reply[k] = self->found_reply[k + 1];
  }
  self->found[param(stages) - 1] = false;
}

phase_end() {
  if (param(lookup_cycles) > 0) {
    self->replied = self->found[0];
    proceed(self);
  }
  for (int i = 0; i < width(lookup_request); i++) {
    if (!transferred(lookup_request, i)) continue;
    const translation_reply reply = translate(self, data(lookup_request, i));
    count(lookups);
    if (!reply.hit) count(misses);
    if (param(lookup_cycles) == 0) continue;
    self->found[param(stages) - 1] = true;
    self->found_lane[param(stages) - 1] = (uint32_t)i;
    self->found_reply[param(stages) - 1] = reply;
  }
  const bool accessed = width(access_request) > 0 && transferred(access_request);
  self->wrote = accessed ? data(access_request).op == tlb_op_write
                         : transferred(operate_request) && data(operate_request).op == tlb_op_write;
  if (!self->wrote) return;
  const tlb_request request = accessed ? data(access_request) : data(operate_request);
  const uint32_t index = request.index % (uint32_t)param(entries), global = request.entry.lo0 & request.entry.lo1 & 1;
  const uint32_t kept = ~mmu_frame_bits(mmu_page_mask(request.entry.mask)) & ~1u;
  self->entry[index] = (tlb_entry){.mask = request.entry.mask,
                                   .hi = request.entry.hi,
                                   .lo0 = (request.entry.lo0 & kept) | global,
                                   .lo1 = (request.entry.lo1 & kept) | global};
  self->writes++;
  event(written, index);
}

next_event() {
  if (self->wrote || self->replied) return cycle();
  for (int k = 0; k < param(stages); k++)
    if (self->found[k]) return cycle();
  return unchanged(never());
}
