// lss server [-I DIR] [-D n=v] [M.lss...]: the language server for editors, on standard input and output.
#include "lss/build/options.h"
#include "lss/commands/commands.h"
#include "lss/server/server.h"

static const OptionSpec *const tables[] = {folder_options, machine_options, NULL};

static int server_command(int argc, char **argv) {
  g_auto(Options) options = {0};
  if (!options_parse(tables, argc, argv, &options, NULL, NULL, NULL)) return 2;
  if (options.machine) g_ptr_array_insert(options.rest, 0, (gpointer)options.machine);
  return server_run(&options.compile, options.rest);
}

const Command command_server = {"server", server_command, "[M.lss...]",
                                "language server for editors, on standard input and output (docs/editors.md)", tables};
