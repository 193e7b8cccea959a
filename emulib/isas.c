// All instruction sets; see isas.h.
#include "isas.h"

extern const Isa isa_mips, isa_rv32i;

const Isa *const isas[] = {&isa_mips, &isa_rv32i, NULL};
