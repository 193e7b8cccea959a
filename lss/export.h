// The resolved netlist as JSON, for tools outside the compiler: register headers, memory maps, reports.
// docs/language.md lists the command; the keys are described at the top of export.c.
#ifndef LSS_EXPORT_H
#define LSS_EXPORT_H

#include "netlist.h"

// The whole netlist as JSON text, which the caller frees.
char *export_netlist(const Netlist *netlist);

#endif
