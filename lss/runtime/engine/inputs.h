// The files that a run reads, and what it does with others: each is used for one thing only.
#ifndef SPINACH_INPUTS_H
#define SPINACH_INPUTS_H

#include "lss/runtime/files/used_files.h"

#include <stdint.h>

// Notes what the run does with a file; false after a line when it is used for something else, too.
bool spinach_file_claim(const char *path, FileUse use, const char *user);

// Reads the inputs that the run has when it has started; likewise.
bool spinach_inputs_note(void);

// The file of an input and its SHA-256, of an image that of its blocks (stream_private.h); NULL beyond the last.
const char *spinach_input(uint32_t index, const char **sha256);
bool spinach_input_in_blocks(uint32_t index); // it is an image

#endif
