// Runs of pages; see pages.h.  zstd's fastest level: pages of simulated memory are mostly alike, and a run is to be
// written while its user waits.
#include "lss/runtime/checkpoint/pages.h"
#include "lss/runtime/checkpoint/resident.h"
#include "lss/runtime/files/sha256.h"
#include "lss/runtime/files/whole_file.h"
#include "lss/runtime/text/refusal.h"

#include <string.h>
#include <unistd.h>
#include <zstd.h>

enum { LEVEL = 1, LONGEST_RUN = 1 << 20 }; // bytes of a run, so that no more are in memory twice

bool pages_is_zero(const guint8 *page, gsize size) {
  return page[0] == 0 && memcmp(page, page + 1, size - 1) == 0;
}

void pages_append_compressed(GByteArray *file, const void *bytes, gsize size) {
  const gsize bound = ZSTD_compressBound(size), before = file->len;
  g_byte_array_set_size(file, (guint)(before + bound));
  const gsize length = ZSTD_compress(file->data + before, bound, bytes, size, LEVEL);
  g_assert(!ZSTD_isError(length)); // only for want of room, of which there is as much as it says
  g_byte_array_set_size(file, (guint)(before + length));
}

bool pages_decompress(void *bytes, gsize size, const void *compressed, gsize length) {
  return ZSTD_decompress(bytes, size, compressed, length) == size;
}

void pages_sum(PageRun *run, const guint8 *before, const guint8 *compressed) {
  struct sha256_ctx sum;
  sha256_init(&sum);
  sha256_update(&sum, PAGES_SUM, before);
  sha256_update(&sum, G_STRUCT_OFFSET(PageRun, sum), (const uint8_t *)run);
  sha256_update(&sum, run->compressed, compressed);
  sha256_digest(&sum, PAGES_SUM, run->sum);
}

// ---- Writing
// ---------------------------------------------------------------------------------------------------------

typedef struct {
  int handle;
  ZSTD_CCtx *context;
  guint8 *packed;
  PageRun run; // the latest
} Writer;

static bool write_run(Writer *writer, const guint8 *memory, gsize offset, gsize size, GError **error) {
  PageRun run = {.offset = offset, .size = size};
  const gsize bound = ZSTD_compressBound(LONGEST_RUN);
  const gsize length =
      size ? ZSTD_compressCCtx(writer->context, writer->packed, bound, memory + offset, size, LEVEL) : 0;
  if (ZSTD_isError(length)) return spinach_refuse(error, "%s", ZSTD_getErrorName(length));
  run.compressed = length;
  pages_sum(&run, writer->run.sum, writer->packed);
  writer->run = run;
  return whole_file_append(writer->handle, &run, sizeof run, error) &&
         whole_file_append(writer->handle, writer->packed, length, error);
}

static bool write_runs(Writer *writer, const guint8 *memory, gsize size, GError **error) {
  const gsize page = (gsize)sysconf(_SC_PAGESIZE);
  ResidentPages resident;
  bool fine = true;
  resident_begin(&resident, memory, size);
  for (gsize at = resident_next(&resident, 0), end; fine && at < size; at = resident_next(&resident, end)) {
    end = at;
    while (end < size && end - at < LONGEST_RUN && resident_next(&resident, end) == end &&
           !pages_is_zero(memory + end, page))
      end += page;
    if (end > at)
      fine = write_run(writer, memory, at, end - at, error);
    else
      end += page;
  }
  resident_end(&resident);
  return fine && write_run(writer, memory, size, 0, error);
}

bool pages_write(const guint8 *memory, gsize size, const guint8 *sum, int handle, GError **error) {
  Writer writer = {
      .handle = handle, .context = ZSTD_createCCtx(), .packed = g_try_malloc(ZSTD_compressBound(LONGEST_RUN))};
  memcpy(writer.run.sum, sum, PAGES_SUM);
  const bool fine = writer.context && writer.packed ? write_runs(&writer, memory, size, error)
                                                    : spinach_refuse(error, "out of memory");
  ZSTD_freeCCtx(writer.context);
  g_free(writer.packed);
  return fine;
}

// ---- Reading
// ---------------------------------------------------------------------------------------------------------

bool pages_expand(const guint8 *runs, gsize length, const guint8 *sum, guint8 *memory, gsize size, GError **error) {
  gsize at = 0, behind = 0;
  PageRun run = {.size = 1}, same;
  memcpy(same.sum, sum, PAGES_SUM);
  while (run.size) {
    if (length - at < sizeof run) return spinach_refuse(error, "it is cut off");
    memcpy(&run, runs + at, sizeof run);
    at += sizeof run;
    if (run.compressed > length - at) return spinach_refuse(error, "it is cut off");
    if (run.offset < behind || run.offset > size || run.size > size - run.offset || (!run.size && run.offset != size))
      return spinach_refuse(error, "it is damaged: its pages are not where the machine's state is");
    PageRun right = run;
    pages_sum(&right, same.sum, runs + at);
    if (memcmp(right.sum, run.sum, PAGES_SUM) != 0 ||
        (run.size && !pages_decompress(memory + run.offset, run.size, runs + at, run.compressed)))
      return spinach_refuse(error, "it is damaged: a checksum is not that of what it holds");
    at += run.compressed;
    behind = run.offset + run.size;
    same = run;
  }
  return at == length || spinach_refuse(error, "it is damaged: there are bytes after its end");
}
