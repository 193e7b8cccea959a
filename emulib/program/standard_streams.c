// Standard streams; see standard_streams.h.  The simulators and the compiler are built with it, too.
#include "standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int reason;    // errno of standard output's first failure that was seen
static gboolean said; // that it failed

// Not every exit goes through main(): GLib ends the process after --help.
static void at_exit(int status, void *tool) {
  if (!standard_streams_flush(tool) && status == 0) _exit(1);
}

void standard_streams_open(const char *tool) {
  on_exit(at_exit, (void *)tool);
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++) {
    if (fcntl(number, F_GETFD) >= 0) continue;
    // The lowest free number is this one.  Opened the wrong way round, it fails as a closed one does.
    if (open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY) != number) return;
  }
}

gboolean standard_streams_pass_on(FILE *stream) {
  errno = 0;
  if (fflush(stream) == 0 && !ferror(stream)) return TRUE;
  if (stream == stdout && reason == 0) reason = errno;
  return FALSE;
}

gboolean standard_streams_flush(const char *tool) {
  const gboolean printed = standard_streams_pass_on(stdout);
  if (!printed && !said)
    fprintf(stderr, "%s: cannot write to standard output: %s\n", tool,
            reason != 0 ? g_strerror(reason) : "some of the output is lost");
  said |= !printed;
  // Where standard error fails, nothing can be said about it.
  return standard_streams_pass_on(stderr) && printed;
}
