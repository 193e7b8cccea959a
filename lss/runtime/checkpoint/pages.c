// Runs of pages; see pages.h.  zstd's fastest level: pages of simulated memory are mostly alike, and a run is to be
// written while its user waits.
#include "lss/runtime/checkpoint/pages.h"
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

GArray *pages_compress(const guint8 *memory, gsize size, GByteArray *file) {
  const gsize page = (gsize)sysconf(_SC_PAGESIZE);
  GArray *runs = g_array_new(FALSE, FALSE, sizeof(PageRun));
  for (gsize at = 0; at < size;) {
    gsize end = at;
    while (end < size && end - at < LONGEST_RUN && !pages_is_zero(memory + end, page)) end += page;
    if (end > at) {
      const guint before = file->len;
      pages_append_compressed(file, memory + at, end - at);
      PageRun run = {.offset = at, .size = end - at, .compressed = file->len - before};
      g_autofree char *sum = g_compute_checksum_for_data(G_CHECKSUM_SHA256, file->data + before, run.compressed);
      g_strlcpy(run.sha256, sum, sizeof run.sha256);
      g_array_append_val(runs, run);
    }
    at = MAX(end, at + page * (end == at));
  }
  return runs;
}

bool pages_expand(const GArray *runs, const guint8 *file, gsize length, guint8 *memory, gsize size, GError **error) {
  gsize at = 0, behind = 0;
  for (guint i = 0; i < runs->len; i++) {
    const PageRun *run = &g_array_index(runs, PageRun, i);
    if (run->compressed > length - at) return spinach_refuse(error, "it is cut off");
    if (run->offset < behind || run->offset > size || run->size > size - run->offset)
      return spinach_refuse(error, "it is damaged: its pages are not where the machine's state is");
    g_autofree char *sum = g_compute_checksum_for_data(G_CHECKSUM_SHA256, file + at, run->compressed);
    if (strcmp(sum, run->sha256) != 0 || !pages_decompress(memory + run->offset, run->size, file + at, run->compressed))
      return spinach_refuse(error, "it is damaged: a checksum is not that of what it holds");
    at += run->compressed;
    behind = run->offset + run->size;
  }
  return at == length || spinach_refuse(error, "it is damaged: there is something behind its end");
}
