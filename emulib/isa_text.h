/* One instruction of any instruction set as assembly text: how tools that know only a program's ELF header reach the
 * disassemblers. */
#ifndef EMULIB_ISA_TEXT_H
#define EMULIB_ISA_TEXT_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint16_t machine; /* e_machine of ELF files; 0 ends the table */
  uint32_t flags;   /* least e_flags of those that it is for; the last such one counts */
  /* The instruction as the largest such set has it, cut to `size` bytes with the final zero. */
  void (*text)(uint32_t pc, uint32_t word, char *text, size_t size);
} IsaText;

/* The first is for programs that do not say what they are made for. */
extern const IsaText isa_texts[];

#endif
