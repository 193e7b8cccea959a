// What each level of the hierarchy shows, in Graphviz's language and as JSON.
// A node is an instance, or an array of many that are connected alike, coloured by its clock domain; a box with a
// double border is hierarchical and leads to its own picture.  In JSON an edge is all the lanes between two ports; in
// pictures a line is all edges between two nodes, since a line for each of twenty register values would hide the
// machine.  The line's tooltip names them all.
#include "lss/commands/graph.h"

#include "lss/commands/graph_edges.h"
#include "lss/commands/graph_rows.h"
#include "lss/front/reference.h"
#include "lss/runtime/text/json.h"

#include <string.h>

// Colours of clock domains: light fills that keep black text readable and stay apart for colour-blind readers.
static const char *const domain_fills[] = {"#dbe9f6", "#fde3c8", "#dff0d8", "#f3dcec", "#fff5c2", "#e3e0f3"};

static bool has_keys(const GPtrArray *keys) {
  for (guint i = 0; i < keys->len; i++)
    if (keys->pdata[i]) return true;
  return false;
}

// "value[mac_state, stack_offset]": the port and the keys of its lanes.
static void add_end(GString *out, const char *port, const GPtrArray *keys) {
  g_string_append(out, port);
  if (!has_keys(keys)) return;
  for (guint i = 0; i < keys->len; i++)
    g_string_append_printf(out, "%s%s", i ? ", " : "[", keys->pdata[i] ? (char *)keys->pdata[i] : "");
  g_string_append_c(out, ']');
}

static void write_keys(Json *json, const char *name, const GPtrArray *keys) {
  if (!has_keys(keys)) return;
  json_open_member(json, name, '[');
  for (guint i = 0; i < keys->len; i++) json_string(json, keys->pdata[i]);
  json_close(json, ']');
}

static void level_free(gpointer data) {
  GraphLevel *level = data;
  g_free(level->dot);
  g_free(level->file);
  g_free(level);
}

enum {
  SHOWN_EDGES = 3, // connections of a line whose ports are named
  CROWDED = 60,    // a picture of more lines names ports in tooltips only: names would take most of it
  IN_A_ROW = 8     // more instances than these go from top to bottom, so that the picture fits a page
};

// A node's name within its picture: unique, and the same for levels that look alike.
static char *node_name(const Instance *level, const Instance *instance, const char *port) {
  return instance == level ? g_strdup_printf("port %s", port) : g_strdup(instance->name);
}

static void add_quoted(GString *out, const char *text) {
  g_string_append_c(out, '"');
  for (const char *p = text; *p; p++) {
    if (*p == '"' || *p == '\\') g_string_append_c(out, '\\');
    g_string_append_c(out, *p);
  }
  g_string_append_c(out, '"');
}

// The name of a file in a label of HTML.  What no picture can hold, bytes of no character and control characters, is
// shown as \xff and the like.
static char *file_markup(const char *name) {
  g_autoptr(GString) text = g_string_new(NULL);
  for (const char *p = name, *next; *p; p = next) {
    const gunichar c = g_utf8_get_char_validated(p, -1);
    const bool whole = c < (gunichar)-2 && c >= ' ' && (c < 0x7f || c > 0x9f) && c != 0xfffe && c != 0xffff;
    next = whole ? g_utf8_next_char(p) : p + 1;
    if (whole)
      g_string_append_len(text, p, next - p);
    else
      g_string_append_printf(text, "\\x%02x", (guchar)*p);
  }
  return g_markup_escape_text(text->str, (gssize)text->len);
}

// What leads to the picture of another level, a file in the same folder.
static void add_link(GString *dot, const char *file) {
  g_autofree char *escaped = g_uri_escape_string(file, NULL, FALSE);
  g_string_append(dot, "URL=");
  add_quoted(dot, escaped);
}

static void add_node(GString *dot, const Instance *instance, GHashTable *links) {
  const char *link = g_hash_table_lookup(links, instance);
  int domain = instance->clock ? instance->clock->id : 0;
  const char *sentence = reference_summary(instance->doc);
  g_string_append(dot, "  ");
  add_quoted(dot, instance->name);
  g_string_append(dot, " [label=");
  g_autofree char *label = g_strdup_printf("<<b>%s</b><br/><font point-size=\"11\" color=\"#444444\">%s</font>>",
                                           instance->name, instance->module_name);
  g_string_append(dot, label);
  g_string_append_printf(dot, ", fillcolor=\"%s\"", domain_fills[domain % (int)G_N_ELEMENTS(domain_fills)]);
  if (!instance->leaf) g_string_append(dot, ", peripheries=2");
  if (link) {
    g_string_append(dot, ", ");
    add_link(dot, link);
  }
  g_string_append(dot, ", tooltip=");
  add_quoted(dot, *sentence ? sentence : instance->module_name);
  g_string_append(dot, "];\n");
}

// The nodes of a picture (Instance*), an array that is drawn as one in the place of its first element.
static GPtrArray *nodes_of(const Instance *level, GHashTable *arrays) {
  GPtrArray *nodes = g_ptr_array_new();
  const Instance *before = NULL;
  for (guint i = 0; i < level->children->len; i++) {
    const Instance *child = graph_drawn_as(arrays, g_ptr_array_index(level->children, i));
    if (child != before) g_ptr_array_add(nodes, (gpointer)child);
    before = child;
  }
  return nodes;
}

static void add_nodes(GString *dot, const Instance *level, const GPtrArray *nodes, const GPtrArray *edges,
                      GHashTable *links) {
  for (guint i = 0; i < nodes->len; i++) add_node(dot, g_ptr_array_index(nodes, i), links);
  g_autoptr(GPtrArray) rows = graph_rows(level, nodes, edges);
  for (guint i = 0; i < rows->len; i++) {
    const GPtrArray *row = g_ptr_array_index(rows, i);
    g_string_append(dot, "  { rank=same;");
    for (guint k = 0; k < row->len; k++) {
      g_string_append_c(dot, ' ');
      add_quoted(dot, ((const Instance *)g_ptr_array_index(row, k))->name);
      g_string_append_c(dot, ';');
    }
    g_string_append(dot, " }\n");
  }
}

static void add_border_ports(GString *dot, const Instance *level, const GPtrArray *edges) {
  g_autoptr(GHashTable) done = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; edges && i < edges->len; i++) {
    const Edge *edge = g_ptr_array_index(edges, i);
    const char *port = edge->from == level ? edge->from_port : edge->to == level ? edge->to_port : NULL;
    if (!port || !g_hash_table_add(done, (gpointer)port)) continue;
    g_autofree char *name = node_name(level, level, port);
    g_string_append(dot, "  ");
    add_quoted(dot, name);
    g_string_append_printf(dot, " [label=\"%s\", shape=cds, fillcolor=\"#eeeeee\", tooltip=\"port %s\"];\n", port,
                           port);
  }
}

// A line of a picture: all edges between two nodes, in either direction.
typedef struct {
  char *from, *to; // names of the nodes; from is the source of the first edge
  bool forth, back;
  int edges, lanes;
  GString *shown;   // ports of the first few edges, one line each
  GString *tooltip; // ports of all edges
} Line;

static void line_free(gpointer data) {
  Line *line = data;
  g_free(line->from);
  g_free(line->to);
  g_string_free(line->shown, TRUE);
  g_string_free(line->tooltip, TRUE);
  g_free(line);
}

// What a picture says of a port: `in` and `out` say no more than the
// arrow does.
static const char *shown_port(const char *port) {
  return !strcmp(port, "in") || !strcmp(port, "out") ? "" : port;
}

static void line_add(Line *line, const Instance *level, const Edge *edge, bool forth) {
  line->forth |= forth;
  line->back |= !forth;
  line->lanes += edge->lanes;
  line->edges++;
  const char *from_port = edge->from == level ? "" : shown_port(edge->from_port),
             *to_port = edge->to == level ? "" : shown_port(edge->to_port);
  g_autoptr(GString) ports = g_string_new(*from_port ? from_port : to_port);
  if (*from_port && *to_port && strcmp(from_port, to_port) != 0)
    g_string_printf(ports, forth ? "%s → %s" : "%2$s ← %1$s", from_port, to_port);
  if (edge->lanes > 1) g_string_append_printf(ports, "%s×%d", ports->len ? " " : "", edge->lanes);
  if (line->edges <= SHOWN_EDGES && ports->len)
    g_string_append_printf(line->shown, "%s%s", line->shown->len ? "\\n" : "", ports->str);
  const char *from_name = edge->from == level ? level->module_name : edge->from->name;
  const char *to_name = edge->to == level ? level->module_name : edge->to->name;
  g_string_append_printf(line->tooltip, "%s%s.", line->edges > 1 ? "&#10;" : "", from_name);
  add_end(line->tooltip, edge->from_port, edge->from_keys);
  g_string_append_printf(line->tooltip, " to %s.", to_name);
  add_end(line->tooltip, edge->to_port, edge->to_keys);
}

// The lines of a picture, in the order in which their first edges were written.
static GPtrArray *lines_of(const Instance *level, const GPtrArray *edges) {
  GPtrArray *lines = g_ptr_array_new_with_free_func(line_free);
  g_autoptr(GHashTable) between = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; edges && i < edges->len; i++) {
    const Edge *edge = g_ptr_array_index(edges, i);
    g_autofree char *from = node_name(level, edge->from, edge->from_port);
    g_autofree char *to = node_name(level, edge->to, edge->to_port);
    g_autofree char *backwards = g_strdup_printf("%s\n%s", to, from);
    Line *line = g_hash_table_lookup(between, backwards);
    bool forth = !line || !strcmp(from, to);
    if (forth) {
      char *key = g_strdup_printf("%s\n%s", from, to);
      line = g_hash_table_lookup(between, key);
      if (line) {
        g_free(key);
      } else {
        line = g_new0(Line, 1);
        *line = (Line){g_strdup(from), g_strdup(to), .shown = g_string_new(NULL), .tooltip = g_string_new(NULL)};
        g_hash_table_insert(between, key, line);
        g_ptr_array_add(lines, line);
      }
    }
    line_add(line, level, edge, forth);
  }
  return lines;
}

static void add_line(GString *dot, const Line *line, bool labelled) {
  g_string_append(dot, "  ");
  add_quoted(dot, line->from);
  g_string_append(dot, " -> ");
  add_quoted(dot, line->to);
  g_string_append_printf(dot, " [dir=%s, ", line->back ? "both" : "forward");
  if (labelled && line->edges > SHOWN_EDGES)
    g_string_append_printf(dot, "label=\" %d connections \", ", line->edges);
  else if (labelled && line->shown->len)
    g_string_append_printf(dot, "label=\" %s \", ", line->shown->str);
  if (line->edges > 1) g_string_append_printf(dot, "weight=%d, ", line->edges); // keeps its ends close together
  g_string_append_printf(dot, "penwidth=%s, tooltip=\"%s\", labeltooltip=\"%s\"];\n", line->lanes > 1 ? "1.8" : "1",
                         line->tooltip->str, line->tooltip->str);
}

// The clocks of what a picture shows.
static GPtrArray *clocks_of(const Instance *level) {
  GPtrArray *clocks = g_ptr_array_new();
  for (guint i = 0; i < level->children->len; i++) {
    Clock *clock = ((const Instance *)g_ptr_array_index(level->children, i))->clock;
    if (clock && !g_ptr_array_find(clocks, clock, NULL)) g_ptr_array_add(clocks, clock);
  }
  return clocks;
}

// The title, and below it which colour is which clock where the machine has several.
static void add_title(GString *dot, const Netlist *netlist, const Instance *level, const char *title) {
  g_autoptr(GPtrArray) clocks = clocks_of(level);
  g_string_append_printf(dot, "label=<<table border=\"0\" cellspacing=\"4\"><tr><td colspan=\"%u\"><b>%s</b></td></tr>",
                         MAX(1, 2 * clocks->len), title);
  if (netlist->clocks->len > 1 && clocks->len) {
    g_string_append(dot, "<tr>");
    for (guint i = 0; i < clocks->len; i++) {
      const Clock *clock = g_ptr_array_index(clocks, i);
      const char *fill = domain_fills[clock->id % (int)G_N_ELEMENTS(domain_fills)];
      g_string_append_printf(dot, "<td border=\"1\" bgcolor=\"%s\" width=\"18\"></td><td align=\"left\">%s</td>", fill,
                             clock->name);
    }
    g_string_append(dot, "</tr>");
  }
  g_string_append(dot, "</table>>, ");
}

static char *level_dot(const Netlist *netlist, const Instance *level, const GPtrArray *edges, GHashTable *links,
                       bool expand) {
  GString *dot = g_string_new(NULL);
  const char *up = level->parent ? g_hash_table_lookup(links, level->parent) : NULL;
  g_autofree char *machine = g_path_get_basename(netlist->file), *title = file_markup(machine);
  g_autoptr(GHashTable) arrays = expand ? g_hash_table_new(NULL, NULL) : graph_arrays(level, edges, links);
  g_autoptr(GPtrArray) merged = graph_merged_edges(edges, arrays), lines = lines_of(level, merged),
                       nodes = nodes_of(level, arrays);
  const bool crowded = lines->len > CROWDED;
  g_string_append_printf(
      dot,
      "digraph machine {\n"
      "  graph [rankdir=%s, nodesep=%s, ranksep=0.4, fontname=\"Helvetica\", labelloc=t, fontsize=13, ",
      nodes->len > IN_A_ROW ? "TB" : "LR", crowded ? "0.15" : "0.25");
  add_title(dot, netlist, level, level->parent ? level->module_name : title);
  if (up) {
    add_link(dot, up);
    g_string_append(dot, ", tooltip=\"one level up\", ");
  }
  g_string_append(
      dot, "bgcolor=\"white\"];\n"
           "  node [shape=box, style=\"filled,rounded\", fontname=\"Helvetica\", fontsize=13, color=\"#555555\", "
           "margin=\"0.14,0.08\"];\n"
           "  edge [fontname=\"Helvetica\", fontsize=10, color=\"#555555\", fontcolor=\"#555555\", arrowsize=0.7];\n");
  add_border_ports(dot, level, merged);
  add_nodes(dot, level, nodes, merged, links);
  for (guint i = 0; i < lines->len; i++) add_line(dot, g_ptr_array_index(lines, i), !crowded);
  g_string_append(dot, "}\n");
  return g_string_free(dot, FALSE);
}

// The file of a level's picture: by module, with a number where levels of one module look different.
static char *picture_file(const Instance *instance, const char *stem, const char *suffix, GHashTable *taken) {
  if (!instance->parent) return g_strdup_printf("%s%s", stem, suffix);
  char *file = g_strdup_printf("%s.%s%s", stem, instance->module_name, suffix);
  for (int number = 2; g_hash_table_contains(taken, file); number++) {
    g_free(file);
    file = g_strdup_printf("%s.%s-%d%s", stem, instance->module_name, number, suffix);
  }
  g_hash_table_add(taken, g_strdup(file));
  return file;
}

GPtrArray *graph_levels(const Netlist *netlist, const GraphStyle *style) {
  g_autoptr(GHashTable) edges = graph_edges(netlist);
  // Deepest levels first, so that two levels which differ only in what is below them do differ in their links.
  g_autoptr(GHashTable) links = g_hash_table_new_full(NULL, NULL, NULL, g_free);
  g_autoptr(GHashTable) by_picture = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GHashTable) taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GPtrArray) shown = g_ptr_array_new(); // const Instance*
  for (guint i = netlist->instances->len; i-- > 0;) {
    const Instance *instance = g_ptr_array_index(netlist->instances, i);
    if (instance->leaf) continue;
    char *picture = level_dot(netlist, instance, g_hash_table_lookup(edges, instance), links, style->expand);
    const char *same = g_hash_table_lookup(by_picture, picture);
    if (same && instance->parent) {
      g_hash_table_insert(links, (gpointer)instance, g_strdup(same));
      g_free(picture);
      continue;
    }
    char *file = picture_file(instance, style->stem, style->suffix, taken);
    g_hash_table_insert(links, (gpointer)instance, file);
    g_hash_table_insert(by_picture, picture, file);
    g_ptr_array_insert(shown, 0, (gpointer)instance);
  }
  GPtrArray *levels = g_ptr_array_new_with_free_func(level_free);
  for (guint i = 0; i < shown->len; i++) {
    GraphLevel *level = g_new0(GraphLevel, 1);
    level->instance = g_ptr_array_index(shown, i);
    level->file = g_strdup(g_hash_table_lookup(links, level->instance));
    const GPtrArray *own = g_hash_table_lookup(edges, level->instance);
    level->dot = level_dot(netlist, level->instance, own, links, style->expand);
    g_ptr_array_add(levels, level);
  }
  return levels;
}

char *graph_json(const Netlist *netlist) {
  g_autoptr(GHashTable) edges = graph_edges(netlist);
  Json json;
  json_start(&json);
  json_open(&json, '[');
  for (guint i = 0; i < netlist->instances->len; i++) {
    const Instance *level = g_ptr_array_index(netlist->instances, i);
    if (level->leaf) continue;
    json_open(&json, '{');
    json_member(&json, "path", level->path);
    json_member(&json, "module", level->module_name);
    json_open_member(&json, "nodes", '[');
    for (guint k = 0; k < level->children->len; k++) {
      const Instance *child = g_ptr_array_index(level->children, k);
      json_open(&json, '{');
      json_member(&json, "name", child->name);
      json_member(&json, "module", child->module_name);
      json_member_bool(&json, "leaf", child->leaf != NULL);
      json_member(&json, "clock", child->clock ? child->clock->name : NULL);
      json_close(&json, '}');
    }
    json_close(&json, ']');
    json_open_member(&json, "edges", '[');
    const GPtrArray *list = g_hash_table_lookup(edges, level);
    for (guint k = 0; list && k < list->len; k++) {
      const Edge *edge = g_ptr_array_index(list, k);
      json_open(&json, '{');
      json_member(&json, "from", edge->from == level ? NULL : edge->from->name);
      json_member(&json, "from_port", edge->from_port);
      json_member(&json, "to", edge->to == level ? NULL : edge->to->name);
      json_member(&json, "to_port", edge->to_port);
      json_member_int(&json, "lanes", edge->lanes);
      write_keys(&json, "from_keys", edge->from_keys);
      write_keys(&json, "to_keys", edge->to_keys);
      json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
  }
  json_close(&json, ']');
  return json_finish(&json);
}
