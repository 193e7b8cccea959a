// Becomes the debug variant of this machine: the same machine built with --debug, run with the same options.
#include "lss/runtime/engine/machine.h"

#include <errno.h>
#include <glib.h>
#include <unistd.h>

void spinach_become_debug(int argc, char **argv) {
  g_auto(GStrv) words = g_strsplit(spinach_machine_table.build, "\n", -1);
  g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, spinach_machine_table.build, -1);
  g_autofree char *folder = g_build_filename(g_get_tmp_dir(), "spinach", NULL);
  const char *cache = g_getenv("LSS_CACHE");
  if (cache && *cache) {
    g_free(folder);
    folder = g_strdup(cache);
  } else {
    g_free(folder);
    folder = g_build_filename(g_get_user_cache_dir(), "spinach", NULL);
  }
  g_mkdir_with_parents(folder, 0777);
  g_autofree char *output = g_strdup_printf("%s/debug-%.16s-%d", folder, sum, (int)getpid());
  g_autoptr(GPtrArray) command = g_ptr_array_new();
  for (char **word = words; *word; word++) g_ptr_array_add(command, *word);
  char *const more[] = {"--debug", "-o", output, NULL};
  for (size_t i = 0; i < sizeof more / sizeof *more; i++) g_ptr_array_add(command, more[i]);
  g_autoptr(GError) error = NULL;
  int status = 0;
  if (!g_spawn_sync(NULL, (char **)command->pdata, NULL, G_SPAWN_CHILD_INHERITS_STDIN, NULL, NULL, NULL, NULL, &status,
                    &error)) {
    fprintf(stderr, "%s: cannot build the debug variant with %s: %s\n", spinach_program, words[0], error->message);
    return;
  }
  if (status != 0) {
    fprintf(stderr, "%s: cannot build the debug variant of this machine\n", spinach_program);
    return;
  }
  g_autoptr(GPtrArray) again = g_ptr_array_new();
  for (int i = 0; i < argc; i++) g_ptr_array_add(again, argv[i]);
  g_ptr_array_add(again, NULL);
  fflush(NULL);
  // The file is not needed once it runs; its open descriptor is enough.
  g_setenv("SPINACH_REMOVE_VARIANT", output, TRUE);
  execv(output, (char **)again->pdata);
  fprintf(stderr, "%s: cannot run %s: %s\n", spinach_program, output, g_strerror(errno));
  remove(output);
}
