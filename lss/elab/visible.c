// Connections whose signals stay visible in the simulator, for waves (lss build --wave): generated code keeps them in
// memory, where all others are local variables of its functions.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/elaborate.h"
#include "lss/runtime/text/pattern.h"

#include <string.h>

// Ports by their names without lanes, for a suggestion.
static GPtrArray *port_names(void) {
  GPtrArray *names = g_ptr_array_new();
  for (guint i = 0; i < compile->netlist->leaves->len; i++) {
    const Instance *leaf = compile->netlist->leaves->pdata[i];
    for (guint k = 0; k < leaf->ports->len; k++)
      g_ptr_array_add(names, arena_printf("%s.%s", leaf->path, ((Port *)leaf->ports->pdata[k])->name));
  }
  return names;
}

void attach_wave(const char *text) {
  const char *file = g_intern_string("--wave"), *pattern = arena_strndup(text, spinach_port_part(text));
  diag_register_text(file, text);
  GPtrArray *connections = compile->netlist->connections;
  bool any = false;
  for (guint i = 0; i < connections->len; i++) {
    Connection *connection = connections->pdata[i];
    const bool matches = connection_matches(pattern, connection);
    connection->visible |= matches;
    any |= matches;
  }
  g_ptr_array_add(compile->netlist->waves, arena_strdup(text));
  if (any) return;
  g_autoptr(GPtrArray) names = port_names();
  const Location location = {file, 1, 1, 1, (int)strlen(text) + 1};
  problem(location, "no-match", "no port matches \"%s\"%s", pattern, did_you_mean(diag_suggestion(pattern, names)));
}
