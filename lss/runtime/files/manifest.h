// What a run was made of: machine, versions, parameters, seed, and the contents of its inputs.
#ifndef SPINACH_MANIFEST_H
#define SPINACH_MANIFEST_H

#include "lss/runtime/engine/options.h"
#include "lss/runtime/text/json.h"

// Appends the manifest as one JSON object; statistics.h lists its keys.
void spinach_manifest_write(Json *json, const spinach_options *options);

// The file of an input and its SHA-256; NULL beyond the last.
const char *spinach_manifest_input(uint32_t index, const char **sha256);

#endif
