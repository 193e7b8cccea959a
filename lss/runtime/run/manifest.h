// What a run was made of: machine, versions, parameters, seed, and the contents of its inputs.
#ifndef SPINACH_MANIFEST_H
#define SPINACH_MANIFEST_H

#include "lss/runtime/run/options.h"
#include "lss/runtime/text/json.h"

// Appends the manifest as one JSON object; document.h lists its keys.
void spinach_manifest_write(Json *json, const spinach_options *options);
// The same alone, for run directories.
char *spinach_manifest_json(const spinach_options *options);

// Notes what a run does with the files that its options name, with itself and with what it was built of.  False after a
// line when one is used for something else too.
bool spinach_files_claim(const spinach_options *options);

#endif
