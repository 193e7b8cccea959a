// lss server [-I DIR] [-D n=v] [M.lss...]: the language server for editors, on standard input and output.
#include "lss/build/options.h"
#include "lss/commands/commands.h"
#include "lss/server/server.h"

int command_server(int argc, char **argv) {
  g_auto(Options) options = {0};
  if (!options_parse(argc, argv, &options, NULL, NULL, NULL)) return 2;
  if (options.machine) g_ptr_array_insert(options.rest, 0, (gpointer)options.machine);
  return server_run(&options.compile, options.rest);
}
