// SPDX-License-Identifier: MIT
// Registered memory: pages of a program that stay where they are, and the table that translates its addresses.
#include <linux/slab.h>

#include "uvia.h"

int uvia_register(struct uvia_memory *memory, const struct uvia_region *region) {
  const unsigned int first = offset_in_page(region->address);
  unsigned int count;
  int pinned;

  if (!region->length || region->length > UVIA_MOST) return -EINVAL;
  count = DIV_ROUND_UP(first + region->length, PAGE_SIZE);
  memory->pages = kcalloc(count, sizeof(*memory->pages), GFP_KERNEL);
  if (!memory->pages) return -ENOMEM;
  // Pinned to be written: a page that was only read is the kernel's page of zeros, and the first write replaces it.
  pinned = pin_user_pages_fast(region->address & PAGE_MASK, count, FOLL_WRITE | FOLL_LONGTERM, memory->pages);
  memory->count = max(pinned, 0);
  memory->first = first;
  memory->length = region->length;
  if (memory->count == count) return 0;
  uvia_release(memory);
  return pinned < 0 ? pinned : -EFAULT;
}

void uvia_release(struct uvia_memory *memory) {
  unpin_user_pages(memory->pages, memory->count);
  kfree(memory->pages);
}

// The page with byte `at` of the memory, and where it is in that.
noinline struct page *uvia_translate(const struct uvia_memory *memory, unsigned int at, unsigned int *offset) {
  const unsigned int place = memory->first + at;

  *offset = offset_in_page(place);
  return memory->pages[place >> PAGE_SHIFT];
}
