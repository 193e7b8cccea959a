// trap_text.h: what is to be said of instructions that fail.
#ifndef TRAP_TEXT_H
#define TRAP_TEXT_H

// What to say about an instruction that failed.
static inline const char *core_trap_text(trap_cause trap) {
  switch (trap) {
  case trap_cause_overflowed: return "integer overflow";
  case trap_cause_syscall: return "syscall";
  case trap_cause_breakpoint: return "breakpoint";
  case trap_cause_reserved: return "reserved instruction";
  case trap_cause_coprocessor: return "instruction of a coprocessor that there is not";
  case trap_cause_system: return "instruction for system control, which this processor has not";
  case trap_cause_fetch: return "nothing to fetch there";
  case trap_cause_unaligned: return "unaligned access";
  case trap_cause_access: return "nothing responds at the address";
  case trap_cause_serial: return "instruction that is executed alone, which this processor cannot";
  default: return "trap";
  }
}

#endif
