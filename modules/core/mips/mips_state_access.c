// mips_state_access.c: a processor's state, word by word; see mips_state_access.lss.
#include "mips/cp0.h"

#define STATE_WORDS mips_words((uint32_t)param(tlb_entries))

// What belongs to system control.
static inline bool is_system(uint32_t number) {
  return number >= MIPS_WORD_TIMER && number < MIPS_WORD_TLB;
}

// What is in the register file.
static inline bool is_register(uint32_t number) {
  return number < (width(hilo) > 0 ? MIPS_WORD_HI : MIPS_WORD_PC);
}

// Which of the words of a TLB entry this is.
static inline uint32_t part_of(uint32_t number) {
  return (number - MIPS_WORD_TLB) % 4;
}

static inline uint32_t *part(tlb_entry *entry, uint32_t number) {
  uint32_t *const parts[] = {&entry->mask, &entry->hi, &entry->lo0, &entry->lo1};
  return parts[part_of(number)];
}

// The instruction with which a processor goes on whose state says that it waits, or not.
static inline uint32_t begins_at(const self_t *self, uint32_t waiting) {
  return waiting ? self->pc - 4 : self->pc;
}

// Whether words of the core's own are offered.
#define OFFERS (width(save) > 0 && data(status).halted)

handler(ask) {
  const bool loads = some(load);
  accept(load, data(status).halted);
  if (__builtin_expect(!data(status).halted || !(loads || OFFERS), true)) {
    send_nothing(registers_request);
    send_nothing(hilo_load);
    send_nothing(system_request);
    send_nothing(operate_request);
    send_nothing(control);
    return;
  }
  const uint32_t number = loads ? data(load).number : self->position, value = loads ? data(load).value : 0;
  const mem_request_32 request = {
      .op = loads ? mem_op_write : mem_op_read, .size = 4, .address = 4 * number, .data = value};
  tlb_request operation = {.op = loads ? tlb_op_write : tlb_op_read, .index = (number - MIPS_WORD_TLB) / 4};
  if (loads && number >= MIPS_WORD_TLB) {
    operation.entry = self->entry;
    *part(&operation.entry, number) = value;
  }
  send_if(registers_request, is_register(number), request);
  send_if(hilo_load, loads && number == MIPS_WORD_LO, ((muldiv_load){.hi = self->hi, .lo = value}));
  send_if(system_request, is_system(number), request);
  send_if(control, loads && number == MIPS_WORD_WAITING,
          ((core_control){.set_pc = true, .pc = begins_at(self, value)}));
  send_if(operate_request, number >= MIPS_WORD_TLB && (!loads || part_of(number) == 3), operation);
}

handler(show) {
  if (__builtin_expect(!OFFERS || some(load), true)) {
    send_nothing(save);
    return;
  }
  core_state_word word = {.number = self->position, .last = self->position + 1 == STATE_WORDS};
  if (is_register(word.number)) {
    word.value = data(registers_reply).data;
  } else if (is_system(word.number)) {
    word.value = data(system_reply).data;
  } else if (word.number >= MIPS_WORD_TLB) {
    tlb_entry entry = data(operate_reply).entry;
    word.value = *part(&entry, word.number);
  } else {
    word.value = word.number == MIPS_WORD_PC   ? data(status).pc
                 : word.number == MIPS_WORD_HI ? data(hilo).hi
                                               : data(hilo).lo;
  }
  send(save, word);
}

handler(commit) {
  const bool enabled = !some(load) || enabled(load);
  enable(registers_request, enabled);
  enable(hilo_load, enabled);
  enable(operate_request, enabled);
  enable(control, enabled);
}

handler(commit_save) {
  enable(save, enabled(status) && (width(hilo) == 0 || enabled(hilo)));
}

// Only what is taken stops the timer.
handler(commit_system) {
  enable(system_request, some(load) ? enabled(load) : width(save) > 0 && acked(save));
}

// A word came.
static void keep(self_t *self, core_state_word word) {
  if (word.number == MIPS_WORD_PC) self->pc = word.value;
  if (word.number == MIPS_WORD_HI) self->hi = word.value;
  if (word.number >= MIPS_WORD_TLB) *part(&self->entry, word.number) = word.value;
  if (word.number == MIPS_WORD_WAITING) event(loaded, MIPS_WORD_PC, begins_at(self, word.value));
  if (word.number != MIPS_WORD_PC) event(loaded, word.number, word.value);
  if (word.last) count(loads);
}

phase_end() {
  if (__builtin_expect(!(some(load) | data(status).halted | self->moved | (self->position > 0)), true)) return;
  const bool saves = transferred(save);
  self->moved = transferred(load) || saves;
  if (transferred(load)) keep(self, data(load));
  if (saves) {
    self->position = data(save).last ? 0 : self->position + 1;
    count(saves, data(save).last);
  } else if (some(load) || !data(status).halted) {
    self->position = 0;
  }
}

next_event() {
  return self->moved ? cycle() : unchanged(never());
}

#undef STATE_WORDS
#undef OFFERS
