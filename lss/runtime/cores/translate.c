// From the addresses of programs to those of memory, where a processor translates them: by a number that is added, or
// as its instruction set does; see cores.h.  Nothing is changed by it.
#include "lss/runtime/cores/cores.h"

static uint32_t value(const void *of, unsigned number) {
  return (uint32_t)core_get(&g_array_index(((const Core *)of)->named, CoreNamed, number).value);
}

static uint32_t entry(const void *of, uint32_t number, const char *member) {
  const Core *core = of;
  return (uint32_t)core_number_in(core->tlb_entry, core->tlb + number * core->tlb_entry->size, member);
}

bool core_translate(const Core *core, uint32_t address, uint32_t *physical) {
  *physical = address + core->memory_base;
  if (!core->tlb || !core->isa->translate) return !core->memory_size || address < core->memory_size;
  const IsaAddressing addressing = {core, value, core->tlb_entries, entry};
  return core->isa->translate(&addressing, address, physical);
}

uint32_t core_unmapped(const Core *core, uint32_t physical) {
  const uint32_t address = core->tlb && core->isa->unmapped ? core->isa->unmapped(physical) : physical;
  return address != physical ? address : physical - core->memory_base;
}
