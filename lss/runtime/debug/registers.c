// Registers for gdb; see registers.h.  The numbers are those of gdb's own features org.gnu.gdb.mips.* and
// org.gnu.gdb.riscv.cpu; gdb wants a floating-point unit of every MIPS, and is told that its registers are not
// available.
#include "lss/runtime/debug/registers.h"

#include "lss/runtime/debug/drain.h"
#include "lss/runtime/debug/gdb_packet.h"
#include "lss/runtime/debug/next_pc.h"

enum {
  GENERAL = 32,
  MIPS_STATUS = 32,
  MIPS_LO,
  MIPS_HI,
  MIPS_BADVADDR,
  MIPS_CAUSE,
  MIPS_PC,
  MIPS_FLOAT = 38,
  MIPS_COUNT = 72,
  RISCV_PC = 32
};

// gdb would take what runs for a program of Linux, where it works out itself where an instruction goes on; so it asks
// for steps, which are right for instructions that it does not know, too.
#define BARE "<osabi>none</osabi>"

static const char *const riscv_names[] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "fp", "s1", "a0",
                                          "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                          "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};

static void append_register(GString *out, const char *name, guint number, const char *rest) {
  g_string_append_printf(out, "<reg name=\"%s\" bitsize=\"32\" regnum=\"%u\"%s/>", name, number, rest);
}

static void append_numbered(GString *out, const char *letter, guint first, const char *rest) {
  for (guint i = 0; i < GENERAL; i++) {
    g_autofree char *name = g_strdup_printf("%s%u", letter, i);
    append_register(out, name, first + i, rest);
  }
}

static void describe_mips(GString *out) {
  g_string_append(out, "<architecture>mips:6000</architecture>" BARE "<feature name=\"org.gnu.gdb.mips.cpu\">");
  append_numbered(out, "r", 0, "");
  append_register(out, "lo", MIPS_LO, "");
  append_register(out, "hi", MIPS_HI, "");
  append_register(out, "pc", MIPS_PC, "");
  g_string_append(out, "</feature><feature name=\"org.gnu.gdb.mips.cp0\">");
  append_register(out, "status", MIPS_STATUS, "");
  append_register(out, "badvaddr", MIPS_BADVADDR, "");
  append_register(out, "cause", MIPS_CAUSE, "");
  g_string_append(out, "</feature><feature name=\"org.gnu.gdb.mips.fpu\">");
  append_numbered(out, "f", MIPS_FLOAT, " type=\"ieee_single\"");
  append_register(out, "fcsr", MIPS_FLOAT + GENERAL, " group=\"float\"");
  append_register(out, "fir", MIPS_FLOAT + GENERAL + 1, " group=\"float\"");
  g_string_append(out, "</feature>");
}

static void describe_riscv(GString *out) {
  g_string_append(out, "<architecture>riscv:rv32</architecture>" BARE "<feature name=\"org.gnu.gdb.riscv.cpu\">");
  for (guint i = 0; i < GENERAL; i++) append_register(out, riscv_names[i], i, "");
  append_register(out, "pc", RISCV_PC, " type=\"code_ptr\"");
  g_string_append(out, "</feature>");
}

char *registers_description(const Core *core) {
  GString *out =
      g_string_new("<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">");
  if (core->isa == CORE_MIPS)
    describe_mips(out);
  else
    describe_riscv(out);
  g_string_append(out, "</target>");
  return g_string_free(out, FALSE);
}

guint registers_count(const Core *core) {
  return core->isa == CORE_MIPS ? MIPS_COUNT : RISCV_PC + 1;
}

guint registers_pc(const Core *core) {
  return core->isa == CORE_MIPS ? MIPS_PC : RISCV_PC;
}

// Those beside the general ones and the pc; NULL: the processor has none of that number, or the machine does not say
// where it is.
static const CoreValue *special_register(const Core *core, guint number) {
  const CoreValue *value = NULL;
  if (core->isa != CORE_MIPS) return NULL;
  switch (number) {
  case MIPS_STATUS: value = &core->system.status; break;
  case MIPS_LO: value = &core->lo; break;
  case MIPS_HI: value = &core->hi; break;
  case MIPS_BADVADDR: value = &core->system.badvaddr; break;
  case MIPS_CAUSE: value = &core->system.cause; break;
  default: return NULL;
  }
  return value->at ? value : NULL;
}

// The number of an element of the registers, 0: it is none of them, or always 0.
static uint32_t element_of(const Core *core, guint number) {
  const uint32_t element = number < GENERAL         ? number
                           : core->isa != CORE_MIPS ? 0
                           : number == MIPS_HI      ? core->hi_number
                           : number == MIPS_LO      ? core->lo_number
                                                    : 0;
  return element < core->register_count ? element : 0;
}

bool registers_append(const Core *core, guint number, GString *out) {
  if (number >= registers_count(core)) return false;
  const CoreValue *special = special_register(core, number);
  uint32_t value;
  if (number == 0 || element_of(core, number)) {
    value = core_register(core, element_of(core, number), next_pc_within(core->number));
  } else if (number == registers_pc(core)) {
    value = next_pc_of(core->number);
  } else if (special) {
    value = (uint32_t)core_get(special);
  } else {
    g_string_append(out, "xxxxxxxx");
    return true;
  }
  if (!core->big_endian) value = GUINT32_SWAP_LE_BE(value);
  g_string_append_printf(out, "%08x", value);
  return true;
}

bool registers_set(const Core *core, guint number, uint32_t value) {
  if (number >= registers_count(core)) return false;
  if (element_of(core, number))
    core_set_register(core, element_of(core, number), value);
  else if (number == registers_pc(core))
    drain_set_pc(core->number, value);
  else if (special_register(core, number))
    core_set(special_register(core, number), value);
  return true;
}

bool registers_value(const Core *core, const char *digits, uint32_t *value) {
  guint8 bytes[sizeof *value];
  if (!gdb_packet_bytes(digits, bytes, sizeof bytes)) return false;
  memcpy(value, bytes, sizeof bytes);
  *value = core->big_endian ? GUINT32_FROM_BE(*value) : GUINT32_FROM_LE(*value);
  return true;
}
