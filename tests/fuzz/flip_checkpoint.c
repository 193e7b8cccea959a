// flip_checkpoint FILE COUNT SEED: the reader of checkpoints refuses FILE, which it takes, with any one bit changed,
// each time with one sentence.  Prints how many bits were changed.
#include "lss/runtime/checkpoint/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Whether these bytes are a checkpoint; *error says why not.
static bool is_checkpoint(const guint8 *bytes, gsize size, GError **error) {
  CheckpointFile file;
  if (!checkpoint_file_open(&file, bytes, size, error)) return false;
  g_autofree guint8 *memory = g_malloc0(checkpoint_file_size(&file));
  const bool fine = checkpoint_file_expand(&file, memory, error);
  checkpoint_file_close(&file);
  return fine;
}

int main(int argc, char **argv) {
  g_autofree char *bytes = NULL;
  gsize size;
  if (argc != 4 || !g_file_get_contents(argv[1], &bytes, &size, NULL)) return 2;
  g_autoptr(GError) none = NULL;
  if (!is_checkpoint((guint8 *)bytes, size, &none)) return 2;
  g_autoptr(GRand) rng = g_rand_new_with_seed((guint32)strtoul(argv[3], NULL, 10));
  const long count = strtol(argv[2], NULL, 10);
  for (long i = 0; i < count; i++) {
    const guint64 bit = ((guint64)g_rand_int(rng) << 32 | g_rand_int(rng)) % (8 * size);
    g_autoptr(GError) error = NULL;
    bytes[bit / 8] ^= (char)(1 << bit % 8);
    if (is_checkpoint((guint8 *)bytes, size, &error) || !error || strchr(error->message, '\n') ||
        !g_str_has_prefix(error->message, "it ")) {
      printf("bit %" G_GUINT64_FORMAT ": %s\n", bit, error ? error->message : "it is taken");
      return 1;
    }
    bytes[bit / 8] ^= (char)(1 << bit % 8);
  }
  printf("%ld\n", count);
  return 0;
}
