// What writing and reading records of links agree on: all items that one link of a network in parts carried in a run.
//
//   LinkRecordStart, then the path of the link, the type of its items (item_value.h) and the paths of the parts that
//     send and receive them, and zeros up to a multiple of 8 bytes
//   for each item: a LinkRecordEntry, then the bytes of the item, and zeros up to a multiple of 8
//   LinkRecordEnd
//
// Numbers are little-endian.  Padding within items is zero, so that two runs that are equal write equal files.  The
// file gets its name when it is whole: a run that is killed leaves none.
#ifndef SPINACH_LINK_RECORD_FORMAT_H
#define SPINACH_LINK_RECORD_FORMAT_H

#include <stdint.h>

#define LINK_RECORD_WORD "SPINLINK"
enum {
  LINK_RECORD_FORMAT = 1,
  LINK_RECORD_HASH = 64,
  LINK_RECORD_REASON = 240,
  LINK_RECORD_SUM = 32,
  LINK_RECORD_TEXTS = 4,
  LINK_RECORD_MOST_TEXT = 1 << 16, // bytes of each text
  LINK_RECORD_MOST_ITEM = 1 << 16
};

typedef struct {
  char word[8];
  uint32_t format, item_size;
  char hash[LINK_RECORD_HASH];            // of the network
  uint64_t ticks_per_second, cut, begins; // ticks from `sent` to `arrives`, at least; the instant the run began at
  uint32_t sizes[LINK_RECORD_TEXTS];      // of the texts
} LinkRecordStart;

typedef struct {
  uint64_t sent, arrives; // instants
} LinkRecordEntry;

typedef struct {
  uint64_t count, until; // items; the instant before which the sender has sent all of them
  uint32_t failed, none; // 1: the sender had an error in that instant
  char reason[LINK_RECORD_REASON];
  uint8_t sum[LINK_RECORD_SUM]; // SHA-256 of all that is ahead of it
} LinkRecordEnd;

// Bytes from one entry to the next.
static inline uint32_t link_record_stride(uint32_t item_size) {
  return (uint32_t)sizeof(LinkRecordEntry) + (item_size + 7) / 8 * 8;
}

#endif
