// Marks a place of a program for those who measure it: a condition `marker(n)` of the simulator (docs/running.md) comes
// true when a processor has executed it.  It takes the time of an instruction that does nothing, changes nothing, and
// may stay in programs that nobody measures.
#ifndef LIB_MARKER_H
#define LIB_MARKER_H

// `number` is a constant: 1 to 65535 for MIPS, 1 to 1048575 for RISC-V.
#ifdef __riscv
#define marker(number) __asm__ volatile("lui x0, %0" ::"i"(number) : "memory")
#else
#define marker(number) __asm__ volatile("lui $0, %0" ::"i"(number) : "memory")
#endif

#endif
