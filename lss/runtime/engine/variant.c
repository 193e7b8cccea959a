// Builds a variant of this machine and becomes it; see variant.h.
#include "lss/runtime/engine/variant.h"
#include "lss/runtime/engine/machine.h"
#include "lss/runtime/files/cache_place.h"
#include "lss/runtime/files/child_process.h"

#include <errno.h>
#include <unistd.h>

// The variables that decide how clang compiles, as they were when this machine was built.
static char **build_environment(void) {
  char **environment = g_get_environ();
  for (const char *const *pair = spinach_machine_table.environment; pair && pair[0]; pair += 2)
    environment =
        pair[1] ? g_environ_setenv(environment, pair[0], pair[1], TRUE) : g_environ_unsetenv(environment, pair[0]);
  return environment;
}

char *(*spinach_variant_word)(const char *word);

char *spinach_variant_build(const GPtrArray *more) {
  g_autoptr(GPtrArray) renamed = g_ptr_array_new_with_free_func(g_free);

  g_auto(GStrv) environment = build_environment(), words = g_strsplit(spinach_machine_table.build, "\n", -1);
  g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, spinach_machine_table.build, -1);
  g_autofree char *folder = cache_place();
  g_mkdir_with_parents(folder, 0777);
  g_autofree char *output = g_strdup_printf("%s/variant-%.16s-%d", folder, sum, (int)getpid());
  g_autoptr(GPtrArray) command = g_ptr_array_new();
  for (char **word = words; *word; word++) g_ptr_array_add(command, *word);
  for (guint i = 0; i < more->len; i++) {
    const char *word = more->pdata[i];
    g_ptr_array_add(renamed, spinach_variant_word ? spinach_variant_word(word) : g_strdup(word));
    g_ptr_array_add(command, renamed->pdata[i]);
  }
  if (spinach_machine_table.debug) g_ptr_array_add(command, "--debug");
  char *const last[] = {"-o", output, NULL};
  for (size_t i = 0; i < G_N_ELEMENTS(last); i++) g_ptr_array_add(command, last[i]);
  g_autoptr(GError) error = NULL;
  int status = 0;
  if (!g_spawn_sync(NULL, (char **)command->pdata, environment, G_SPAWN_CHILD_INHERITS_STDIN, child_ends_with_parent,
                    GINT_TO_POINTER(getpid()), NULL, NULL, &status, &error)) {
    spinach_report_error("cannot build a variant with %s: %s", words[0], error->message);
    return NULL;
  }
  if (status == 0) return g_steal_pointer(&output);
  spinach_report_error("cannot build a variant of this machine");
  return NULL;
}

static const char REMOVE[] = "SPINACH_REMOVE_VARIANT"; // in the environment of a variant: the path by which it was run
static const char FILE_NAME[] =
    "SPINACH_MACHINE_FILE"; // in the environment of a variant, which is built by a full path

const char *spinach_machine_file(void) {
  const char *name = g_getenv(FILE_NAME);
  return name ? name : spinach_machine_table.file;
}

void spinach_variant_run(const char *variant, char **argv) {
  fflush(NULL);
  // The file is not needed once it runs; its open descriptor is enough.
  g_setenv(REMOVE, variant, TRUE);
  g_setenv(FILE_NAME, spinach_machine_file(), TRUE);
  execv(variant, argv);
}

void spinach_become(int argc, char **argv, const GPtrArray *more) {
  g_autofree char *output = spinach_variant_build(more);
  if (!output) return;
  g_autoptr(GPtrArray) again = g_ptr_array_new();
  for (int i = 0; i < argc; i++) g_ptr_array_add(again, argv[i]);
  g_ptr_array_add(again, NULL);
  spinach_variant_run(output, (char **)again->pdata);
  fprintf(stderr, "%s: cannot run %s: %s\n", spinach_program, output, g_strerror(errno));
  remove(output);
}

// A debug variant that another simulator built and became is not needed on disk once it runs.
void spinach_variant_remove(void) {
  const char *variant = getenv(REMOVE);
  char self[4096];
  ssize_t n = variant && *variant ? readlink("/proc/self/exe", self, sizeof self - 1) : -1;
  if (n <= 0) return;
  self[n] = '\0';
  if (!strcmp(self, variant)) remove(variant);
  unsetenv(REMOVE);
}
