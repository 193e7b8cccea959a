// Where a console of a machine is; see console_place.h.
#include "lss/runtime/files/console_place.h"

#include "lss/runtime/files/listener.h"
#include "lss/runtime/text/number.h"
#include "lss/runtime/text/refusal.h"

#include <string.h>

static bool refuse_word(const char *where, GError **error) {
  return spinach_refuse(error,
                        "there is no console at \"%s\" (write false, true, pty, pty:LINK, unix:PATH, tcp:PORT or "
                        "tcp:HOST:PORT; the last five also with \",wait\")",
                        where);
}

static bool read_path(const char *where, const char *path, ConsolePlace *place, GError **error) {
  if (!*path) return refuse_word(where, error);
  if (place->kind == CONSOLE_UNIX && strlen(path) > LISTENER_PATH_MOST)
    return spinach_refuse(error,
                          "the console's socket \"%s\" has a name of %zu bytes; at most %d are possible (name a "
                          "shorter path)",
                          path, strlen(path), LISTENER_PATH_MOST);
  place->path = g_strdup(path);
  return true;
}

static bool read_port(const char *where, const char *text, ConsolePlace *place, GError **error) {
  const char *port = listener_split(text, &place->host);
  uint64_t number;
  if (place->host && !*place->host) return refuse_word(where, error);
  if (!number_parse(port, 65535, &number))
    return spinach_refuse(error,
                          "the console \"%s\" has no port: \"%s\" (write a number from 0 to 65535; 0 takes one "
                          "that is free)",
                          where, port);
  place->port = (uint16_t)number;
  return true;
}

static bool read_place(const char *where, const char *text, ConsolePlace *place, GError **error) {
  const char *inner = strchr(text, ':');
  if (!strcmp(text, "pty")) {
    place->kind = CONSOLE_PTY;
    return true;
  }
  place->kind = g_str_has_prefix(text, "pty:")    ? CONSOLE_PTY
                : g_str_has_prefix(text, "unix:") ? CONSOLE_UNIX
                : g_str_has_prefix(text, "tcp:")  ? CONSOLE_TCP
                                                  : CONSOLE_NOWHERE;
  if (place->kind == CONSOLE_NOWHERE) return refuse_word(where, error);
  return (place->kind == CONSOLE_TCP ? read_port : read_path)(where, inner + 1, place, error);
}

bool console_place_read(const char *where, ConsolePlace *place, GError **error) {
  *place = (ConsolePlace){0};
  if (!strcmp(where, "false")) return true;
  if (!strcmp(where, "true") || !strcmp(where, "-")) {
    place->kind = CONSOLE_HERE;
    return true;
  }
  place->waits = g_str_has_suffix(where, ",wait");
  g_autofree char *text = g_strndup(where, strlen(where) - (place->waits ? strlen(",wait") : 0));
  if (read_place(where, text, place, error)) return true;
  console_place_clear(place);
  return false;
}

void console_place_clear(ConsolePlace *place) {
  g_free(place->path);
  g_free(place->host);
  *place = (ConsolePlace){0};
}
