// Consoles as streams: standard input, or a client that connects; see stream.h.  What was typed is kept with the look
// that found it, so a debugger that goes back finds it again.
#include "lss/runtime/files/console_client.h"
#include "lss/runtime/files/stream_private.h"

#include <poll.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

typedef struct {
  uint64_t look; // the number of the look that found it (host_find_look())
  uint8_t character;
} Typed;

struct HostTerminal {
  ConsoleClient *client; // NULL: standard input
  HostFile *keyboard;    // of the two streams that with what is typed
  GArray *typed;         // of Typed
  uint64_t looks;        // that were made, those before a checkpoint included
  gint64 looked;         // when the latest ended
};

static struct termios before;
static bool closed;
static const char *closed_why, *input_closed_why;

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

void spinach_streams_close_consoles(const char *why) {
  closed = true;
  closed_why = why;
}

bool host_consoles_are_closed(const char **why) {
  *why = closed_why;
  return closed;
}

void spinach_streams_close_input(const char *why) {
  input_closed_why = why;
}

static ConsoleClient *open_client(const ConsolePlace *place, const char *where) {
  g_autoptr(GError) error = NULL;
  g_autofree char *user = host_file_user(where);
  if (place->path && !used_files_add(place->path, FILE_IS_WRITTEN, user, &error)) spinach_fail("%s", error->message);
  ConsoleClient *client = console_client_open(place, &error);
  if (!client) spinach_fail("%s", error->message);
  return client;
}

static void cut(HostFile *file) {
  HostTerminal *terminal = file->terminal;
  const stream *s = file->owner;
  file->written = MIN(file->written, s->position);
  if (file != terminal->keyboard) return;
  terminal->looks = MIN(terminal->looks, s->records);
  g_array_set_size(terminal->typed, host_find_look(terminal->typed, terminal->looks));
}

// Of two files with one console the first closes it.
static void end(HostFile *file) {
  if (!file->terminal->client) return;
  console_client_close(file->terminal->client);
  file->terminal->client = NULL;
}

static void remove_name(const HostFile *file) {
  if (file->terminal->client) console_client_remove(file->terminal->client);
}

// Nothing more is typed, and no look takes time.
static void detach(HostFile *file) {
  file->terminal->looks = UINT64_MAX;
}

static HostFile *open_file(stream *s, const char *path, HostTerminal *terminal) {
  static const HostConduct conduct = {cut, end, remove_name, detach};
  HostFile *file = host_file_new(s, path);
  file->terminal = terminal;
  file->live = true;
  file->conduct = &conduct;
  return file;
}

void stream_terminal_open(stream *typed, stream *shown, const char *where) {
  g_autoptr(GError) error = NULL;
  ConsolePlace place;
  if (!console_place_read(where, &place, &error)) spinach_fail("%s", error->message);
  if (place.kind == CONSOLE_NOWHERE) return;
  const bool here = place.kind == CONSOLE_HERE;
  const char *why = here && input_closed_why ? input_closed_why : closed_why;
  if (why) spinach_fail("the console \"%s\" cannot be opened: %s", where, why);
  if (closed) return;
  HostTerminal *terminal = g_new0(HostTerminal, 1);
  terminal->typed = g_array_new(FALSE, FALSE, sizeof(Typed));
  if (here)
    read_characters();
  else
    terminal->client = open_client(&place, where);
  terminal->keyboard = open_file(typed, here ? "-" : where, terminal);
  if (!here) open_file(shown, where, terminal);
  console_place_clear(&place);
}

static bool read_here(uint8_t *character, int milliseconds) {
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  return poll(&input, 1, milliseconds) > 0 && read(STDIN_FILENO, character, 1) == 1;
}

static bool look(HostTerminal *terminal, uint8_t *character) {
  enum { MILLISECOND = 1000 };
  const int wait = !terminal->looked || g_get_monotonic_time() - terminal->looked < MILLISECOND;
  const bool found =
      terminal->client ? console_client_read(terminal->client, character, wait) : read_here(character, wait);
  terminal->looked = g_get_monotonic_time();
  return found;
}

bool stream_terminal_read(stream *s, uint8_t *character) {
  HostTerminal *terminal = host_file(s)->terminal;
  const uint64_t number = s->records++;
  Typed entry = {.look = number};
  bool found;
  if (number < terminal->looks) {
    const guint at = host_find_look(terminal->typed, number);
    found = at < terminal->typed->len && g_array_index(terminal->typed, Typed, at).look == number;
    if (found) entry = g_array_index(terminal->typed, Typed, at);
  } else {
    found = look(terminal, &entry.character);
    terminal->looks = s->records;
    if (found) g_array_append_val(terminal->typed, entry);
  }
  if (!found) return false;
  *character = entry.character;
  s->position++;
  return true;
}

void stream_terminal_write(stream *s, const void *bytes, size_t size) {
  HostFile *file = host_file(s);
  const bool again = s->position < file->written;
  s->position += size;
  if (again) return;
  file->written = s->position;
  console_client_write(file->terminal->client, bytes, size);
}
