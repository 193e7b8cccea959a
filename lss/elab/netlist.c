// The netlist as a whole: made empty, asked, released.
#include "lss/elab/netlist.h"

#include "lss/base/arena.h"

#include <string.h>

Netlist *netlist_new(const char *file) {
  Netlist *netlist = arena_new(Netlist);
  netlist->file = g_intern_string(file);
  netlist->types = arena_array();
  netlist->clocks = arena_array();
  netlist->instances = arena_array();
  netlist->leaves = arena_array();
  netlist->connections = arena_array();
  netlist->collectors = arena_array();
  netlist->debug_views = arena_array();
  netlist->watches = arena_array();
  netlist->records = arena_array();
  netlist->waves = arena_array();
  netlist->derived = arena_array();
  netlist->balances = arena_array();
  netlist->drawn = arena_array();
  netlist->sources = arena_array();
  netlist->parts = arena_array();
  netlist->links = arena_array();
  return netlist;
}

guint64 instance_cut(const Instance *instance, guint64 ticks_per_second) {
  if (!instance->cut) return 0;
  const __int128 ticks = (__int128)instance->cut->num * ticks_per_second / instance->cut->den;
  return (guint64)MIN(ticks, G_MAXINT64);
}

StateField *instance_find_state(const Instance *instance, const char *name) {
  for (guint i = 0; instance->leaf && i < instance->state->len; i++) {
    StateField *field = instance->state->pdata[i];
    if (!strcmp(field->name, name)) return field;
  }
  for (guint i = 0; instance->elsewhere_state && i < instance->elsewhere_state->len; i++) {
    StateField *field = instance->elsewhere_state->pdata[i];
    if (!strcmp(field->name, name)) return field;
  }
  return NULL;
}

const char *const connection_events[CONNECTION_EVENTS] = {"transferred", "stalled", "cancelled", "idle"};

bool is_connection_event(const char *event) {
  for (guint i = 0; i < G_N_ELEMENTS(connection_events); i++)
    if (!strcmp(connection_events[i], event)) return true;
  return false;
}

Event *find_event(const Instance *instance, const char *name) {
  for (guint i = 0; i < instance->events->len; i++) {
    Event *event = instance->events->pdata[i];
    if (!strcmp(event->name, name)) return event;
  }
  return NULL;
}

const char *port_key(const Port *port, int lane) {
  const char *key = port->keys && lane < (int)port->keys->len ? port->keys->pdata[lane] : "";
  return *key ? key : NULL;
}

// The lanes below `end` that have the key.
static int lanes_with(const Port *port, const char *key, int end) {
  int count = 0;
  for (int lane = 0; lane < end; lane++) count += !strcmp(port->keys->pdata[lane], key);
  return count;
}

bool port_key_repeated(const Port *port, int lane) {
  const char *key = port_key(port, lane);
  return key && lanes_with(port, key, (int)port->keys->len) > 1;
}

char *port_lane_text_of(const Port *port, int lane, guint width) {
  const char *key = port_key(port, lane);
  if (key && port_key_repeated(port, lane))
    return g_strdup_printf("%s[%s.%d]", port->name, key, lanes_with(port, key, lane));
  if (key) return g_strdup_printf("%s[%s]", port->name, key);
  return width > 1 ? g_strdup_printf("%s[%d]", port->name, lane) : g_strdup(port->name);
}

char *port_lane_text(const Port *port, int lane) {
  return port_lane_text_of(port, lane, port->lanes->len);
}

GPtrArray *netlist_files(const Netlist *netlist) {
  GPtrArray *files = g_ptr_array_new();
  for (guint i = 0; i < netlist->sources->len; i++) g_ptr_array_add(files, netlist->sources->pdata[i]);
  for (guint i = 0; i < netlist->leaves->len; i++) {
    const LeafModule *leaf = ((Instance *)netlist->leaves->pdata[i])->leaf;
    g_ptr_array_add(files, (gpointer)leaf->c_file);
    if (leaf->header_file) g_ptr_array_add(files, (gpointer)leaf->header_file);
  }
  return files;
}

void netlist_free(Netlist *netlist) {
  (void)netlist; // all of it is in the arena
  arena_release();
}
