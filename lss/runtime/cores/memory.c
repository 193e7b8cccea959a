// What a processor finds at its addresses; see cores.h.  Memory is what regions name; a dirty line of a cache is newer
// than that, and what waits in a write buffer newer still.  A device register holds its state alone: what the device
// makes of a write that is on its way is known when it arrives.
#include "lss/runtime/cores/cores.h"

#include "lss/runtime/engine/names.h"

enum { MOST_DATA = 128 }; // bytes of a request

// Where a byte of memory is.
typedef struct {
  uint8_t *at;
  uint32_t canonical; // one address for all at which the byte is found
  bool of_device;     // it is part of a register
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
    byte->of_device = region->declared->name_count > 0;
    return true;
  }
  return false;
}

static bool find_byte_of_program(const Core *core, uint32_t address, Byte *byte) {
  uint32_t physical;
  return core_translate(core, address, &physical) && find_byte(core, physical, byte);
}

static int64_t of_line(const CoreValue *value, uint32_t line) {
  const CoreValue one = {value->type, value->at ? value->at + line * value->type->size : NULL};
  return core_get(&one);
}

static uint8_t *in_line(const CoreCache *cache, uint32_t line, uint32_t canonical) {
  if (!of_line(&cache->valid, line) || (uint32_t)of_line(&cache->number, line) != canonical / cache->line) return NULL;
  return cache->bytes + line * cache->line + canonical % cache->line;
}

// The same, if it is newer than memory.
static const uint8_t *in_dirty_line(const CoreCache *cache, uint32_t line, uint32_t canonical) {
  const uint8_t *copy = cache->dirty.at && of_line(&cache->dirty, line) ? in_line(cache, line, canonical) : NULL;
  if (!copy || !cache->changed) return copy;
  const uint32_t bit = canonical % cache->line; // each line has whole bytes of bits
  return cache->changed[line * ((cache->line + 7) / 8) + bit / 8] >> bit % 8 & 1 ? copy : NULL;
}

static bool is_victim(const CoreCache *cache, uint32_t canonical) {
  return cache->victim_dirty.at && core_get(&cache->victim_dirty) &&
         (uint32_t)core_get(&cache->victim_number) == canonical / cache->line;
}

// A dirty line that makes room for another: partly read out, in beats, partly still where it was.
static const uint8_t *in_victim(const Core *core, const CoreCache *cache, uint32_t canonical) {
  if (!is_victim(cache, canonical)) return NULL;
  const uint32_t offset = canonical % cache->line, beat = offset / cache->beat, byte = offset % cache->beat;
  if (beat < (uint32_t)core_get(&cache->victim_read))
    return cache->victim + (gsize)beat * cache->victim_stride + (core->big_endian ? cache->beat - 1 - byte : byte);
  const uint32_t place = (uint32_t)(core_get(&cache->fill_set) * cache->ways + core_get(&cache->fill_way));
  return place < cache->lines ? cache->bytes + place * cache->line + offset : NULL;
}

static const struct spinach_member *member(const struct spinach_type *type, const char *name) {
  for (uint32_t i = 0; i < type->member_count; i++)
    if (!strcmp(type->members[i].name, name)) return &type->members[i];
  return NULL;
}

static bool is_write(const struct spinach_type *type, const uint8_t *request) {
  const struct spinach_member *operation = member(type, "op");
  if (!operation) return true;
  const struct spinach_member *write = member(operation->type, "write");
  return write && spinach_integer(operation->type, request + operation->offset) == write->value;
}

// One of the writes on their way to memory, whose data are a number.
typedef struct {
  uint32_t address, size;
  const uint8_t *data; // NULL: it is no write
} Write;

static Write write_at(const CoreWrites *writes, uint32_t place) {
  if (!writes->request)
    return (Write){(uint32_t)of_line(&writes->address, place), (uint32_t)of_line(&writes->size, place),
                   writes->data.at + place * writes->data.type->size};
  const uint8_t *request = writes->requests + place * writes->request->size;
  const struct spinach_member *data = member(writes->request, "data");
  return (Write){(uint32_t)core_number_in(writes->request, request, "address"),
                 (uint32_t)core_number_in(writes->request, request, "size"),
                 data && is_write(writes->request, request) ? request + data->offset : NULL};
}

// The byte of a write, in its data; NULL when it does not cover it.
static const uint8_t *in_write(const Core *core, Write write, const uint8_t *wanted) {
  Byte byte;
  for (uint32_t i = 0; write.data && i < write.size && i < MOST_DATA; i++)
    if (find_byte(core, write.address + i, &byte) && byte.at == wanted)
      return write.data + (core->big_endian ? write.size - 1 - i : i);
  return NULL;
}

static uint32_t count_in(const CoreWrites *writes, uint32_t ring) {
  return MIN((uint32_t)of_line(&writes->count, ring), writes->places);
}

// In the latest of these.
static const uint8_t *in_writes(const Core *core, const CoreWrites *writes, const uint8_t *wanted) {
  const uint8_t *found = NULL;
  for (uint32_t ring = 0; ring < writes->rings; ring++)
    for (uint32_t i = count_in(writes, ring); !found && i-- > 0;) {
      const uint64_t slot = (uint64_t)(of_line(&writes->first, ring) + i) % writes->places;
      found = in_write(core, write_at(writes, ring * writes->places + (uint32_t)slot), wanted);
    }
  return found;
}

// In the latest of all.
static const uint8_t *in_all_writes(const Core *core, const uint8_t *wanted) {
  const uint8_t *found = NULL;
  for (guint i = core->writes->len; !found && i-- > 0;)
    found = in_writes(core, &g_array_index(core->writes, CoreWrites, i), wanted);
  return found;
}

static uint8_t read_byte(const Core *core, const Byte *byte) {
  uint8_t value = *byte->at;
  if (byte->of_device) return value;
  for (guint c = 0; c < core->caches->len; c++) {
    const CoreCache *cache = &g_array_index(core->caches, CoreCache, c);
    const uint8_t *victim = in_victim(core, cache, byte->canonical);
    if (victim) value = *victim;
    for (uint32_t line = 0; cache->dirty.at && line < cache->lines; line++) {
      const uint8_t *copy = in_dirty_line(cache, line, byte->canonical);
      if (copy) value = *copy;
    }
  }
  const uint8_t *write = in_all_writes(core, byte->at);
  return write ? *write : value;
}

uint32_t core_read(const Core *core, uint32_t address, uint8_t *bytes, uint32_t count) {
  Byte byte;
  for (uint32_t i = 0; i < count; i++) {
    if (!find_byte_of_program(core, address + i, &byte)) return i;
    bytes[i] = read_byte(core, &byte);
  }
  return count;
}

bool core_is_of_device(const Core *core, uint32_t address) {
  Byte byte;
  return find_byte_of_program(core, address, &byte) && byte.of_device;
}

bool core_instruction(const Core *core, uint32_t pc, uint32_t *word) {
  if (core_read(core, pc, (uint8_t *)word, sizeof *word) != sizeof *word) return false;
  *word = core->big_endian ? GUINT32_FROM_BE(*word) : GUINT32_FROM_LE(*word);
  return true;
}

bool core_in_delay_slot(const Core *core, uint32_t before, uint32_t pc) {
  uint32_t word;
  return core->isa->branches && pc == before + sizeof word && core_instruction(core, before, &word) &&
         core->isa->branches(word);
}

static uint32_t canonical(const Core *core, uint32_t address) {
  Byte byte;
  return find_byte_of_program(core, address, &byte) ? byte.canonical : address;
}

bool core_overlap(const Core *core, uint32_t one, uint32_t one_count, uint32_t other, uint32_t other_count) {
  for (uint32_t i = 0; i < one_count; i++)
    for (uint32_t k = 0; k < other_count; k++)
      if (canonical(core, one + i) == canonical(core, other + k)) return true;
  return false;
}

bool core_reaches(const Core *core, uint32_t address, uint32_t count) {
  Byte byte;
  for (uint32_t i = 0; i < count; i++)
    if (!find_byte_of_program(core, address + i, &byte)) return false;
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
    }
  }
}

void core_write(const Core *core, uint32_t address, const uint8_t *bytes, uint32_t count) {
  Byte byte;
  for (uint32_t i = 0; i < count; i++) {
    if (!find_byte_of_program(core, address + i, &byte)) return;
    *byte.at = bytes[i];
    write_copies(&byte, bytes[i]);
  }
}

// Whether a copy of the byte is on its way to or from the caches of the processor.
static bool is_in_flight(const Core *core, const Byte *byte) {
  for (guint c = 0; c < core->caches->len; c++) {
    const CoreCache *cache = &g_array_index(core->caches, CoreCache, c);
    if (is_victim(cache, byte->canonical)) return true;
    if (core_get(&cache->filling) && (uint32_t)core_get(&cache->fill_number) == byte->canonical / cache->line)
      return true;
  }
  return in_all_writes(core, byte->at) != NULL;
}

bool core_is_quiescent(const Core *core, uint32_t address, uint32_t count) {
  const GPtrArray *cores = spinach_cores();
  Byte byte, same;
  for (uint32_t i = 0; i < count; i++)
    for (guint n = 0; find_byte_of_program(core, address + i, &byte) && n < cores->len; n++)
      if (find_byte(cores->pdata[n], byte.canonical, &same) && same.at == byte.at &&
          is_in_flight(cores->pdata[n], &byte))
        return false;
  return true;
}

bool core_writes_are_done(const Core *core) {
  for (guint i = 0; i < core->writes->len; i++) {
    const CoreWrites *writes = &g_array_index(core->writes, CoreWrites, i);
    for (uint32_t ring = 0; ring < writes->rings; ring++)
      if (of_line(&writes->count, ring)) return false;
  }
  return true;
}
