// serve PORT PROCESSES: a server of HTTP/1.0.  Each process accepts a connection, reads a request, sends the reply, and
// closes: "GET /BYTES" gets so many bytes, which contents.h describes.  The processes run until they are killed.
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contents.h"

enum { MOST_PROCESSES = 64, WAITING = 128 };

static uint8_t contents[CONTENTS_MOST];

static void fail(const char *what) {
  printf("serve: %s\n", what);
  exit(1);
}

static int send_all(int connection, const void *data, size_t size) {
  for (size_t sent = 0; sent < size;) {
    const ssize_t now = write(connection, (const char *)data + sent, size - sent);
    if (now <= 0) return 0;
    sent += (size_t)now;
  }
  return 1;
}

// Until the empty line; what is longer than any request here ends it, too.
static int read_request(int connection, char *text, size_t size) {
  size_t have = 0;
  while (have + 1 < size) {
    const ssize_t now = read(connection, text + have, size - 1 - have);
    if (now <= 0) return 0;
    have += (size_t)now;
    text[have] = '\0';
    if (strstr(text, "\r\n\r\n")) return 1;
  }
  return 0;
}

static void reply(int connection) {
  char request[512], header[128];
  unsigned long size = 0;
  if (!read_request(connection, request, sizeof request)) return;
  const int known = sscanf(request, "GET /%lu HTTP/", &size) == 1 && size <= CONTENTS_MOST;
  if (!known) size = 0;
  const int length = snprintf(header, sizeof header, "HTTP/1.0 %s\r\nContent-Length: %lu\r\n\r\n",
                              known ? "200 OK" : "404 Not Found", size);
  if (send_all(connection, header, (size_t)length)) send_all(connection, contents, size);
}

static void serve(int listener) {
  for (;;) {
    const int connection = accept(listener, NULL, NULL);
    if (connection < 0) continue;
    reply(connection);
    close(connection);
  }
}

int main(int argc, char **argv) {
  const int port = argc == 3 ? atoi(argv[1]) : 0, processes = argc == 3 ? atoi(argv[2]) : 0;
  if (port < 1 || port > 65535 || processes < 1 || processes > MOST_PROCESSES) {
    printf("usage: serve PORT PROCESSES (1 to %d)\n", MOST_PROCESSES);
    return 2;
  }
  const struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  const int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  contents_write(contents, sizeof contents);
  signal(SIGPIPE, SIG_IGN);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, (const struct sockaddr *)&own, sizeof own) != 0) fail("the port is in use");
  if (listen(listener, WAITING) != 0) fail("listen");
  for (int i = 1; i < processes; i++)
    if (fork() == 0) serve(listener);
  puts("serve: ready");
  serve(listener);
}
