// The memory that extra work refers to.
#include "state.h"

u32 extra_scratchpad[EXTRA_WORDS] __attribute__((section(".scratchpad.bss")));
u32 extra_sram[EXTRA_WORDS];
