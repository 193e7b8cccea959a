/* mips_control.h: the control word of the MIPS pipeline, 64 bits that leave the decoder and from which every stage takes
 * its signals.  Its enumerations are those of the control column of emulib's instruction table. */
#ifndef MIPS_CONTROL_H
#define MIPS_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "mips/isa.h"

/* First bits of the fields. */
enum {
  MIPS_C_ALU = 0,       /* 4 bits, alu_op */
  MIPS_C_A = 4,         /* 2: zero, rs, rt */
  MIPS_C_B = 6,         /* 2: zero, rt, rs, immediate */
  MIPS_C_MEM = 8,       /* 4: none, or mem_op plus one */
  MIPS_C_SIZE = 12,     /* 3: bytes */
  MIPS_C_SIGN = 16,     /* 1 */
  MIPS_C_BRANCH = 17,   /* 4: never, eq, ne, lez, gtz, ltz, gez, jump, register, indexed */
  MIPS_C_LIKELY = 21,   /* 1 */
  MIPS_C_LINK = 22,     /* 1: the result is the return address */
  MIPS_C_MULDIV = 23,   /* 4, muldiv_op */
  MIPS_C_TRAP = 27,     /* 4: none, overflow, zero, nonzero, syscall, breakpoint, and the causes below */
  MIPS_C_ANNULLED = 31, /* 1: an annulled delay slot, which does nothing */
  MIPS_C_LOADS = 32,    /* 1: the value written comes from memory */
  MIPS_C_ALIGN = 36,    /* 2: address bits that must be zero */
  MIPS_C_UNUSUAL = 35,  /* 1: the result is not the ALU's, or the instruction may trap */
  MIPS_C_PART = 33,     /* 2: whole, left, right */
  MIPS_C_RS = 40,       /* 6: register read as rs, above 31: none */
  MIPS_C_RT = 46,       /* 6: register read as rt */
  MIPS_C_DEST = 52,     /* 6: register written; nothing above */
};

enum { MIPS_NO_SOURCE = 33, MIPS_NO_DEST = 32 };
enum { MIPS_A_zero, MIPS_A_rs, MIPS_A_rt };
enum { MIPS_B_zero, MIPS_B_rt, MIPS_B_rs, MIPS_B_imm };
/* The numbers of alu_op, muldiv_op and, plus one, mem_op; the stages that use those check that. */
enum { MIPS_ALU_add, MIPS_ALU_sub, MIPS_ALU_and, MIPS_ALU_or, MIPS_ALU_xor, MIPS_ALU_nor, MIPS_ALU_slt, MIPS_ALU_sltu, MIPS_ALU_sll, MIPS_ALU_srl,
       MIPS_ALU_sra, MIPS_ALU_priority };
enum { MIPS_MULDIV_none, MIPS_MULDIV_mult, MIPS_MULDIV_multu, MIPS_MULDIV_div, MIPS_MULDIV_divu, MIPS_MULDIV_mfhi, MIPS_MULDIV_mflo,
       MIPS_MULDIV_mthi, MIPS_MULDIV_mtlo };
enum { MIPS_MEM_none = 0, MIPS_MEM_load = 1, MIPS_MEM_store = 2, MIPS_MEM_linked = 7, MIPS_MEM_conditional = 8, MIPS_MEM_barrier = 10 };
enum { MIPS_PART_whole, MIPS_PART_left, MIPS_PART_right };
enum { MIPS_BRANCH_never, MIPS_BRANCH_eq, MIPS_BRANCH_ne, MIPS_BRANCH_lez, MIPS_BRANCH_gtz, MIPS_BRANCH_ltz, MIPS_BRANCH_gez, MIPS_BRANCH_jump,
       MIPS_BRANCH_register, MIPS_BRANCH_indexed };
enum { MIPS_TRAP_none, MIPS_TRAP_overflow, MIPS_TRAP_zero, MIPS_TRAP_nonzero, MIPS_TRAP_syscall, MIPS_TRAP_breakpoint,
       /* found by the pipeline itself */
       MIPS_TRAP_reserved, MIPS_TRAP_fetch, MIPS_TRAP_unaligned, MIPS_TRAP_access, MIPS_TRAP_overflowed, MIPS_TRAP_taken };

#define MIPS_FIELD_MASK(bits) ((UINT64_C(1) << (bits)) - 1)
#define MIPS_CONTROL_GET(c, first, bits) ((uint32_t)((c) >> (first) & MIPS_FIELD_MASK(bits)))

static inline uint32_t mips_c_alu(uint64_t c) { return MIPS_CONTROL_GET(c, MIPS_C_ALU, 4); }
static inline uint32_t mips_c_a(uint64_t c) { return MIPS_CONTROL_GET(c, MIPS_C_A, 2); }
static inline uint32_t mips_c_b(uint64_t c) { return MIPS_CONTROL_GET(c, MIPS_C_B, 2); }
static inline uint32_t mips_c_mem(uint64_t c) { return MIPS_CONTROL_GET(c, MIPS_C_MEM, 4); }
static inline uint32_t mips_c_size(uint64_t c) { return MIPS_CONTROL_GET(c, MIPS_C_SIZE, 3); }
static inline uint32_t mips_c_part(uint64_t c) { return MIPS_CONTROL_GET(c, MIPS_C_PART, 2); }
static inline bool mips_c_sign(uint64_t c) { return c >> MIPS_C_SIGN & 1; }
static inline uint32_t mips_c_branch(uint64_t c) { return MIPS_CONTROL_GET(c, MIPS_C_BRANCH, 4); }
static inline bool mips_c_likely(uint64_t c) { return c >> MIPS_C_LIKELY & 1; }
static inline bool mips_c_link(uint64_t c) { return c >> MIPS_C_LINK & 1; }
static inline uint32_t mips_c_muldiv(uint64_t c) { return MIPS_CONTROL_GET(c, MIPS_C_MULDIV, 4); }
static inline uint32_t mips_c_trap(uint64_t c) { return MIPS_CONTROL_GET(c, MIPS_C_TRAP, 4); }
static inline bool mips_c_annulled(uint64_t c) { return c >> MIPS_C_ANNULLED & 1; }
static inline bool mips_c_loads(uint64_t c) { return c >> MIPS_C_LOADS & 1; }
static inline uint32_t mips_c_rs(uint64_t c) { return MIPS_CONTROL_GET(c, MIPS_C_RS, 6); }
static inline uint32_t mips_c_rt(uint64_t c) { return MIPS_CONTROL_GET(c, MIPS_C_RT, 6); }
static inline uint32_t mips_c_align(uint64_t c) { return MIPS_CONTROL_GET(c, MIPS_C_ALIGN, 2); }
static inline bool mips_c_unusual(uint64_t c) { return c >> MIPS_C_UNUSUAL & 1; }
static inline uint32_t mips_c_dest(uint64_t c) { return (uint32_t)(c >> MIPS_C_DEST); }

/* Whether an instruction starts the multiply/divide unit on something that takes time. */
static inline bool mips_occupies(uint64_t c) { return (mips_c_muldiv(c) >= MIPS_MULDIV_mult) & (mips_c_muldiv(c) <= MIPS_MULDIV_divu); }

/* An instruction that reads and writes nothing. */
#define MIPS_CONTROL_IDLE                                                                                                          \
  ((uint64_t)MIPS_NO_SOURCE << MIPS_C_RS | (uint64_t)MIPS_NO_SOURCE << MIPS_C_RT | (uint64_t)MIPS_NO_DEST << MIPS_C_DEST)

/* The control word of an instruction that failed: it writes nothing and says why when it arrives at the end. */
static inline uint64_t mips_failed(uint32_t trap) { return MIPS_CONTROL_IDLE | (uint64_t)trap << MIPS_C_TRAP; }

/* What to say about an instruction that failed. */
static inline const char *mips_trap_text(uint32_t trap) {
  switch (trap) {
  case MIPS_TRAP_overflowed:
    return "integer overflow";
  case MIPS_TRAP_syscall:
    return "syscall";
  case MIPS_TRAP_breakpoint:
    return "breakpoint";
  case MIPS_TRAP_reserved:
    return "reserved instruction";
  case MIPS_TRAP_fetch:
    return "nothing to fetch there";
  case MIPS_TRAP_unaligned:
    return "unaligned access";
  case MIPS_TRAP_access:
    return "nothing answers at the address";
  default:
    return "trap";
  }
}

#endif
