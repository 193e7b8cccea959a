// Runs clang, the linker or another tool of their kind.
#ifndef LSS_TOOL_H
#define LSS_TOOL_H

#include "lss/build/toolchain.h"

typedef enum {
  TOOL_FINE,
  TOOL_REFUSED, // its input; the messages say why
  TOOL_FAILED,  // it did not get to its end: *messages is one line of ours that says why
} ToolResult;

// Runs the compiler or another program of its kind with these arguments; `what` is the work in words, "compiling
// root_0".
ToolResult tool_run(const Toolchain *toolchain, const char *program, const GPtrArray *arguments, const char *what,
                    char **messages);

#endif
