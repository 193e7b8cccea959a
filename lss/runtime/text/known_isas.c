// Instruction sets by name and machine; see known_isas.h.
#include "lss/runtime/text/known_isas.h"

#include <string.h>

#pragma weak isas

const Isa *known_isa(const char *name) {
  for (const Isa *const *isa = isas; isa && *isa; isa++)
    if (!strcmp((*isa)->name, name)) return *isa;
  return NULL;
}

const Isa *known_isa_of_machine(uint16_t machine) {
  for (const Isa *const *isa = isas; isa && *isa; isa++)
    if ((*isa)->machine == machine) return *isa;
  return isas ? isas[0] : NULL;
}
