// Memory of one compilation.  Tree, values and netlist all live from the first line read until the netlist is freed, so
// they are taken from one arena and never freed one by one.
#ifndef LSS_ARENA_H
#define LSS_ARENA_H

#include <glib.h>

gpointer arena_alloc(gsize size); // zeroed
#define arena_new(type) ((type *)arena_alloc(sizeof(type)))

char *arena_strndup(const char *text, gsize length);
char *arena_strdup(const char *text); // NULL gives NULL
char *arena_printf(const char *format, ...) G_GNUC_PRINTF(1, 2);

// Containers that are freed with the arena.
GPtrArray *arena_array(void);
GArray *arena_garray(guint element_size);
GHashTable *arena_table(void); // string keys, borrowed

// Tables that most of their owners leave empty: made when the first entry is.
void arena_insert(GHashTable **table, const char *key, gpointer value);
static inline gpointer arena_lookup(GHashTable *table, const char *key) {
  return table ? g_hash_table_lookup(table, key) : NULL;
}

void arena_release(void);

#endif
