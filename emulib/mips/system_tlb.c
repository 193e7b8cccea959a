// Translation of the functional system: segments and the TLB; see system.h.
#include "system_private.h"

#define CP0(name) m->cpu.cp0[MIPS_CP0_##name]

enum { UNCACHED = 2, UNCACHED_ACCELERATED = 7, PAIR = 2 * MIPS_PAGE - 1 };

static bool is_cached(uint32_t attribute) {
  return attribute != UNCACHED && attribute != UNCACHED_ACCELERATED;
}

// The entry for an address in the current address space, or NULL.
static const struct mips_tlb_entry *find(const struct mips_system *m, uint32_t address) {
  for (unsigned n = 0; n < m->options.tlb_entries; n++) {
    const struct mips_tlb_entry *e = &m->cpu.tlb[n];
    if ((e->hi ^ address) & ~(e->mask | PAIR)) continue;
    if ((e->lo[0] & MIPS_ENTRYLO_G) || !((e->hi ^ CP0(EntryHi)) & MIPS_ENTRYHI_ASID)) return e;
  }
  return NULL;
}

static struct mips_translation mapped(const struct mips_system *m, uint32_t address, enum mips_access access) {
  const struct mips_tlb_entry *e = find(m, address);
  if (e == NULL) return (struct mips_translation){.fault = MIPS_FAULT_REFILL};
  const uint32_t page = ((e->mask | PAIR) + 1) / 2;
  const uint32_t lo = e->lo[(address & page) != 0];
  if (!(lo & MIPS_ENTRYLO_V)) return (struct mips_translation){.fault = MIPS_FAULT_INVALID};
  if (access == MIPS_STORE && !(lo & MIPS_ENTRYLO_D)) return (struct mips_translation){.fault = MIPS_FAULT_MODIFIED};
  const uint32_t frame = lo >> MIPS_ENTRYLO_PFN_SHIFT << 12;
  return (struct mips_translation){.physical = (frame & ~(page - 1)) | (address & (page - 1)),
                                   .cached = is_cached(lo >> MIPS_ENTRYLO_C_SHIFT & 7)};
}

struct mips_translation mips_system_translate(const struct mips_system *m, uint32_t address, enum mips_access access) {
  if (m->options.bare) return (struct mips_translation){.physical = address, .cached = true};
  if (m->user_mode && address >> 31) return (struct mips_translation){.fault = MIPS_FAULT_ADDRESS};
  switch (address >> 29) {
  case 4: return (struct mips_translation){.physical = address & 0x1fffffff, .cached = is_cached(CP0(Config) & 7)};
  case 5: return (struct mips_translation){.physical = address & 0x1fffffff};
  case 6:
  case 7: return mapped(m, address, access);
  default:
    if (CP0(Status) & MIPS_STATUS_ERL) return (struct mips_translation){.physical = address};
    return mapped(m, address, access);
  }
}

void mips_forget_windows(struct mips_system *m) {
  struct mips_window *all = &m->windows[0][0][0];
  for (unsigned n = 0; n < sizeof m->windows / sizeof *all; n++) all[n].page = ~0u;
  for (unsigned n = 0; n < MIPS_WINDOWS; n++) m->entries[0][n].page = m->entries[1][n].page = ~0u;
}

static void forget_page(struct mips_system *m, uint32_t address) {
  for (unsigned mode = 0; mode < 2; mode++) {
    m->entries[mode][address / MIPS_PAGE % MIPS_WINDOWS].page = ~0u;
    for (unsigned access = 0; access < MIPS_ACCESSES; access++)
      m->windows[mode][access][address / MIPS_PAGE % MIPS_WINDOWS].page = ~0u;
  }
}

// What an entry translates is looked up again.
static void forget_entry(struct mips_system *m, const struct mips_tlb_entry *e) {
  if (e->mask != 0) {
    mips_forget_windows(m);
  } else {
    forget_page(m, e->hi);
    forget_page(m, e->hi | MIPS_PAGE);
  }
}

void mips_tlb_write(struct mips_system *m, unsigned index) {
  struct mips_tlb_entry *e = &m->cpu.tlb[index];
  forget_entry(m, e);
  const uint32_t mask = CP0(PageMask), frame_mask = ~(mask >> 13 << MIPS_ENTRYLO_PFN_SHIFT);
  const uint32_t lo0 = CP0(EntryLo0), lo1 = CP0(EntryLo1), global = lo0 & lo1 & MIPS_ENTRYLO_G;
  const uint32_t kept = frame_mask & ~(uint32_t)MIPS_ENTRYLO_G;
  *e = (struct mips_tlb_entry){.mask = mask, .hi = CP0(EntryHi), .lo = {(lo0 & kept) | global, (lo1 & kept) | global}};
  forget_entry(m, e);
}

void mips_tlb_write_random(struct mips_system *m) {
  mips_tlb_write(m, CP0(Random));
  m->cpu.random = mips_random_after(m->cpu.random);
  CP0(Random) = CP0(Wired) + m->cpu.random % (m->options.tlb_entries - CP0(Wired));
}

void mips_tlb_read(struct mips_system *m) {
  const struct mips_tlb_entry *e = &m->cpu.tlb[CP0(Index) % m->options.tlb_entries];
  if ((e->hi ^ CP0(EntryHi)) & MIPS_ENTRYHI_ASID) mips_forget_windows(m);
  CP0(PageMask) = e->mask;
  CP0(EntryHi) = e->hi;
  CP0(EntryLo0) = e->lo[0];
  CP0(EntryLo1) = e->lo[1];
}

void mips_tlb_probe(struct mips_system *m) {
  const struct mips_tlb_entry *e = find(m, CP0(EntryHi));
  CP0(Index) = e == NULL ? CP0(Index) | (uint32_t)MIPS_INDEX_MISS : (uint32_t)(e - m->cpu.tlb);
}
