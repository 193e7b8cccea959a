// Patterns of paths, one language for collectors in a netlist and for options of a simulator.
#ifndef SPINACH_PATTERN_H
#define SPINACH_PATTERN_H

#include <stdbool.h>

// Whether a pattern matches a path: `*` anything within one name (its index apart), `[*]` any index, `**` any number of
// levels; `**.` may be no level at all, and `a.**` matches a too.
bool spinach_path_matches(const char *pattern, const char *path);

// Whether a pattern matches one end of a connection, "arb.in[3]" or "bank.value[base.1]", which is its lane number
// `lane`: "arb.in" means all lanes, "bank.value[3]" one by its number even when it is named by its key,
// "bank.value[base]" all lanes that have the key.
bool spinach_port_matches(const char *pattern, const char *end, int lane);

// How many characters of a pattern of signals, "arb.in[*].data.address", are about the port; the rest, which begins
// with ".data", ".enable" or ".ack", is one of its signals or a part of it.
unsigned long spinach_port_part(const char *pattern);

#endif
