// What writing and reading checkpoints agree on; see checkpoint.h.
#ifndef SPINACH_CHECKPOINT_FORMAT_H
#define SPINACH_CHECKPOINT_FORMAT_H

#include "lss/runtime/checkpoint/pages.h"

#define CHECKPOINT_WORD "SPINACHK"
enum {
  CHECKPOINT_FORMAT = 10,
  CHECKPOINT_CHECKSUM = PAGES_SUM,
  CHECKPOINT_LARGEST = 1 << 30, // bytes of a header
};

// What is ahead of the header.
typedef struct {
  char word[8];
  guint64 unpacked, packed; // bytes of the header
  guint8 checksum[CHECKPOINT_CHECKSUM];
} CheckpointStart;

// Entries of the header and their types; names of files are bytes, not text.
#define CHECKPOINT_INSTANCES_TYPE "a(stu)"  // path, offset in the arena, number of its layout
#define CHECKPOINT_CLOCKS_TYPE    "a(sxx)"  // name, frequency's numerator and denominator
#define CHECKPOINT_PAIRS_TYPE     "a(ayay)" // parameters and their values; files and their SHA-256

// The SHA-256 of the lengths and the packed header.
void checkpoint_checksum(const CheckpointStart *start, const guint8 *packed, guint8 *checksum);

#endif
