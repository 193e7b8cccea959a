// From a machine to a simulator: compile_netlist(), schedule, emission, clang, link.
#ifndef LSS_BUILD_H
#define LSS_BUILD_H

#include "lss/build/options.h"
#include "lss/build/toolchain.h"
#include "lss/elab/netlist.h"

typedef struct {
  Options options;
  CompilerOptions compiler;
  bool collect_connections;
  bool single_cluster;
  bool parts;          // --parts: a simulator for each kind of part
  const char *kind;    // --kind: the only one of them that is built; and while one is built, which that is
  const char *output;  // -o
  const char *keep;    // --keep
  GPtrArray *training; // const char*, --pgo: options of runs for a profile; NULL without
} BuildOptions;

extern const OptionSpec debug_options[]; // of all commands that look at the C of modules
extern const OptionSpec build_options[];
extern const OptionSpec parts_options[]; // of commands that look at networks in parts

// Handles both, for options_parse(); `data` is a BuildOptions.
bool build_option(const char *command, const char *name, const char *value, gpointer data);

// Has the C of the machine's modules, userpoints and collectors checked by clang, after the schedule.  Returns the exit
// status; all diagnostics are printed.
int build_check(BuildOptions *build, Netlist *netlist);

// What is made from here on lives as long as the process.
void build_keep_memory(void);

// Compiles a netlist into the simulator `output`.  Returns the exit status; all diagnostics are printed.
int build_netlist(BuildOptions *build, Netlist *netlist, const char *output);

// build_parts.c: the same of a network in parts, into a folder, and the check of one.
int build_parts(BuildOptions *build);
int build_parts_check(BuildOptions *build, bool netlist_only);

// Compiles the machine; *output is the simulator's path.  Without -o it is in the cache.  Returns the exit status.
int build_simulator(BuildOptions *build, char **output);

#endif
