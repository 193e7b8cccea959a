// The text of source files; see source.h.  Without an editor there is no overlay, and files are simply read.
#include "lss/base/source.h"

#include "emulib/program/input_file.h"

#include <stdlib.h>
#include <string.h>

static GHashTable *overlay; // canonical path -> char*
static void (*watcher)(const char *canonical, gpointer data);
static gpointer watcher_data;

char *source_canonical(const char *path) {
  char *resolved = realpath(path, NULL);
  return resolved ? resolved : g_canonicalize_filename(path, NULL);
}

void source_overlay(const char *canonical, const char *text) {
  if (!overlay) overlay = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  if (text)
    g_hash_table_insert(overlay, g_strdup(canonical), g_strdup(text));
  else
    g_hash_table_remove(overlay, canonical);
}

static const char *overlaid(const char *canonical) {
  return overlay ? g_hash_table_lookup(overlay, canonical) : NULL;
}

char *source_read(const char *path, gsize *length, GError **error) {
  g_autofree char *canonical = overlay || watcher ? source_canonical(path) : NULL;
  if (watcher) watcher(canonical, watcher_data);
  const char *text = canonical ? overlaid(canonical) : NULL;
  if (!text) return input_file_read(path, length, error);
  if (length) *length = strlen(text);
  return g_strdup(text);
}

bool source_exists(const char *path) {
  if (g_file_test(path, G_FILE_TEST_IS_REGULAR)) return true;
  if (!overlay || !g_hash_table_size(overlay)) return false;
  g_autofree char *canonical = source_canonical(path);
  return overlaid(canonical) != NULL;
}

void source_watch(void (*seen)(const char *canonical, gpointer data), gpointer data) {
  watcher = seen;
  watcher_data = data;
}
