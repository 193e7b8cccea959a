// The decoder of the monolithic core, by hand: opcode switches straight from the manual's encoding tables.
#include "decode.h"

#include <stdio.h>
#include <stdlib.h>

const Decoded bubble = {.rd = NO_REGISTER};

enum { READS_RS = 1, READS_RT = 2 };

static void reads(Decoded *d, unsigned which) {
  if (which & READS_RS) d->needs |= 1u << d->rs;
  if (which & READS_RT) d->needs |= 1u << d->rt;
  d->needs &= ~(uint64_t)1;
}

static void writes(Decoded *d, unsigned reg) {
  if (reg) d->rd = reg, d->gives_soon = (uint64_t)1 << (32 + reg);
}

// What was said to be written comes in the memory stage.
static void from_memory(Decoded *d) {
  d->gives_late = d->gives_soon;
  d->gives_soon |= d->gives_soon >> 32;
}

// rd <- rs op rt
static void three_registers(Decoded *d, ExecuteOp op, unsigned reg) {
  d->execute = op;
  reads(d, READS_RS | READS_RT);
  writes(d, reg);
}

// rd <- rt shifted by a constant
static void shift(Decoded *d, ExecuteOp op, unsigned reg, unsigned amount) {
  d->execute = op;
  d->immediate = (int32_t)amount;
  reads(d, READS_RT);
  writes(d, reg);
}

// rt <- rs op immediate
static void with_immediate(Decoded *d, ExecuteOp op, int32_t value) {
  d->execute = op;
  d->immediate = value;
  reads(d, READS_RS);
  writes(d, d->rt);
}

static void branch(Decoded *d, BranchOp op, unsigned which, int32_t offset, int likely) {
  d->branch = op;
  d->immediate = offset;
  d->likely = likely;
  reads(d, which);
  d->needs |= d->needs << 32;
}

static void link_register(Decoded *d, unsigned reg) {
  d->execute = EX_LINK;
  writes(d, reg);
}

static void hilo(Decoded *d, ExecuteOp op, unsigned which, unsigned reg) {
  d->execute = op;
  d->hilo = 1;
  reads(d, which);
  writes(d, reg);
}

static void trap(Decoded *d, ExecuteOp op, unsigned which, int32_t value) {
  d->execute = op;
  d->immediate = value;
  reads(d, which);
}

static void load(Decoded *d, MemoryOp op, int32_t offset) {
  with_immediate(d, EX_ADDI, offset);
  d->memory = op;
  from_memory(d);
}

static void store(Decoded *d, MemoryOp op, int32_t offset) {
  d->execute = EX_ADDI;
  d->immediate = offset;
  d->memory = op;
  reads(d, READS_RS | READS_RT);
}

static void decode_special(uint32_t word, Decoded *d) {
  unsigned rd = word >> 11 & 31, amount = word >> 6 & 31;
  switch (word & 63) {
  case 0x00: shift(d, EX_SLL, rd, amount); return;
  case 0x02: shift(d, EX_SRL, rd, amount); return;
  case 0x03: shift(d, EX_SRA, rd, amount); return;
  case 0x04: three_registers(d, EX_SLLV, rd); return;
  case 0x06: three_registers(d, EX_SRLV, rd); return;
  case 0x07: three_registers(d, EX_SRAV, rd); return;
  case 0x08: branch(d, BR_JR, READS_RS, 0, 0); return;
  case 0x09:
    branch(d, BR_JR, READS_RS, 0, 0);
    link_register(d, rd);
    return;
  case 0x0a: branch(d, BR_JOFF, READS_RS | READS_RT, 0, 0); return;
  case 0x0b: three_registers(d, EX_PRI, rd); return;
  case 0x0f: return; // sync: memory is in order
  case 0x10: hilo(d, EX_MFHI, 0, rd); return;
  case 0x11: hilo(d, EX_MTHI, READS_RS, 0); return;
  case 0x12: hilo(d, EX_MFLO, 0, rd); return;
  case 0x13: hilo(d, EX_MTLO, READS_RS, 0); return;
  case 0x18: hilo(d, EX_MULT, READS_RS | READS_RT, 0); return;
  case 0x19: hilo(d, EX_MULTU, READS_RS | READS_RT, 0); return;
  case 0x1a: hilo(d, EX_DIV, READS_RS | READS_RT, 0); return;
  case 0x1b: hilo(d, EX_DIVU, READS_RS | READS_RT, 0); return;
  case 0x20: three_registers(d, EX_ADD_TRAP, rd); return;
  case 0x21: three_registers(d, EX_ADD, rd); return;
  case 0x22: three_registers(d, EX_SUB_TRAP, rd); return;
  case 0x23: three_registers(d, EX_SUB, rd); return;
  case 0x24: three_registers(d, EX_AND, rd); return;
  case 0x25: three_registers(d, EX_OR, rd); return;
  case 0x26: three_registers(d, EX_XOR, rd); return;
  case 0x27: three_registers(d, EX_NOR, rd); return;
  case 0x2a: three_registers(d, EX_SLT, rd); return;
  case 0x2b: three_registers(d, EX_SLTU, rd); return;
  case 0x30: trap(d, EX_TGE, READS_RS | READS_RT, 0); return;
  case 0x31: trap(d, EX_TGEU, READS_RS | READS_RT, 0); return;
  case 0x32: trap(d, EX_TLT, READS_RS | READS_RT, 0); return;
  case 0x33: trap(d, EX_TLTU, READS_RS | READS_RT, 0); return;
  case 0x34: trap(d, EX_TEQ, READS_RS | READS_RT, 0); return;
  case 0x36: trap(d, EX_TNE, READS_RS | READS_RT, 0); return;
  default: d->stops = 1; return; // 0x0c syscall, 0x0d break, and what MIPS II does not have
  }
}

static void decode_regimm(uint32_t word, Decoded *d) {
  int32_t immediate = (int16_t)word, offset = immediate * 4;
  switch (d->rt) {
  case 0x00: branch(d, BR_LTZ, READS_RS, offset, 0); return;
  case 0x01: branch(d, BR_GEZ, READS_RS, offset, 0); return;
  case 0x02: branch(d, BR_LTZ, READS_RS, offset, 1); return;
  case 0x03: branch(d, BR_GEZ, READS_RS, offset, 1); return;
  case 0x08: trap(d, EX_TGEI, READS_RS, immediate); return;
  case 0x09: trap(d, EX_TGEIU, READS_RS, immediate); return;
  case 0x0a: trap(d, EX_TLTI, READS_RS, immediate); return;
  case 0x0b: trap(d, EX_TLTIU, READS_RS, immediate); return;
  case 0x0c: trap(d, EX_TEQI, READS_RS, immediate); return;
  case 0x0e: trap(d, EX_TNEI, READS_RS, immediate); return;
  case 0x10:
    branch(d, BR_LTZ, READS_RS, offset, 0);
    link_register(d, 31);
    return;
  case 0x11:
    branch(d, BR_GEZ, READS_RS, offset, 0);
    link_register(d, 31);
    return;
  case 0x12:
    branch(d, BR_LTZ, READS_RS, offset, 1);
    link_register(d, 31);
    return;
  case 0x13:
    branch(d, BR_GEZ, READS_RS, offset, 1);
    link_register(d, 31);
    return;
  default: d->stops = 1; return;
  }
}

static void decode_opcode(uint32_t word, Decoded *d) {
  int32_t immediate = (int16_t)word, offset = immediate * 4;
  switch (word >> 26) {
  case 0x00: decode_special(word, d); return;
  case 0x01: decode_regimm(word, d); return;
  case 0x02: branch(d, BR_J, 0, (int32_t)(word << 6 >> 4), 0); return;
  case 0x03:
    branch(d, BR_J, 0, (int32_t)(word << 6 >> 4), 0);
    link_register(d, 31);
    return;
  case 0x04: branch(d, BR_EQ, READS_RS | READS_RT, offset, 0); return;
  case 0x05: branch(d, BR_NE, READS_RS | READS_RT, offset, 0); return;
  case 0x06: branch(d, BR_LEZ, READS_RS, offset, 0); return;
  case 0x07: branch(d, BR_GTZ, READS_RS, offset, 0); return;
  case 0x08: with_immediate(d, EX_ADDI_TRAP, immediate); return;
  case 0x09: with_immediate(d, EX_ADDI, immediate); return;
  case 0x0a: with_immediate(d, EX_SLTI, immediate); return;
  case 0x0b: with_immediate(d, EX_SLTIU, immediate); return;
  case 0x0c: with_immediate(d, EX_ANDI, (uint16_t)word); return;
  case 0x0d: with_immediate(d, EX_ORI, (uint16_t)word); return;
  case 0x0e: with_immediate(d, EX_XORI, (uint16_t)word); return;
  case 0x0f:
    d->execute = EX_LUI;
    d->immediate = (int32_t)(word << 16);
    writes(d, d->rt);
    return;
  case 0x14: branch(d, BR_EQ, READS_RS | READS_RT, offset, 1); return;
  case 0x15: branch(d, BR_NE, READS_RS | READS_RT, offset, 1); return;
  case 0x16: branch(d, BR_LEZ, READS_RS, offset, 1); return;
  case 0x17: branch(d, BR_GTZ, READS_RS, offset, 1); return;
  case 0x20: load(d, MEM_LB, immediate); return;
  case 0x21: load(d, MEM_LH, immediate); return;
  case 0x22:
    load(d, MEM_LWL, immediate);
    reads(d, READS_RT);
    return;
  case 0x23: load(d, MEM_LW, immediate); return;
  case 0x24: load(d, MEM_LBU, immediate); return;
  case 0x25: load(d, MEM_LHU, immediate); return;
  case 0x26:
    load(d, MEM_LWR, immediate);
    reads(d, READS_RT);
    return;
  case 0x28: store(d, MEM_SB, immediate); return;
  case 0x29: store(d, MEM_SH, immediate); return;
  case 0x2a: store(d, MEM_SWL, immediate); return;
  case 0x2b: store(d, MEM_SW, immediate); return;
  case 0x2e: store(d, MEM_SWR, immediate); return;
  case 0x30: load(d, MEM_LL, immediate); return;
  case 0x38:
    store(d, MEM_SC, immediate);
    writes(d, d->rt);
    from_memory(d);
    return;
  default: d->stops = 1; return;
  }
}

void decode_word(uint32_t word, uint32_t pc, Decoded *d) {
  *d = (Decoded){.rs = word >> 21 & 31, .rt = word >> 16 & 31, .rd = NO_REGISTER, .counts = 1, .word = word, .pc = pc};
  decode_opcode(word, d);
  d->target = d->branch == BR_J ? ((pc + 4) & 0xf0000000u) | (uint32_t)d->immediate : pc + 4 + (uint32_t)d->immediate;
}

// Open addressing over pointers; grows by doubling, so pointers handed out stay valid.
static Decoded **table;
static uint32_t table_size, table_used;

static uint32_t slot_of(Decoded **in, uint32_t size, uint32_t word, uint32_t pc) {
  uint32_t i = (word ^ pc * 40503u) * 2654435761u & (size - 1);
  while (in[i] && (in[i]->word != word || in[i]->pc != pc)) i = (i + 1) & (size - 1);
  return i;
}

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (!memory) fputs("monolith: out of memory\n", stderr), exit(3);
  return memory;
}

const Decoded *decode_interned(uint32_t word, uint32_t pc) {
  if (table_used * 2 >= table_size) {
    uint32_t larger = table_size ? table_size * 2 : 4096;
    Decoded **grown = allocate(larger, sizeof *grown);
    for (uint32_t i = 0; i < table_size; i++)
      if (table[i]) grown[slot_of(grown, larger, table[i]->word, table[i]->pc)] = table[i];
    free(table);
    table = grown;
    table_size = larger;
  }
  uint32_t i = slot_of(table, table_size, word, pc);
  if (!table[i]) {
    table[i] = allocate(1, sizeof **table);
    decode_word(word, pc, table[i]);
    table_used++;
  }
  return table[i];
}
