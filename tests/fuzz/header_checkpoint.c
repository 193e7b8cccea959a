// header_checkpoint FILE: what the reader of checkpoints says of FILE, which it takes, when its header lacks an entry
// or has one of another type, with a checksum that is right.  Prints a line for each: how it was changed, and what is
// said.
#include "lss/runtime/checkpoint/file.h"
#include "lss/runtime/checkpoint/format.h"
#include "lss/runtime/checkpoint/pages.h"

#include <stdio.h>
#include <string.h>

// The file with another header.
static GByteArray *with_header(const CheckpointFile *file, GVariant *header) {
  g_autoptr(GVariant) owned = g_variant_ref_sink(header);
  g_autoptr(GByteArray) packed = g_byte_array_new();
  pages_append_compressed(packed, g_variant_get_data(owned), g_variant_get_size(owned));
  CheckpointStart start = {.unpacked = g_variant_get_size(owned), .packed = packed->len};
  memcpy(start.word, CHECKPOINT_WORD, sizeof start.word);
  checkpoint_checksum(&start, packed->data, start.checksum);
  GByteArray *whole = g_byte_array_new();
  g_byte_array_append(whole, (const guint8 *)&start, sizeof start);
  g_byte_array_append(whole, packed->data, packed->len);
  g_byte_array_append(whole, file->pages, (guint)file->length);
  return whole;
}

static void try(const CheckpointFile *file, const char *how, const char *key, GVariant *instead) {
  g_auto(GVariantDict) dictionary = G_VARIANT_DICT_INIT(file->header);
  g_variant_dict_remove(&dictionary, key);
  if (instead) g_variant_dict_insert_value(&dictionary, key, instead);
  g_autoptr(GByteArray) bytes = with_header(file, g_variant_dict_end(&dictionary));
  g_autoptr(GError) error = NULL;
  CheckpointFile other;
  const bool fine = checkpoint_file_open(&other, bytes->data, bytes->len, &error);
  if (fine) checkpoint_file_close(&other);
  printf("%s %s: %s\n", how, key, fine ? "taken" : error->message);
}

int main(int argc, char **argv) {
  g_autofree char *bytes = NULL;
  gsize size;
  CheckpointFile file;
  g_autoptr(GError) error = NULL;
  if (argc != 2 || !g_file_get_contents(argv[1], &bytes, &size, NULL)) return 2;
  if (!checkpoint_file_open(&file, (const guint8 *)bytes, size, &error)) return 2;
  GVariantIter iterator;
  const char *key;
  GVariant *value;
  g_variant_iter_init(&iterator, file.header);
  while (g_variant_iter_loop(&iterator, "{&sv}", &key, &value)) {
    try(&file, "same", key, value);
    try(&file, "without", key, NULL);
    try(&file, "double", key, g_variant_new_double(1));
  }
  try(&file, "newer", "format", g_variant_new_uint32(CHECKPOINT_FORMAT + 1));
  checkpoint_file_close(&file);
  return 0;
}
