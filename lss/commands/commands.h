// The subcommands of lss.  argv[0] is the subcommand's name; the result is the exit status: 0 fine, 1 errors in the
// input, 2 wrong command line, 3 the compiler's own failure.
#ifndef LSS_COMMANDS_H
#define LSS_COMMANDS_H

#include <glib.h>

typedef struct {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *usage, *help;
} Command;

// The commands, one after the other; NULL behind the last (main.c).
const Command *command_at(guint index);

int command_build(int argc, char **argv);      // command_build.c
int command_run(int argc, char **argv);        // command_build.c
int command_schedule(int argc, char **argv);   // command_schedule.c
int command_completion(int argc, char **argv); // command_completion.c
int command_server(int argc, char **argv);     // command_server.c
int command_check(int argc, char **argv);      // command_check.c
int command_list(int argc, char **argv);       // command_list.c
int command_doc(int argc, char **argv);        // command_doc.c
int command_graph(int argc, char **argv);      // command_graph.c
int command_fmt(int argc, char **argv);        // command_fmt.c
int command_explain(int argc, char **argv);    // command_explain.c
int command_export(int argc, char **argv);     // command_export.c
int command_cache(int argc, char **argv);      // command_cache.c

#endif
