// The manifest of a run; see manifest.h and statistics.h.
#include "lss/runtime/run/manifest.h"

#include "emulib/program/input_file.h"
#include "lss/runtime/checkpoint/identity.h"
#include "lss/runtime/engine/variant.h"
#include "lss/runtime/files/stream_private.h"
#include "lss/runtime/observe/statistics.h"

static const spinach_machine *const machine = &spinach_machine_table;

typedef struct {
  char *file, *sha256;   // of an image that of its blocks, NULL until it is asked for
  const HostFile *image; // NULL: all of it was read
} Input;

static GArray *inputs; // of Input

static bool claim(const char *path, FileUse use, const char *user) {
  g_autoptr(GError) error = NULL;
  return used_files_add(path, use, user, &error) || spinach_report_error("%s", error->message);
}

// A simulator that became a variant of itself was called by the name of the one that it was.
static bool claim_programs(const spinach_options *options) {
  g_autofree char *called = g_find_program_in_path(options->argv[0]), *own = g_file_read_link("/proc/self/exe", NULL);
  return (!own || claim(own, FILE_IS_EXECUTED, "this run")) && (!called || claim(called, FILE_IS_EXECUTED, "this run"));
}

bool spinach_files_claim(const spinach_options *options) {
  g_autoptr(GError) error = NULL;
  if (!used_files_add_standard(&error)) return spinach_report_error("%s", error->message);
  if (!claim_programs(options)) return false;
  for (guint i = 0; machine->sources && machine->sources[i]; i += 2)
    if (!claim(machine->sources[i], FILE_IS_READ, "a build of this machine")) return false;
  for (const spinach_header *header = spinach_headers; header && header->file; header++)
    if (!claim(header->file, FILE_IS_READ, "a build of this machine")) return false;
  if (!claim(machine->file, FILE_IS_READ, "a build of this machine")) return false;
  for (guint i = 0; i < options->files->len; i++) {
    const spinach_named_file *file = &g_array_index(options->files, spinach_named_file, i);
    g_autofree char *option = g_strconcat("--", file->option, NULL);
    if (!claim(file->path, file->use, option)) return false;
  }
  return true;
}

static bool is_known(const char *file) {
  for (guint i = 0; i < inputs->len; i++)
    if (!strcmp(g_array_index(inputs, Input, i).file, file)) return true;
  return false;
}

static void add_image(const HostFile *image) {
  const Input input = {.file = g_strdup(image->path), .image = image};
  if (!is_known(image->path)) g_array_append_val(inputs, input);
}

static void add_input(const char *file) {
  if (is_known(file)) return;
  gsize length;
  g_autofree char *text = g_file_test(file, G_FILE_TEST_IS_REGULAR) ? input_file_read(file, &length, NULL) : NULL;
  if (!text) return;
  const Input input = {.file = g_strdup(file),
                       .sha256 = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)text, length)};
  g_array_append_val(inputs, input);
}

// Inputs are the files that streams read, and those named by string parameters that no stream writes: programs are
// loaded by other means than streams.
bool spinach_manifest_inputs(void) {
  inputs = g_array_new(FALSE, FALSE, sizeof(Input));
  const char *path;
  bool output;
  for (uint32_t i = 0; (path = spinach_streams_file(i, &output)); i++)
    if (!output && host_file_number(i)->image)
      add_image(host_file_number(i));
    else if (!output)
      add_input(path);
  for (uint32_t i = 0; i < machine->parameter_count; i++) {
    if (machine->parameters[i].kind != SPINACH_PARAMETER_STRING) continue;
    g_autofree char *text = spinach_parameter_text(&machine->parameters[i]);
    bool written = false;
    for (uint32_t k = 0; (path = spinach_streams_file(k, &output)); k++) written |= output && !strcmp(path, text);
    if (*text && !written && g_file_test(text, G_FILE_TEST_IS_REGULAR)) {
      if (!claim(text, FILE_IS_READ, machine->parameters[i].name)) return false;
      add_input(text);
    }
  }
  return true;
}

// An image may be large: its blocks are hashed when somebody wants to know.
const char *spinach_manifest_input(uint32_t index, const char **sha256) {
  if (!inputs || index >= inputs->len) return NULL;
  Input *input = &g_array_index(inputs, Input, index);
  if (!input->sha256) input->sha256 = host_image_digest(input->image);
  *sha256 = input->sha256;
  return input->file;
}

static void write_file(Json *json, const char *file, const char *kind, const char *digest) {
  json_open(json, '{');
  json_member(json, "file", file);
  json_member(json, kind, digest);
  json_close(json, '}');
}

static void write_sources(Json *json) {
  json_open_member(json, "sources", '[');
  for (guint i = 0; machine->sources && machine->sources[i]; i += 2) {
    const char *file = machine->sources[i];
    write_file(json, strcmp(file, machine->file) ? file : spinach_machine_file(), "sha256", machine->sources[i + 1]);
  }
  for (const spinach_header *header = spinach_headers; header && header->file; header++)
    write_file(json, header->file, "sha256", header->sha256);
  json_close(json, ']');
}

// The variables that decided how clang compiled the machine, if they were set.
static void write_environment(Json *json) {
  json_open_member(json, "environment", '{');
  for (const char *const *pair = machine->environment; pair && pair[0]; pair += 2)
    if (pair[1]) json_member(json, pair[0], pair[1]);
  json_close(json, '}');
}

static void write_inputs(Json *json) {
  const char *file, *digest;
  json_open_member(json, "inputs", '[');
  for (guint i = 0; (file = spinach_manifest_input(i, &digest)); i++)
    write_file(json, file, g_array_index(inputs, Input, i).image ? "blocks_sha256" : "sha256", digest);
  json_close(json, ']');
}

// The checkpoints that the run went on from, and what is otherwise here than in their machines.
static void write_origins(Json *json) {
  g_autoptr(GVariant) origins = identity_origins();
  GVariantIter all;
  const char *file, *sha256, *name, *there, *here;
  GVariant *differences;
  if (!g_variant_n_children(origins)) return;
  json_open_member(json, "restored", '[');
  g_variant_iter_init(&all, origins);
  while (g_variant_iter_next(&all, "(^&ay&s@a(ayayay))", &file, &sha256, &differences)) {
    json_open(json, '{');
    json_member(json, "file", file);
    json_member(json, "sha256", sha256);
    json_open_member(json, "differences", '[');
    GVariantIter each;
    g_variant_iter_init(&each, differences);
    while (g_variant_iter_next(&each, "(^&ay^&ay^&ay)", &name, &there, &here)) {
      json_open(json, '{');
      json_member(json, "name", name);
      json_member(json, "checkpoint", there);
      json_member(json, "here", here);
      json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
    g_variant_unref(differences);
  }
  json_close(json, ']');
}

void spinach_manifest_write(Json *json, const spinach_options *options) {
  json_open(json, '{');
  json_member(json, "machine", spinach_machine_file());
  json_member(json, "version", machine->version);
  json_member_bool(json, "debug", machine->debug);
  if (*spinach_error_text) json_member(json, "error", spinach_error_text);
  json_key(json, "seed");
  json_uint(json, options->seed);
  json_open_member(json, "parameters", '{');
  for (uint32_t i = 0; i < machine->parameter_count; i++) {
    spinach_parameter shown = machine->parameters[i];
    if (spinach_is_watchdog(&shown)) shown.default_integer = options->watchdog; // which no instance holds
    g_autofree char *text = spinach_parameter_text(&shown);
    json_member(json, shown.name, text);
  }
  json_close(json, '}');
  json_open_member(json, "constants", '{');
  for (uint32_t i = 0; i < machine->constant_count; i++)
    json_member(json, machine->constants[i].name, machine->constants[i].value);
  json_close(json, '}');
  write_sources(json);
  write_environment(json);
  write_inputs(json);
  write_origins(json);
  json_close(json, '}');
}
