// Lines of commands from a program; see line_reader.h.
#include "lss/runtime/commands/line_reader.h"

#include "lss/runtime/engine/signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

// Until there is a byte, or the end; false when a signal asked the run to end.  `meanwhile`: the signals that are
// blocked while it waits, so that none is missed between the look and the wait.
static bool wait_for_byte(int handle, const sigset_t *meanwhile) {
  struct pollfd input = {.fd = handle, .events = POLLIN};
  while (!spinach_interrupted())
    if (ppoll(&input, 1, NULL, meanwhile) >= 0 || errno != EINTR) return true;
  return false;
}

static LineRead read_line(int handle, GString *line, const sigset_t *meanwhile) {
  gsize length = 0;
  for (;;) {
    char c;
    if (!wait_for_byte(handle, meanwhile)) return LINE_IS_STOPPED;
    const ssize_t got = read(handle, &c, 1);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0 && !length) return LINE_IS_LAST;
    if (got <= 0 || c == '\n') return length > LONGEST_LINE ? LINE_IS_TOO_LONG : LINE_IS_READ;
    if (length++ < LONGEST_LINE) g_string_append_c(line, c);
  }
}

LineRead line_reader_next(int handle, GString *line) {
  sigset_t ending, before;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGHUP);
  g_string_truncate(line, 0);
  sigprocmask(SIG_BLOCK, &ending, &before);
  const LineRead outcome = read_line(handle, line, &before);
  sigprocmask(SIG_SETMASK, &before, NULL); // a signal that came with the end of the input is taken here
  return spinach_interrupted() ? LINE_IS_STOPPED : outcome;
}
