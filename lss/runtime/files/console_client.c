// A console to which clients connect; see console_client.h.
#include "lss/runtime/files/console_client.h"

#include "lss/runtime/files/listener.h"
#include "lss/runtime/files/own_name.h"
#include "lss/runtime/text/refusal.h"
#include "lss/runtime/text/report.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

enum { KEPT = 64 << 10, LAST_MILLISECONDS = 200, NAME = 64 };

struct ConsoleClient {
  int listener;      // of a socket; -1 for a pseudo-terminal
  int handle;        // of the client, or of the pseudo-terminal; -1 when no client is there
  char device[NAME]; // of a pseudo-terminal, the other side
  OwnName name;      // of the link or socket in the file system
  uint8_t kept[KEPT];
  size_t first, count; // of what was not sent yet
};

// ---- Names in the file system --------------------------------------------------------------------------------------
void console_client_remove(ConsoleClient *client) {
  own_name_remove(&client->name);
}

static bool make_link(ConsoleClient *client, const char *link, GError **error) {
  struct stat status;
  g_autofree char *before = g_file_read_link(link, NULL);
  if (before && g_str_has_prefix(before, "/dev/pts/")) unlink(link); // of a run that was killed
  if (!lstat(link, &status))
    return spinach_refuse(error,
                          "cannot make the link \"%s\" for the console: there is a file of this name (name "
                          "another one, or remove it)",
                          link);
  if (symlink(client->device, link))
    return spinach_refuse(error, "cannot make the link \"%s\" for the console: %s", link, g_strerror(errno));
  own_name_take(&client->name, link);
  return true;
}

// ---- Opening --------------------------------------------------------------------------------------------------------

// No echo and no translation; the other side may set it otherwise.
static bool set_raw(const char *device) {
  struct termios raw;
  const int other = open(device, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (other < 0) return false;
  const bool set = !tcgetattr(other, &raw) && (cfmakeraw(&raw), !tcsetattr(other, TCSANOW, &raw));
  close(other); // from here on poll() says whether a client has it open
  return set;
}

static bool open_pty(ConsoleClient *client, const ConsolePlace *place, GError **error) {
  client->handle = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (client->handle < 0 || grantpt(client->handle) || unlockpt(client->handle) ||
      ptsname_r(client->handle, client->device, sizeof client->device) || !set_raw(client->device))
    return spinach_refuse(error, "cannot open a pseudo-terminal for the console: %s", g_strerror(errno));
  if (place->path && !make_link(client, place->path, error)) return false;
  fprintf(stderr, "%s: the console is at %s\n", spinach_program, client->device);
  return true;
}

static bool open_socket(ConsoleClient *client, const ConsolePlace *place, GError **error) {
  g_autoptr(GError) why = NULL;
  const bool at_path = place->kind == CONSOLE_UNIX;
  uint16_t port = place->port;
  bool exposed = false;
  client->listener =
      at_path ? listener_at_path(place->path, &why) : listener_at_port(place->host, &port, &exposed, &why);
  const char *host = place->host ? place->host : "", *colon = place->host ? ":" : "";
  if (client->listener < 0)
    return at_path
               ? spinach_refuse(error, "cannot open the console at unix:%s: %s", place->path, why->message)
               : spinach_refuse(error, "cannot open the console at tcp:%s%s%u: %s", host, colon, port, why->message);
  if (at_path)
    own_name_take(&client->name, place->path);
  else
    fprintf(stderr, "%s: the console is at tcp:%s%s%u\n", spinach_program, host, colon, port);
  if (exposed)
    fprintf(stderr,
            "%s: warning: every computer that reaches %s can type at the console (tcp:PORT is this computer alone)\n",
            spinach_program, host);
  return true;
}

static bool is_there(const ConsoleClient *client) {
  if (client->listener >= 0) return client->handle >= 0;
  struct pollfd other = {.fd = client->handle};
  return poll(&other, 1, 0) == 0 || !(other.revents & POLLHUP);
}

static void leave(ConsoleClient *client) {
  if (client->listener < 0) return; // the pseudo-terminal stays
  close(client->handle);
  client->handle = -1;
}

// Sends what was kept, as far as the client takes it.
static void send_kept(ConsoleClient *client) {
  while (client->count && is_there(client)) {
    const size_t size = MIN(client->count, KEPT - client->first);
    const uint8_t *bytes = client->kept + client->first;
    const ssize_t sent = client->listener >= 0 ? send(client->handle, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT)
                                               : write(client->handle, bytes, size);
    if (sent <= 0) {
      if (sent < 0 && errno != EAGAIN && errno != EINTR) leave(client);
      return;
    }
    client->first = (client->first + (size_t)sent) % KEPT;
    client->count -= (size_t)sent;
  }
}

static void accept_client(ConsoleClient *client) {
  if (client->listener < 0 || client->handle >= 0) return;
  client->handle = accept4(client->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

// Until a client is there; a signal ends it, and then the run.
static void wait_for_client(ConsoleClient *client) {
  fprintf(stderr, "%s: waiting for a client of the console\n", spinach_program);
  while (!is_there(client)) {
    struct pollfd listener = {.fd = client->listener, .events = POLLIN}; // -1: time passes
    if (poll(&listener, 1, 10) < 0) return;
    accept_client(client);
  }
}

ConsoleClient *console_client_open(const ConsolePlace *place, GError **error) {
  ConsoleClient *client = g_new0(ConsoleClient, 1);
  client->listener = client->handle = -1;
  if (!(place->kind == CONSOLE_PTY ? open_pty : open_socket)(client, place, error)) {
    console_client_close(client);
    return NULL;
  }
  if (place->waits) wait_for_client(client);
  return client;
}

// ---- While the machine runs -----------------------------------------------------------------------------------------
bool console_client_read(ConsoleClient *client, uint8_t *character, int milliseconds) {
  accept_client(client);
  send_kept(client);
  if (!is_there(client)) {
    struct pollfd listener = {.fd = client->listener, .events = POLLIN};
    if (milliseconds) poll(&listener, 1, milliseconds);
    return false;
  }
  struct pollfd input = {.fd = client->handle, .events = POLLIN};
  if (poll(&input, 1, milliseconds) <= 0) return false;
  const ssize_t got = read(client->handle, character, 1);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) leave(client);
  return got == 1;
}

void console_client_write(ConsoleClient *client, const uint8_t *bytes, size_t size) {
  accept_client(client);
  for (size_t i = 0; i < size; i++) {
    client->kept[(client->first + client->count) % KEPT] = bytes[i];
    if (client->count < KEPT)
      client->count++;
    else
      client->first = (client->first + 1) % KEPT; // the oldest is lost
  }
  send_kept(client);
}

// ---- The end --------------------------------------------------------------------------------------------------------

// How much of what was sent the client has not read yet, as far as closing would lose it.
static int unread(int other) {
  int count;
  return other >= 0 && !ioctl(other, FIONREAD, &count) ? count : 0;
}

// Gives the client the rest, as long as it reads.
static void drain(ConsoleClient *client) {
  const bool terminal = client->listener < 0;
  const int other = terminal && is_there(client) ? open(client->device, O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
  size_t before = SIZE_MAX;
  for (int idle = 0; idle < LAST_MILLISECONDS; idle++) {
    send_kept(client);
    const size_t rest = client->count + (size_t)unread(other);
    if (!rest || (terminal ? other < 0 : client->handle < 0)) break;
    if (rest < before) idle = 0;
    before = rest;
    poll(NULL, 0, 1);
  }
  if (other >= 0) close(other);
}

// What a client typed and nobody read would make TCP drop what it has not read.
static void close_client(ConsoleClient *client) {
  char bytes[4096];
  if (client->handle < 0) return;
  if (client->listener >= 0) {
    shutdown(client->handle, SHUT_WR);
    while (recv(client->handle, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
    }
  }
  close(client->handle);
}

void console_client_close(ConsoleClient *client) {
  accept_client(client);
  if (client->count) send_kept(client);
  if (client->handle >= 0) drain(client);
  close_client(client);
  if (client->listener >= 0) close(client->listener);
  console_client_remove(client);
  own_name_clear(&client->name);
  g_free(client);
}
