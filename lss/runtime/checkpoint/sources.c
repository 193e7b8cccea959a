// Opening the checkpoints that a run continues from; see sources.h.
#include "lss/runtime/checkpoint/sources.h"

#include "emulib/program/input_file.h"
#include "lss/runtime/checkpoint/format.h"
#include "lss/runtime/checkpoint/layout.h"
#include "lss/runtime/checkpoint/resident.h"
#include "lss/runtime/engine/own_part.h"
#include "lss/runtime/files/sha256.h"
#include "lss/runtime/text/json_reader.h"
#include "lss/runtime/text/refusal.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const spinach_machine *const machine = &spinach_machine_table;

static GPtrArray *sources; // Source*; they live as long as the process, and so do the texts in their headers

guint sources_count(void) {
  return sources ? sources->len : 0;
}

Source *sources_at(guint index) {
  return sources->pdata[index];
}

const Source *sources_first(void) {
  return sources_at(0);
}

// ---- Files ----------------------------------------------------------------------------------------------------------

// The states of a file by path; false: the header is damaged.
static bool find_instances(Source *source, GError **error) {
  g_autoptr(GVariant) instances = checkpoint_file_entry(&source->file, "instances");
  source->layouts = checkpoint_file_entry(&source->file, "layouts");
  source->instances = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
  GVariantIter iterator;
  const char *path;
  guint64 offset;
  guint32 layout;
  g_variant_iter_init(&iterator, instances);
  while (g_variant_iter_next(&iterator, "(&stu)", &path, &offset, &layout)) {
    SourcePlace place = {source, offset, NULL};
    if (layout >= g_variant_n_children(source->layouts))
      return spinach_refuse(error, "it is damaged: \"%s\" has no layout", path);
    g_variant_get_child(source->layouts, layout, "&s", &place.layout);
    g_hash_table_insert(source->instances, (gpointer)path, g_memdup2(&place, sizeof place));
  }
  return true;
}

static bool open_file(const char *path, GError **error) {
  gsize size;
  const guint8 *bytes = (const guint8 *)input_file_read(path, &size, error); // kept until the end
  if (!bytes) return false;
  Source *source = g_new0(Source, 1);
  source->name = g_path_get_basename(path);
  source->sha256 = sha256_of(bytes, size);
  g_ptr_array_add(sources, source);
  return checkpoint_file_open(&source->file, bytes, size, error) && find_instances(source, error);
}

// ---- Folders --------------------------------------------------------------------------------------------------------

static char *file_of_part(const char *folder, const char *part) {
  g_autofree char *name = g_strconcat(part, SOURCES_SUFFIX, NULL);
  return g_build_filename(folder, name, NULL);
}

// The paths of the parts of the network whose checkpoint a folder is.
static GStrv read_parts(const char *folder, GError **error) {
  g_autofree char *file = g_build_filename(folder, "network.json", NULL), *text = NULL;
  if (!g_file_get_contents(file, &text, NULL, NULL)) {
    spinach_refuse(error, "it is a folder without network.json, so it is no checkpoint of a network");
    return NULL;
  }
  g_autoptr(JsonValue) document = json_read(text, NULL);
  const JsonValue *parts = document ? json_member_of(document, "parts", JSON_LIST) : NULL;
  g_autoptr(GStrvBuilder) paths = g_strv_builder_new();
  bool fine = parts && parts->first;
  for (const JsonValue *part = fine ? parts->first : NULL; part; part = part->after) {
    const char *path = part->kind == JSON_OBJECT ? json_text_of(part, "path") : NULL;
    fine = fine && path && *path && !strchr(path, '/');
    if (fine) g_strv_builder_add(paths, path);
  }
  if (fine) return g_strv_builder_end(paths);
  spinach_refuse(error, "its network.json is none that `lss build --parts` has written");
  return NULL;
}

static bool has_all_files(const char *folder, GStrv parts, GError **error) {
  for (char **part = parts; *part; part++) {
    g_autofree char *file = file_of_part(folder, *part);
    if (!g_file_test(file, G_FILE_TEST_IS_REGULAR))
      return spinach_refuse(error, "it lacks the checkpoint of %s, %s" SOURCES_SUFFIX, *part, *part);
  }
  return true;
}

static bool open_part(const char *folder, const char *part, GError **error) {
  g_autofree char *file = file_of_part(folder, part);
  g_autoptr(GError) reason = NULL;
  return open_file(file, &reason) || spinach_refuse(error, "%s" SOURCES_SUFFIX ": %s", part, reason->message);
}

// Whether all states of this machine are known, each with its own layout.
static bool has_all_states(void) {
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    if (!machine->instances[i].layout) continue;
    SourcePlace places[2];
    const guint count = sources_find(machine->instances[i].path, places);
    g_autofree char *present = layout_of_instance(i);
    bool same = false;
    for (guint k = 0; k < count; k++) same |= !strcmp(places[k].layout, present);
    if (!same) return false;
  }
  return true;
}

// A whole machine needs all files.  A part needs its own, and others only where the parts were others.
static bool open_folder(const char *folder, GError **error) {
  g_auto(GStrv) parts = read_parts(folder, error);
  if (!parts || !has_all_files(folder, parts, error)) return false;
  const char *own = spinach_own_part();
  if (own && g_strv_contains((const char *const *)parts, own)) {
    if (!open_part(folder, own, error)) return false;
    if (has_all_states()) return true;
  }
  for (char **part = parts; *part; part++)
    if (g_strcmp0(*part, own) && !open_part(folder, *part, error)) return false;
  return true;
}

// ---- All of them ----------------------------------------------------------------------------------------------------

// They are of one run at one instant.
static bool agree(GError **error) {
  static const struct {
    const char *key, *words;
  } numbers[] = {{"until", "instant"}, {"seed", "seed"}, {"ticks-per-second", "time base"}};
  for (guint i = 1; i < sources->len; i++)
    for (gsize k = 0; k < G_N_ELEMENTS(numbers); k++) {
      g_autoptr(GVariant) one = checkpoint_file_entry(&sources_first()->file, numbers[k].key),
                          other = checkpoint_file_entry(&sources_at(i)->file, numbers[k].key);
      if (g_variant_get_uint64(one) != g_variant_get_uint64(other))
        return spinach_refuse(error, "its files are not of one run: the %s of %s is not that of %s", numbers[k].words,
                              sources_at(i)->name, sources_first()->name);
    }
  return true;
}

bool sources_open(const char *path, GError **error) {
  sources = g_ptr_array_new();
  if (!g_file_test(path, G_FILE_TEST_IS_DIR)) return open_file(path, error);
  return open_folder(path, error) && agree(error);
}

guint sources_find(const char *path, SourcePlace places[2]) {
  guint count = 0;
  for (guint i = 0; i < sources_count() && count < 2; i++) {
    const SourcePlace *place = g_hash_table_lookup(sources_at(i)->instances, path);
    if (place) places[count++] = *place;
  }
  return count;
}

GVariant *sources_list(const char *key) {
  if (sources->len == 1) return checkpoint_file_entry(&sources_first()->file, key);
  g_autoptr(GVariant) first = checkpoint_file_entry(&sources_first()->file, key);
  g_autoptr(GHashTable) seen = g_hash_table_new(g_bytes_hash, g_bytes_equal);
  g_autoptr(GPtrArray) kept = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
  GVariantBuilder all;
  g_variant_builder_init(&all, g_variant_get_type(first));
  for (guint i = 0; i < sources->len; i++) {
    g_autoptr(GVariant) list = checkpoint_file_entry(&sources_at(i)->file, key);
    for (gsize k = 0; k < g_variant_n_children(list); k++) {
      g_autoptr(GVariant) child = g_variant_get_child_value(list, k);
      GBytes *bytes = g_variant_get_data_as_bytes(child);
      g_ptr_array_add(kept, bytes);
      if (g_hash_table_add(seen, bytes)) g_variant_builder_add_value(&all, child);
    }
  }
  return g_variant_ref_sink(g_variant_builder_end(&all));
}

// ---- Their states ---------------------------------------------------------------------------------------------------

// Memory at `place`, or anywhere; from the shared state, or zero.
static void *map(const Source *source, void *place, gsize size) {
  const int flags = MAP_PRIVATE | MAP_NORESERVE | (place ? MAP_FIXED : 0);
  void *memory = mmap(place, size, PROT_READ | PROT_WRITE, flags | (source->shared ? 0 : MAP_ANONYMOUS),
                      source->shared ? source->shared : -1, 0);
  if (memory != MAP_FAILED && source->shared) resident_note_file(memory, size, source->shared);
  return memory == MAP_FAILED ? NULL : memory;
}

static bool refuse_memory(gsize size, GError **error) {
  return spinach_refuse(error, "there is no memory for %zu bytes of state", size);
}

bool sources_expand(Source *source, guint8 *place, GError **error) {
  const gsize size = checkpoint_file_size(&source->file);
  source->memory = size ? map(source, place, size) : NULL;
  if (!source->memory) return refuse_memory(size, error);
  return source->shared || checkpoint_file_expand(&source->file, source->memory, error);
}

void sources_free_memory(Source *source) {
  if (source->memory) munmap(source->memory, checkpoint_file_size(&source->file));
  source->memory = NULL;
}

static bool share(Source *source, GError **error) {
  const gsize size = checkpoint_file_size(&source->file);
  const int handle = memfd_create("checkpoint", MFD_CLOEXEC);
  void *memory = handle >= 0 && size && !ftruncate(handle, (off_t)size)
                     ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0)
                     : MAP_FAILED;
  if (memory == MAP_FAILED) return refuse_memory(size, error);
  const bool fine = checkpoint_file_expand(&source->file, memory, error);
  munmap(memory, size);
  source->shared = handle;
  return fine;
}

bool sources_share(GError **error) {
  for (guint i = 0; i < sources->len; i++)
    if (!share(sources_at(i), error)) return false;
  return true;
}
