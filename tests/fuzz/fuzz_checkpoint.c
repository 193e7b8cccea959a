// Fuzzes the reader of checkpoints: any bytes are one, or are refused with a sentence.  The checksums of the header and
// of the pages are mended in every second input, so that what they cover is reached.
#include "lss/runtime/checkpoint/file.h"
#include "lss/runtime/checkpoint/format.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1 << 24 }; // bytes of a state that is unpacked

static void refused(GError *error) {
  if (!error || !g_str_has_prefix(error->message, "it ") || strchr(error->message, '\n')) abort();
  g_error_free(error);
}

static void read_file(const guint8 *bytes, gsize size) {
  CheckpointFile file;
  GError *error = NULL;
  if (!checkpoint_file_open(&file, bytes, size, &error)) {
    refused(error);
    return;
  }
  const gsize length = checkpoint_file_size(&file);
  g_autofree guint8 *memory = length <= LARGEST ? g_malloc0(length) : NULL;
  if (memory && !checkpoint_file_expand(&file, memory, &error)) refused(error);
  checkpoint_file_close(&file);
}

static void mend_pages(const guint8 *sum, guint8 *bytes, gsize size) {
  PageRun run = {.size = 1};
  for (gsize at = 0; run.size && size - at >= sizeof run; at += sizeof run + run.compressed) {
    memcpy(&run, bytes + at, sizeof run);
    run.compressed = MIN(run.compressed, size - at - sizeof run);
    pages_sum(&run, sum, bytes + at + sizeof run);
    memcpy(bytes + at, &run, sizeof run);
    sum = bytes + at + G_STRUCT_OFFSET(PageRun, sum);
  }
}

int LLVMFuzzerTestOneInput(const guint8 *bytes, size_t size) {
  read_file(bytes, size);
  CheckpointStart start;
  if (size < sizeof start) return 0;
  g_autofree guint8 *mended = g_memdup2(bytes, size);
  memcpy(&start, bytes, sizeof start);
  memcpy(start.word, CHECKPOINT_WORD, sizeof start.word);
  if (start.packed > size - sizeof start) start.packed = size - sizeof start;
  if (start.unpacked > LARGEST) start.unpacked = LARGEST;
  checkpoint_checksum(&start, mended + sizeof start, start.checksum);
  memcpy(mended, &start, sizeof start);
  const gsize header = sizeof start + start.packed;
  mend_pages(start.checksum, mended + header, size - header);
  read_file(mended, size);
  return 0;
}
