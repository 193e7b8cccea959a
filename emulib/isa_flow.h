/* Which instructions call functions and return from them, for tools that follow a program from instruction to
 * instruction: profilers, traces. */
#ifndef EMULIB_ISA_FLOW_H
#define EMULIB_ISA_FLOW_H

#include <stdint.h>

typedef enum {
  ISA_FLOW_OTHER,
  ISA_FLOW_CALL,   /* goes on elsewhere, if it is taken, and keeps the address to return to */
  ISA_FLOW_RETURN, /* goes to such an address */
} IsaFlowKind;

typedef struct {
  const char *isa;      /* as debug views name instruction sets; NULL ends the table */
  uint32_t delay_slots; /* instructions behind a call or return that are executed first */
  IsaFlowKind (*kind)(uint32_t word);
} IsaFlow;

extern const IsaFlow isa_flows[];

#endif
