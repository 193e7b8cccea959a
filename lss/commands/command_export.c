// lss export M.lss [-o X.json]: the resolved netlist as JSON, to standard output unless -o says otherwise.
#include "lss/base/output.h"
#include "lss/build/options.h"
#include "lss/commands/commands.h"
#include "lss/commands/export.h"

#include <string.h>

static bool output_option(int argc, char **argv, int *index, gpointer data) {
  return g_str_has_prefix(argv[*index], "-o") && option_value(argc, argv, index, "-o", data);
}

int command_export(int argc, char **argv) {
  g_auto(Options) options = {0};
  const char *path = "-";
  if (!options_parse(argc, argv, &options, output_option, &path, NULL)) return 2;
  if (!options.machine || options.rest->len || !path)
    return usage_error(argv[0], "give one machine: lss export M.lss [-o X.json]");
  g_autoptr(Netlist) netlist = compile_netlist(options.machine, &options.compile);
  if (!netlist) return 1;
  g_autoptr(GPtrArray) sources = netlist_files(netlist);
  if (!output_spares_sources(argv[0], path, sources)) return 2;
  g_autofree char *text = export_netlist(netlist);
  return output_write(argv[0], path, text) ? 0 : 3;
}
