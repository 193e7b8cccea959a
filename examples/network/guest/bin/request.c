// request HOST PORT CONNECTIONS SECONDS SEED: clients of an HTTP server, in a closed loop.  Each of CONNECTIONS
// processes opens a connection, sends a request, reads the reply to its end, compares every byte, and begins again at
// once.
//
// Sizes are those of SPECweb96: 35 % below 1 KB, 50 % below 10 KB, 14 % below 100 KB and 1 % below 1 MB, nine sizes in
// each class, all equally likely here; which one follows which depends on SEED.
//
// Marker 4 comes with each reply that was right.  After SECONDS of simulated time the program prints how many there
// were.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "contents.h"
#include "marker.h"

enum { MOST_CONNECTIONS = 64, PIECE = 8192 };

struct counts {
  uint32_t replies, damaged, refused;
  uint64_t bytes;
};

static struct sockaddr_in server = {.sin_family = AF_INET};
static uint8_t expected[CONTENTS_MOST];
static struct counts *counts; // of all processes

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint32_t draw(uint32_t *random) {
  *random ^= *random << 13;
  *random ^= *random >> 17;
  *random ^= *random << 5;
  return *random;
}

static uint32_t draw_size(uint32_t *random) {
  static const uint32_t classes[] = {102, 1024, 10240, 102400}; // a step of each class
  const uint32_t percent = draw(random) % 100, step = 1 + draw(random) % 9;
  return step * classes[percent < 35 ? 0 : percent < 85 ? 1 : percent < 99 ? 2 : 3];
}

// Reads the reply: 1 if it is the contents with this length.
static int is_right(int connection, uint32_t size) {
  char piece[PIECE];
  size_t have = 0, data = 0;
  uint32_t said = 0;
  // The header comes in one segment with the first data, or before it.
  for (char *end = NULL; !end;) {
    const ssize_t now = read(connection, piece + have, sizeof piece - 1 - have);
    if (now <= 0) return 0;
    have += (size_t)now;
    piece[have] = '\0';
    end = strstr(piece, "\r\n\r\n");
    if (!end && have + 1 == sizeof piece) return 0;
    if (end && sscanf(piece, "HTTP/1.0 200 OK\r\nContent-Length: %u", &said) != 1) return 0;
    if (end) data = have - (size_t)(end + 4 - piece), memmove(piece, end + 4, data);
  }
  size_t at = 0;
  for (;;) {
    if (at + data > size || memcmp(piece, expected + at, data) != 0) return 0;
    at += data;
    const ssize_t now = read(connection, piece, sizeof piece);
    if (now < 0) return 0;
    if (now == 0) return said == size && at == size;
    data = (size_t)now;
  }
}

static void request(struct counts *own, uint32_t size) {
  char text[64];
  const int connection = socket(AF_INET, SOCK_STREAM, 0),
            length = snprintf(text, sizeof text, "GET /%u HTTP/1.0\r\n\r\n", size);
  if (connect(connection, (struct sockaddr *)&server, sizeof server) != 0 ||
      write(connection, text, (size_t)length) != length) {
    own->refused++;
    usleep(1000);
  } else if (is_right(connection, size)) {
    marker(4);
    own->replies++;
    own->bytes += size;
  } else {
    own->damaged++;
  }
  close(connection);
}

static uint32_t number(const char *text, uint32_t least, uint32_t most, const char *what) {
  char *end;
  const unsigned long value = strtoul(text, &end, 10);
  if (text[0] >= '0' && text[0] <= '9' && !*end && value >= least && value <= most) return (uint32_t)value;
  printf("request: %s is %u to %u, not '%s'\n", what, least, most, text);
  exit(2);
}

int main(int argc, char **argv) {
  struct counts all = {0};
  if (argc != 6) {
    puts("usage: request HOST PORT CONNECTIONS SECONDS SEED");
    return 2;
  }
  if (!inet_aton(argv[1], &server.sin_addr)) {
    printf("request: HOST is an address, not '%s'\n", argv[1]);
    return 2;
  }
  server.sin_port = htons((uint16_t)number(argv[2], 1, 65535, "PORT"));
  const uint32_t connections = number(argv[3], 1, MOST_CONNECTIONS, "CONNECTIONS");
  char *end;
  const double seconds = strtod(argv[4], &end);
  if (*end || seconds <= 0) {
    printf("request: SECONDS is more than 0, not '%s'\n", argv[4]);
    return 2;
  }
  const uint32_t seed = number(argv[5], 1, UINT32_MAX, "SEED");
  contents_write(expected, sizeof expected);
  counts = mmap(NULL, connections * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (counts == MAP_FAILED) return 1;
  const double until = seconds_now() + seconds;
  for (uint32_t i = 0; i < connections; i++) {
    uint32_t random = (seed * 64 + i) * 2654435761u | 1;
    if (fork() != 0) continue;
    while (seconds_now() < until) request(&counts[i], draw_size(&random));
    _exit(0);
  }
  while (wait(NULL) > 0) {
  }
  for (uint32_t i = 0; i < connections; i++) {
    all.replies += counts[i].replies;
    all.damaged += counts[i].damaged;
    all.refused += counts[i].refused;
    all.bytes += counts[i].bytes;
  }
  printf("request: %u replies, %llu bytes, %u damaged, %u refused\n", all.replies, (unsigned long long)all.bytes,
         all.damaged, all.refused);
  return 0;
}
