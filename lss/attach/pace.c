// The pace of wires: what `paced` ports rely on.
//
// An outport that says `paced` sends as fast as its items are acknowledged, so that its receiver models the line.  Each
// connection of it must therefore end at an inport that says `paced` too.  A module for items of any type has the pace
// of its receivers: what enters at a port of the type 'a is followed to those of its outports that have the type 'a.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/base/library.h"
#include "lss/elab/elaborate.h"

#include <string.h>

// What the receivers are that the items of a connection come to.
typedef struct {
  bool paced;          // one of them sets a pace
  const Port *unpaced; // the first that has none; NULL: there is no such
  GHashTable *visited; // Port* of modules for items of any type
} Receivers;

static void find_receivers(const Port *port, Receivers *found) {
  if (port->paced) {
    found->paced = true;
  } else if (!port->variable) {
    if (!found->unpaced) found->unpaced = port;
  } else if (g_hash_table_add(found->visited, (gpointer)port)) {
    const GPtrArray *ports = port->instance->ports;
    for (guint p = 0; p < ports->len; p++) {
      const Port *other = ports->pdata[p];
      if (!other->output || !other->variable || strcmp(other->variable, port->variable) != 0) continue;
      for (guint i = 0; i < other->lanes->len; i++)
        find_receivers(((const Connection *)other->lanes->pdata[i])->to, found);
    }
  }
}

// The port that needs a pace on the way of a connection: its outport, or that of a module around one of its ends.
static const Port *paced_port(const Connection *connection) {
  if (connection->from->paced) return connection->from;
  for (guint i = 0; i < connection->passages->len; i++) {
    const Passage *passage = connection->passages->pdata[i];
    if (passage->port->paced) return passage->port;
  }
  return NULL;
}

// The module that puts a line between ports, when the type comes with one: `X_cable` to `X_types.lss`.
static const char *line_module(const Type *type) {
  const Symbol *family = scope_find(compile->globals, arena_strndup(type->name, strcspn(type->name, "(")));
  if (!family || !family->file) return NULL;
  g_autofree char *base = g_path_get_basename(family->file->path);
  if (!g_str_has_suffix(base, "_types.lss")) return NULL;
  const char *name = arena_printf("%.*s_cable", (int)(strlen(base) - strlen("_types.lss")), base);
  g_autoptr(GPtrArray) folders = library_folders(compile->options, family->file->path);
  g_autofree char *path = library_find(folders, name);
  return path ? name : NULL;
}

static void report(const Connection *connection, const Port *port, const Port *receiver) {
  const char *line = line_module(connection->type);
  const char *repair = line ? arena_printf("put a line between them, such as `%s`", line) : "put a line between them";
  if (port->output)
    diag_error(connection->location, "wire-pace",
               "`%s.%s` sends as fast as it is acknowledged, and `%s.%s` sets no pace; %s", port->instance->path,
               port->name, receiver->instance->path, receiver->name, repair);
  else
    diag_error(connection->location, "wire-pace",
               "`%s.%s` is declared to set a pace, and `%s.%s`, to which it leads, sets none; %s", port->instance->path,
               port->name, receiver->instance->path, receiver->name, repair);
  diag_note(port->location, "`%s` is declared `paced` here", port->name);
  diag_note(receiver->location, "`%s` is declared here, without `paced`", receiver->name);
}

void check_pace(void) {
  for (guint i = 0; i < compile->netlist->connections->len; i++) {
    const Connection *connection = compile->netlist->connections->pdata[i];
    const Port *port = paced_port(connection);
    if (!port) continue;
    g_autoptr(GHashTable) visited = g_hash_table_new(NULL, NULL);
    Receivers found = {.visited = visited};
    find_receivers(connection->to, &found);
    if (!found.paced && found.unpaced) report(connection, port, found.unpaced);
  }
}
