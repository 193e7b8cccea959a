// What a processor finds at its addresses; see cores.h.  Memory is what regions name; a dirty line of a cache is newer
// than that, and what waits in a write buffer newer still.
#include "lss/runtime/debug/cores.h"

#include "lss/runtime/text/names.h"

enum { MOST_DATA = 128 }; // bytes of a request

// Where a byte is.
typedef struct {
  uint8_t *at;
  uint32_t canonical; // one address for all at which the byte is found
} Byte;

static bool find_byte(const Core *core, uint32_t address, Byte *byte) {
  for (guint i = 0; i < core->regions->len; i++) {
    const CoreRegion *region = &g_array_index(core->regions, CoreRegion, i);
    if (address < region->declared->first || address > region->declared->last) continue;
    uint64_t offset = (address - region->declared->first) % region->size;
    byte->canonical = region->declared->first + (uint32_t)offset;
    // The numbers of the state are the host's, little-endian.
    if (core->big_endian) offset = offset - offset % region->word + (region->word - 1 - offset % region->word);
    byte->at = region->bytes + offset;
    return true;
  }
  return false;
}

static int64_t of_line(const CoreValue *value, uint32_t line) {
  const CoreValue one = {value->type, value->at ? value->at + line * value->type->size : NULL};
  return core_get(&one);
}

static uint8_t *in_line(const CoreCache *cache, uint32_t line, uint32_t canonical) {
  if (!of_line(&cache->valid, line) || (uint32_t)of_line(&cache->number, line) != canonical / cache->line) return NULL;
  return cache->bytes + line * cache->line + canonical % cache->line;
}

static int64_t member(const struct spinach_type *type, const uint8_t *value, const char *name, uint32_t *offset) {
  for (uint32_t i = 0; i < type->member_count; i++) {
    if (strcmp(type->members[i].name, name) != 0) continue;
    *offset = (uint32_t)type->members[i].offset;
    return spinach_is_integer(type->members[i].type) ? spinach_integer(type->members[i].type, value + *offset) : 0;
  }
  return 0;
}

// The byte of a write that waits, in the request; NULL when it does not cover it.
static uint8_t *in_write(const Core *core, const CoreCache *cache, uint32_t index, const uint8_t *wanted) {
  uint32_t at, data;
  uint8_t *write =
      cache->writes + (gsize)((core_get(&cache->write_first) + index) % cache->write_room) * cache->write->size;
  const uint32_t address = (uint32_t)member(cache->write, write, "address", &at);
  const uint32_t size = (uint32_t)member(cache->write, write, "size", &at);
  member(cache->write, write, "data", &data);
  Byte byte;
  for (uint32_t i = 0; i < size && i < MOST_DATA; i++)
    if (find_byte(core, address + i, &byte) && byte.at == wanted)
      return write + data + (core->big_endian ? size - 1 - i : i);
  return NULL;
}

static uint8_t read_byte(const Core *core, const Byte *byte) {
  uint8_t value = *byte->at;
  for (guint c = 0; c < core->caches->len; c++) {
    const CoreCache *cache = &g_array_index(core->caches, CoreCache, c);
    for (uint32_t line = 0; cache->dirty.at && line < cache->lines; line++) {
      const uint8_t *copy = of_line(&cache->dirty, line) ? in_line(cache, line, byte->canonical) : NULL;
      if (copy) value = *copy;
    }
    for (uint32_t i = 0; cache->write && i < (uint32_t)core_get(&cache->write_count); i++) {
      const uint8_t *copy = in_write(core, cache, i, byte->at);
      if (copy) value = *copy;
    }
  }
  return value;
}

uint32_t core_read(const Core *core, uint32_t address, uint8_t *bytes, uint32_t count) {
  Byte byte;
  for (uint32_t i = 0; i < count; i++) {
    if (!find_byte(core, address + i, &byte)) return i;
    bytes[i] = read_byte(core, &byte);
  }
  return count;
}

bool core_reaches(const Core *core, uint32_t address, uint32_t count) {
  Byte byte;
  for (uint32_t i = 0; i < count; i++)
    if (!find_byte(core, address + i, &byte)) return false;
  return true;
}

// A byte that one processor reaches is the same for another where both find it in one place.
static void write_copies(const Byte *byte, uint8_t value) {
  const GPtrArray *cores = spinach_cores();
  for (guint n = 0; n < cores->len; n++) {
    const Core *core = cores->pdata[n];
    Byte same;
    if (!find_byte(core, byte->canonical, &same) || same.at != byte->at) continue;
    for (guint c = 0; c < core->caches->len; c++) {
      const CoreCache *cache = &g_array_index(core->caches, CoreCache, c);
      for (uint32_t line = 0; line < cache->lines; line++) {
        uint8_t *copy = in_line(cache, line, byte->canonical);
        if (copy) *copy = value;
      }
      for (uint32_t i = 0; cache->write && i < (uint32_t)core_get(&cache->write_count); i++) {
        uint8_t *copy = in_write(core, cache, i, byte->at);
        if (copy) *copy = value;
      }
    }
  }
}

void core_write(const Core *core, uint32_t address, const uint8_t *bytes, uint32_t count) {
  Byte byte;
  for (uint32_t i = 0; i < count; i++) {
    if (!find_byte(core, address + i, &byte)) return;
    *byte.at = bytes[i];
    write_copies(&byte, bytes[i]);
  }
}

bool core_writes_are_done(const Core *core) {
  for (guint c = 0; c < core->caches->len; c++) {
    const CoreCache *cache = &g_array_index(core->caches, CoreCache, c);
    if (cache->write && core_get(&cache->write_count)) return false;
  }
  return true;
}
