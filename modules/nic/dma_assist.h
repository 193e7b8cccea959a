// Properties of a transfer and of a descriptor for dma_assist.c, and names.  All functions work on what they are given.
#ifndef DMA_ASSIST_H
#define DMA_ASSIST_H

#include "nic/assist_memory.h"

// What a register update completes, when it is not a descriptor of a ring.
enum { DMA_NO_RING = -1, DMA_DIRECT_END = -2 };

// The layout of descriptors, by the parameters.
#define DMA_LAYOUT                                                                                                     \
  ((dma_layout){param(at_control), param(at_checksum), param(at_host_high), param(at_host_low), param(at_address),     \
                param(at_length), param(big_endian)})

// Offers a request to memory; what is written is filled in afterwards.
#define DMA_OFFER_REQUEST(kind, op, bytes, address)                                                                    \
  do {                                                                                                                 \
    self->offers |= (kind) == assist_request_descriptor && SPLIT_DESCRIPTORS ? dma_offers_of_descriptor(true)          \
                                                                             : dma_offers_of_memory(true);             \
    self->offer_kind = (kind);                                                                                         \
    self->offer_slot = (kind) == assist_request_descriptor ? 0 : self->at_memory;                                      \
    self->offer_op = (op);                                                                                             \
    self->offer_bytes = (uint8_t)(bytes);                                                                              \
    self->offer_address = (address);                                                                                   \
    if ((op) == mem_op_read) memset(&self->offer_data, 0, sizeof self->offer_data);                                    \
  } while (0)

// ---- Descriptors -----------------------------------------------------------------------------------------------

// The offsets of a descriptor's fields; host_high is negative when there is none.
typedef struct {
  int64_t control, checksum, host_high, host_low, address, length;
  bool big_endian;
} dma_layout;

// Bytes of a descriptor that are read: up to the end of the last field, in whole words of memory.
static inline uint32_t dma_read_bytes(dma_layout at) {
  const int64_t ends[] = {at.control + 4,  at.checksum + 4, at.host_high + 4,
                          at.host_low + 4, at.address + 4,  at.length + 2};
  int64_t end = 0;
  for (int k = 0; k < (int)(sizeof ends / sizeof ends[0]); k++) end = ends[k] > end ? ends[k] : end;
  return ((uint32_t)end + 7) & ~7u;
}

// Fills in what the descriptor in `raw` says.
static inline void dma_take_descriptor(dma_transfer *next, const uint8_t *raw, dma_layout at) {
  next->control = assist_field(raw, (uint32_t)at.control, 4, at.big_endian);
  next->host = assist_field(raw, (uint32_t)at.host_low, 4, at.big_endian);
  if (at.host_high >= 0) next->host |= (uint64_t)assist_field(raw, (uint32_t)at.host_high, 4, at.big_endian) << 32;
  next->address = assist_field(raw, (uint32_t)at.address, 4, at.big_endian);
  next->length = assist_field(raw, (uint32_t)at.length, 2, at.big_endian);
  next->checksum_address = assist_field(raw, (uint32_t)at.checksum, 4, at.big_endian);
}

// ---- Transfers -------------------------------------------------------------------------------------------------

// Nothing has been done of what it says.
static inline void dma_begin(dma_transfer *next) {
  next->start_address = next->reply_address = next->address;
  next->start_host = next->host;
  next->memory_left = next->reply_left = next->bus_left = next->length;
}

// It wraps in a window that it begins in.
static inline void dma_wrap(dma_transfer *next, uint32_t base, uint32_t limit) {
  if (next->address < base || next->address >= limit) return;
  next->base = base;
  next->limit = limit;
}

// The bytes of its next piece on the bus, at most `most`.  Words are those of the host's memory, so one that the
// transfer begins within is a piece by itself, whose bytes keep their order; all other pieces begin with a word.
static inline uint32_t dma_next_piece(const dma_transfer *of, int64_t most, bool word_values) {
  const uint32_t length = assist_min((uint32_t)most, of->bus_left), within = of->host & 3;
  return __builtin_expect(within && word_values, 0) ? assist_min(length, 4 - within) : length;
}

// Adds bytes of a transfer to a checksum: its own, or, when checksums go on from one transfer to the next and it begins
// none, that of the transfer before, which is in `sum` and `odd`.
static inline void dma_sum(dma_transfer *of, assist_run bytes, uint32_t count, bool go_on, uint32_t *sum, bool *odd) {
  if (!of->stores_checksum && !(go_on && of->begins_checksum)) return;
  if (go_on && !of->summed && !of->begins_checksum) of->sum = *sum, of->odd = *odd;
  of->summed = true;
  *sum = of->sum = assist_run_sum(of->sum, of->odd, bytes, count);
  *odd = of->odd ^= count & 1;
}

// Whether the checksum has still to be stored: until then no later transfer refers to memory.
static inline bool dma_sum_due(const dma_transfer *of) {
  return of->stores_checksum && of->ring >= 0 && !of->failed && !of->sum_stored;
}

// The stages a transfer is in; a set: it has requests to make; requests outstanding; the host's next beat is for
// it; it has bytes to be requested from, or sent on, the bus; outward: it was sent and is not confirmed; it is not
// known whether it is good.
enum { DMA_AT_MEMORY = 1, DMA_AT_REPLY = 2, DMA_AT_DATA = 4, DMA_AT_BUS = 8, DMA_AT_SENT = 16, DMA_AT_UNKNOWN = 32 };

static inline uint32_t dma_stages(const dma_transfer *of, bool outward) {
  uint32_t stages = 0;
  if (of->memory_left || (dma_sum_due(of) && !of->dropped)) stages |= DMA_AT_MEMORY;
  if (of->reply_left || of->sum_waiting) stages |= DMA_AT_REPLY;
  if (outward ? of->bus_left || !of->confirmed : of->bus_coming != 0) stages |= DMA_AT_DATA;
  if (of->bus_left || of->bus_now) stages |= DMA_AT_BUS;
  if (outward && of->bus_left == 0 && of->bus_now == 0 && !of->confirmed) stages |= DMA_AT_SENT;
  if (outward && (!of->confirmed || (of->failed && !of->dropped))) stages |= DMA_AT_UNKNOWN;
  return stages;
}

// Whether nothing of it is left to do but to write registers.
static inline bool dma_has_ended(const dma_transfer *of, bool outward) {
  return of->memory_left == 0 && of->reply_left == 0 && of->bus_left == 0 && of->bus_now == 0 && of->bus_coming == 0 &&
         (of->confirmed || !outward) && (!dma_sum_due(of) || of->dropped);
}

#endif
