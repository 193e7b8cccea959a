// What writing and reading recorded events agree on.
//
//   TraceStart, then its packed header: a vardict of GVariant with the entries below
//   TraceBlock, then its packed records (record.h), any number of times
//   TraceBlock of no bytes: the end, which only a whole file has
//
// Headers and blocks are packed by zstd, blocks with the checksum of their content.
#ifndef SPINACH_TRACE_FORMAT_H
#define SPINACH_TRACE_FORMAT_H

#include <glib.h>

#define TRACE_WORD "SPINTRCE"
enum { TRACE_FORMAT = 4, TRACE_CHECKSUM = 32, TRACE_BLOCK = 1 << 20 }; // bytes of a block's records, at most

// What is ahead of the header.
typedef struct {
  char word[8];
  guint64 unpacked, packed;        // bytes of the header
  guint8 checksum[TRACE_CHECKSUM]; // of the lengths and the packed header, SHA-256
} TraceStart;

// What is ahead of each block.
typedef struct {
  guint32 packed, unpacked; // bytes; both are 0 at the end
  guint64 start;            // instant of which the first record says its distance; at the end, when recording ended
  guint64 total;            // at the end, bytes of the records of all blocks; else 0
  guint64 sum;              // trace_block_sum() of what is above
} TraceBlock;

// Entries of the header and their types.
#define TRACE_CLOCKS_TYPE   "a(sxxtb)" // name, frequency's numerator and denominator, ticks of a cycle, rounded
#define TRACE_VIEWS_TYPE    "a(ss)"    // debug views of processors: name, path of the instance
#define TRACE_PROGRAMS_TYPE "a(ayay)"  // executables: path, which is bytes, contents
#define TRACE_TYPES_TYPE                                                                                               \
  "a(ysutiua(sutxu))"                    // kind, name, bits, bytes, element or -1, length, members: name, type,
                                         // offset, value, bits; what a type contains is ahead of it
#define TRACE_SOURCES_TYPE "a(ssua(su))" // path, event, clock, arguments: name, type

// FNV-1a of what says how a block is to be read.
static inline guint64 trace_block_sum(const TraceBlock *block) {
  guint64 sum = 0xcbf29ce484222325u;
  const guint8 *bytes = (const guint8 *)block;
  for (gsize i = 0; i < G_STRUCT_OFFSET(TraceBlock, sum); i++) sum = (sum ^ bytes[i]) * 0x100000001b3u;
  return sum;
}

// The SHA-256 of the lengths and the packed header.
static inline void trace_checksum(const TraceStart *start, const guint8 *packed, guint8 *checksum) {
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  gsize length = TRACE_CHECKSUM;
  g_checksum_update(sum, (const guchar *)start, G_STRUCT_OFFSET(TraceStart, checksum));
  g_checksum_update(sum, packed, (gssize)start->packed);
  g_checksum_get_digest(sum, checksum, &length);
}

#endif
