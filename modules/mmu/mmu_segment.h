// The segments of a MIPS32 processor's addresses, and what cacheability means.
#ifndef MMU_SEGMENT_H
#define MMU_SEGMENT_H

#include "mmu/mmu_entry.h"

static inline micro_tlb_translation mmu_physical(uint32_t address, uint32_t cacheability) {
  const bool combine = cacheability == MMU_UNCACHED_ACCELERATED, uncached = cacheability == MMU_UNCACHED || combine;
  return (micro_tlb_translation){
      .route = uncached ? micro_tlb_route_uncached : micro_tlb_route_cached, .physical = address, .combine = combine};
}

// The segments that are not translated; micro_tlb_route_none is no such.
static inline micro_tlb_translation mmu_unmapped(uint32_t address, address_context context) {
  if (address < 0x80000000u)
    return (micro_tlb_translation){.route = context.erl ? micro_tlb_route_uncached : micro_tlb_route_none,
                                   .physical = address};
  if (!context.kernel) return (micro_tlb_translation){.route = micro_tlb_route_fault, .fault = mem_fault_address};
  switch (address >> 29) {
  case 4: return mmu_physical(address & 0x1fffffff, context.k0);
  case 5: return mmu_physical(address & 0x1fffffff, MMU_UNCACHED);
  default: return (micro_tlb_translation){.route = micro_tlb_route_none};
  }
}

#endif
