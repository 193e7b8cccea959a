// Keeps the decoded code of a functional processor; see system_code.h.
#include "system_code.h"

#include <stdlib.h>

#include "system_private.h"

enum { PAGES = 1024, BUCKETS = 1024 };

struct mips_code {
  mips_handler *undecoded, *beyond;
  unsigned used; // pages
  uint32_t visit;
  uint64_t stores;                         // to words of pages that have code
  struct mips_code_page *buckets[BUCKETS]; // by host page
  uint8_t *pages;                          // PAGES, MIPS_CODE_ALIGNMENT each
  unsigned entered;                        // entries of the processor that belong to the visit, or did
  struct mips_entry *entries[2 * MIPS_WINDOWS];
};

struct mips_code *mips_code_allocate(mips_handler *undecoded, mips_handler *beyond) {
  struct mips_code *code = calloc(1, sizeof *code);
  if (code == NULL) return NULL;
  code->pages = aligned_alloc(MIPS_CODE_ALIGNMENT, (size_t)PAGES * MIPS_CODE_ALIGNMENT);
  code->undecoded = undecoded;
  code->beyond = beyond;
  if (code->pages != NULL) return code;
  free(code);
  return NULL;
}

void mips_code_free(struct mips_code *code) {
  if (code == NULL) return;
  free(code->pages);
  free(code);
}

static unsigned bucket_of(const uint8_t *bytes) {
  return (unsigned)((uintptr_t)bytes / MIPS_PAGE) % BUCKETS;
}

bool mips_code_has(const struct mips_code *code, const uint8_t *bytes) {
  const struct mips_code_page *page = code->buckets[bucket_of(bytes)];
  while (page != NULL && page->bytes != bytes) page = page->chain;
  return page != NULL;
}

void mips_code_leave(struct mips_system *m) {
  struct mips_code *code = m->code;
  if (code == NULL) return;
  for (unsigned n = 0; n < code->entered; n++) *code->entries[n] = (struct mips_entry){.page = ~0u};
  code->entered = 0;
  code->visit++;
}

void mips_code_clear(struct mips_system *m) {
  if (m->code == NULL) return;
  mips_code_leave(m);
  m->code->used = 0;
  memset(m->code->buckets, 0, sizeof m->code->buckets);
}

// Stores to a page go the way that sees them.
static void mark_stores(struct mips_system *m, const uint8_t *bytes) {
  for (unsigned mode = 0; mode < 2; mode++)
    for (unsigned n = 0; n < MIPS_WINDOWS; n++) {
      struct mips_window *w = &m->windows[mode][MIPS_STORE][n];
      if (w->bytes == bytes && w->page % MIPS_PAGE == 0) w->page |= MIPS_WINDOW_CODE;
    }
}

static struct mips_code_page *add(struct mips_system *m, const uint8_t *bytes, uint32_t address) {
  struct mips_code *code = m->code;
  if (!mips_code_has(code, bytes)) mark_stores(m, bytes);
  if (code->used == PAGES) mips_code_clear(m);
  struct mips_code_page *page = (void *)(code->pages + (size_t)code->used++ * MIPS_CODE_ALIGNMENT);
  struct mips_code_page **bucket = &code->buckets[bucket_of(bytes)];
  page->bytes = bytes;
  page->address = address;
  page->chain = *bucket;
  page->visit = code->visit;
  memcpy(page->decoded, bytes, MIPS_PAGE);
  for (unsigned n = 0; n < MIPS_PAGE_OPS; n++) page->ops[n].handler = code->undecoded;
  for (unsigned n = 0; n < MIPS_OPS_BEYOND; n++) page->ops[MIPS_PAGE_OPS + n].handler = code->beyond;
  return *bucket = page;
}

// Words that have changed since the last visit are decoded anew.
static void compare(const struct mips_code *code, struct mips_code_page *page) {
  page->visit = code->visit;
  if (memcmp(page->decoded, page->bytes, MIPS_PAGE) == 0) return;
  for (unsigned n = 0; n < MIPS_PAGE_OPS; n++)
    if (memcmp(page->decoded + 4 * n, page->bytes + 4 * n, 4) != 0) page->ops[n].handler = code->undecoded;
  memcpy(page->decoded, page->bytes, MIPS_PAGE);
}

void mips_code_enter(struct mips_system *m, uint32_t address) {
  const struct mips_window *w = mips_window_of(m, address, MIPS_FETCH);
  struct mips_entry *entry = mips_entry_of(m, address);
  if (!mips_window_serves(w, address, 4) || entry->page == w->page) return;
  struct mips_code_page *page = m->code->buckets[bucket_of(w->bytes)];
  while (page != NULL && (page->bytes != w->bytes || page->address != w->page)) page = page->chain;
  if (page == NULL)
    page = add(m, w->bytes, w->page);
  else if (page->visit != m->code->visit)
    compare(m->code, page);
  if (!entry->listed) m->code->entries[m->code->entered++] = entry;
  *entry = (struct mips_entry){.page = w->page, .listed = true, .ops = page->ops};
}

void mips_code_forget(struct mips_system *m, uint32_t address) {
  if (m->code == NULL) return;
  for (unsigned n = 0; n < m->code->used; n++) {
    struct mips_code_page *page = (void *)(m->code->pages + (size_t)n * MIPS_CODE_ALIGNMENT);
    if (page->address == (address & (0u - MIPS_PAGE)))
      page->ops[address / 4 % MIPS_PAGE_OPS].handler = m->code->undecoded;
  }
}

void mips_code_written(struct mips_system *m, const uint8_t *bytes, uint32_t offset, unsigned size) {
  for (struct mips_code_page *page = m->code->buckets[bucket_of(bytes)]; page != NULL; page = page->chain)
    if (page->bytes == bytes) {
      m->code->stores++;
      page->ops[offset / 4].handler = m->code->undecoded;
      memcpy(page->decoded + offset, bytes + offset, size);
    }
}

uint64_t mips_code_stores(const struct mips_code *code) {
  return code->stores;
}
