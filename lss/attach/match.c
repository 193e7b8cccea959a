// What patterns and paths name in a netlist: connections, instances that have an event, an instance below another.
#include "lss/attach/instrument.h"
#include "lss/runtime/text/pattern.h"

#include <string.h>

bool connection_matches(const char *pattern, const Connection *connection) {
  const Port *ports[] = {connection->from, connection->to};
  const int lanes[] = {connection->from_lane, connection->to_lane};
  for (int side = 0; side < 2; side++) {
    g_autofree char *name = port_lane_text(ports[side], lanes[side]);
    g_autofree char *end = g_strdup_printf("%s.%s", ports[side]->instance->path, name);
    if (spinach_port_matches(pattern, end, lanes[side])) return true;
  }
  for (guint i = 0; i < connection->passages->len; i++) {
    const Passage *passage = connection->passages->pdata[i];
    if (spinach_port_matches(pattern, passage->text, passage->lane)) return true;
  }
  return false;
}

void attach_to_connections(Collector *collector) {
  GPtrArray *connections = compile->netlist->connections;
  for (guint i = 0; i < connections->len; i++)
    if (connection_matches(collector->pattern, connections->pdata[i]))
      g_ptr_array_add(collector->connections, connections->pdata[i]);
}

static int depth_of(const Instance *instance) {
  int depth = 0;
  for (; instance->parent; instance = instance->parent) depth++;
  return depth;
}

// Patterns are relative: what they match is below the instance, whose own subtree follows it in the list.
void attach_to_instances(Collector *collector, const Instance *from, GPtrArray *events, bool *any) {
  const GPtrArray *instances = compile->netlist->instances;
  const int depth = depth_of(from);
  for (guint i = (guint)from->id; i < instances->len; i++) {
    Instance *leaf = instances->pdata[i];
    if (leaf != from && depth_of(leaf) <= depth) break;
    if (!leaf->leaf) continue;
    if (!spinach_path_matches(collector->pattern, leaf->path)) continue;
    *any = true;
    for (guint e = 0; e < leaf->events->len; e++)
      g_ptr_array_add(events, (gpointer)((Event *)leaf->events->pdata[e])->name);
    if (find_event(leaf, collector->event)) g_ptr_array_add(collector->instances, leaf);
  }
}

Instance *find_instance(Instance *from, const char *path) {
  g_auto(GStrv) parts = g_strsplit(path, ".", -1);
  for (int i = 0; parts[i] && from; i++) {
    Instance *next = NULL;
    if (!*parts[i]) continue;
    for (guint c = 0; c < from->children->len && !next; c++)
      if (!strcmp(((Instance *)from->children->pdata[c])->name, parts[i])) next = from->children->pdata[c];
    from = next;
  }
  return from;
}
