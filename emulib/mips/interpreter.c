// The functional interpreter: binds the bodies of bodies.h to an architectural state.
#include "interpreter.h"

#include <string.h>

#include "arithmetic.h"
#include "unaligned.h"

static void set_register(struct mips_interpreter *m, unsigned n, uint32_t value) {
  if (n != 0) m->r[n] = value;
}

static bool aligned(struct mips_interpreter *m, uint32_t address, unsigned size) {
  if ((address & (size - 1)) == 0) return true;
  m->fault_address = address;
  return false;
}

static bool read_memory(struct mips_interpreter *m, uint32_t address, unsigned size, uint32_t *value) {
  if (m->memory.read(m->memory.user, address, size, value)) return true;
  m->fault_address = address;
  return false;
}

static bool write_memory(struct mips_interpreter *m, uint32_t address, unsigned size, uint32_t value) {
  if (!m->memory.write(m->memory.user, address, size, value)) {
    m->fault_address = address;
    return false;
  }
  if (m->linked && (m->link_address & ~3u) == (address & ~3u)) m->linked = false;
  return true;
}

static enum mips_stop load_part(struct mips_interpreter *m, bool left, uint32_t address, uint32_t old,
                                uint32_t *result) {
  uint32_t first, value;
  unsigned count;
  mips_unaligned_part(m->big_endian, left, address, &first, &count);
  if (!read_memory(m, first, count, &value)) return MIPS_STOP_MEMORY;
  *result = mips_unaligned_loaded(left, count, old, value);
  return MIPS_RUNNING;
}

static enum mips_stop store_part(struct mips_interpreter *m, bool left, uint32_t address, uint32_t value) {
  uint32_t first;
  unsigned count;
  mips_unaligned_part(m->big_endian, left, address, &first, &count);
  return write_memory(m, first, count, mips_unaligned_stored(left, count, value)) ? MIPS_RUNNING : MIPS_STOP_MEMORY;
}

static enum mips_stop load(struct mips_interpreter *m, uint32_t address, unsigned size, uint32_t *value) {
  if (!aligned(m, address, size)) return MIPS_STOP_MISALIGNED;
  return read_memory(m, address, size, value) ? MIPS_RUNNING : MIPS_STOP_MEMORY;
}

static enum mips_stop store(struct mips_interpreter *m, uint32_t address, unsigned size, uint32_t value) {
  if (!aligned(m, address, size)) return MIPS_STOP_MISALIGNED;
  if (size < 4) value &= (1u << 8 * size) - 1;
  return write_memory(m, address, size, value) ? MIPS_RUNNING : MIPS_STOP_MEMORY;
}

static enum mips_stop load_linked(struct mips_interpreter *m, uint32_t address, uint32_t *value) {
  enum mips_stop stop = load(m, address, 4, value);
  if (stop != MIPS_RUNNING) return stop;
  m->linked = true;
  m->link_address = address;
  return MIPS_RUNNING;
}

// done becomes 1 when the value was stored, 0 when the link had been broken.
static enum mips_stop store_conditional(struct mips_interpreter *m, uint32_t address, uint32_t value, uint32_t *done) {
  bool held = m->linked && m->link_address == address;
  enum mips_stop stop = aligned(m, address, 4) ? MIPS_RUNNING : MIPS_STOP_MISALIGNED;
  if (held && stop == MIPS_RUNNING) stop = store(m, address, 4, value);
  if (stop == MIPS_RUNNING) m->linked = false;
  *done = held;
  return stop;
}

static void annul(struct mips_interpreter *m) {
  m->pc = m->next_pc;
  m->next_pc += 4;
  m->annulled = true;
}

#define MACHINE    struct mips_interpreter
#define STATE      (*m)
#define BRANCHES() (void)0
#define RAISE(kind)                                                                                                    \
  do {                                                                                                                 \
    m->stop = MIPS_STOP_##kind;                                                                                        \
    return;                                                                                                            \
  } while (0)
#define TRY(action)                                                                                                    \
  do {                                                                                                                 \
    m->stop = (action);                                                                                                \
    if (m->stop != MIPS_RUNNING) return;                                                                               \
  } while (0)
#include "binding.h"

#include "bodies.h"

typedef void body_function(struct mips_interpreter *m, uint32_t word);
#define ENTRY(name) [MIPS_##name] = do_##name,
static body_function *const bodies[MIPS_INSTRUCTIONS] = {MIPS_EACH_USER_INSTRUCTION(ENTRY)};

void mips_interpreter_init(struct mips_interpreter *m, enum mips_set set, bool big_endian, struct guest_memory memory,
                           uint32_t start) {
  memset(m, 0, sizeof *m);
  m->set = set;
  m->big_endian = big_endian;
  m->memory = memory;
  m->pc = start;
  m->next_pc = start + 4;
}

enum mips_stop mips_interpreter_step(struct mips_interpreter *m) {
  uint32_t pc = m->pc, next_pc = m->next_pc;
  m->annulled = false;
  m->stop = load(m, pc, 4, &m->word);
  if (m->stop != MIPS_RUNNING) return m->stop;
  enum mips_instruction i = mips_find(m->set, m->word);
  if (bodies[i] == NULL) return m->stop = MIPS_STOP_RESERVED;
  m->pc = next_pc;
  m->next_pc = next_pc + 4;
  bodies[i](m, m->word);
  if (m->stop != MIPS_RUNNING) {
    m->pc = pc;
    m->next_pc = next_pc;
    return m->stop;
  }
  m->in_delay_slot = mips_has_delay_slot(i) && !m->annulled;
  m->retired++;
  return MIPS_RUNNING;
}

void mips_interpreter_resume(struct mips_interpreter *m) {
  m->pc = m->next_pc;
  m->next_pc += 4;
  m->in_delay_slot = false;
  m->stop = MIPS_RUNNING;
  m->retired++;
}

const char *mips_stop_text(enum mips_stop stop) {
  static const char *const text[] = {
      [MIPS_RUNNING] = "running",
      [MIPS_STOP_OVERFLOW] = "arithmetic overflow",
      [MIPS_STOP_TRAP] = "trap",
      [MIPS_STOP_BREAKPOINT] = "break",
      [MIPS_STOP_SYSCALL] = "system call",
      [MIPS_STOP_RESERVED] = "reserved instruction",
      [MIPS_STOP_MISALIGNED] = "misaligned address",
      [MIPS_STOP_MEMORY] = "nothing at that address",
  };
  return text[stop];
}
