// Steps the interpreter beside a processor; see lockstep.h.
#include "lockstep.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "disassemble.h"
#include "interpreter.h"

// One instruction, with the memory that the interpreter sees meanwhile.
struct step {
  struct rv32i_lockstep *l;
  uint8_t *bytes, *known;
  const struct rv32i_lockstep_retired *retired;
  bool fetched;
  uint32_t address, value; // of a store
  unsigned stored;         // its size
};

static bool in_memory(const struct step *s, uint32_t address, unsigned size) {
  return address < s->l->memory && size <= s->l->memory - address;
}

static void remember(struct step *s, uint32_t address, unsigned size, uint32_t value) {
  memcpy(s->bytes + address, &value, size);
  for (unsigned i = 0; i < size; i++) s->known[(address + i) / 8] |= (uint8_t)(1u << (address + i) % 8);
}

static bool is_known(const struct step *s, uint32_t address, unsigned size) {
  for (unsigned i = 0; i < size; i++)
    if (!(s->known[(address + i) / 8] >> (address + i) % 8 & 1)) return false;
  return true;
}

static bool read_memory(void *user, uint32_t address, unsigned size, uint32_t *value) {
  struct step *s = user;
  const bool fetches = !s->fetched;
  s->fetched = true;
  *value = 0;
  if (in_memory(s, address, size) && is_known(s, address, size)) {
    memcpy(value, s->bytes + address, size);
    return true;
  }
  *value = fetches ? s->retired->word : s->retired->value;
  if (size < 4) *value &= (1u << 8 * size) - 1;
  s->l->unchecked += !fetches;
  if (in_memory(s, address, size)) remember(s, address, size, *value);
  return true;
}

static bool write_memory(void *user, uint32_t address, unsigned size, uint32_t value) {
  struct step *s = user;
  s->address = address;
  s->value = value;
  s->stored = size;
  if (in_memory(s, address, size)) remember(s, address, size, value);
  return true;
}

// Always false.
__attribute__((format(printf, 3, 4))) static bool
differs(char text[RV32I_LOCKSTEP_TEXT], const struct rv32i_lockstep_retired *r, const char *format, ...) {
  char instruction[RV32I_TEXT_SIZE];
  rv32i_disassemble(r->pc, r->word, instruction);
  const int n = snprintf(text, RV32I_LOCKSTEP_TEXT, "pc 0x%08x, %s: ", (unsigned)r->pc, instruction);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + n, (size_t)(RV32I_LOCKSTEP_TEXT - n), format, arguments);
  va_end(arguments);
  return false;
}

static bool same_store(const struct step *s, char text[RV32I_LOCKSTEP_TEXT]) {
  const struct rv32i_lockstep_retired *r = s->retired;
  if (r->size == 0 && s->stored == 0) return true;
  if (s->stored == 0) return differs(text, r, "stored at 0x%08x, expected no store", (unsigned)r->address);
  if (r->size == 0) return differs(text, r, "stored nothing, expected a store at 0x%08x", (unsigned)s->address);
  if (r->size == s->stored && r->address == s->address && r->value == s->value) return true;
  return differs(text, r, "stored 0x%x in %u bytes at 0x%08x, expected 0x%x in %u at 0x%08x", (unsigned)r->value,
                 r->size, (unsigned)r->address, (unsigned)s->value, s->stored, (unsigned)s->address);
}

static bool same_register(const struct step *s, const struct rv32i_interpreter *m, char text[RV32I_LOCKSTEP_TEXT]) {
  const struct rv32i_lockstep_retired *r = s->retired;
  const enum rv32i_instruction what = rv32i_find(RV32I_SET_rv32i, m->word);
  const unsigned expected = rv32i_info[what].writes & RV32I_FIELD_rd ? rv32i_rd(m->word) : 0;
  const unsigned destination = r->destination < 32 ? r->destination : 0;
  if (destination == expected && (expected == 0 || r->value == m->r[expected])) return true;
  if (expected == 0) return differs(text, r, "wrote %s, expected no register", rv32i_register_names[destination]);
  if (destination == 0)
    return differs(text, r, "wrote no register, expected %s = 0x%08x", rv32i_register_names[expected],
                   (unsigned)m->r[expected]);
  return differs(text, r, "wrote %s = 0x%08x, expected %s = 0x%08x", rv32i_register_names[destination],
                 (unsigned)r->value, rv32i_register_names[expected], (unsigned)m->r[expected]);
}

bool rv32i_lockstep_retire(struct rv32i_lockstep *l, uint8_t *bytes, uint8_t *known,
                           struct rv32i_lockstep_retired retired, char text[RV32I_LOCKSTEP_TEXT]) {
  struct step s = {.l = l, .bytes = bytes, .known = known, .retired = &retired};
  if (!l->started) l->pc = retired.pc;
  l->started = true;
  if (l->pc != retired.pc)
    return differs(text, &retired, "it was completed, expected the one at 0x%08x", (unsigned)l->pc);
  struct rv32i_interpreter m = {.memory = {&s, read_memory, write_memory}, .pc = l->pc};
  memcpy(m.r, l->r, sizeof m.r);
  const enum rv32i_stop stop = rv32i_interpreter_step(&m);
  if (m.word != retired.word)
    return differs(text, &retired, "its word is 0x%08x, expected 0x%08x", (unsigned)retired.word, (unsigned)m.word);
  if (stop != RV32I_RUNNING) return differs(text, &retired, "it was completed, expected: %s", rv32i_stop_text(stop));
  memcpy(l->r, m.r, sizeof l->r);
  l->pc = m.pc;
  l->instructions++;
  return same_store(&s, text) && same_register(&s, &m, text);
}
