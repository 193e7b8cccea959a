// Of a small machine the tables are in the unit of what runs once, which is the only one where nothing is optimised:
// reading headers and modules again for each unit takes longer than compiling it.
#include "lss/emit/emit.h"

#include <string.h>

// Bytes of a unit that is still small.  A larger one stays in the cache when only a table changes, which names the
// folder of the machine too; where nothing is optimised that is worth nothing.
enum { SMALL = 48 << 10 };

bool emit_is_joined(const Emitter *emitter) {
  // Collectors may have C that is for one place only.
  if (emitter->kinds->len != 1 || emitter->plan->netlist->collectors->len) return false;
  const Kind *kind = emitter->kinds->pdata[0];
  return !kind->record && !kind->parts && (emitter->unoptimised || strlen(kind->unit) <= SMALL);
}

char *emit_joined(Emitter *emitter) {
  const Kind *kind = emitter->kinds->pdata[0];
  const char *unit = kind->once ? kind->once : kind->unit;
  GString *out = g_string_new(NULL);
  emit_front(emitter, out);
  g_string_append_len(out, unit, (gssize)kind->head);
  g_autoptr(GHashTable) already = g_hash_table_new(NULL, NULL);
  GHashTableIter iter;
  gpointer type;
  g_hash_table_iter_init(&iter, kind->types);
  while (g_hash_table_iter_next(&iter, &type, NULL)) g_hash_table_add(already, type);
  emit_tables(emitter, out, already);
  g_string_append(out, unit + kind->head); // behind the tables, so that no macro of a module is in their way
  return g_string_free(out, FALSE);
}
