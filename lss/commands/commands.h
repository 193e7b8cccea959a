// The subcommands of lss.  argv[0] is the subcommand's name; the result is the exit status: 0 fine, 1 errors in the
// input, 2 wrong command line, 3 the compiler's own failure.
#ifndef LSS_COMMANDS_H
#define LSS_COMMANDS_H

#include "lss/build/options.h"

#include <glib.h>

typedef struct {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *arguments; // what follows its name, without options
  const char *help;      // what it does, in one line
  OptionTables options;  // all that it takes but --help
} Command;

// The commands, one after the other; NULL behind the last (main.c).
const Command *command_at(guint index);

extern const Command command_build, command_run, command_check, command_list, command_doc, command_graph, command_fmt,
    command_schedule, command_explain, command_export, command_server, command_completion, command_cache, command_trace,
    command_packets;

#endif
