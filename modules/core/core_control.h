/* core_control.h: the control word of a pipeline, 64 bits that leave its decoder and from which every stage takes
 * its signals.  Its enumerations are those of the control column of emulib's instruction tables. */
#ifndef CORE_CONTROL_H
#define CORE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

/* First bits of the fields. */
enum {
  CORE_C_ALU = 0,       /* 4 bits, alu_op */
  CORE_C_A = 4,         /* 2: zero, rs, rt */
  CORE_C_B = 6,         /* 2: zero, rt, rs, immediate */
  CORE_C_MEM = 8,       /* 4: none, or mem_op plus one */
  CORE_C_SIZE = 12,     /* 3: bytes */
  CORE_C_SIGN = 16,     /* 1 */
  CORE_C_BRANCH = 17,   /* 4: never, eq, ne, lez, gtz, ltz, gez, jump, register, indexed */
  CORE_C_LIKELY = 21,   /* 1 */
  CORE_C_LINK = 22,     /* 1: the result is the return address */
  CORE_C_MULDIV = 23,   /* 4, muldiv_op */
  CORE_C_TRAP = 27,     /* 4: none, overflow, zero, nonzero, syscall, breakpoint, and the causes below */
  CORE_C_ANNULLED = 31, /* 1: an annulled delay slot, which does nothing */
  CORE_C_LOADS = 32,    /* 1: the value written comes from memory */
  CORE_C_ALIGN = 36,    /* 2: address bits that must be zero */
  CORE_C_UNUSUAL = 35,  /* 1: the result is not the ALU's, or the instruction may trap */
  CORE_C_PART = 33,     /* 2: whole, left, right */
  CORE_C_RS = 40,       /* 6: register read as rs, above 31: none */
  CORE_C_RT = 46,       /* 6: register read as rt */
  CORE_C_DEST = 52,     /* 6: register written; nothing above */
};

enum { CORE_NO_SOURCE = 33, CORE_NO_DEST = 32 };
enum { CORE_A_zero, CORE_A_rs, CORE_A_rt };
enum { CORE_B_zero, CORE_B_rt, CORE_B_rs, CORE_B_imm };
/* The numbers of alu_op, muldiv_op and, plus one, mem_op; the stages that use those check that. */
enum {
  CORE_ALU_add,
  CORE_ALU_sub,
  CORE_ALU_and,
  CORE_ALU_or,
  CORE_ALU_xor,
  CORE_ALU_nor,
  CORE_ALU_slt,
  CORE_ALU_sltu,
  CORE_ALU_sll,
  CORE_ALU_srl,
  CORE_ALU_sra,
  CORE_ALU_priority
};
enum {
  CORE_MULDIV_none,
  CORE_MULDIV_mult,
  CORE_MULDIV_multu,
  CORE_MULDIV_div,
  CORE_MULDIV_divu,
  CORE_MULDIV_mfhi,
  CORE_MULDIV_mflo,
  CORE_MULDIV_mthi,
  CORE_MULDIV_mtlo
};
enum {
  CORE_MEM_none = 0,
  CORE_MEM_load = 1,
  CORE_MEM_store = 2,
  CORE_MEM_linked = 7,
  CORE_MEM_conditional = 8,
  CORE_MEM_barrier = 10
};
enum { CORE_PART_whole, CORE_PART_left, CORE_PART_right };
enum {
  CORE_BRANCH_never,
  CORE_BRANCH_eq,
  CORE_BRANCH_ne,
  CORE_BRANCH_lez,
  CORE_BRANCH_gtz,
  CORE_BRANCH_ltz,
  CORE_BRANCH_gez,
  CORE_BRANCH_jump,
  CORE_BRANCH_register,
  CORE_BRANCH_indexed
};
enum {
  CORE_TRAP_none,
  CORE_TRAP_overflow,
  CORE_TRAP_zero,
  CORE_TRAP_nonzero,
  CORE_TRAP_syscall,
  CORE_TRAP_breakpoint,
  /* found by the pipeline itself */
  CORE_TRAP_reserved,
  CORE_TRAP_fetch,
  CORE_TRAP_unaligned,
  CORE_TRAP_access,
  CORE_TRAP_overflowed,
  CORE_TRAP_taken
};

#define CORE_FIELD_MASK(bits)            ((UINT64_C(1) << (bits)) - 1)
#define CORE_CONTROL_GET(c, first, bits) ((uint32_t)((c) >> (first) & CORE_FIELD_MASK(bits)))

static inline uint32_t core_c_alu(uint64_t c) {
  return CORE_CONTROL_GET(c, CORE_C_ALU, 4);
}
static inline uint32_t core_c_a(uint64_t c) {
  return CORE_CONTROL_GET(c, CORE_C_A, 2);
}
static inline uint32_t core_c_b(uint64_t c) {
  return CORE_CONTROL_GET(c, CORE_C_B, 2);
}
static inline uint32_t core_c_mem(uint64_t c) {
  return CORE_CONTROL_GET(c, CORE_C_MEM, 4);
}
static inline uint32_t core_c_size(uint64_t c) {
  return CORE_CONTROL_GET(c, CORE_C_SIZE, 3);
}
static inline uint32_t core_c_part(uint64_t c) {
  return CORE_CONTROL_GET(c, CORE_C_PART, 2);
}
static inline bool core_c_sign(uint64_t c) {
  return c >> CORE_C_SIGN & 1;
}
static inline uint32_t core_c_branch(uint64_t c) {
  return CORE_CONTROL_GET(c, CORE_C_BRANCH, 4);
}
static inline bool core_c_likely(uint64_t c) {
  return c >> CORE_C_LIKELY & 1;
}
static inline bool core_c_link(uint64_t c) {
  return c >> CORE_C_LINK & 1;
}
static inline uint32_t core_c_muldiv(uint64_t c) {
  return CORE_CONTROL_GET(c, CORE_C_MULDIV, 4);
}
static inline uint32_t core_c_trap(uint64_t c) {
  return CORE_CONTROL_GET(c, CORE_C_TRAP, 4);
}
static inline bool core_c_annulled(uint64_t c) {
  return c >> CORE_C_ANNULLED & 1;
}
static inline bool core_c_loads(uint64_t c) {
  return c >> CORE_C_LOADS & 1;
}
static inline uint32_t core_c_rs(uint64_t c) {
  return CORE_CONTROL_GET(c, CORE_C_RS, 6);
}
static inline uint32_t core_c_rt(uint64_t c) {
  return CORE_CONTROL_GET(c, CORE_C_RT, 6);
}
static inline uint32_t core_c_align(uint64_t c) {
  return CORE_CONTROL_GET(c, CORE_C_ALIGN, 2);
}
static inline bool core_c_unusual(uint64_t c) {
  return c >> CORE_C_UNUSUAL & 1;
}
static inline uint32_t core_c_dest(uint64_t c) {
  return (uint32_t)(c >> CORE_C_DEST);
}

/* Whether an instruction starts the multiply/divide unit on something that takes time. */
static inline bool core_occupies(uint64_t c) {
  return (core_c_muldiv(c) >= CORE_MULDIV_mult) & (core_c_muldiv(c) <= CORE_MULDIV_divu);
}

/* An instruction that reads and writes nothing. */
#define CORE_CONTROL_IDLE                                                                                              \
  ((uint64_t)CORE_NO_SOURCE << CORE_C_RS | (uint64_t)CORE_NO_SOURCE << CORE_C_RT |                                     \
   (uint64_t)CORE_NO_DEST << CORE_C_DEST)

/* The control word of an instruction that failed: it writes nothing and says why when it arrives at the end. */
static inline uint64_t core_failed(uint32_t trap) {
  return CORE_CONTROL_IDLE | (uint64_t)trap << CORE_C_TRAP;
}

/* What to say about an instruction that failed. */
static inline const char *core_trap_text(uint32_t trap) {
  switch (trap) {
  case CORE_TRAP_overflowed: return "integer overflow";
  case CORE_TRAP_syscall: return "syscall";
  case CORE_TRAP_breakpoint: return "breakpoint";
  case CORE_TRAP_reserved: return "reserved instruction";
  case CORE_TRAP_fetch: return "nothing to fetch there";
  case CORE_TRAP_unaligned: return "unaligned access";
  case CORE_TRAP_access: return "nothing responds at the address";
  default: return "trap";
  }
}

#endif
