// The files that a run reads; see inputs.h.
#include "lss/runtime/engine/inputs.h"

#include "emulib/program/input_file.h"
#include "lss/runtime/engine/own_part.h"
#include "lss/runtime/engine/settings.h"
#include "lss/runtime/files/digest_cache.h"
#include "lss/runtime/files/sha256.h"
#include "lss/runtime/files/stream_private.h"

static const spinach_machine *const machine = &spinach_machine_table;

typedef struct {
  char *file, *sha256;      // of an image that of its blocks; NULL until it is asked for
  const HostFile *contents; // what a stream has read of it; NULL: the digest is there
} Input;

static GArray *inputs; // of Input

bool spinach_file_claim(const char *path, FileUse use, const char *user) {
  g_autoptr(GError) error = NULL;
  return used_files_add(path, use, user, &error) || spinach_report_error("%s", error->message);
}

static bool is_known(const char *file) {
  for (guint i = 0; i < inputs->len; i++)
    if (!strcmp(g_array_index(inputs, Input, i).file, file)) return true;
  return false;
}

// Files may be large, and few runs ask for their digests: they are made when that happens, of what the stream has read.
static void add_stream(const HostFile *contents) {
  const Input input = {.file = g_strdup(contents->path), .contents = contents};
  if (!is_known(contents->path)) g_array_append_val(inputs, input);
}

// The digest of a file's bytes; NULL: it cannot be read.
static char *digest_of(const char *file) {
  struct stat before, after;
  gsize length;
  if (stat(file, &before) || !S_ISREG(before.st_mode)) return NULL;
  char *known = digest_cache_find(&before, "bytes");
  if (known) return known;
  g_autofree char *text = input_file_read(file, &length, NULL);
  if (!text) return NULL;
  char *digest = sha256_of(text, length);
  if (!stat(file, &after) && digest_cache_same(&before, &after)) digest_cache_keep(&after, "bytes", digest);
  return digest;
}

// The same of a stream that has read them.
static char *digest_of_stream(const HostFile *file) {
  char *known = digest_cache_find(&file->status, "bytes");
  if (known) return known;
  char *digest = sha256_of(file->bytes, file->size);
  digest_cache_keep(&file->status, "bytes", digest);
  return digest;
}

static void add_file(const char *file) {
  if (is_known(file)) return;
  const Input input = {.file = g_strdup(file), .sha256 = digest_of(file)};
  if (input.sha256)
    g_array_append_val(inputs, input);
  else
    g_free(input.file);
}

// Of a capture the stream has the frames only.
static void add_contents(const HostFile *file) {
  if (file->reader || file->index)
    add_file(file->path);
  else if (file->image || g_file_test(file->path, G_FILE_TEST_IS_REGULAR))
    add_stream(file);
}

// Whether a parameter is of ends of crossings between two parts alone.  The file that it names may be opened at the
// other end; crossings read files by streams only.
static bool is_of_ends(const spinach_parameter *parameter) {
  for (uint32_t i = 0; i < parameter->target_count; i++)
    if (!spinach_side_of((uint32_t)parameter->targets[i].instance)) return false;
  return parameter->target_count;
}

// Inputs are the files that streams read, and those named by string parameters that no stream writes: programs are
// loaded by other means than streams.
bool spinach_inputs_note(void) {
  inputs = g_array_new(FALSE, FALSE, sizeof(Input));
  const char *path;
  bool output;
  for (uint32_t i = 0; (path = spinach_streams_file(i, &output)); i++)
    if (!output) add_contents(host_file_number(i));
  for (uint32_t i = 0; i < machine->parameter_count; i++) {
    if (machine->parameters[i].kind != SPINACH_PARAMETER_STRING || is_of_ends(&machine->parameters[i])) continue;
    g_autofree char *text = spinach_parameter_text(&machine->parameters[i]);
    bool written = false;
    for (uint32_t k = 0; (path = spinach_streams_file(k, &output)); k++) written |= output && !strcmp(path, text);
    if (*text && !written && g_file_test(text, G_FILE_TEST_IS_REGULAR)) {
      if (!spinach_file_claim(text, FILE_IS_READ, machine->parameters[i].name)) return false;
      add_file(text);
    }
  }
  return true;
}

const char *spinach_input(uint32_t index, const char **sha256) {
  if (!inputs || index >= inputs->len) return NULL;
  Input *input = &g_array_index(inputs, Input, index);
  const HostFile *of = input->contents;
  if (!input->sha256) input->sha256 = of->image ? host_image_digest(of) : digest_of_stream(of);
  *sha256 = input->sha256;
  return input->file;
}

bool spinach_input_in_blocks(uint32_t index) {
  const HostFile *of = g_array_index(inputs, Input, index).contents;
  return of && of->image;
}
