// From the addresses of programs to those of memory, where a processor translates them: by a number that is added, or
// the segments of MIPS32 and the entries of its TLB, as system control may use them; see cores.h.  Nothing is changed
// by it.
#include "lss/runtime/cores/cores.h"

enum { STATUS_ERL = 1 << 2, ASID = 0xff, GLOBAL = 1, VALID = 2, FRAME = 6, SEGMENT = 1 << 29 };
#define PAIR UINT32_C(0x1fff) // address bits within two pages of 4 KiB

static const uint8_t *matching(const CoreSystem *system, uint32_t address) {
  const uint32_t space = (uint32_t)core_get(&system->entry_hi) & ASID;
  for (uint32_t n = 0; n < system->count; n++) {
    const uint8_t *entry = system->entries + n * system->entry->size;
    const uint32_t mask = (uint32_t)core_number_in(system->entry, entry, "mask") | PAIR;
    const uint32_t hi = (uint32_t)core_number_in(system->entry, entry, "hi");
    const bool global =
        core_number_in(system->entry, entry, "lo0") & core_number_in(system->entry, entry, "lo1") & GLOBAL;
    if (((hi ^ address) & ~mask) == 0 && (global || (hi & ASID) == space)) return entry;
  }
  return NULL;
}

static bool mapped(const CoreSystem *system, uint32_t address, uint32_t *physical) {
  const uint8_t *entry = matching(system, address);
  if (!entry) return false;
  const uint32_t page = (((uint32_t)core_number_in(system->entry, entry, "mask") | PAIR) >> 1) + 1;
  const uint32_t lo = (uint32_t)core_number_in(system->entry, entry, address & page ? "lo1" : "lo0");
  *physical = ((lo >> FRAME << 12) & ~(page - 1)) | (address & (page - 1));
  return lo & VALID;
}

bool core_translate(const Core *core, uint32_t address, uint32_t *physical) {
  *physical = address + core->memory_base;
  if (!core->system.entries) return !core->memory_size || address < core->memory_size;
  const uint32_t segment = address / SEGMENT;
  if (segment == 4 || segment == 5) return *physical = address % SEGMENT, true;
  if (segment < 4 && core_get(&core->system.status) & STATUS_ERL) return true;
  return mapped(&core->system, address, physical);
}

uint32_t core_unmapped(const Core *core, uint32_t physical) {
  return core->system.entries && physical < SEGMENT ? physical + 5u * SEGMENT : physical - core->memory_base;
}
