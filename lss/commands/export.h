// The resolved netlist as JSON, for tools outside the compiler: register headers, memory maps, reports.
// docs/language.md lists the command; the keys are described at the top of export.c.
#ifndef LSS_EXPORT_H
#define LSS_EXPORT_H

#include "lss/elab/netlist.h"

#include "lss/runtime/text/json.h"

// Writes the whole netlist as JSON, of which little is in memory at a time; false, with errno, when that fails.
bool export_netlist(const Netlist *netlist, FILE *out);

// Parts of it (export_behaviour.c): members of an instance's object, and of the netlist's.
void export_instance_behaviour(Json *json, const Instance *instance);
void export_instrumentation(Json *json, const Netlist *netlist);

#endif
