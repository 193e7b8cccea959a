// What the monolithic core knows about an instruction: one Decoded per word and place, made once and kept.  Source:
// MIPS R4000 Microprocessor User's Manual (MIPS II integer instructions), and the two Tigon-2 instructions PRI and
// JOFF. It shares nothing with emulib on purpose: it is the second opinion in tests.
#ifndef MONOLITH_DECODE_H
#define MONOLITH_DECODE_H

#include <stdint.h>

enum { NO_REGISTER = 32 }; // destination of what writes nothing; the register file has a slot for it

// Operations of the execute stage.  Loads and stores add there, branches have been resolved before.
typedef enum {
  EX_NONE,
  EX_ADD_TRAP,
  EX_ADD,
  EX_SUB_TRAP,
  EX_SUB,
  EX_AND,
  EX_OR,
  EX_XOR,
  EX_NOR,
  EX_SLT,
  EX_SLTU,
  EX_SLL,
  EX_SRL,
  EX_SRA,
  EX_SLLV,
  EX_SRLV,
  EX_SRAV,
  EX_ADDI_TRAP,
  EX_ADDI,
  EX_SLTI,
  EX_SLTIU,
  EX_ANDI,
  EX_ORI,
  EX_XORI,
  EX_LUI,
  EX_LINK,
  EX_MULT,
  EX_MULTU,
  EX_DIV,
  EX_DIVU,
  EX_MFHI,
  EX_MFLO,
  EX_MTHI,
  EX_MTLO,
  EX_PRI,
  EX_TGE,
  EX_TGEU,
  EX_TLT,
  EX_TLTU,
  EX_TEQ,
  EX_TNE,
  EX_TGEI,
  EX_TGEIU,
  EX_TLTI,
  EX_TLTIU,
  EX_TEQI,
  EX_TNEI
} ExecuteOp;

// Operations of the memory stage.
typedef enum {
  MEM_NONE,
  MEM_LB,
  MEM_LBU,
  MEM_LH,
  MEM_LHU,
  MEM_LW,
  MEM_LWL,
  MEM_LWR,
  MEM_LL,
  MEM_SB,
  MEM_SH,
  MEM_SW,
  MEM_SWL,
  MEM_SWR,
  MEM_SC
} MemoryOp;

// What the decode stage does with a branch or jump.
typedef enum { BR_NONE, BR_EQ, BR_NE, BR_LEZ, BR_GTZ, BR_LTZ, BR_GEZ, BR_J, BR_JR, BR_JOFF } BranchOp;

typedef struct {
  uint8_t execute, memory, branch;
  uint8_t rs, rt, rd; // rd: destination or NO_REGISTER
  uint8_t likely;     // branch-likely: the delay slot is annulled when not taken
  uint8_t counts;     // 1 for an instruction, 0 for a bubble
  uint8_t hilo;       // touches HI or LO
  uint8_t stops;      // break, syscall, unknown word: ends the run when it retires
  int32_t immediate;  // as the execute stage uses it; the offset of a branch or jump
  uint32_t target;    // where a branch or a jump to a constant goes
  uint32_t pc;        // where it is
  uint32_t word;
  // Registers as bits, register 0 never: what decode must wait for is needs & (gives_soon | gives_late).
  uint64_t needs;      // low half: registers read; high half: the same when they are needed in the decode stage
  uint64_t gives_soon; // while in execute: what comes from memory (low half), and every destination (high half)
  uint64_t gives_late; // while in memory: what comes from there (high half)
} Decoded;

extern const Decoded bubble;

// Decodes the word at `pc` into `d`.  Unknown words decode as something that stops the run when it retires.
void decode_word(uint32_t word, uint32_t pc, Decoded *d);

// The one Decoded of this word there, made at its first use; lives until the process ends.
const Decoded *decode_interned(uint32_t word, uint32_t pc);

#endif
