// lss graph M.lss -o X.svg|X.dot|X.json: block diagrams.  Graphviz's `dot` lays the SVG pictures out.
#include "lss/base/output.h"
#include "lss/base/working.h"
#include "lss/build/options.h"
#include "lss/commands/commands.h"
#include "lss/commands/graph.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

static const OptionSpec own[] = {
    {"-o", "FILE", "where the picture goes; its end says what it is"},
    {"--expand", NULL, "draw each instance of an array, also of those that are connected alike"},
    {0},
};
static const OptionSpec *const tables[] = {own, folder_options, machine_options, NULL};

typedef struct {
  const char *path;
  bool expand;
} Chosen;

static bool graph_option(const char *command, const char *name, const char *value, gpointer data) {
  Chosen *chosen = data;
  if (strcmp(name, "--expand") != 0) return option_text(command, name, value, &chosen->path);
  chosen->expand = true;
  return true;
}

// The picture of one level through `dot`; NULL, after a line that says why, when that fails.
static char *render_svg(const char *dot_text) {
  g_autoptr(GError) error = NULL;
  g_autofree char *file = NULL;
  int handle = g_file_open_tmp("lss-graph-XXXXXX.dot", &file, &error);
  if (handle >= 0) g_close(handle, NULL);
  char *svg = NULL;
  g_autofree char *messages = NULL;
  int status = 0;
  char *command[] = {"dot", "-Tsvg", file, NULL};
  const bool written = file && g_file_set_contents(file, dot_text, -1, &error);
  const bool ran =
      written && g_spawn_sync(NULL, command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &svg, &messages, &status, &error);
  const bool drawn = ran && g_spawn_check_wait_status(status, &error);
  if (file) g_unlink(file);
  if (drawn) return svg;
  working_end();
  g_free(svg);
  if (!written)
    fprintf(stderr, "lss graph: %s\n", error->message);
  else if (!ran)
    fprintf(stderr, "lss graph: SVG pictures need Graphviz (apt-get install graphviz): %s\n", error->message);
  else
    fprintf(stderr, "lss graph: dot: %s: %s", error->message, messages);
  return NULL;
}

static int write_pictures(const char *command, const Netlist *netlist, const char *path, bool svg, bool expand) {
  const char *suffix = svg ? ".svg" : ".dot";
  g_autofree char *folder = g_path_get_dirname(path);
  g_autofree char *base = g_path_get_basename(path);
  base[strlen(base) - strlen(suffix)] = '\0';
  g_autoptr(GPtrArray) levels = graph_levels(netlist, &(GraphStyle){base, suffix, expand});
  working_begin("drawing", "levels", levels->len);
  for (guint i = 0; i < levels->len; i++, working_step()) {
    const GraphLevel *level = g_ptr_array_index(levels, i);
    g_autofree char *file = g_build_filename(folder, level->file, NULL);
    g_autofree char *text = svg ? render_svg(level->dot) : g_strdup(level->dot);
    if (!text || !output_write(command, file, text)) return 3;
  }
  working_end();
  g_autofree char *note =
      levels->len > 1 ? g_strdup_printf(" and %u more, a page for each level", levels->len - 1) : NULL;
  output_note(command, path, note ? note : "");
  return 0;
}

static int graph_command(int argc, char **argv) {
  g_auto(Options) options = {0};
  Chosen chosen = {0};
  if (!options_parse(tables, argc, argv, &options, graph_option, &chosen, NULL)) return 2;
  const char *path = chosen.path;
  if (!options.machine || options.rest->len || !path)
    return usage_error(argv[0], "give a machine and a file: lss graph M.lss -o X.svg|X.dot|X.json");
  bool svg = g_str_has_suffix(path, ".svg"), dot = g_str_has_suffix(path, ".dot"),
       json = g_str_has_suffix(path, ".json");
  if (!svg && !dot && !json) return usage_error(argv[0], "\"%s\" must end in .svg, .dot or .json", path);
  g_autoptr(Netlist) netlist = compile_netlist(options.machine, &options.compile);
  if (!netlist) return 1;
  if (!json) return write_pictures(argv[0], netlist, path, svg, chosen.expand);
  g_autofree char *text = graph_json(netlist);
  if (!output_write(argv[0], path, text)) return 3;
  output_note(argv[0], path, "");
  return 0;
}

const Command command_graph = {"graph", graph_command, "M.lss -o X.svg|X.dot|X.json",
                               "block diagram, one page per level of the hierarchy", tables};
