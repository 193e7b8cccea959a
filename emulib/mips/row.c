// MIPS as tools see it that know several instruction sets: its row in isas.c.
#include <elf.h>

#include "isas.h"
#include "text.h"

static void text(uint32_t flags, uint32_t pc, uint32_t word, char *to, size_t size) {
  (flags >= EF_MIPS_ARCH_32 ? mips32_text : mips_text)(pc, word, to, size);
}

// Calls and returns by convention: jal, jalr, bltzal, bgezal and their likely forms; jr $ra.
static IsaFlow flow(uint32_t word) {
  enum { RA = 31 };
  const uint32_t opcode = word >> 26, rs = word >> 21 & 31, rt = word >> 16 & 31, function = word & 63;
  if (opcode == 3 || (opcode == 1 && rt >= 0x10 && rt <= 0x13) || (opcode == 0 && function == 9)) return ISA_FLOW_CALL;
  return opcode == 0 && function == 8 && rs == RA ? ISA_FLOW_RETURN : ISA_FLOW_OTHER;
}

// Branches and jumps of MIPS II, and JOFF.
static bool branches(uint32_t word) {
  const uint32_t operation = word >> 26, function = word & 0x3f, condition = word >> 16 & 0x1f;
  if (operation == 0) return function >= 8 && function <= 10;
  if (operation == 1) return (condition & 0xc) == 0;
  return (operation >= 2 && operation <= 7) || (operation >= 20 && operation <= 23);
}

// gdb wants a floating-point unit of every MIPS, and is told that its registers are not available.
#define R(n) {"r" #n, n, ISA_GENERAL, NULL, NULL}
#define F(n) {"f" #n, 38 + n, ISA_ABSENT, NULL, " type=\"ieee_single\""}
#define FPU  " group=\"float\""

// clang-format off
static const IsaRegister registers[] = {
    {"r0", 0, ISA_ZERO, "org.gnu.gdb.mips.cpu", NULL},
    R(1), R(2), R(3), R(4), R(5), R(6), R(7), R(8), R(9), R(10), R(11), R(12), R(13), R(14), R(15), R(16),
    R(17), R(18), R(19), R(20), R(21), R(22), R(23), R(24), R(25), R(26), R(27), R(28), R(29), R(30), R(31),
    {"lo", 33, ISA_NAMED, NULL, NULL},
    {"hi", 34, ISA_NAMED, NULL, NULL},
    {"pc", 37, ISA_PC, NULL, NULL},
    {"status", 32, ISA_NAMED, "org.gnu.gdb.mips.cp0", NULL},
    {"badvaddr", 35, ISA_NAMED, NULL, NULL},
    {"cause", 36, ISA_NAMED, NULL, NULL},
    {"f0", 38, ISA_ABSENT, "org.gnu.gdb.mips.fpu", " type=\"ieee_single\""},
    F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8), F(9), F(10), F(11), F(12), F(13), F(14), F(15), F(16),
    F(17), F(18), F(19), F(20), F(21), F(22), F(23), F(24), F(25), F(26), F(27), F(28), F(29), F(30), F(31),
    {"fcsr", 70, ISA_ABSENT, NULL, FPU},
    {"fir", 71, ISA_ABSENT, NULL, FPU},
    {0},
};
// clang-format on

// ---- Addresses: the segments of MIPS32, and the entries of its TLB as system control may use them

enum { STATUS, ENTRY_HI };
static const char *const states[] = {[STATUS] = "status", [ENTRY_HI] = "entry_hi", NULL};

enum { STATUS_ERL = 1 << 2, ASID = 0xff, GLOBAL = 1, VALID = 2, FRAME = 6, SEGMENT = 1 << 29, KSEG0 = 4, KSEG1 = 5 };
#define PAIR UINT32_C(0x1fff) // address bits within two pages of 4 KiB

// The entry that an address matches; `entries`: none.
static uint32_t matching(const IsaAddressing *a, uint32_t address) {
  const uint32_t space = a->value(a->of, ENTRY_HI) & ASID;
  for (uint32_t n = 0; n < a->entries; n++) {
    const uint32_t mask = a->entry(a->of, n, "mask") | PAIR, hi = a->entry(a->of, n, "hi");
    const bool global = a->entry(a->of, n, "lo0") & a->entry(a->of, n, "lo1") & GLOBAL;
    if (((hi ^ address) & ~mask) == 0 && (global || (hi & ASID) == space)) return n;
  }
  return a->entries;
}

static bool mapped(const IsaAddressing *a, uint32_t address, uint32_t *physical) {
  const uint32_t n = matching(a, address);
  if (n == a->entries) return false;
  const uint32_t page = ((a->entry(a->of, n, "mask") | PAIR) >> 1) + 1;
  const uint32_t lo = a->entry(a->of, n, address & page ? "lo1" : "lo0");
  *physical = ((lo >> FRAME << 12) & ~(page - 1)) | (address & (page - 1));
  return lo & VALID;
}

static bool translate(const IsaAddressing *a, uint32_t address, uint32_t *physical) {
  const uint32_t segment = address / SEGMENT;
  *physical = segment < KSEG0 ? address : address % SEGMENT;
  if (segment == KSEG0 || segment == KSEG1 || (segment < KSEG0 && a->value(a->of, STATUS) & STATUS_ERL)) return true;
  return mapped(a, address, physical);
}

static uint32_t unmapped(uint32_t physical) {
  return physical < SEGMENT ? physical + (uint32_t)KSEG1 * SEGMENT : physical;
}

extern const Isa isa_mips;
const Isa isa_mips = {
    .name = "mips",
    .title = "MIPS",
    .machine = EM_MIPS,
    .text = text,
    .flow = flow,
    .delay_slots = 1,
    .branches = branches,
    .architecture = "mips:6000",
    .registers = registers,
    .states = states,
    .translate = translate,
    .unmapped = unmapped,
};
