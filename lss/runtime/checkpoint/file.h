// A checkpoint's file, whatever machine it is of: its header and its pages.
#ifndef SPINACH_CHECKPOINT_FILE_H
#define SPINACH_CHECKPOINT_FILE_H

#include "lss/runtime/checkpoint/pages.h"

// One that was opened; its pages are in the bytes that it was made of.
typedef struct {
  GVariant *header; // a dictionary of the entries that format.h lists
  const guint8 *pages;
  gsize length;          // of the pages, in bytes
  guint8 sum[PAGES_SUM]; // of the header, which the pages follow
} CheckpointFile;

// Reads and checks the bytes of a file, which outlive *file.  On failure sets *error: a sentence about "it".
bool checkpoint_file_open(CheckpointFile *file, const guint8 *bytes, gsize size, GError **error);
void checkpoint_file_close(CheckpointFile *file);

// An entry of the header, which has one of each type that format.h lists.
GVariant *checkpoint_file_entry(const CheckpointFile *file, const char *key);

// Bytes of the state.
gsize checkpoint_file_size(const CheckpointFile *file);

// Puts the state into `memory`: as many bytes, all zero.  On failure sets *error, as above.
bool checkpoint_file_expand(const CheckpointFile *file, guint8 *memory, GError **error);

#endif
