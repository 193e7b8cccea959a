// The files that the streams of a run have open, in a checkpoint and back.
#ifndef SPINACH_OPEN_FILES_H
#define SPINACH_OPEN_FILES_H

#include <glib.h>
#include <stdbool.h>

// What is known of one: whose state holds the stream, where in it, and for outputs how many bytes are written.
#define OPEN_FILES_TYPE "a(stbayt)" // instance, offset in its state, whether it is an output, name, bytes

// All that are open; outputs are flushed.  On failure sets *error.  The caller owns what is returned.
GVariant *open_files_describe(GError **error);

// After the state of a checkpoint took the place of the one that opened this process's files: joins its streams to
// these.  `inputs` are what it had read then, with digests, as CHECKPOINT_PAIRS_TYPE.  With `go_on`, outputs begin with
// what they held then.
bool open_files_join(GVariant *files, GVariant *inputs, bool go_on, GError **error);

// Another process goes on with the files: how far each output has come, which is not where its stream is in a run that
// went back.
#define OPEN_OUTPUTS_TYPE                                                                                              \
  "a(stayt)" // instance, offset in its state, where it grows (empty: in place), bytes or packets
GVariant *open_files_hand_over(GError **error);
// Takes over what they hold, and removes them; call when the streams are joined.
bool open_files_take_over(GVariant *outputs, GError **error);

// Whether a stream in the state is open on the file of this name.
bool open_files_has(const char *name);

#endif
