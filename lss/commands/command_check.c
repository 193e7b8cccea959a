// lss check: all diagnostics of a machine, those of its schedule and of its C included, and nothing else.
#include "lss/base/diagnostics.h"
#include "lss/build/build.h"
#include "lss/commands/commands.h"
#include "lss/schedule/schedule.h"

#include <string.h>

static bool check_option(int argc, char **argv, int *index, gpointer data) {
  (void)argc;
  bool *netlist_only = data;
  return !strcmp(argv[*index], "--netlist-only") && (*netlist_only = true);
}

int command_check(int argc, char **argv) {
  BuildOptions build = {.argc = argc, .argv = argv};
  bool netlist_only = false;
  if (!options_parse(argc, argv, &build.options, check_option, &netlist_only, NULL)) return 2;
  const Options *options = &build.options;
  if (!options->machine) return usage_error(argv[0], "which machine? give a .lss file");
  if (options->rest->len > 0)
    return usage_error(argv[0], "one machine at a time, not also %s", (char *)options->rest->pdata[0]);
  Netlist *netlist = compile_netlist(options->machine, &options->compile);
  int status = netlist ? 0 : 1;
  if (netlist && !netlist_only) {
    status = build_check(&build, netlist);
  } else if (netlist) {
    ScheduleOptions schedule_options = {0};
    g_autoptr(Schedule) schedule = schedule_build(netlist, &schedule_options);
    status = schedule ? 0 : 1;
  }
  diag_flush();
  if (netlist) netlist_free(netlist);
  options_clear(&build.options);
  return status;
}
