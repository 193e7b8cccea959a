// Frames of a real network; see frame_socket.h.
#include "lss/runtime/gateway/frame_socket.h"

#include "lss/runtime/text/refusal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  MOST = 65536,         // bytes of what may come at once
  PREFIX = 4,           // bytes of the length before a frame on TCP, the most significant one first
  UNSENT_MOST = 1 << 18 // bytes that a peer on TCP has not taken
};

struct FrameSocket {
  GatewayKind kind;
  int handle;
  char *lost;           // why, or NULL
  GByteArray *received; // TCP: what came of frames that are not all there
  GByteArray *unsent;   // TCP: what the peer has not taken
};

// Reports errno; `repair` is what to do, with a blank before it, or "".
static int cannot(int handle, const GatewayPlace *place, const char *what, const char *repair, GError **error) {
  spinach_refuse(error, "the gateway \"%s\" cannot %s: %s%s", place->text, what, g_strerror(errno), repair);
  if (handle >= 0) close(handle);
  return -1;
}

// ---- Sockets

static bool is_loopback(const struct sockaddr *address) {
  if (address->sa_family == AF_INET6)
    return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
  return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == 127;
}

// The own end: at this computer alone, or at all its interfaces.
static bool bind_own(int handle, int family, uint16_t port, bool open) {
  const struct sockaddr_in four = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(open ? INADDR_ANY : INADDR_LOOPBACK)};
  const struct sockaddr_in6 six = {.sin6_family = AF_INET6,
                                   .sin6_port = htons(port),
                                   .sin6_addr = open ? (struct in6_addr)IN6ADDR_ANY_INIT
                                                     : (struct in6_addr)IN6ADDR_LOOPBACK_INIT};
  return !bind(handle, family == AF_INET6 ? (const struct sockaddr *)&six : (const struct sockaddr *)&four,
               family == AF_INET6 ? sizeof six : sizeof four);
}

static int join_udp(const GatewayPlace *place, const struct addrinfo *at, bool open, GError **error) {
  const int handle = socket(at->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (handle < 0 || !bind_own(handle, at->ai_family, place->own, open))
    return cannot(handle, place, "have its own port", errno == EADDRINUSE ? " (name another one)" : "", error);
  if (connect(handle, at->ai_addr, at->ai_addrlen)) return cannot(handle, place, "send to its peer", "", error);
  return handle;
}

static int join_stream(const GatewayPlace *place, const struct addrinfo *at, bool open, GError **error) {
  (void)open;
  const int on = 1, handle = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (handle < 0 || connect(handle, at->ai_addr, at->ai_addrlen) || fcntl(handle, F_SETFL, O_NONBLOCK))
    return cannot(handle, place, "connect", " (start the other end first; it must listen)", error);
  setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return handle;
}

static int join_peer(const GatewayPlace *place, bool open, GError **error) {
  const bool udp = place->kind == GATEWAY_UDP;
  const struct addrinfo wanted = {.ai_socktype = udp ? SOCK_DGRAM : SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
  struct addrinfo *found;
  g_autofree char *service = g_strdup_printf("%u", place->peer);
  const int wrong = getaddrinfo(place->host, service, &wanted, &found);
  if (wrong) {
    spinach_refuse(error, "the gateway \"%s\" has no host \"%s\": %s", place->text, place->host, gai_strerror(wrong));
    return -1;
  }
  int handle = -1;
  if (open || is_loopback(found->ai_addr))
    handle = (udp ? join_udp : join_stream)(place, found, open, error);
  else
    spinach_refuse(error, "the gateway \"%s\" leads to another computer (allow that with --open)", place->text);
  freeaddrinfo(found);
  return handle;
}

// ---- Tap interfaces

static int join_tap(const GatewayPlace *place, GError **error) {
  struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
  memcpy(request.ifr_name, place->interface, strlen(place->interface));
  const int handle = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (handle >= 0 && !ioctl(handle, TUNSETIFF, &request)) return handle;
  const bool forbidden = errno == EPERM || errno == EACCES;
  return cannot(handle, place, "have its interface",
                forbidden         ? " (make one of your own, or run in a network namespace: unshare -rn)"
                : errno == EBUSY  ? " (another process has it)"
                : errno == EINVAL ? " (it is no tap)"
                                  : "",
                error);
}

// ---- All of them

FrameSocket *frame_socket_open(const GatewayPlace *place, bool open, GError **error) {
  const int handle = place->kind == GATEWAY_TAP ? join_tap(place, error) : join_peer(place, open, error);
  if (handle < 0) return NULL;
  FrameSocket *socket = g_new0(FrameSocket, 1);
  *socket = (FrameSocket){place->kind, handle, NULL, g_byte_array_new(), g_byte_array_new()};
  return socket;
}

void frame_socket_close(FrameSocket *socket) {
  if (socket->handle >= 0) close(socket->handle);
  g_byte_array_unref(socket->received);
  g_byte_array_unref(socket->unsent);
  g_free(socket->lost);
  g_free(socket);
}

int frame_socket_handle(const FrameSocket *socket) {
  return socket->handle;
}

const char *frame_socket_lost(const FrameSocket *socket) {
  return socket->lost;
}

static void lose(FrameSocket *socket, const char *why) {
  socket->lost = g_strdup(why);
  close(socket->handle);
  socket->handle = -1;
}

static int32_t take(const uint8_t *bytes, size_t length, uint8_t *frame, uint32_t capacity) {
  if (length < FRAME_LEAST || length > capacity) return -1;
  memcpy(frame, bytes, length);
  return (int32_t)length;
}

static uint32_t prefix_of(const uint8_t *bytes) {
  uint32_t length;
  memcpy(&length, bytes, PREFIX);
  return ntohl(length);
}

// Whether all of a frame has come; a length that no frame has ends the connection, since what follows it is not known.
static bool has_frame(FrameSocket *socket) {
  if (socket->received->len < PREFIX) return false;
  const uint32_t length = prefix_of(socket->received->data);
  if (length <= MOST - PREFIX) return socket->received->len >= PREFIX + length;
  g_autofree char *why = g_strdup_printf("a length of %u bytes came; at most %d are possible", length, MOST - PREFIX);
  lose(socket, why);
  return false;
}

static void flush(FrameSocket *socket) {
  if (!socket->unsent->len) return;
  const ssize_t n = send(socket->handle, socket->unsent->data, socket->unsent->len, MSG_NOSIGNAL);
  if (n > 0)
    g_byte_array_remove_range(socket->unsent, 0, (guint)n);
  else if (n < 0 && errno != EAGAIN && errno != EINTR)
    lose(socket, g_strerror(errno));
}

static int32_t receive_stream(FrameSocket *socket, uint8_t *frame, uint32_t capacity) {
  static uint8_t bytes[MOST];
  flush(socket);
  while (!has_frame(socket)) {
    if (socket->lost) return 0;
    const ssize_t n = recv(socket->handle, bytes, sizeof bytes, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (n <= 0) return lose(socket, n ? g_strerror(errno) : "the other end has closed the connection"), 0;
    g_byte_array_append(socket->received, bytes, (guint)n);
  }
  const uint32_t length = prefix_of(socket->received->data);
  const int32_t taken = take(socket->received->data + PREFIX, length, frame, capacity);
  g_byte_array_remove_range(socket->received, 0, PREFIX + length);
  return taken;
}

// That nothing listens at the peer's port, or that an interface is down, may change.
int32_t frame_socket_receive(FrameSocket *socket, uint8_t *frame, uint32_t capacity) {
  static uint8_t bytes[MOST];
  if (socket->lost) return 0;
  if (socket->kind == GATEWAY_STREAM) return receive_stream(socket, frame, capacity);
  const ssize_t n = read(socket->handle, bytes, sizeof bytes);
  return n < 0 ? 0 : take(bytes, (size_t)n, frame, capacity);
}

static void send_stream(FrameSocket *socket, const uint8_t *frame, uint32_t length) {
  const uint32_t prefix = htonl(length);
  if (socket->unsent->len + length <= UNSENT_MOST) {
    g_byte_array_append(socket->unsent, (const uint8_t *)&prefix, PREFIX);
    g_byte_array_append(socket->unsent, frame, length);
  }
  flush(socket);
}

void frame_socket_send(FrameSocket *socket, const uint8_t *frame, uint32_t length) {
  if (socket->lost) return;
  if (socket->kind == GATEWAY_STREAM)
    send_stream(socket, frame, length);
  else if (write(socket->handle, frame, length) < 0)
    return; // as on a wire
}
