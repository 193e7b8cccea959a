// The flat address space: a table of pages, allocated when mapped.
#include "flat_memory.h"

#include <string.h>

enum { PAGE_BITS = 12, PAGE = 1 << PAGE_BITS, PAGES = 1 << (32 - PAGE_BITS) };

struct FlatMemory {
  gboolean big_endian;
  guint8 **pages;
};

FlatMemory *flat_memory_new(gboolean big_endian) {
  FlatMemory *memory = g_new0(FlatMemory, 1);
  memory->big_endian = big_endian;
  memory->pages = g_new0(guint8 *, PAGES);
  return memory;
}

void flat_memory_free(FlatMemory *memory) {
  if (memory == NULL) return;
  for (guint n = 0; n < PAGES; n++) g_free(memory->pages[n]);
  g_free(memory->pages);
  g_free(memory);
}

void flat_memory_map(FlatMemory *memory, guint32 address, guint32 size) {
  if (size == 0) return;
  for (guint32 page = address >> PAGE_BITS; page <= (address + size - 1) >> PAGE_BITS; page++)
    if (memory->pages[page] == NULL) memory->pages[page] = g_malloc0(PAGE);
}

guint8 *flat_memory_at(FlatMemory *memory, guint32 address) {
  guint8 *page = memory->pages[address >> PAGE_BITS];
  return page == NULL ? NULL : page + (address & (PAGE - 1));
}

void flat_memory_load(FlatMemory *memory, const Program *program) {
  gsize count;
  const ProgramSegment *segments = program_segments(program, &count);
  for (gsize n = 0; n < count; n++) {
    const ProgramSegment *s = &segments[n];
    flat_memory_map(memory, s->address, s->size);
    for (guint32 done = 0; done < s->loaded;) {
      guint32 at = s->address + done, step = MIN(s->loaded - done, PAGE - (at & (PAGE - 1)));
      memcpy(flat_memory_at(memory, at), s->bytes + done, step);
      done += step;
    }
  }
}

static bool read_bytes(void *user, uint32_t address, unsigned size, uint32_t *value) {
  FlatMemory *memory = user;
  uint32_t v = 0;
  for (unsigned n = 0; n < size; n++) {
    const guint8 *byte = flat_memory_at(memory, address + n);
    if (byte == NULL) return false;
    v |= (uint32_t)*byte << 8 * (memory->big_endian ? size - 1 - n : n);
  }
  *value = v;
  return true;
}

static bool write_bytes(void *user, uint32_t address, unsigned size, uint32_t value) {
  FlatMemory *memory = user;
  for (unsigned n = 0; n < size; n++)
    if (flat_memory_at(memory, address + n) == NULL) return false;
  for (unsigned n = 0; n < size; n++)
    *flat_memory_at(memory, address + n) = (guint8)(value >> 8 * (memory->big_endian ? size - 1 - n : n));
  return true;
}

struct guest_memory flat_memory_interface(FlatMemory *memory) {
  return (struct guest_memory){.user = memory, .read = read_bytes, .write = write_bytes};
}
