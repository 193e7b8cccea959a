// Feeds mutations of a program file to the loader: each is either loaded and survives all questions, or is refused with
// one line that begins with the file's name.  Built with sanitizers by test_program.py; also a libFuzzer target when
// compiled with -fsanitize=fuzzer -DFUZZER.
//
//   loader_mutation FILE SEED COUNT
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/image.h"
#include "program/program.h"

static gboolean try_bytes(const guint8 *bytes, gsize size, ProgramFormat format, unsigned *loaded) {
  g_autoptr(GError) error = NULL;
  g_autoptr(Program) p = program_parse("mutant", g_memdup2(bytes, size), size, format, &error);
  if (p == NULL) {
    gboolean fine = g_str_has_prefix(error->message, "mutant: ") && strchr(error->message, '\n') == NULL;
    if (!fine) fprintf(stderr, "bad message: %s\n", error->message);
    return fine;
  }
  ++*loaded;
  gsize count, n;
  volatile guint32 sum = 0;
  const ProgramSegment *segments = program_segments(p, &count);
  for (n = 0; n < count; n++)
    for (guint32 k = 0; k < segments[n].loaded; k++) sum += segments[n].bytes[k];
  const ProgramSymbol *symbols = program_symbols(p, &count);
  for (n = 0; n < count; n++) sum += (guint32)strlen(symbols[n].name);
  for (guint32 k = 0; k < 64; k++) g_free(program_describe(p, program_entry(p) + 4 * k));
  return TRUE;
}

#ifdef FUZZER
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  unsigned loaded = 0;
  if (!try_bytes(bytes, size, PROGRAM_ELF, &loaded) || !try_bytes(bytes, size, PROGRAM_RAW, &loaded)) abort();
  return 0;
}
#else
// Whether an image ends behind the last of its program's segments.
static gboolean image_ends(const guint8 *bytes, gsize size) {
  char error[200];
  ProgramImage *image = program_image_open("original", bytes, size, error, sizeof error);
  g_autoptr(Program) p = program_parse("original", g_memdup2(bytes, size), size, PROGRAM_ELF, NULL);
  if (image == NULL || p == NULL) return FALSE;
  gsize count, n = 0;
  program_segments(p, &count);
  guint32 address, loaded;
  const guint8 *content;
  while (n <= count && program_image_segment(image, n, &address, &content, &loaded)) n++;
  program_image_free(image);
  return n == count;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  g_autofree char *original = NULL;
  gsize size;
  if (!g_file_get_contents(argv[1], &original, &size, NULL)) return 2;
  if (!image_ends((const guint8 *)original, size)) {
    fprintf(stderr, "the image of %s has another number of segments\n", argv[1]);
    return 1;
  }
  g_autoptr(GRand) random = g_rand_new_with_seed((guint32)strtoul(argv[2], NULL, 0));
  unsigned count = (unsigned)strtoul(argv[3], NULL, 0), loaded = 0;
  for (unsigned n = 0; n < count; n++) {
    g_autofree guint8 *bytes = g_memdup2(original, size);
    gsize length = g_rand_double(random) < 0.2 ? (gsize)(g_rand_double(random) * (double)size) : size;
    // Headers and tables are a small part of a file: half of the changes go to its first and last kilobyte.
    for (int changes = g_rand_int_range(random, 1, 9); changes > 0 && length > 0; changes--) {
      gsize span = length < 1024 || g_rand_boolean(random) ? length : 1024;
      gsize at = (gsize)(g_rand_double(random) * (double)span);
      if (g_rand_boolean(random)) at = length - 1 - at;
      static const guint8 values[] = {0, 1, 0x7f, 0x80, 0xff};
      bytes[at] = g_rand_boolean(random) ? values[g_rand_int_range(random, 0, 5)] : (guint8)g_rand_int(random);
    }
    if (!try_bytes(bytes, length, PROGRAM_ELF, &loaded) || !try_bytes(bytes, length, PROGRAM_RAW, &loaded)) {
      fprintf(stderr, "mutation %u of seed %s\n", n, argv[2]);
      return 1;
    }
  }
  printf("%u of %u loaded\n", loaded, 2 * count);
  return 0;
}
#endif
