// Open files; see open_files.h.  The state holds a stream's number, which differs from process to process when other
// files are open, and how far it has come, which does not.
#include "lss/runtime/checkpoint/open_files.h"

#include "lss/runtime/engine/inputs.h"
#include "lss/runtime/engine/machine.h"
#include "lss/runtime/files/stream_private.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const spinach_machine *const machine = &spinach_machine_table;

typedef struct {
  const char *path, *name; // of the instance, of the file
  uint64_t offset, bytes;
  gboolean output;
} OpenFile;

static bool next_file(GVariantIter *files, OpenFile *file) {
  return g_variant_iter_next(files, "(&stb^&ayt)", &file->path, &file->offset, &file->output, &file->name,
                             &file->bytes);
}

// The instance in whose state a stream is; -1 for one that a function keeps while it reads a file.
static int32_t holder(const stream *s) {
  const uint8_t *at = (const uint8_t *)s;
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const uint8_t *state = spinach_instance_state((int32_t)i);
    if (state && at >= state && at < state + machine->instances[i].layout->size) return (int32_t)i;
  }
  return -1;
}

static uint64_t offset_in(int32_t instance, const stream *s) {
  return (uint64_t)((const uint8_t *)s - (const uint8_t *)spinach_instance_state(instance));
}

static stream *stream_at(const char *path, uint64_t offset) {
  for (uint32_t i = 0; i < machine->instance_count; i++)
    if (machine->instances[i].layout && !strcmp(machine->instances[i].path, path) &&
        offset + sizeof(stream) <= machine->instances[i].layout->size)
      return (stream *)((uint8_t *)spinach_instance_state((int32_t)i) + offset);
  return NULL;
}

static bool cannot(GError **error, const char *verb, const char *path, const char *why) {
  g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "cannot %s \"%s\": %s", verb, path, why);
  return false;
}

static bool written(HostFile *file, uint64_t *bytes, GError **error) {
  if (!file->whole) return true; // a device or standard output has no beginning to go on from
  if (fflush(file->out) != 0 || ferror(file->out)) return cannot(error, "write", file->path, g_strerror(errno));
  const off_t at = ftello(file->out);
  *bytes = at < 0 ? 0 : (uint64_t)at;
  return true;
}

GVariant *open_files_describe(GError **error) {
  GVariantBuilder files;
  g_variant_builder_init(&files, G_VARIANT_TYPE(OPEN_FILES_TYPE));
  HostFile *file;
  for (uint32_t i = 0; (file = host_file_number(i)); i++) {
    const int32_t instance = holder(file->owner);
    uint64_t bytes = 0;
    if (instance < 0 || file->owner->id != i + 1) continue;
    if (file->out && !written(file, &bytes, error)) {
      g_variant_builder_clear(&files);
      return NULL;
    }
    g_variant_builder_add(&files, "(stb^ayt)", machine->instances[instance].path, offset_in(instance, file->owner),
                          file->out != NULL, file->path, bytes);
  }
  return g_variant_ref_sink(g_variant_builder_end(&files));
}

// A console at standard input is named "true".
static bool is_named(const HostFile *file, const char *name) {
  return !strcmp(file->path, name) || (file->terminal && !strcmp(file->path, "-") && !strcmp(name, "true"));
}

bool open_files_has(const char *name) {
  HostFile *file;
  for (uint32_t i = 0; (file = host_file_number(i)); i++)
    if (is_named(file, name) && holder(file->owner) >= 0) return true;
  return false;
}

// An output begins with the first `bytes` of the file that the earlier run left.
static bool go_on_from(HostFile *file, const char *earlier, uint64_t bytes, GError **error) {
  g_autofree char *content = NULL;
  gsize length = 0;
  g_autoptr(GError) reason = NULL;
  if (!g_file_get_contents(earlier, &content, &length, &reason))
    return cannot(error, "go on with", earlier, reason->message);
  if (length < bytes) {
    g_autofree char *why =
        g_strdup_printf("it has %zu bytes, and had %" G_GUINT64_FORMAT " at the checkpoint", length, bytes);
    return cannot(error, "go on with", earlier, why);
  }
  if (fseeko(file->out, 0, SEEK_SET) || fwrite(content, 1, bytes, file->out) != bytes || fflush(file->out))
    return cannot(error, "write", file->path, g_strerror(errno));
  return true;
}

static const char *sum_then(GVariant *inputs, const char *name) {
  GVariantIter iterator;
  const char *file, *sum;
  g_variant_iter_init(&iterator, inputs);
  while (g_variant_iter_next(&iterator, "(^&ay^&ay)", &file, &sum))
    if (!strcmp(file, name)) return sum;
  return NULL;
}

static const char *sum_now(const char *name) {
  const char *file, *sum;
  for (uint32_t i = 0; (file = spinach_input(i, &sum)); i++)
    if (!strcmp(file, name)) return sum;
  return NULL;
}

// Of a file with the name that it had then, same_inputs() in restore.c has seen that it is the same.
static bool replaces(const HostFile *file, const OpenFile *was, GVariant *inputs) {
  return strcmp(file->path, was->name) != 0 && g_strcmp0(sum_now(file->path), sum_then(inputs, was->name)) != 0;
}

static bool join(HostFile *file, uint32_t number, GVariant *files, GVariant *inputs, bool go_on, GError **error) {
  const int32_t instance = holder(file->owner);
  if (instance < 0) return true;
  OpenFile was;
  GVariantIter iterator;
  g_variant_iter_init(&iterator, files);
  while (next_file(&iterator, &was)) {
    if (strcmp(was.path, machine->instances[instance].path) != 0 || was.offset != offset_in(instance, file->owner))
      continue;
    file->owner->id = number;
    file->replaces = !file->out && replaces(file, &was, inputs);
    return !go_on || !was.output || !file->whole || go_on_from(file, was.name, was.bytes, error);
  }
  *file->owner = (stream){.id = number}; // it was not open then
  file->replaces = !file->out;
  return true;
}

bool open_files_join(GVariant *files, GVariant *inputs, bool go_on, GError **error) {
  OpenFile was;
  GVariantIter iterator;
  g_variant_iter_init(&iterator, files);
  while (next_file(&iterator, &was)) {
    stream *s = stream_at(was.path, was.offset);
    if (s) s->id = 0;
  }
  HostFile *file;
  for (uint32_t i = 0; (file = host_file_number(i)); i++)
    if (!join(file, i + 1, files, inputs, go_on, error)) return false;
  return true;
}

// ---- To another process ---------------------------------------------------------------------------------------------

GVariant *open_files_hand_over(GError **error) {
  GVariantBuilder outputs;
  g_variant_builder_init(&outputs, G_VARIANT_TYPE(OPEN_OUTPUTS_TYPE));
  HostFile *file;
  for (uint32_t i = 0; (file = host_file_number(i)); i++) {
    const int32_t instance = file->out ? holder(file->owner) : -1;
    uint64_t bytes;
    if (instance < 0) continue;
    if (!written(file, &bytes, error)) {
      g_variant_builder_clear(&outputs);
      return NULL;
    }
    g_autofree char *growing = file->whole ? whole_file_growing(file->whole) : g_strdup("");
    g_variant_builder_add(&outputs, "(st^ayt)", machine->instances[instance].path, offset_in(instance, file->owner),
                          growing, file->written);
  }
  return g_variant_ref_sink(g_variant_builder_end(&outputs));
}

static bool take_over(HostFile *file, const char *temporary, uint64_t count, GError **error) {
  struct stat status;
  file->written = count;
  if (!file->whole || !*temporary) return true;
  if (stat(temporary, &status)) return cannot(error, "go on with", temporary, g_strerror(errno));
  if (!go_on_from(file, temporary, (uint64_t)status.st_size, error)) return false;
  unlink(temporary);
  return true;
}

bool open_files_take_over(GVariant *outputs, GError **error) {
  GVariantIter iterator;
  const char *path, *temporary;
  uint64_t offset, count;
  g_variant_iter_init(&iterator, outputs);
  while (g_variant_iter_next(&iterator, "(&st^&ayt)", &path, &offset, &temporary, &count)) {
    const stream *s = stream_at(path, offset);
    HostFile *file = s && s->id ? host_file_number((uint32_t)s->id - 1) : NULL;
    if (file && file->out && !take_over(file, temporary, count, error)) return false;
  }
  return true;
}
