// lss check: all diagnostics of a machine, those of its schedule included, and nothing else.
#include "lss/commands/commands.h"
#include "lss/base/diagnostics.h"
#include "lss/build/options.h"
#include "lss/schedule/schedule.h"

int command_check(int argc, char **argv) {
  g_auto(Options) options = {0};
  if (!options_parse(argc, argv, &options, NULL, NULL, NULL)) return 2;
  if (!options.machine) return usage_error(argv[0], "which machine? give a .lss file");
  if (options.rest->len > 0)
    return usage_error(argv[0], "one machine at a time, not also %s", (char *)options.rest->pdata[0]);
  g_autoptr(Netlist) netlist = compile_netlist(options.machine, &options.compile);
  ScheduleOptions schedule_options = {0};
  g_autoptr(Schedule) schedule = netlist ? schedule_build(netlist, &schedule_options) : NULL;
  diag_flush();
  return schedule ? 0 : 1;
}
