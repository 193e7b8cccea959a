/* Fuzzes the reader of checkpoints: any bytes are one, or are refused with a sentence.  The checksum of the header is
   mended in every second input, so that what lies behind it is reached. */
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
  read_file(mended, size);
  return 0;
}
