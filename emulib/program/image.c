// image.c: program.h without GLib in its interface; see image.h.
#include "program/image.h"

#include <string.h>

#include "program/program.h"

struct ProgramImage {
  Program *program;
  const guint8 *file; // the program's, into which its segments point
};

ProgramImage *program_image_open(const char *path, const uint8_t *bytes, size_t size, char *error, size_t error_size) {
  g_autoptr(GError) failure = NULL;
  guint8 *file = g_memdup2(bytes, size);
  Program *program = program_parse(path, file, size, PROGRAM_ELF, &failure);
  if (!program) {
    g_strlcpy(error, failure->message, error_size);
    return NULL;
  }
  ProgramImage *image = g_new(ProgramImage, 1);
  image->program = program;
  image->file = file;
  return image;
}

void program_image_free(ProgramImage *image) {
  if (!image) return;
  program_free(image->program);
  g_free(image);
}

bool program_image_runs_on(const ProgramImage *image, const char *set, char *error, size_t error_size) {
  g_autoptr(GError) failure = NULL;
  if (program_runs_on(image->program, set, &failure)) return true;
  g_strlcpy(error, failure->message, error_size);
  return false;
}

bool program_image_big_endian(const ProgramImage *image) {
  return program_big_endian(image->program);
}

uint32_t program_image_entry(const ProgramImage *image) {
  return program_entry(image->program);
}

bool program_image_symbol(const ProgramImage *image, const char *name, uint32_t *address) {
  gsize count;
  const ProgramSymbol *symbols = program_symbols(image->program, &count);
  for (gsize n = 0; n < count; n++) {
    if (strcmp(symbols[n].name, name) != 0) continue;
    *address = symbols[n].address;
    return true;
  }
  return false;
}

bool program_image_segment(const ProgramImage *image, size_t index, uint32_t *address, const uint8_t **bytes,
                           uint32_t *loaded) {
  gsize count;
  const ProgramSegment *segments = program_segments(image->program, &count);
  if (index >= count) return false;
  *address = segments[index].address;
  *bytes = segments[index].bytes;
  *loaded = segments[index].loaded;
  return true;
}

void program_image_extent(const ProgramImage *image, size_t index, uint32_t *offset, uint32_t *size) {
  gsize count;
  const ProgramSegment *segment = &program_segments(image->program, &count)[index];
  *offset = (uint32_t)(segment->bytes - image->file);
  *size = segment->size;
}
