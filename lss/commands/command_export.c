// lss export M.lss [-o X.json]: the resolved netlist as JSON, to standard output unless -o says otherwise.
#include "lss/base/output.h"
#include "lss/base/working.h"
#include "lss/build/options.h"
#include "lss/commands/commands.h"
#include "lss/commands/export.h"

#include <string.h>

static const OptionSpec own[] = {
    {"-o", "FILE", "where it goes; without it, to standard output"},
    {0},
};
static const OptionSpec *const tables[] = {own, folder_options, machine_options, NULL};

static bool fill(FILE *out, void *netlist) {
  return export_netlist(netlist, out);
}

static int export_command(int argc, char **argv) {
  g_auto(Options) options = {0};
  const char *path = "-";
  if (!options_parse(tables, argc, argv, &options, option_text, &path, NULL)) return 2;
  if (!options.machine || options.rest->len || !path)
    return usage_error(argv[0], "give one machine: lss export M.lss [-o X.json]");
  g_autoptr(Netlist) netlist = compile_netlist(options.machine, &options.compile);
  if (!netlist) return 1;
  g_autoptr(GPtrArray) sources = netlist_files(netlist);
  if (!output_spares_sources(argv[0], path, sources)) return 2;
  working_begin("writing the netlist", NULL, 0);
  if (!output_fill(argv[0], path, fill, netlist)) return 3;
  working_end();
  output_note(argv[0], path, "");
  return 0;
}

const Command command_export = {"export", export_command, "M.lss [-o X.json]", "the resolved netlist as JSON", tables};
