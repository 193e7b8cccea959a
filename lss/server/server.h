// The language server: LSP over standard input and output.
#ifndef LSS_SERVER_H
#define LSS_SERVER_H

#include "lss/base/compile_options.h"

// Serves until the client says `exit` or closes the input; the exit status, 0 when `shutdown` came before.  `machines`
// (const char*) are checked in addition to what the client opens.
int server_run(const CompileOptions *options, const GPtrArray *machines);

#endif
