// lss check: all diagnostics of a machine, and nothing else.
#include "lss/commands.h"
#include "lss/diagnostics.h"
#include "lss/options.h"

int command_check(int argc, char **argv) {
  g_auto(Options) options = {0};
  if (!options_parse(argc, argv, &options, NULL, NULL, NULL)) return 2;
  if (!options.machine) return usage_error(argv[0], "which machine? give a .lss file");
  if (options.rest->len > 0) return usage_error(argv[0], "one machine at a time, not also %s", (char *)options.rest->pdata[0]);
  g_autoptr(Netlist) netlist = compile_netlist(options.machine, &options.compile);
  diag_flush();
  return netlist ? 0 : 1;
}
