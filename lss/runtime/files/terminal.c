// Standard input as a stream; see stream.h.
#include "lss/runtime/files/stream_private.h"

#include <poll.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

static struct termios before;

static void restore(void) {
  tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

// Interrupts from the keyboard stay what they are.
static void read_characters(void) {
  if (tcgetattr(STDIN_FILENO, &before)) return; // no terminal
  struct termios raw = before;
  raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
  raw.c_iflag &= ~(tcflag_t)ICRNL;
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0) atexit(restore);
}

void stream_terminal_open(stream *s) {
  host_file_new(s, "-");
  read_characters();
}

bool stream_terminal_read(stream *s, uint8_t *character) {
  enum { MILLISECONDS = 1 };
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  if (poll(&input, 1, MILLISECONDS) <= 0 || read(STDIN_FILENO, character, 1) != 1) return false;
  s->position++;
  return true;
}
