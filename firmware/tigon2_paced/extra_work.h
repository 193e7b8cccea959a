// Work without a purpose, for an experiment: with it a frame costs as many instructions and as many references to
// scratchpad, SRAM and registers as the firmware shipped with the chip was reported to spend (420 instructions, 121, 39
// and 24 references to receive; 528, 149, 47 and 40 to send), so that the same hardware can be compared with the
// throughput reported for it.
//
// What is added is the difference to what the firmware needs by itself, spread evenly: in a block are some references
// to the scratchpad, one to SRAM, one to a register, with arithmetic between.  Half of the references load and half
// store; two consecutive words follow each other in SRAM.  None of the values is used.
#ifndef TIGON2_EXTRA_WORK_H
#define TIGON2_EXTRA_WORK_H

enum { EXTRA_WORDS = 32 };
extern u32 extra_scratchpad[EXTRA_WORDS] __attribute__((section(".scratchpad.bss")));
extern u32 extra_sram[EXTRA_WORDS];

__asm__(".macro extra_arithmetic count\n"
        "  .rept \\count\n"
        "  addu $8, $8, $12\n"
        "  .endr\n"
        ".endm\n"
        // Word `at` of the memory at `base`: loaded and stored by turns, two and two.
        ".macro extra_reference base, at\n"
        "  .if (\\at) & 8\n"
        "  sw $8, \\at(\\base)\n"
        "  .else\n"
        "  lw $9, \\at(\\base)\n"
        "  .endif\n"
        ".endm\n"
        // Blocks with so many references to scratchpad, SRAM and registers and so much arithmetic each.
        ".macro extra_blocks count, scratchpad, sram, registers, arithmetic\n"
        "  .rept \\count\n"
        "  .rept \\scratchpad\n"
        "  extra_reference $10, extra_next_scratchpad & 0x7c\n"
        "  .set extra_next_scratchpad, extra_next_scratchpad + 4\n"
        "  .endr\n"
        "  extra_arithmetic \\arithmetic / 3\n"
        "  .rept \\sram\n"
        "  extra_reference $11, extra_next_sram & 0x7c\n"
        "  .set extra_next_sram, extra_next_sram + 4\n"
        "  .endr\n"
        "  extra_arithmetic \\arithmetic / 3\n"
        "  .rept \\registers\n"
        "  extra_reference $13, extra_next_register & 0x8\n" // read and written without effect: see below
        "  .set extra_next_register, extra_next_register + 4\n"
        "  .endr\n"
        "  extra_arithmetic \\arithmetic - \\arithmetic / 3 * 2\n"
        "  .endr\n"
        ".endm\n"
        ".set extra_next_scratchpad, 0\n"
        ".set extra_next_sram, 0\n"
        ".set extra_next_register, 0\n");

// `blocks` is a text of extra_blocks.  Registers 8 to 13 are t0 to t5; t5 points to general registers of processor A,
// which have no function.
#define EXTRA(blocks)                                                                                                  \
  do {                                                                                                                 \
    u32 *scratchpad = extra_scratchpad, *sram = extra_sram;                                                            \
    volatile u32 *general = &registers()->general_a0;                                                                  \
    __asm__ volatile("move $10, %0\n"                                                                                  \
                     "move $11, %1\n"                                                                                  \
                     "move $13, %2\n" blocks                                                                           \
                     :                                                                                                 \
                     : "r"(scratchpad), "r"(sram), "r"(general)                                                        \
                     : "$8", "$9", "$10", "$11", "$12", "$13", "memory");                                              \
  } while (0)

static inline void extra_receive_work(void) {
  EXTRA("extra_blocks 9, 4, 1, 1, 7\n"
        "extra_blocks 14, 4, 1, 1, 6\n"
        "extra_blocks 3, 2, 1, 0, 0\n");
}

static inline void extra_send_work(void) {
  EXTRA("extra_blocks 15, 4, 1, 1, 6\n"
        "extra_blocks 13, 4, 1, 1, 5\n"
        "extra_blocks 10, 1, 0, 1, 0\n");
}

#endif
