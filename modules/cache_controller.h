/* cache_controller.h: what a cache controller does; see cache_controller.c. */
#ifndef CACHE_CONTROLLER_H
#define CACHE_CONTROLLER_H

#include "memory_access.h"

/* What the fill side does. */
enum cache_phase {
  CACHE_IDLE,
  CACHE_READ_VICTIM, /* reads the changed line that is given up out of the storage */
  CACHE_FILL,        /* asks for the beats of the new line, and takes them */
  CACHE_WRITE_BACK,  /* writes the changed line to memory */
  CACHE_PASS         /* a reference that goes past the cache */
};

/* What becomes of the request of this cycle. */
enum cache_outcome {
  CACHE_NOTHING, /* there is none, or it has to wait */
  CACHE_HIT,     /* the storage answers it */
  CACHE_MISS,    /* its line is fetched */
  CACHE_JOIN,    /* it waits for a beat of the line being filled */
  CACHE_BYPASS,  /* it goes past the cache */
  CACHE_POST     /* a write that is answered at once and goes to the write buffer; when it hits, to the line, too */
};

/* The policies of a cache. */
typedef struct {
  bool write_back, write_allocate, post_uncacheable;
  bool buffered; /* there is a write buffer */
} cache_rules;

/* What a request meets. */
typedef struct {
  bool cacheable, reads, writes;
  bool found;   /* its line is here */
  bool filling; /* its line is being filled, */
  bool here;    /* and its bytes have arrived */
  bool leaving; /* its line was changed, given up, and is not yet written back */
  bool idle;    /* the fill side does nothing */
  bool room;    /* in the write buffer */
} cache_situation;

/* What becomes of a request: a cache_outcome. */
static inline int32_t cache_decide(cache_rules rules, cache_situation is) {
  const int32_t post = is.room ? CACHE_POST : CACHE_NOTHING, bypass = is.idle ? CACHE_BYPASS : CACHE_NOTHING;
  const int32_t miss = is.idle ? CACHE_MISS : CACHE_NOTHING;
  if (!is.cacheable) return is.writes && rules.post_uncacheable && rules.buffered ? post : bypass;
  if (is.filling) return !is.reads ? CACHE_NOTHING : is.here ? CACHE_HIT : CACHE_JOIN;
  if (is.reads) return is.found ? CACHE_HIT : miss;
  if (rules.write_back && is.found) return CACHE_HIT;
  if (!is.found && rules.write_allocate) return rules.write_back || !rules.buffered || is.room ? miss : CACHE_NOTHING;
  if (is.leaving) return CACHE_NOTHING; /* the line must get there first */
  return rules.buffered ? post : bypass;
}

/* The beats that `size` bytes at `offset` in a line touch, bit b for beat b. */
static inline uint64_t cache_beats(uint32_t offset, uint32_t size, uint32_t beat_bytes) {
  uint32_t first = offset / beat_bytes, last = (offset + size - 1) / beat_bytes;
  uint64_t through = last >= 63 ? ~UINT64_C(0) : (UINT64_C(1) << (last + 1)) - 1;
  return through & ~((UINT64_C(1) << first) - 1);
}

/* The way of a set that a new line takes: a free one, else the one used longest ago, or by chance. */
static inline uint32_t cache_choose_way(const bool *valid, const uint64_t *used, uint32_t ways, bool by_chance,
                                        uint64_t chance) {
  uint32_t chosen = 0;
  for (uint32_t w = 0; w < ways; w++)
    if (!valid[w]) return w;
  if (by_chance) return (uint32_t)(chance % ways);
  for (uint32_t w = 1; w < ways; w++)
    if (used[w] < used[chosen]) chosen = w;
  return chosen;
}

/* A number of `size` bytes at `offset` in a line, as a value of `wide` bytes; `fresh` is beat number `beat`, which
 * arrives in this cycle and is not yet in the line (-1: none does). */
static inline void cache_read_line(void *value, unsigned wide, const uint8_t *line, uint32_t offset, uint32_t size,
                                   bool sign, bool big_endian, int32_t beat, const void *fresh, uint32_t beat_bytes) {
  uint8_t bytes[128], arriving[128];
  memcpy(bytes, line + offset, size);
  if (beat >= 0) {
    number_to_memory(arriving, fresh, beat_bytes, big_endian);
    for (uint32_t k = 0; k < size; k++)
      if ((int32_t)((offset + k) / beat_bytes) == beat) bytes[k] = arriving[(offset + k) % beat_bytes];
  }
  memset(value, 0, wide);
  memory_to_number(value, bytes, size, big_endian);
  if (sign) extend_sign(value, size, wide);
}

/* Makes of a reference of the requester one of the memory's width, with another tag and address. */
#define CACHE_RETAG(to, from, new_tag, new_address)                                                                    \
  ((to) =                                                                                                              \
       (typeof(to)){                                                                                                   \
           .op = (from).op, .size = (from).size, .sign = (from).sign, .tag = (new_tag), .address = (new_address)},     \
   memcpy(&(to).data, &(from).data, sizeof(from).data))

/* Makes a reference to a whole beat of a line. */
#define CACHE_BEAT(to, what, bytes, line_address, number)                                                              \
  ((to) = (typeof(to)){.op = (what), .size = (bytes), .address = (line_address) + (number) * (bytes)})

#endif
