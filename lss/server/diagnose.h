// What `lss check` says of a machine, as the protocol's diagnostics.
#ifndef LSS_DIAGNOSE_H
#define LSS_DIAGNOSE_H

#include "lss/base/compile_options.h"
#include "lss/server/protocol.h"

typedef struct {
  const char *path;
  const CompileOptions *options;
  bool modules; // what clang says of the modules' C, and nothing else
} Diagnosis;

// Work of a job, `data` a Diagnosis.  The result has
//   files        canonical paths of all files that it depends on
//   machine      whether something is instantiated in it
//   fine         whether netlist and schedule are without errors
//   diagnostics  {path, diagnostic} each, the latter as the protocol has them
JsonValue *diagnose_work(gpointer data);

#endif
