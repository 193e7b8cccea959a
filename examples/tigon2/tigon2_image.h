// The firmware as the driver loads it: an ELF file, or an image as it is shipped, behind its version, start and load
// address.
#ifndef TIGON2_IMAGE_H
#define TIGON2_IMAGE_H

#include "emulib/program/image.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "tigon2_driver.h"

typedef struct {
  uint8_t *memory; // the program, by SRAM address
  size_t bytes;    // of it
  uint32_t begin, end, entry;
  char error[PATH_MAX + 512];
} driver_image;

// Copies a segment of the firmware.
static inline bool driver_place(driver_image *to, const char *path, uint32_t address, const uint8_t *bytes,
                                uint32_t size) {
  if (size == 0) return true;
  if (address < DRIVER_LOAD_BEGIN || address >= to->bytes || size > to->bytes - address) {
    snprintf(to->error, sizeof to->error, "%s: 0x%x bytes at 0x%x are outside the NIC's memory from 0x%x up to 0x%zx",
             path, size, address, DRIVER_LOAD_BEGIN, to->bytes);
    return false;
  }
  memcpy(to->memory + address, bytes, size);
  if (address < to->begin) to->begin = address & ~3u;
  if (address + size > to->end) to->end = address + size;
  return true;
}

// Loads the file at `path`; false, with a line in `error`, when it is no firmware.
static inline bool driver_load_image(driver_image *to, const char *path, const uint8_t *file, size_t size) {
  to->begin = UINT32_MAX;
  if (size >= 4 && memcmp(file, "\177ELF", 4) == 0) {
    ProgramImage *program = program_image_open(path, file, size, to->error, sizeof to->error);
    if (!program) return false;
    bool good = program_image_runs_on(program, "prijoff", to->error, sizeof to->error);
    if (good && !program_image_big_endian(program)) {
      good = false;
      snprintf(to->error, sizeof to->error, "%s: a Tigon-2 is big-endian, this program is little-endian", path);
    }
    uint32_t address = 0, loaded = 0;
    const uint8_t *bytes = NULL;
    for (size_t i = 0; good && program_image_segment(program, i, &address, &bytes, &loaded); i++)
      good = driver_place(to, path, address, bytes, loaded);
    to->entry = program_image_entry(program);
    program_image_free(program);
    return good;
  }
  if (size <= 12) {
    snprintf(to->error, sizeof to->error,
             "%s: neither an ELF file nor a version, a start and a load address with an image", path);
    return false;
  }
  to->entry = driver_load_big(file + 4, 4);
  return driver_place(to, path, driver_load_big(file + 8, 4), file + 12, (uint32_t)(size - 12));
}

#endif
