/* The memory that extra work refers to. */
#include "hot.h"

u32 extra_scratchpad[EXTRA_WORDS] __attribute__((section(".hot.bss")));
u32 extra_sram[EXTRA_WORDS];
