// Checkpoints: all that a run needs to go on in another process, in one file.
//
// The file: the word "SPINACHK"; the lengths of the header, unpacked and packed; the SHA-256 of these and of the packed
// header; the header, a GVariant dictionary packed by zstd; and runs of pages (pages.h), one after the other, which are
// written as they are compressed.  All numbers are little-endian.  Whatever is wrong with a file is one line that
// begins with its name.
#ifndef SPINACH_CHECKPOINT_H
#define SPINACH_CHECKPOINT_H

#include "lss/runtime/engine/request.h"

// Writes the present state, at a boundary between instants, to options->checkpoint.  Prints a line and returns false
// when it cannot; what had that name is then still there.
bool spinach_checkpoint_write(const spinach_options *options);

// Where that is written, which the caller frees.  Of a part of a network, --checkpoint names a folder for all parts:
// the file is in a folder that has the instant as its name, so that what is of one instant is together.
char *spinach_checkpoint_file(const spinach_options *options);

// Writes the file's content to a descriptor; on failure sets *error: a reason.
bool spinach_checkpoint_append(const spinach_options *options, int handle, GError **error);

// Reads and checks options->restore, and puts the parameters and the seed that it names before those that were given.
// Prints a line and returns false when it is none, damaged, or of another machine.  Call before the run starts.
bool spinach_restore_read(spinach_options *options);

// Takes over the state, after the run has started as any other.
bool spinach_restore_state(const spinach_options *options);

// Whether that was all of the arena, with what collectors and conditions count.
bool spinach_restored_whole(void);

// The instant at which the run goes on: all before it are over, and no other.
uint64_t spinach_restored_until(void);

// As spinach_restore_read(), with the state unpacked into memory that this process and those that it forks map when
// they take it over.  Parameters and seed are left as they are.
bool spinach_restore_share(spinach_options *options);

// Only the state of options->restore, in a run that never starts.
bool spinach_restore_pages(spinach_options *options);

#endif
