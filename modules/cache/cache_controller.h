// cache_controller.h: what a cache controller does; see cache_controller.c.
#ifndef CACHE_CONTROLLER_H
#define CACHE_CONTROLLER_H

#include "cache/cache_links.h"
#include "memory/memory_access.h"

// The organisation, as the parameters give it.
#define CACHE_BEAT_BYTES (param(fill_width) / 8)
#define CACHE_LINE       ((uint32_t)param(line))
#define CACHE_BEATS      (param(line) / CACHE_BEAT_BYTES)
#define CACHE_ALL_BEATS  (CACHE_BEATS == 64 ? ~UINT64_C(0) : (UINT64_C(1) << (CACHE_BEATS & 63)) - 1)
#define CACHE_WRITE_BACK ((uint32_t)CACHE_BEATS)
#define CACHE_UNCACHED   ((uint32_t)CACHE_BEATS + 1)
#define CACHE_SLOTS      ((uint32_t)(param(write_buffer) > 0 ? param(write_buffer) : 1))
#define CACHE_POSTED     ((uint32_t)CACHE_BEATS + 2)

// Whether the lines are stored in a memory of their own.
#define CACHE_SEPARATE (width(storage_request) == 2)

// Whether dirty lines may be invalidated, and whether then only their changed bytes are written back.
#define CACHE_INVALIDATES_DIRTY (param(write_back) && (width(snoop) > 0 || width(invalidate_all) > 0))
#define CACHE_MASKED            (param(write_back) && width(snoop) > 0)
#define CACHE_MASK_BYTES        ((uint32_t)(param(line) + 7) / 8)

#define CACHE_FILL_OFFSET line_offset(self->fill_set, self->fill_way) // offset of the line that is being filled
#define CACHE_NONE        (~UINT64_C(0))                              // the number of no line

// Whether a request writes to the line that it hits.
#define CACHE_WRITES_LINE(result, op)                                                                                  \
  (((result) == CACHE_HIT || (result) == CACHE_POST || (result) == CACHE_BYPASS) && (op) == mem_op_write)

// What `request` reads of the line at `offset`, where beat number `beat` is arriving.
#define CACHE_READ_LINE(value, request, offset, beat, fresh)                                                           \
  cache_read_line(&(value), sizeof(value), load_span(lines, (offset) + offset_of((request).address), (request).size),  \
                  offset_of((request).address), (request).size, (request).sign, param(big_endian), beat, fresh,        \
                  CACHE_BEAT_BYTES)

// Whether all writes to what is cacheable go to the write buffer.
#define CACHE_POSTS_WRITES (!param(write_back) && param(write_buffer) > 0)

#define CACHE_RULES                                                                                                    \
  ((cache_rules){.write_back = param(write_back),                                                                      \
                 .write_allocate = param(write_allocate),                                                              \
                 .post_uncacheable = param(post_uncacheable),                                                          \
                 .buffered = param(write_buffer) > 0})

// The outcome of the request of this cycle, or of the pending one, for which others wait.
enum cache_outcome {
  CACHE_NOTHING,        // there is none, or it has to wait
  CACHE_HIT,            // the storage replies to it
  CACHE_MISS,           // its line is fetched from memory
  CACHE_SECONDARY_MISS, // it waits for a beat of the line being filled
  CACHE_BYPASS,         // it is sent to memory, uncached
  CACHE_POST,       // a write with a reply in the same cycle, into the write buffer; when it hits, into the line, too
  CACHE_UNLINKED,   // a store_conditional without a link, with a reply in the same cycle: nothing is stored
  CACHE_FILL_REPLY, // the pending request gets its reply from what has arrived
  CACHE_UNCACHED_REPLY // the pending request, which is uncached, gets memory's reply
};

// The policies of a cache.
typedef struct {
  bool write_back, write_allocate, post_uncacheable;
  bool buffered; // there is a write buffer
} cache_rules;

// What a lookup finds.
typedef struct {
  bool cacheable, reads, writes;
  bool found;   // it hits
  bool filling; // its line is being filled,
  bool here;    // and its bytes have arrived
  bool victim;  // its line was dirty, evicted, and is not yet written back
  bool stale;   // it hits a line that is being invalidated
  bool idle;    // the fill side does nothing
  bool room;    // in the write buffer
} cache_situation;

// The outcome of a request: a cache_outcome.
static inline int32_t cache_decide(cache_rules rules, cache_situation is) {
  const int32_t post = is.room ? CACHE_POST : CACHE_NOTHING, bypass = is.idle ? CACHE_BYPASS : CACHE_NOTHING;
  const int32_t miss = is.idle ? CACHE_MISS : CACHE_NOTHING;
  if (!is.cacheable) return is.writes && rules.post_uncacheable && rules.buffered ? post : bypass;
  if (is.stale) return CACHE_NOTHING;
  if (is.filling) return !is.reads ? CACHE_NOTHING : is.here ? CACHE_HIT : CACHE_SECONDARY_MISS;
  if (is.reads) return is.found ? CACHE_HIT : miss;
  if (rules.write_back && is.found) return CACHE_HIT;
  if (!is.found && rules.write_allocate) return rules.write_back || !rules.buffered || is.room ? miss : CACHE_NOTHING;
  if (is.victim) return CACHE_NOTHING; // the line must be written back first
  return rules.buffered ? post : bypass;
}

// The beats that `size` bytes at `offset` in a line overlap, bit b for beat b.
static inline uint64_t cache_beats(uint32_t offset, uint32_t size, uint32_t beat_bytes) {
  uint32_t first = offset / beat_bytes, last = (offset + size - 1) / beat_bytes;
  uint64_t through = last >= 63 ? ~UINT64_C(0) : (UINT64_C(1) << (last + 1)) - 1;
  return through & ~((UINT64_C(1) << first) - 1);
}

// The way of a set that a new line is put into: a free one, else the least recently used, or a random one.
static inline uint32_t cache_choose_way(const bool *valid, const uint8_t *age, uint32_t ways, bool by_chance,
                                        uint64_t chance) {
  uint32_t chosen = 0;
  for (uint32_t w = 0; w < ways; w++)
    if (!valid[w]) return w;
  if (by_chance) return (uint32_t)(chance % ways);
  for (uint32_t w = 1; w < ways; w++)
    if (age[w] > age[chosen]) chosen = w;
  return chosen;
}

// A way of a set is used: those that were used since it was, or never, get older.
static inline void cache_use_way(uint8_t *age, uint32_t ways, uint32_t way) {
  const uint8_t before = age[way];
  for (uint32_t w = 0; w < ways; w++) age[w] += age[w] <= before;
  age[way] = 0;
}

// A number of `size` bytes at `offset` in a line, which are `from` there, as a value of `wide` bytes; `fresh` is beat
// number `beat`, which arrives in this cycle and is not yet in the line (-1: none does).
static inline void cache_read_line(void *value, unsigned wide, const uint8_t *from, uint32_t offset, uint32_t size,
                                   bool sign, bool big_endian, int32_t beat, const void *fresh, uint32_t beat_bytes) {
  uint8_t bytes[128], arriving[128];
  memcpy(bytes, from, size);
  if (beat >= 0) {
    number_to_memory(arriving, fresh, beat_bytes, big_endian);
    for (uint32_t k = 0; k < size; k++)
      if ((int32_t)((offset + k) / beat_bytes) == beat) bytes[k] = arriving[(offset + k) % beat_bytes];
  }
  memset(value, 0, wide);
  memory_to_number(value, bytes, size, big_endian);
  if (sign) extend_sign(value, size, wide);
}

// A bit for each byte of a line: whether the requester wrote it.
static inline void cache_mark(uint8_t *bits, uint32_t from, uint32_t count, bool changed) {
  for (uint32_t k = from; k < from + count; k++)
    bits[k / 8] = (uint8_t)(changed ? bits[k / 8] | 1u << k % 8 : bits[k / 8] & ~(1u << k % 8));
}

// The first run of such bytes within one beat: its length, 0 if there is none, and where it begins.
static inline uint32_t cache_run(const uint8_t *bits, uint32_t line, uint32_t beat_bytes, uint32_t *at) {
  uint32_t from = 0, end;
  while (from < line && !(bits[from / 8] >> from % 8 & 1)) from++;
  for (end = from; end < line && end / beat_bytes == from / beat_bytes && (bits[end / 8] >> end % 8 & 1);) end++;
  *at = from;
  return end - from;
}

// Such a run of a line whose beats are numbers of beat_bytes: what a write of it carries goes to `value`.
static inline uint32_t cache_part(const uint8_t *bits, const void *beats, uint32_t line, uint32_t beat_bytes,
                                  bool big_endian, uint32_t *at, void *value) {
  uint8_t bytes[128];
  uint32_t size = cache_run(bits, line, beat_bytes, at);
  if (size == 0) return 0;
  number_to_memory(bytes, (const uint8_t *)beats + *at / beat_bytes * beat_bytes, beat_bytes, big_endian);
  memory_to_number(value, bytes + *at % beat_bytes, size, big_endian);
  return size;
}

// The bytes of a line that a write overlaps: how many, from where.
static inline uint32_t cache_overlap(uint32_t line_address, uint32_t line, uint32_t address, uint32_t size,
                                     uint32_t *from) {
  uint64_t begin = address > line_address ? address : line_address, end = (uint64_t)address + size;
  if (end > (uint64_t)line_address + line) end = (uint64_t)line_address + line;
  *from = (uint32_t)(begin - line_address);
  return end > begin ? (uint32_t)(end - begin) : 0;
}

// The first flag that is set, -1: none.
static inline int32_t cache_first(const bool *flags, uint32_t count) {
  for (uint32_t k = 0; k < count; k++)
    if (flags[k]) return (int32_t)k;
  return -1;
}

// Makes of a request of the requester one of the memory's width, with another tag and address.
#define CACHE_RETAG(to, from, new_tag, new_address)                                                                    \
  ((to) = (typeof(to)){.op = (from).op,                                                                                \
                       .size = (from).size,                                                                            \
                       .sign = (from).sign,                                                                            \
                       .combine = (from).combine,                                                                      \
                       .tag = (new_tag),                                                                               \
                       .address = (new_address)},                                                                      \
   memcpy(&(to).data, &(from).data, sizeof(from).data))

// Makes a write of the first changed run of a line; false: there is none.
#define CACHE_PART(to, bits, beats, line, beat_bytes, big_endian, line_address)                                        \
  ((to).op = mem_op_write,                                                                                             \
   (to).size = (uint8_t)cache_part(bits, beats, line, beat_bytes, big_endian, &(to).address, &(to).data),              \
   (to).address += (line_address), (to).size > 0)

// Makes a request to a whole beat of a line.
#define CACHE_BEAT(to, what, bytes, line_address, number)                                                              \
  ((to) = (typeof(to)){.op = (what), .size = (bytes), .address = (line_address) + (number) * (bytes)})

#endif
