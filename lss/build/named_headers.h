// The headers that the C of a machine read, for manifests and checkpoints: they are known when it is compiled.
#ifndef LSS_NAMED_HEADERS_H
#define LSS_NAMED_HEADERS_H

#include "lss/build/objects.h"
#include "lss/elab/netlist.h"

// A unit with the table spinach_headers (lss/runtime/engine/machine.h): what the units read beyond the machine's own
// files, the runtime and the system.  NULL when there is nothing.
Unit *named_headers(Toolchain *toolchain, const GPtrArray *units, const Netlist *netlist);

#endif
