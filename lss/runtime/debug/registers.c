// Registers for gdb; see registers.h.  What there is says the instruction set's row (emulib/isas.h).
#include "lss/runtime/debug/registers.h"

#include "lss/runtime/debug/drain.h"
#include "lss/runtime/debug/gdb_packet.h"
#include "lss/runtime/debug/next_pc.h"

// gdb would take what runs for a program of Linux, where it works out itself where an instruction goes on; so it asks
// for steps, which are right for instructions that it does not know, too.
#define BARE "<osabi>none</osabi>"

char *registers_description(const Core *core) {
  GString *out =
      g_string_new("<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">");
  g_string_append_printf(out, "<architecture>%s</architecture>" BARE, core->isa->architecture);
  for (const IsaRegister *r = core->isa->registers; r->name; r++) {
    if (r->feature)
      g_string_append_printf(out, "%s<feature name=\"%s\">", r == core->isa->registers ? "" : "</feature>", r->feature);
    g_string_append_printf(out, "<reg name=\"%s\" bitsize=\"32\" regnum=\"%u\"%s/>", r->name, r->number,
                           r->attributes ? r->attributes : "");
  }
  g_string_append(out, "</feature></target>");
  return g_string_free(out, FALSE);
}

guint registers_count(const Core *core) {
  guint count = 0;
  for (const IsaRegister *r = core->isa->registers; r->name; r++) count = MAX(count, r->number + 1);
  return count;
}

guint registers_pc(const Core *core) {
  const IsaRegister *r = core->isa->registers;
  while (r->kind != ISA_PC) r++;
  return r->number;
}

static const IsaRegister *register_of(const Core *core, guint number) {
  const IsaRegister *r = core->isa->registers;
  while (r->name && r->number != number) r++;
  return r->name ? r : NULL;
}

// The element of the register file that holds it; -1: none does.
static int64_t element_of(const Core *core, const IsaRegister *r) {
  int64_t element = -1;
  if (r->kind == ISA_GENERAL || r->kind == ISA_ZERO)
    for (const IsaRegister *before = core->isa->registers; before <= r; before++)
      element += before->kind == ISA_GENERAL || before->kind == ISA_ZERO;
  if (r->kind == ISA_NAMED && core_named(core, r->name)->element) element = core_named(core, r->name)->element;
  return element < core->register_count ? element : -1;
}

// Where else it is; NULL: nowhere.
static const CoreValue *value_of(const Core *core, const IsaRegister *r) {
  const CoreValue *value = r->kind == ISA_NAMED ? &core_named(core, r->name)->value : NULL;
  return value && value->at ? value : NULL;
}

bool registers_append(const Core *core, guint number, GString *out) {
  const IsaRegister *r = register_of(core, number);
  if (!r) return false;
  uint32_t value;
  if (element_of(core, r) >= 0) {
    value = core_register(core, (uint32_t)element_of(core, r), next_pc_within(core->number));
  } else if (r->kind == ISA_PC) {
    value = next_pc_of(core->number);
  } else if (value_of(core, r)) {
    value = (uint32_t)core_get(value_of(core, r));
  } else {
    g_string_append(out, "xxxxxxxx");
    return true;
  }
  if (!core->big_endian) value = GUINT32_SWAP_LE_BE(value);
  g_string_append_printf(out, "%08x", value);
  return true;
}

bool registers_set(const Core *core, guint number, uint32_t value) {
  const IsaRegister *r = register_of(core, number);
  if (!r) return false;
  if (r->kind == ISA_PC)
    drain_set_pc(core->number, value);
  else if (r->kind != ISA_ZERO && element_of(core, r) >= 0)
    core_set_register(core, (uint32_t)element_of(core, r), value);
  else if (value_of(core, r))
    core_set(value_of(core, r), value);
  return true;
}

bool registers_value(const Core *core, const char *digits, uint32_t *value) {
  guint8 bytes[sizeof *value];
  if (!gdb_packet_bytes(digits, bytes, sizeof bytes)) return false;
  memcpy(value, bytes, sizeof bytes);
  *value = core->big_endian ? GUINT32_FROM_BE(*value) : GUINT32_FROM_LE(*value);
  return true;
}
