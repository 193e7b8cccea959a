// The linker, called as clang's driver would call it, which is asked once.
#ifndef LSS_LINKER_H
#define LSS_LINKER_H

#include "lss/build/tool.h"

#define LINKER_OBJECTS "-Wl,OBJECTS" // what stands for the objects in what the driver is given

// Does what the driver does with `words` and -o `made`.  Whatever is unexpected is left to the driver.
ToolResult linker_run(Toolchain *toolchain, const GPtrArray *words, const GPtrArray *objects, const char *made,
                      char **messages);

#endif
