// Runs clang, the linker or another tool of their kind.
#include "lss/build/tool.h"
#include "lss/runtime/files/child_process.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

// Why the tool did not get to its end, or NULL when it did.  The messages are those of clang and lld: a process that
// they lost, or their own crash.
static const char *reason(int status, const char *messages) {
  static const struct {
    const char *said, *means;
  } causes[] = {
      {"No space left on device", "there is no space left on the device"},
      {"Disk quota exceeded", "the disk quota is used up"},
      {"Bus error", "there is no space left on the device"}, // lld maps its output
      {"File too large", "its output is larger than `ulimit -f` allows"},
      {"ile size limit exceeded", "its output is larger than `ulimit -f` allows"},
      {"out of memory", "it ran out of memory"},
      {"bad_alloc", "it ran out of memory"},
      {"Cannot allocate memory", "it ran out of memory"},
      {"failed to map segment", "it ran out of memory"},
      {"unable to execute command: Killed", "it was killed, most likely because memory ran out"},
      {"due to signal", "it was ended by a signal"},
      {"error while loading shared libraries", "it does not start: a shared library is missing"},
  };
  const int number = WIFSIGNALED(status) ? WTERMSIG(status) : WIFEXITED(status) ? WEXITSTATUS(status) - 128 : 0;
  if (number == SIGXFSZ) return "its output is larger than `ulimit -f` allows";
  if (number == SIGKILL) return "it was killed, most likely because memory ran out";
  for (gsize i = 0; i < G_N_ELEMENTS(causes); i++)
    if (strstr(messages, causes[i].said)) return causes[i].means;
  if (number > 0) return g_intern_string(g_strsignal(number));
  return strstr(messages, "PLEASE submit a bug report") ? "it crashed" : NULL;
}

ToolResult tool_run(const Toolchain *t, const char *program, const GPtrArray *arguments, const char *what,
                    char **messages) {
  g_autoptr(GPtrArray) argv = g_ptr_array_new();
  g_ptr_array_add(argv, (char *)program);
  for (guint i = 0; i < arguments->len; i++) g_ptr_array_add(argv, arguments->pdata[i]);
  g_ptr_array_add(argv, NULL);
  const gint64 begin = g_get_monotonic_time();
  int status = 0;
  g_autoptr(GError) error = NULL;
  if (!g_spawn_sync(NULL, (char **)argv->pdata, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, child_ends_with_parent,
                    GINT_TO_POINTER(getpid()), NULL, messages, &status, &error)) {
    *messages = g_strdup_printf("cannot run %s: %s", program, error->message);
    return TOOL_FAILED;
  }
  if (t->options->times) fprintf(stderr, "lss: %6.2f s  %s\n", (double)(g_get_monotonic_time() - begin) / 1e6, what);
  if (status == 0) return TOOL_FINE;
  const char *why = reason(status, *messages);
  if (!why) return TOOL_REFUSED;
  g_free(*messages);
  *messages = g_strdup_printf("%s failed while %s: %s", program, what, why);
  return TOOL_FAILED;
}
