// Fields of the TLB entries of MIPS32, as the registers PageMask, EntryHi and EntryLo have them.
#ifndef MMU_ENTRY_H
#define MMU_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

// Bits of EntryLo, and of EntryHi.
enum { MMU_GLOBAL = 0, MMU_VALID = 1, MMU_DIRTY = 2, MMU_CACHEABILITY = 3, MMU_FRAME = 6 };
#define MMU_HI_PAGE UINT32_C(0xffffe000)
#define MMU_HI_ASID UINT32_C(0xff)

// Cacheabilities that mean something of their own; all others are cached.
enum { MMU_UNCACHED = 2, MMU_UNCACHED_ACCELERATED = 7 };

// What a probe that finds nothing leaves in Index.
#define MMU_NO_INDEX UINT32_C(0x80000000)

// Whether the entry with these registers has the address in its pair of pages.
static inline bool mmu_matches(uint32_t mask, uint32_t hi, uint32_t lo, uint32_t address, uint32_t asid) {
  const uint32_t compared = ~(mask | ~MMU_HI_PAGE);
  return ((hi ^ address) & compared) == 0 && ((lo >> MMU_GLOBAL & 1) || (hi & MMU_HI_ASID) == asid);
}

// Bytes of each of the two pages, less one.
static inline uint32_t mmu_page_mask(uint32_t mask) {
  return (mask | ~MMU_HI_PAGE) >> 1;
}

// The physical address in EntryLo.
static inline uint32_t mmu_frame(uint32_t lo) {
  return lo >> MMU_FRAME << 12;
}

// The bits of EntryLo that address bytes within a page of this mask.
static inline uint32_t mmu_frame_bits(uint32_t page_mask) {
  return page_mask >> 12 << MMU_FRAME;
}

#endif
