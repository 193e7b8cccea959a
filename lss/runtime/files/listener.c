// Sockets at which a run waits for clients; see listener.h.
#include "lss/runtime/files/listener.h"

#include "lss/runtime/text/refusal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { FOLLOWING = 4 }; // clients that may wait until the one before has left

static int fail(int handle, int why, GError **error) {
  if (handle >= 0) close(handle);
  spinach_refuse(error, "%s", g_strerror(why));
  return -1;
}

// ---- At a path ------------------------------------------------------------------------------------------------------
static struct sockaddr_un address_of(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  g_strlcpy(address.sun_path, path, sizeof address.sun_path);
  return address;
}

static bool refuse_taken(GError **error) {
  return spinach_refuse(error, "another process listens there (name another path)");
}

// Whether the name is free; what a killed run left is removed.
static bool make_room(const char *path, GError **error) {
  struct stat status;
  if (lstat(path, &status)) return true;
  if (!S_ISSOCK(status.st_mode))
    return spinach_refuse(error, "there is a file of this name (name another one, or remove it)");
  const struct sockaddr_un address = address_of(path);
  const int trial = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool listens =
      trial >= 0 && (!connect(trial, (const struct sockaddr *)&address, sizeof address) || errno != ECONNREFUSED);
  if (trial >= 0) close(trial);
  if (listens) return refuse_taken(error);
  unlink(path);
  return true;
}

int listener_at_path(const char *path, GError **error) {
  if (strlen(path) > LISTENER_PATH_MOST) {
    spinach_refuse(error, "the path has %zu bytes; at most %d are possible for a socket (name a shorter path)",
                   strlen(path), LISTENER_PATH_MOST);
    return -1;
  }
  if (!make_room(path, error)) return -1;
  g_autofree char *first = g_strdup_printf("%s.%d", path, (int)getpid()); // clients find it when it listens
  const struct sockaddr_un address = address_of(first);
  const int handle = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const mode_t mask = umask(0177); // only this user connects
  const bool bound = handle >= 0 && !bind(handle, (const struct sockaddr *)&address, sizeof address);
  umask(mask);
  const bool listens = bound && !listen(handle, FOLLOWING) && !link(first, path);
  const int why = errno;
  if (bound) unlink(first);
  if (listens) return handle;
  if (!bound || why != EEXIST) return fail(handle, why, error);
  close(handle);
  refuse_taken(error);
  return -1;
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

static uint16_t port_of(int handle) {
  struct sockaddr_storage address = {0};
  socklen_t size = sizeof address;
  getsockname(handle, (struct sockaddr *)&address, &size);
  return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)(void *)&address)->sin6_port
                                             : ((struct sockaddr_in *)(void *)&address)->sin_port);
}

// The address as it is looked up; NULL: all interfaces.
static char *node_of(const char *host) {
  const size_t length = host ? strlen(host) : 0;
  if (!host) return g_strdup("127.0.0.1");
  if (!strcmp(host, "*")) return NULL;
  const bool brackets = length > 2 && host[0] == '[' && host[length - 1] == ']';
  return brackets ? g_strndup(host + 1, length - 2) : g_strdup(host);
}

int listener_at_port(const char *host, uint16_t *port, bool *exposed, GError **error) {
  const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | AI_PASSIVE};
  struct addrinfo *found;
  g_autofree char *node = node_of(host), *service = g_strdup_printf("%u", *port);
  const int wrong = getaddrinfo(node, service, &wanted, &found);
  if (wrong) {
    spinach_refuse(error, "%s (name an address of this computer)", gai_strerror(wrong));
    return -1;
  }
  int handle = -1, why = 0; // of the first address, if none can be listened at
  for (const struct addrinfo *at = found; at && handle < 0; at = at->ai_next) {
    handle = listen_at(at);
    *exposed = !is_loopback(at->ai_addr);
    if (handle < 0 && !why) why = errno;
  }
  freeaddrinfo(found);
  if (handle < 0) return fail(-1, why, error);
  *port = port_of(handle);
  return handle;
}

const char *listener_split(const char *text, char **host) {
  const char *colon = strrchr(text, ':');
  *host = colon ? g_strndup(text, (gsize)(colon - text)) : NULL;
  return colon ? colon + 1 : text;
}
