// What a program says to the MT ASE of a MIPS processor: other virtual processing elements (VPEs) and their thread
// contexts (TCs), which have the same numbers.  A move to or from another TC means that of select_tc().
#ifndef VPES_MT_H
#define VPES_MT_H

enum {
  MVPCONTROL_VPC = 1 << 1,
  VPECONTROL_TE = 1 << 15,
  VPECONF0_VPA = 1 << 0,
  VPECONF0_MVP = 1 << 1,
  TCSTATUS_A = 1 << 13,
  TCSTATUS_DA = 1 << 15,
  TCSTATUS_IXMT = 1 << 10,
  TCHALT_H = 1 << 0,
  CAUSE_SW0 = 1 << 8,
};

// Registers, as assembly names them.
#define MVP_CONTROL "$0, 1"
#define MVP_CONF0   "$0, 2"
#define VPE_CONTROL "$1, 1"
#define VPE_CONF0   "$1, 2"
#define TC_STATUS   "$2, 1"
#define TC_BIND     "$2, 2"
#define TC_RESTART  "$2, 3"
#define TC_HALT     "$2, 4"
#define TC_CONTEXT  "$2, 5"
#define STATUS      "$12, 0"
#define CAUSE       "$13, 0"
#define CONFIG      "$16, 0"

#define MT_ASM(instruction, ...)                                                                                       \
  __asm__ volatile(".set push\n .set mips32r2\n .set mt\n .set noreorder\n " instruction                               \
                   "\n ehb\n .set pop" __VA_ARGS__)
#define MT_READ(instruction)                                                                                           \
  ({                                                                                                                   \
    unsigned value_;                                                                                                   \
    MT_ASM(instruction, : "=r"(value_)::"memory");                                                                     \
    value_;                                                                                                            \
  })
#define MT_WRITE(instruction, value) MT_ASM(instruction, ::"r"(value) : "memory")

#define read_own(name)           MT_READ("mfc0 %0, " name)
#define write_own(name, value)   MT_WRITE("mtc0 %0, " name, value)
#define read_other(name)         MT_READ("mftc0 %0, " name)
#define write_other(name, value) MT_WRITE("mttc0 %0, " name, value)

static inline void select_tc(unsigned tc) {
  write_own(VPE_CONTROL, (read_own(VPE_CONTROL) & ~0xffu) | tc);
}

// No other VPE executes between the two; the first says whether others did.
static inline unsigned stop_others(void) {
  return MT_READ("dvpe %0") & 1;
}
static inline void let_others_go(void) {
  MT_ASM("evpe", :: : "memory");
}

// Interrupts a VPE by software.
static inline void interrupt_vpe(unsigned vpe) {
  stop_others();
  select_tc(vpe);
  write_other(CAUSE, read_other(CAUSE) | CAUSE_SW0);
  let_others_go();
}

#endif
