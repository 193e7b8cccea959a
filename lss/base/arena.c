// One bump allocator for everything that lives as long as a compilation.
#include "lss/base/arena.h"

#include <stdarg.h>
#include <string.h>

enum { BLOCK_SIZE = 256 * 1024 };

static GPtrArray *blocks, *arrays, *garrays, *tables;
static char *next_free;
static gsize left;

static void table_unref(gpointer table) {
  g_hash_table_unref(table);
}
static void array_unref(gpointer array) {
  g_ptr_array_unref(array);
}
static void garray_unref(gpointer array) {
  g_array_unref(array);
}

gpointer arena_alloc(gsize size) {
  size = (size + 7) & ~(gsize)7; // what is in it needs no more
  if (size > left) {
    gsize block = MAX(size, BLOCK_SIZE);
    if (!blocks) blocks = g_ptr_array_new_with_free_func(g_free);
    next_free = g_malloc0(block);
    left = block;
    g_ptr_array_add(blocks, next_free);
  }
  gpointer result = next_free;
  next_free += size;
  left -= size;
  return result;
}

char *arena_strndup(const char *text, gsize length) {
  char *copy = arena_alloc(length + 1);
  memcpy(copy, text, length);
  return copy;
}

char *arena_strdup(const char *text) {
  return text ? arena_strndup(text, strlen(text)) : NULL;
}

char *arena_printf(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  return arena_strdup(text);
}

GPtrArray *arena_array(void) {
  if (!arrays) arrays = g_ptr_array_new_with_free_func(array_unref);
  GPtrArray *array = g_ptr_array_new();
  g_ptr_array_add(arrays, array);
  return array;
}

GArray *arena_garray(guint element_size) {
  if (!garrays) garrays = g_ptr_array_new_with_free_func(garray_unref);
  GArray *array = g_array_new(FALSE, TRUE, element_size);
  g_ptr_array_add(garrays, array);
  return array;
}

GHashTable *arena_table(void) {
  if (!tables) tables = g_ptr_array_new_with_free_func(table_unref);
  GHashTable *table = g_hash_table_new(g_str_hash, g_str_equal);
  g_ptr_array_add(tables, table);
  return table;
}

void arena_insert(GHashTable **table, const char *key, gpointer value) {
  if (!*table) *table = arena_table();
  g_hash_table_insert(*table, (gpointer)key, value);
}

void arena_release(void) {
  g_clear_pointer(&arrays, g_ptr_array_unref);
  g_clear_pointer(&garrays, g_ptr_array_unref);
  g_clear_pointer(&tables, g_ptr_array_unref);
  g_clear_pointer(&blocks, g_ptr_array_unref);
  next_free = NULL;
  left = 0;
}
