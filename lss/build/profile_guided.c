// Instruments the units of a machine, runs the simulator made of them, and merges what the runs counted.
//
// In the cache a profile is kept like an object: a list of the files that the runs read, as their manifests name them,
// and under the hash of that list's contents the profile, so that a path stands for what is in it.
#include "lss/build/profile_guided.h"

#include "lss/base/working.h"
#include "lss/build/dependencies.h"
#include "lss/build/link.h"
#include "lss/build/report.h"
#include "lss/runtime/files/child_process.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

static int fail(const char *format, ...) G_GNUC_PRINTF(1, 2);
static int fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  fprintf(stderr, "lss: %s\n", text);
  return 3;
}

static char *path_of(const Toolchain *t, const char *name) {
  return g_strdup_printf("%s/%s.profile", t->cache.folder, name);
}

// What the profile depends on beside the files that are read: the simulator, and what it is told from which folder.
static char *key_of(const Toolchain *t, const GPtrArray *units, const GPtrArray *training) {
  g_autofree char *simulator = link_key(t, units), *folder = g_get_current_dir();
  g_autoptr(GString) text = g_string_new(simulator);
  g_string_append_printf(text, "\n%s", folder);
  for (guint i = 0; i < training->len; i++) g_string_append_printf(text, "\n%s", (char *)training->pdata[i]);
  return g_compute_checksum_for_string(G_CHECKSUM_SHA256, text->str, (gssize)text->len);
}

// The absolute paths of the files that a run read, one on a line, from the manifest in its folder.
static bool append_inputs(GString *list, const char *folder) {
  g_autofree char *path = g_build_filename(folder, "manifest.json", NULL);
  struct json_object *manifest = json_object_from_file(path), *inputs, *file;
  const bool fine = json_object_object_get_ex(manifest, "inputs", &inputs);
  for (size_t i = 0; fine && i < json_object_array_length(inputs); i++) {
    if (!json_object_object_get_ex(json_object_array_get_idx(inputs, i), "file", &file)) continue;
    g_autofree char *absolute = g_canonicalize_filename(json_object_get_string(file), NULL);
    g_string_append_printf(list, "%s\n", absolute);
  }
  json_object_put(manifest);
  return fine;
}

// The last line that a run said, which is the one that says why it ended.
static const char *last_line(char *said) {
  g_strchomp(said);
  const char *end = strrchr(said, '\n');
  return end ? end + 1 : said;
}

// Runs a program without its output; `said` receives what it says of errors.  False: it failed, or could not be run, of
// which `error` tells the two apart.
static bool run_quietly(GPtrArray *arguments, char **environment, char **said, GError **error) {
  int status;
  g_ptr_array_add(arguments, NULL);
  return g_spawn_sync(NULL, (char **)arguments->pdata, environment, G_SPAWN_STDOUT_TO_DEV_NULL, child_ends_with_parent,
                      GINT_TO_POINTER(getpid()), NULL, said, &status, error) &&
         g_spawn_check_wait_status(status, NULL);
}

// One run: what it counts goes to `counts`, its results to `folder`.
static int train(const char *simulator, const char *run, const char *counts, const char *folder) {
  g_autoptr(GError) error = NULL;
  g_auto(GStrv) words = NULL, environment = g_get_environ();
  g_autofree char *said = NULL;
  int count = 0;
  if (*run && !g_shell_parse_argv(run, &count, &words, &error)) {
    working_end();
    fprintf(stderr, "lss: the run of --pgo `%s` cannot be read: %s\n", run, error->message);
    return 2;
  }
  g_autoptr(GPtrArray) arguments = g_ptr_array_new();
  g_ptr_array_add(arguments, (char *)simulator);
  for (int i = 0; i < count; i++) g_ptr_array_add(arguments, words[i]);
  char *const own[] = {"--quiet", "--run-dir", (char *)folder};
  for (gsize i = 0; i < G_N_ELEMENTS(own); i++) g_ptr_array_add(arguments, own[i]);
  environment = g_environ_setenv(environment, "LLVM_PROFILE_FILE", counts, TRUE);
  if (run_quietly(arguments, environment, &said, &error)) return 0;
  working_end();
  if (error) return fail("cannot run %s: %s", simulator, error->message);
  fprintf(stderr, "lss: the run of --pgo `%s` failed: %s\n", run, *said ? last_line(said) : "it said nothing");
  return 1;
}

static int merge(Toolchain *t, GPtrArray *counts, const char *made) {
  g_autofree char *tool = toolchain_program(t, "llvm-profdata"), *said = NULL;
  if (!tool) return fail("there is no llvm-profdata beside %s, which --pgo needs; install it", t->clang);
  g_autoptr(GPtrArray) arguments = g_ptr_array_new();
  char *const first[] = {tool, "merge", "-o", (char *)made};
  for (gsize i = 0; i < G_N_ELEMENTS(first); i++) g_ptr_array_add(arguments, first[i]);
  for (guint i = 0; i < counts->len; i++) g_ptr_array_add(arguments, counts->pdata[i]);
  g_autoptr(GError) error = NULL;
  if (run_quietly(arguments, NULL, &said, &error)) return 0;
  if (error) return fail("cannot run %s: %s", tool, error->message);
  return fail("%s cannot merge what the runs of --pgo counted: %s", tool, last_line(said));
}

// Runs all and leaves the merged profile in the scratch folder; *list receives the files that were read.
static int make(Toolchain *t, const GPtrArray *units, const GPtrArray *training, const char *made, GString *list) {
  g_autofree char *simulator = g_build_filename(t->cache.scratch, "instrumented", NULL);
  int status = link_simulator(t, units, simulator);
  g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(g_free);
  working_begin("running for a profile", "runs", training->len);
  for (guint i = 0; i < training->len && !status; i++, working_step()) {
    g_autofree char *folder = g_strdup_printf("%s/run%u", t->cache.scratch, i);
    char *counts = g_strconcat(folder, ".profraw", NULL);
    g_ptr_array_add(all, counts);
    status = train(simulator, training->pdata[i], counts, folder);
    if (!status && !(append_inputs(list, folder) && g_file_test(counts, G_FILE_TEST_EXISTS)))
      status = fail("the run of --pgo `%s` left no profile", (char *)training->pdata[i]);
  }
  working_end();
  return status ? status : merge(t, all, made);
}

static int find_or_make(Toolchain *t, const GPtrArray *units, const GPtrArray *training, char **path) {
  g_autofree char *key = key_of(t, units, training), *list_path = objects_list(t, key), *known = NULL;
  if (g_file_get_contents(list_path, &known, NULL, NULL)) {
    g_autofree char *name = dependencies_name(t, key, known);
    *path = path_of(t, name);
    if (cache_check(*path, NULL)) {
      cache_touch(list_path);
      return 0;
    }
    g_clear_pointer(path, g_free);
  }
  g_autofree char *made = g_build_filename(t->cache.scratch, "merged", NULL);
  g_autoptr(GString) list = g_string_new(NULL);
  const int status = make(t, units, training, made, list);
  if (status) return status;
  g_autofree char *name = dependencies_name(t, key, list->str);
  *path = path_of(t, name);
  if (cache_keep(&t->cache, made, *path, NULL) && g_file_set_contents(list_path, list->str, -1, NULL)) return 0;
  return fail("cannot write %s; LSS_CACHE names another place", *path);
}

int profile_guided(const BuildOptions *build, GPtrArray *units, char **flag) {
  CompilerOptions options = build->compiler;
  options.profile = PROFILE_GENERATE;
  g_auto(Toolchain) toolchain = {0};
  if (!toolchain_open(&toolchain, &options)) return 3;
  // What is only warned of is told when the simulator itself is built.
  int status = objects_compile(&toolchain, units) == UNIT_FINE ? 0 : build_report(units);
  g_autofree char *path = NULL;
  if (!status) status = find_or_make(&toolchain, units, build->training, &path);
  if (!status) *flag = g_strconcat("-fprofile-use=", path, NULL);
  return status;
}
