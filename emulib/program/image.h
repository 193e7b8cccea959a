// What a program file puts into memory, for code that keeps clear of GLib: simulated memories load their contents with
// it. Errors are text, the same lines that program.h gives.
#ifndef EMULIB_IMAGE_H
#define EMULIB_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ProgramImage ProgramImage;

// An ELF file from its bytes (copied); NULL, and a line in `error`, when it is malformed.  `path` is for messages.
ProgramImage *program_image_open(const char *path, const uint8_t *bytes, size_t size, char *error, size_t error_size);
void program_image_free(ProgramImage *image);

// False, and a line in `error`, when the program is made for a newer instruction set than `set`; see program_runs_on().
bool program_image_runs_on(const ProgramImage *image, const char *set, char *error, size_t error_size);
bool program_image_big_endian(const ProgramImage *image);
uint32_t program_image_entry(const ProgramImage *image);
// The address of the first symbol with a name; false when there is none.
bool program_image_symbol(const ProgramImage *image, const char *name, uint32_t *address);
// Segment `index`, from 0 in ascending address order: its bytes in the file (zeros follow up to its size); false when
// there are no more.
bool program_image_segment(const ProgramImage *image, size_t index, uint32_t *address, const uint8_t **bytes,
                           uint32_t *loaded);
// Where the bytes of a segment that there is are in the file, and how many it has in memory.
void program_image_extent(const ProgramImage *image, size_t index, uint32_t *offset, uint32_t *size);

#endif
