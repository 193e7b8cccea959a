// Signals that end a run, or a command; see signals.h.
#include "lss/runtime/engine/signals.h"

#include "lss/runtime/engine/spinach.h"

#include <signal.h>
#include <unistd.h>

static bool pauses;
static volatile sig_atomic_t interrupted; // signal that asked the run to end
static volatile sig_atomic_t paused;      // SIGINT is to end the command at hand

// The first one ends the run normally, when the C of a module returns; a second one immediately.  Ahead of these, one
// that a person types ends only the command of --interactive that is at hand.
static void on_signal(int number) {
  if (number == SIGINT && pauses && !paused && !interrupted) {
    paused = true;
    spinach_stopping |= SPINACH_PAUSE;
    return;
  }
  if (interrupted) {
    spinach_streams_remove();
    _exit(128 + number);
  }
  interrupted = number;
  spinach_stopping |= SPINACH_STOP;
}

int spinach_interrupted(void) {
  return interrupted;
}

bool spinach_take_pause(void) {
  const bool was = paused;
  paused = false;
  return was;
}

void spinach_watch_signals(bool commands) {
  pauses = commands;
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
  if (signal(SIGHUP, on_signal) == SIG_IGN) signal(SIGHUP, SIG_IGN); // of nohup
  signal(SIGPIPE, SIG_IGN); // a closed pipe is a failed write, reported as such
  signal(SIGXFSZ, SIG_IGN); // and so is a file that may not grow
}
