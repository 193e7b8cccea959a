// The instruction sets of emulib, where that is linked in.
#ifndef SPINACH_KNOWN_ISAS_H
#define SPINACH_KNOWN_ISAS_H

#include "emulib/isas.h"

// The one that a debug view names so; NULL: it is not known.
const Isa *known_isa(const char *name);
// That of ELF files for this machine; without one the first of all.  NULL: none is known.
const Isa *known_isa_of_machine(uint16_t machine);

#endif
