// The manifest of a run; see manifest.h and document.h.
#include "lss/runtime/run/manifest.h"

#include "lss/runtime/checkpoint/identity.h"
#include "lss/runtime/engine/inputs.h"
#include "lss/runtime/engine/settings.h"
#include "lss/runtime/engine/variant.h"
#include "lss/runtime/run/option_table.h"

static const spinach_machine *const machine = &spinach_machine_table;

// A simulator that became a variant of itself was called by the name of the one that it was.
static bool claim_programs(const spinach_options *options) {
  g_autofree char *called = g_find_program_in_path(options->argv[0]), *own = g_file_read_link("/proc/self/exe", NULL);
  return (!own || spinach_file_claim(own, FILE_IS_EXECUTED, "this run")) &&
         (!called || spinach_file_claim(called, FILE_IS_EXECUTED, "this run"));
}

bool spinach_files_claim(const spinach_options *options) {
  g_autoptr(GError) error = NULL;
  if (!used_files_add_standard(&error)) return spinach_report_error("%s", error->message);
  if (!claim_programs(options)) return false;
  for (guint i = 0; machine->sources && machine->sources[i]; i += 2)
    if (!spinach_file_claim(machine->sources[i], FILE_IS_READ, "a build of this machine")) return false;
  for (const spinach_header *header = spinach_headers; header && header->file; header++)
    if (!spinach_file_claim(header->file, FILE_IS_READ, "a build of this machine")) return false;
  if (!spinach_file_claim(machine->file, FILE_IS_READ, "a build of this machine")) return false;
  for (guint i = 0; i < options->files->len; i++) {
    const spinach_named_file *file = &g_array_index(options->files, spinach_named_file, i);
    g_autofree char *option = g_strconcat("--", file->option, NULL);
    if (!spinach_file_claim(file->path, file->use, option)) return false;
  }
  return true;
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
  for (guint i = 0; (file = spinach_input(i, &digest)); i++)
    write_file(json, file, spinach_input_in_blocks(i) ? "blocks_sha256" : "sha256", digest);
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

// Where gateways lead.
static void write_gateways(Json *json) {
  const char *instance, *leads_to;
  bool replayed = true, all = true;
  if (!spinach_gateway_at(0, &instance, &leads_to, &replayed)) return;
  json_open_member(json, "gateways", '[');
  for (guint i = 0; spinach_gateway_at(i, &instance, &leads_to, &replayed); i++) {
    all &= replayed;
    json_open(json, '{');
    json_member(json, "instance", instance);
    json_member(json, replayed ? "record" : "leads_to", leads_to);
    json_close(json, '}');
  }
  json_close(json, ']');
  json_member_bool(json, "repeatable", all);
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
  write_gateways(json);
  write_origins(json);
  json_close(json, '}');
}

char *spinach_manifest_json(const spinach_options *options) {
  Json json;
  json_start(&json);
  spinach_manifest_write(&json, options);
  return json_finish(&json);
}
