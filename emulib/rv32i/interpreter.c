// The functional interpreter: binds the bodies of bodies.h to an architectural state.
#include "interpreter.h"

#include <string.h>

static enum rv32i_stop load(struct rv32i_interpreter *m, uint32_t address, unsigned size, uint32_t *value) {
  m->fault_address = address;
  if (address & (size - 1)) return RV32I_STOP_MISALIGNED;
  return m->memory.read(m->memory.user, address, size, value) ? RV32I_RUNNING : RV32I_STOP_MEMORY;
}

static enum rv32i_stop store(struct rv32i_interpreter *m, uint32_t address, unsigned size, uint32_t value) {
  m->fault_address = address;
  if (address & (size - 1)) return RV32I_STOP_MISALIGNED;
  if (size < 4) value &= (1u << 8 * size) - 1;
  return m->memory.write(m->memory.user, address, size, value) ? RV32I_RUNNING : RV32I_STOP_MEMORY;
}

// A jump to an address that no instruction can have raises the exception itself, and writes nothing.
static enum rv32i_stop jump(struct rv32i_interpreter *m, uint32_t target, uint32_t *next) {
  m->fault_address = target;
  if (target & 3) return RV32I_STOP_MISALIGNED;
  *next = target;
  return RV32I_RUNNING;
}

static uint32_t shift_right_arithmetic(uint32_t a, unsigned n) {
  return (uint32_t)((int64_t)(int32_t)a >> n);
}

// When a body runs, pc is still its instruction's; *next is where to continue.
#define BODY(name)                                                                                                     \
  static void do_##name([[maybe_unused]] struct rv32i_interpreter *m, [[maybe_unused]] uint32_t word,                  \
                        [[maybe_unused]] uint32_t *next)
#define RS1       m->r[rv32i_rs1(word)]
#define RS2       m->r[rv32i_rs2(word)]
#define IMM       rv32i_imm_i(word)
#define UPPER     rv32i_imm_u(word)
#define SHAMT     rv32i_rs2(word)
#define PC        m->pc
#define TARGET    (m->pc + rv32i_imm_j(word))
#define SET_RD(v) m->r[rv32i_rd(word)] = (v)
#define RAISE(kind)                                                                                                    \
  do {                                                                                                                 \
    m->stop = RV32I_STOP_##kind;                                                                                       \
    return;                                                                                                            \
  } while (0)
#define TRY(action)                                                                                                    \
  do {                                                                                                                 \
    m->stop = (action);                                                                                                \
    if (m->stop != RV32I_RUNNING) return;                                                                              \
  } while (0)
#define LOAD(size)                                                                                                     \
  ({                                                                                                                   \
    uint32_t v_;                                                                                                       \
    TRY(load(m, RS1 + IMM, size, &v_));                                                                                \
    v_;                                                                                                                \
  })
#define STORE(size, v) TRY(store(m, RS1 + rv32i_imm_s(word), size, v))
#define BRANCH(c)                                                                                                      \
  do {                                                                                                                 \
    if (c) TRY(jump(m, m->pc + rv32i_imm_b(word), next));                                                              \
  } while (0)
#define JUMP(a)                                                                                                        \
  do {                                                                                                                 \
    TRY(jump(m, (a) & ~1u, next));                                                                                     \
    SET_RD(m->pc + 4);                                                                                                 \
  } while (0)

#include "bodies.h"

typedef void body_function(struct rv32i_interpreter *m, uint32_t word, uint32_t *next);
#define ENTRY(name) [RV32I_##name] = do_##name,
static body_function *const bodies[RV32I_INSTRUCTIONS] = {RV32I_EACH_INSTRUCTION(ENTRY)};

void rv32i_interpreter_init(struct rv32i_interpreter *m, struct guest_memory memory, uint32_t start) {
  memset(m, 0, sizeof *m);
  m->memory = memory;
  m->pc = start;
}

enum rv32i_stop rv32i_interpreter_step(struct rv32i_interpreter *m) {
  m->stop = load(m, m->pc, 4, &m->word);
  if (m->stop != RV32I_RUNNING) return m->stop;
  enum rv32i_instruction i = rv32i_find(RV32I_SET_rv32i, m->word);
  if (i == RV32I_reserved) return m->stop = RV32I_STOP_RESERVED;
  uint32_t next = m->pc + 4;
  bodies[i](m, m->word, &next);
  m->r[0] = 0;
  if (m->stop != RV32I_RUNNING) return m->stop;
  m->pc = next;
  m->retired++;
  return RV32I_RUNNING;
}

void rv32i_interpreter_resume(struct rv32i_interpreter *m) {
  m->pc += 4;
  m->stop = RV32I_RUNNING;
  m->retired++;
}

const char *rv32i_stop_text(enum rv32i_stop stop) {
  static const char *const text[] = {
      [RV32I_RUNNING] = "running",
      [RV32I_STOP_BREAKPOINT] = "ebreak",
      [RV32I_STOP_SYSCALL] = "ecall",
      [RV32I_STOP_RESERVED] = "reserved instruction",
      [RV32I_STOP_MISALIGNED] = "misaligned address",
      [RV32I_STOP_MEMORY] = "nothing at that address",
  };
  return text[stop];
}
