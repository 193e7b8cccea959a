// What a run was made of: machine, versions, parameters, seed, and the contents of its inputs.
#ifndef SPINACH_MANIFEST_H
#define SPINACH_MANIFEST_H

#include "lss/runtime/run/options.h"
#include "lss/runtime/text/json.h"

// Appends the manifest as one JSON object; statistics.h lists its keys.
void spinach_manifest_write(Json *json, const spinach_options *options);

// Notes what a run does with the files that its options name, with itself and with what it was built of.  False after a
// line when one is used for something else too.
bool spinach_files_claim(const spinach_options *options);

// Reads the inputs that the run has when it has started; likewise.
bool spinach_manifest_inputs(void);

// The file of an input and its SHA-256, of an image that of its blocks (stream_private.h); NULL beyond the last.
const char *spinach_manifest_input(uint32_t index, const char **sha256);

#endif
