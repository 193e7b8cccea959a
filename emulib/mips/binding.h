// What interpreters bind alike when they include bodies.h: operands, register results, memory references, branches.
//
// Whoever includes this file (without include guard) defines first:
//   MACHINE         type of the machine, which bodies have as `m`
//   STATE           its registers: members r, hi, lo, pc, next_pc.  When a body runs, pc and next_pc have already moved
// on: pc is the delay slot TRY(action)     leaves the body unless the action succeeded annul()         passes over the
// delay slot set_register(), load(), store(), load_part(), store_part(), load_linked(), store_conditional() BRANCHES()
// what a jump or branch, taken or not, does beside changing next_pc, when its delay slot is executed RAISE(kind) leaves
// the body with an exception
#define BODY(name) static void do_##name([[maybe_unused]] MACHINE *m, [[maybe_unused]] uint32_t word)
#define RS         STATE.r[mips_rs(word)]
#define RT         STATE.r[mips_rt(word)]
#define SHIFT      mips_shift(word)
#define SIGNED     mips_signed(word)
#define UNSIGNED   mips_unsigned(word)
#define EXTRACTED  mips_extracted(word)
#define INSERTED   mips_inserted(word)
#define SET_RD(v)  set_register(m, mips_rd(word), v)
#define SET_RT(v)  set_register(m, mips_rt(word), v)
#define SET_RA(v)  set_register(m, 31, v)
#include "binding_memory.h"
#define RETURN_ADDRESS (STATE.pc + 4)
#define JUMP_TO(a)                                                                                                     \
  do {                                                                                                                 \
    STATE.next_pc = (a);                                                                                               \
    BRANCHES();                                                                                                        \
  } while (0)
#define JUMP_TARGET() JUMP_TO((STATE.pc & 0xf0000000u) | (word & 0x03ffffff) << 2)
#define BRANCH(c)                                                                                                      \
  do {                                                                                                                 \
    if (c) STATE.next_pc = STATE.pc + (SIGNED << 2);                                                                   \
    BRANCHES();                                                                                                        \
  } while (0)
#define LIKELY(c)                                                                                                      \
  do {                                                                                                                 \
    if (c)                                                                                                             \
      JUMP_TO(STATE.pc + (SIGNED << 2));                                                                               \
    else                                                                                                               \
      annul(m);                                                                                                        \
  } while (0)
