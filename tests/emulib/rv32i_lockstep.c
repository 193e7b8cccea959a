// Instructions as a processor reports them, right and wrong, against the interpreter that follows it.  Fails at the
// first check that does not hold, with its line.
#include "rv32i/lockstep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_SAID text
#include "check.h"

enum { MEMORY = 0x1000, NONE = 32, T0 = 5, T1 = 6 };
enum {
  ADDI_T0_5 = 0x00500293, // addi t0, zero, 5
  ADDI_ZERO = 0x00500013, // addi zero, zero, 5
  LW = 0x0002a303,        // lw t1, 0(t0)
  LB = 0x00028303,        // lb t1, 0(t0)
  LHU = 0x0002d303,       // lhu t1, 0(t0)
  SW = 0x0062a023,        // sw t1, 0(t0)
  SB = 0x00628023,        // sb t1, 0(t0)
  SH = 0x00629023,        // sh t1, 0(t0)
  JUMP_16 = 0x0100006f,   // j .+16
  ECALL = 0x00000073,
};

static struct rv32i_lockstep l;
static uint8_t bytes[MEMORY + 1], known[MEMORY / 8 + 1];
static char text[RV32I_LOCKSTEP_TEXT];
static uint32_t pc; // of the next instruction; beyond memory, so that its words are its own

static bool retire(struct rv32i_lockstep_retired r) {
  *text = 0;
  r.pc = pc;
  pc += 4;
  return rv32i_lockstep_retire(&l, bytes, known, r, text);
}

static bool writes(uint32_t word, uint8_t destination, uint32_t value) {
  return retire((struct rv32i_lockstep_retired){.word = word, .destination = destination, .value = value});
}

static bool stores(uint32_t word, uint8_t size, uint32_t address, uint32_t value) {
  return retire((struct rv32i_lockstep_retired){
      .word = word, .destination = NONE, .size = size, .address = address, .value = value});
}

static bool told(const char *what) {
  return strstr(text, what) != NULL;
}

// Another processor, with these values in t0 and t1.
static void begin(uint32_t t0, uint32_t t1) {
  rv32i_lockstep_init(&l, MEMORY);
  memset(bytes, 0, sizeof bytes);
  memset(known, 0, sizeof known);
  pc = 0x8000;
  l.r[T0] = t0;
  l.r[T1] = t1;
}

static void registers(void) {
  begin(0, 0);
  CHECK(writes(ADDI_T0_5, T0, 5) && writes(ADDI_ZERO, 0, 7) && writes(ADDI_ZERO, NONE, 7) && writes(ADDI_ZERO, 255, 7));
  CHECK(l.instructions == 4 && l.unchecked == 0 && l.r[T0] == 5);
  CHECK(!writes(ADDI_T0_5, T0, 6) && told("wrote t0 = 0x00000006, expected t0 = 0x00000005"));
  CHECK(!writes(ADDI_T0_5, T1, 5) && told("wrote t1 = 0x00000005, expected t0 = 0x00000005"));
  CHECK(!writes(ADDI_T0_5, 0, 5) && told("wrote no register, expected t0 = 0x00000005"));
  CHECK(!writes(ADDI_T0_5, NONE, 5) && told("wrote no register, expected t0 = 0x00000005"));
  CHECK(!writes(ADDI_ZERO, 31, 5) && told("wrote t6, expected no register"));
}

static void order(void) {
  begin(0, 0);
  CHECK(writes(JUMP_16, 0, 0));
  CHECK(!writes(ADDI_T0_5, T0, 5) && told("it was completed, expected the one at 0x00008010"));
  pc = 0x8010;
  CHECK(writes(ADDI_T0_5, T0, 5));
  CHECK(!writes(ECALL, NONE, 0) && told("it was completed, expected: "));
  begin(0, 0);
  pc = 0x100; // in memory, where words stay what they were
  CHECK(writes(JUMP_16, 0, 0));
  pc = 0x110;
  CHECK(writes(JUMP_16, 0, 0));
  l.pc = pc = 0x100;
  CHECK(!writes(ADDI_T0_5, T0, 5) && told("its word is 0x00500293, expected 0x0100006f"));
  CHECK(l.unchecked == 0);
}

static void wrong_stores(void) {
  begin(0x40, 0x12345678);
  CHECK(stores(SW, 4, 0x40, 0x12345678) && stores(SH, 2, 0x40, 0x5678) && stores(SB, 1, 0x40, 0x78));
  CHECK(!stores(SW, 2, 0x40, 0x12345678) && told("0x12345678 in 2 bytes at 0x00000040, expected 0x12345678 in 4 at"));
  CHECK(!stores(SW, 4, 0x44, 0x12345678) && told("in 4 bytes at 0x00000044, expected 0x12345678 in 4 at 0x00000040"));
  CHECK(!stores(SW, 4, 0x40, 0x12345679) && told("stored 0x12345679 in 4 bytes"));
  CHECK(!writes(SW, NONE, 0) && told("stored nothing, expected a store at 0x00000040"));
  CHECK(!stores(ADDI_ZERO, 4, 0x40, 5) && told("stored at 0x00000040, expected no store"));
}

// What was read where nothing is known is taken unchecked once; what was stored is known byte for byte.
static void memory(void) {
  begin(0x80, 0);
  CHECK(writes(LW, T1, 0xcafe0081) && l.unchecked == 1);
  CHECK(writes(LW, T1, 0xcafe0081) && writes(LB, T1, 0xffffff81) && writes(LHU, T1, 0x0081) && l.unchecked == 1);
  CHECK(!writes(LW, T1, 0xcafe0082) && told("wrote t1 = 0xcafe0082, expected t1 = 0xcafe0081"));
  begin(0x80, 0x99);
  CHECK(stores(SB, 1, 0x80, 0x99) && writes(LB, T1, 0xffffff99) && l.unchecked == 0);
  CHECK(writes(LW, T1, 0x11223344) && l.unchecked == 1); // of four bytes one was known
  CHECK(writes(LW, T1, 0x11223344) && writes(LB, T1, 0x44) && l.unchecked == 1);
  l.r[T0] = 0x83;
  CHECK(writes(LB, T1, 0x11) && !writes(LB, T1, 0x12));
  l.r[T0] = 0x84;
  CHECK(writes(LB, T1, 0xffffff80) && l.unchecked == 2);
  l.r[T1] = 0x55;
  CHECK(stores(SB, 1, 0x84, 0x55) && writes(LB, T1, 0x55) && !writes(LB, T1, 0x56));
}

// The last byte of memory is remembered, the first one behind it is not.
static void end_of_memory(void) {
  begin(MEMORY - 1, 0);
  CHECK(writes(LB, T1, 1) && !writes(LB, T1, 2));
  begin(MEMORY, 0);
  CHECK(writes(LB, T1, 1) && writes(LB, T1, 2) && writes(LW, T1, 3) && writes(LW, T1, 4) && l.unchecked == 4);
  l.r[T1] = 5;
  CHECK(stores(SB, 1, MEMORY, 5) && writes(LB, T1, 6) && bytes[MEMORY] == 0 && known[MEMORY / 8] == 0);
  begin(MEMORY - 4, 7);
  CHECK(stores(SW, 4, MEMORY - 4, 7) && writes(LW, T1, 7) && !writes(LW, T1, 8));
  CHECK(bytes[MEMORY - 4] == 7 && bytes[MEMORY] == 0);
}

int main(void) {
  registers();
  order();
  wrong_stores();
  memory();
  end_of_memory();
  return 0;
}
