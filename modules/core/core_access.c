// core_access.c: loads and stores; see core_access.lss.
#include "core/core_control.h"
#include "memory/memory_error.h"

_Static_assert((int)memory_access_load == mem_op_read + 1 && (int)memory_access_store == mem_op_write + 1 &&
                   (int)memory_access_linked == mem_op_load_linked + 1 &&
                   (int)memory_access_conditional == mem_op_store_conditional + 1 &&
                   (int)memory_access_barrier == mem_op_barrier + 1 &&
                   (int)memory_access_maintain == mem_op_maintain + 1,
               "control words name memory operations");

#define TAG_LOAD   1
#define TAG_SECOND 2 // of a precise core: every other store
#define TAG_OF     ((uint32_t)param(context) << 19)
#define PRECISE    (width(fault) > 0)

init() {
  MEMORY_ERROR_CHOOSE();
}

handler(reset, on_memory_error) {
  MEMORY_ERROR_CHOOSE();
}

phase_start() {
  for (int i = 0; i < width(standing); i++) send(standing, i, self->issued);
}

static inline bool refers(control_word c) {
  return control_word_mem(c) != memory_access_none;
}

// A request of an annulled instruction is done for its own sake: one that makes another follows.
static inline bool ends_here(control_word c) {
  return refers(c) & control_word_annulled(c);
}

static inline bool posted(const self_t *self, control_word c) {
  return control_word_mem(c) == memory_access_store && self->on_error != memory_error_action_bus_error;
}

// Whether the outstanding stores let an instruction's request go: a barrier waits for all of them, a
// store for room to remember it.  Loads do not look at them.
static inline bool stores_permit(const self_t *self, control_word c) {
  if (__builtin_expect(control_word_mem(c) == memory_access_barrier, false)) return self->stores == 0;
  return !posted(self, c) || self->stores < (uint32_t)param(most_stores);
}

static inline bool aligned(control_word c, uint32_t address) {
  return (address & control_word_align(c)) == 0;
}

// Unaligned halves: whether the part from the address to the end of the word is meant, not that from its start.
static inline bool to_the_end(control_word c) {
  return (control_word_part(c) == word_part_left) == param(big_endian);
}

static inline typeof_port(memory_request) request_of(control_word c, uint32_t address, uint32_t b, uint32_t tag) {
  const mem_op op = (mem_op)(control_word_mem(c) - 1);
  typeof_port(memory_request) request = {.op = op,
                                         .size = control_word_size(c),
                                         .sign = control_word_sign(c),
                                         .tag = tag,
                                         .address = op == mem_op_barrier ? 0 : address,
                                         .data = b};
  if (__builtin_expect(control_word_part(c) != word_part_whole, false)) {
    const uint32_t n = address & 3;
    request.size = (uint8_t)(to_the_end(c) ? 4 - n : n + 1);
    request.address = to_the_end(c) ? address : address & ~3u;
    if (control_word_part(c) == word_part_left) request.data = b >> 8 * (4 - request.size);
  }
  return request;
}

// The tag of an instruction's request, and of the reply to it.
static inline uint32_t tag_of(const self_t *self, control_word c) {
  return TAG_OF | (!posted(self, c) ? TAG_LOAD : PRECISE && self->alternates ? TAG_SECOND : 0);
}

// What a load writes, from the number in memory's reply.
static inline uint32_t merged(control_word c, uint32_t address, uint32_t b, uint32_t reply) {
  if (__builtin_expect(control_word_part(c) == word_part_whole, true)) return reply;
  const uint32_t n = address & 3, size = to_the_end(c) ? 4 - n : n + 1, kept = 8 * (4 - size);
  if (size == 4) return reply;
  return control_word_part(c) == word_part_left ? reply << kept | (b & ((1u << kept) - 1))
                                                : reply | (b & ~0u << 8 * size);
}

handler(send_bypass) {
  core_bypass bypassed = {.control = CORE_CONTROL_IDLE};
  if (some(in)) bypassed = (core_bypass){.control = data(in).control, .value = data(in).result};
  for (int i = 0; i < width(bypass); i++) send(bypass, i, bypassed);
}

handler(request) {
  const bool requests = some(in) & enabled(in) && refers(data(in).control) & !self->issued &&
                        aligned(data(in).control, data(in).result) && stores_permit(self, data(in).control);
  set(requests, requests);
  if (requests)
    send(memory_request, request_of(item(in).control, item(in).result, item(in).b, tag_of(self, item(in).control)));
  else
    send_nothing(memory_request);
}

handler(resolve) {
  bool wait = false;
  core_fault failure = {0};
  if (some(in)) {
    const control_word c = data(in).control;
    typeof_port(out) item = {.pc = data(in).pc, .word = data(in).word, .control = c, .value = data(in).result};
    if (refers(c)) {
      if (__builtin_expect(!aligned(c, data(in).result), false)) {
        item.control = core_failed(trap_cause_unaligned);
        failure = (core_fault){true, mem_fault_address, data(in).result};
      } else if (posted(self, c)) {
        wait = !(acked(memory_request) && stores_permit(self, c));
        if (PRECISE && !wait && some(memory_reply) && enabled(memory_reply) && data(memory_reply).error &&
            data(memory_reply).tag == tag_of(self, c))
          failure = (core_fault){true, (mem_fault)data(memory_reply).data, data(in).result};
      } else if (!some(memory_reply) || !enabled(memory_reply) || !(data(memory_reply).tag & TAG_LOAD)) {
        wait = true;
      } else if (__builtin_expect(data(memory_reply).error, false)) {
        item.control = core_failed(trap_cause_access);
        failure = (core_fault){true, (mem_fault)data(memory_reply).data, data(in).result};
      } else {
        item.value = merged(c, data(in).result, data(in).b, (uint32_t)data(memory_reply).data);
      }
    }
    send_if(out, !wait && !(PRECISE && (failure.fails || ends_here(c))), item);
  } else {
    send_nothing(out);
  }
  for (int i = 0; i < width(fault); i++) send(fault, i, failure);
  set(waits, wait);
  for (int i = 0; i < width(busy); i++) send(busy, i, wait);
}

handler(accept) {
  accept(in, !get(waits) & acked(out));
}

handler(commit) {
  for (int i = 0; i < width(bypass); i++) enable(bypass, i, enabled(in));
  for (int i = 0; i < width(busy); i++) enable(busy, i, enabled(in));
  for (int i = 0; i < width(fault); i++) enable(fault, i, enabled(in));
  enable(out, enabled(in));
}

// Notes a store that memory has accepted, until its reply: replies to stores come in order.
static inline void remember_store(self_t *self, uint32_t pc, uint32_t address) {
  const uint32_t slot = (self->oldest_store + self->stores++) % (uint32_t)param(most_stores);
  self->store_pc[slot] = pc;
  self->store_address[slot] = address;
}

static __attribute__((noinline)) void lose_store(self_t *self, uint32_t slot) {
  MEMORY_ERROR("a store failed: nothing responds at address 0x%08x, pc 0x%08x", (unsigned)self->store_address[slot],
               (unsigned)self->store_pc[slot]);
}

static inline void forget_store(self_t *self, bool failed) {
  const uint32_t slot = self->oldest_store;
  if (__builtin_expect(failed, false)) lose_store(self, slot);
  if (__builtin_expect(self->stores == 0, false)) sim_error("a reply to a store came, and no store waits for one");
  self->oldest_store = (slot + 1) % (uint32_t)param(most_stores);
  self->stores--;
}

phase_end() {
  self->stood = self->issued;
  if (get(waits)) event(wait, data(in).pc);
  if (PRECISE && transferred(in) && ((some(fault) && data(fault).fails) || ends_here(data(in).control))) event(failed);
  // A store that gets an error at once is not remembered.
  const bool refused = PRECISE && transferred(memory_request) && data(memory_request).op == mem_op_write &&
                       some(fault) && data(fault).fails;
  if (PRECISE && transferred(memory_request) && posted(self, data(in).control)) self->alternates = !self->alternates;
  if (transferred(memory_request)) {
    event(access, data(in).pc, data(memory_request).op, data(memory_request).address, data(memory_request).size,
          (uint32_t)data(memory_request).data);
    if (!posted(self, data(in).control))
      self->issued = true;
    else if (!refused)
      remember_store(self, data(in).pc, data(memory_request).address);
  }
  if (transferred(memory_reply)) {
    if (data(memory_reply).tag & TAG_LOAD)
      self->issued = false;
    else if (!refused)
      forget_store(self, data(memory_reply).error);
  }
  if (transferred(out) && __builtin_expect(control_word_trap(data(out).control) >= trap_cause_syscall, false))
    self->issued = true; // nothing behind it reaches memory
}

// The store that was accepted last may be the one behind which the next has to wait.
next_event() {
  if (self->stood != self->issued) return cycle();
  return self->stores ? unchanged() : never();
}
