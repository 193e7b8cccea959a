// lss check: all diagnostics of a machine, those of its schedule and of its C included, and nothing else.
#include "lss/base/diagnostics.h"
#include "lss/base/working.h"
#include "lss/build/build.h"
#include "lss/commands/commands.h"
#include "lss/schedule/schedule.h"

#include <string.h>

static const OptionSpec own[] = {
    {"--netlist-only", NULL, "leave the C out, which takes the longest"},
    {0},
};
static const OptionSpec *const tables[] = {own, parts_options, debug_options, folder_options, machine_options, NULL};

typedef struct {
  BuildOptions build;
  bool netlist_only;
} CheckOptions;

static bool check_option(const char *command, const char *name, const char *value, gpointer data) {
  CheckOptions *check = data;
  if (strcmp(name, "--netlist-only") != 0) return build_option(command, name, value, &check->build);
  return check->netlist_only = true;
}

static int check_command(int argc, char **argv) {
  CheckOptions check = {0};
  if (!options_parse(tables, argc, argv, &check.build.options, check_option, &check, NULL)) return 2;
  const Options *options = &check.build.options;
  if (!options->machine) return usage_error(argv[0], "which machine? give a .lss file");
  if (options->rest->len > 0)
    return usage_error(argv[0], "one machine at a time, not also %s", (char *)options->rest->pdata[0]);
  if (check.build.parts) {
    const int status = build_parts_check(&check.build, check.netlist_only);
    working_end();
    diag_flush();
    options_clear(&check.build.options);
    return status;
  }
  Netlist *netlist = compile_netlist(options->machine, &options->compile);
  int status = netlist ? 0 : 1;
  if (netlist && !check.netlist_only) {
    status = build_check(&check.build, netlist);
  } else if (netlist) {
    ScheduleOptions schedule_options = {0};
    working_begin("scheduling", NULL, 0);
    g_autoptr(Schedule) schedule = schedule_build(netlist, &schedule_options);
    working_end();
    status = schedule ? 0 : 1;
  }
  diag_flush();
  if (netlist) netlist_free(netlist);
  options_clear(&check.build.options);
  return status;
}

const Command command_check = {"check", check_command, "M.lss",
                               "all diagnostics, no output: those of the netlist, its schedule and the modules' C",
                               tables};
