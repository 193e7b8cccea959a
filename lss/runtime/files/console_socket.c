// Sockets at which a console waits for clients; see console_socket.h.
#include "lss/runtime/files/console_socket.h"

#include "lss/runtime/text/refusal.h"
#include "lss/runtime/text/report.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { FOLLOWING = 4 }; // clients that may wait until the one before has left

static int fail(int handle, const char *what, const char *name, GError **error) {
  spinach_refuse(error, "cannot open the console at %s%s: %s", what, name, g_strerror(errno));
  if (handle >= 0) close(handle);
  return -1;
}

// ---- At a path ------------------------------------------------------------------------------------------------------

// Whether the name is free; what a killed run left is removed.
static bool make_room(const struct sockaddr_un *address, GError **error) {
  struct stat status;
  if (lstat(address->sun_path, &status)) return true;
  if (!S_ISSOCK(status.st_mode))
    return spinach_refuse(error,
                          "cannot open the console at unix:%s: there is a file of this name (name another one, "
                          "or remove it)",
                          address->sun_path);
  const int trial = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool listens =
      trial >= 0 && (!connect(trial, (const struct sockaddr *)address, sizeof *address) || errno != ECONNREFUSED);
  if (trial >= 0) close(trial);
  if (listens)
    return spinach_refuse(error,
                          "cannot open the console at unix:%s: another process has its console there (name "
                          "another path)",
                          address->sun_path);
  unlink(address->sun_path);
  return true;
}

int console_socket_unix(const char *path, GError **error) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  g_strlcpy(address.sun_path, path, sizeof address.sun_path);
  if (!make_room(&address, error)) return -1;
  const int handle = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const mode_t mask = umask(0177); // only this user connects
  const bool bound = handle >= 0 && !bind(handle, (struct sockaddr *)&address, sizeof address);
  umask(mask);
  if (!bound) return fail(handle, "unix:", path, error);
  if (listen(handle, FOLLOWING)) {
    unlink(path);
    return fail(handle, "unix:", path, error);
  }
  return handle;
}

// ---- At a port ------------------------------------------------------------------------------------------------------
static bool is_loopback(const struct sockaddr *address) {
  if (address->sa_family == AF_INET6)
    return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
  return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == 127;
}

static int listen_at(const struct addrinfo *at) {
  const int on = 1, handle = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (handle < 0) return -1;
  setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); // what is accepted inherits it
  if (!bind(handle, at->ai_addr, at->ai_addrlen) && !listen(handle, FOLLOWING)) return handle;
  const int why = errno;
  close(handle);
  errno = why;
  return -1;
}

static int port_of(int handle) {
  struct sockaddr_storage address = {0};
  socklen_t size = sizeof address;
  getsockname(handle, (struct sockaddr *)&address, &size);
  return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)(void *)&address)->sin6_port
                                             : ((struct sockaddr_in *)(void *)&address)->sin_port);
}

int console_socket_tcp(const ConsolePlace *place, int *port, GError **error) {
  const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | AI_PASSIVE};
  struct addrinfo *found;
  const char *host = place->host ? place->host : "127.0.0.1";
  g_autofree char *port_text = g_strdup_printf("%u", place->port), *name = g_strdup_printf("%s:%s", host, port_text);
  const int wrong = getaddrinfo(host, port_text, &wanted, &found);
  if (wrong) {
    spinach_refuse(error, "cannot open the console at tcp:%s: %s (name an address of this computer)", name,
                   gai_strerror(wrong));
    return -1;
  }
  const int handle = listen_at(found);
  const bool loopback = is_loopback(found->ai_addr);
  freeaddrinfo(found);
  if (handle < 0) return fail(-1, "tcp:", name, error);
  *port = port_of(handle);
  if (!loopback)
    fprintf(stderr,
            "%s: warning: every computer that reaches %s can type at the console (tcp:PORT is this computer alone)\n",
            spinach_program, host);
  return handle;
}
