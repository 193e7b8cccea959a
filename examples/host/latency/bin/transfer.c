// What LMBench measures of transfers through the kernel, between markers 1 and 2:
//
//   transfer pipe|socket BYTES CHUNK   a child sends BYTES in writes of CHUNK bytes, and this process reads them
//   transfer file|open BYTES CHUNK     reads a file of BYTES that is in memory, in reads of CHUNK bytes, four times;
//                                      `open` opens and closes it for each
//
// Marker 4 comes when all is ready: from then on a machine with two processors should simulate in detail.  The first
// transfer comes before marker 1.
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "measure.h"

enum { TIMES = 4 };
static const char *const name = "/tmp/transfer";
static char *buffer;

static void receive(int from, size_t bytes, size_t chunk) {
  for (size_t at = 0; at < bytes;) {
    const ssize_t got = read(from, buffer, bytes - at < chunk ? bytes - at : chunk);
    need(got - 1, "read");
    at += (size_t)got;
  }
}

static void send_all(int to, size_t bytes, size_t chunk) {
  for (size_t at = 0; at < bytes;) {
    const ssize_t sent = write(to, buffer, bytes - at < chunk ? bytes - at : chunk);
    need(sent - 1, "write");
    at += (size_t)sent;
  }
}

// Both ends; what is sent is twice what is measured, of which the first half comes before marker 1.
static void between(const int ends[2], size_t bytes, size_t chunk) {
  const int child = fork();
  need(child, "fork");
  if (child == 0) {
    close(ends[0]);
    send_all(ends[1], 2 * bytes, chunk);
    _exit(0);
  }
  close(ends[1]);
  marker(4);
  receive(ends[0], bytes, chunk);
  marker(1);
  receive(ends[0], bytes, chunk);
  marker(2);
}

static void read_file(int file, int anew, size_t bytes, size_t chunk) {
  if (anew) need(file = open(name, O_RDONLY), name);
  need(lseek(file, 0, SEEK_SET), "lseek");
  receive(file, bytes, chunk);
  if (anew) close(file);
}

static void from_file(int anew, size_t bytes, size_t chunk) {
  const int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
  need(file, name);
  send_all(file, bytes, chunk);
  marker(4);
  read_file(file, anew, bytes, chunk);
  marker(1);
  for (int n = 0; n < TIMES; n++) read_file(file, anew, bytes, chunk);
  marker(2);
}

int main(int count, char **words) {
  int ends[2];
  if (count != 4) {
    fprintf(stderr, "usage: transfer pipe|socket|file|open BYTES CHUNK\n");
    return 2;
  }
  const size_t bytes = number(words[2], "BYTES", 1), chunk = number(words[3], "CHUNK", 1);
  buffer = calloc(chunk, 1);
  memset(buffer, 1, chunk);
  if (!strcmp(words[1], "pipe")) {
    need(pipe(ends), "pipe");
    between(ends, bytes, chunk);
  } else if (!strcmp(words[1], "socket")) {
    need(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
    between(ends, bytes, chunk);
  } else if (!strcmp(words[1], "file") || !strcmp(words[1], "open")) {
    from_file(words[1][0] == 'o', bytes, chunk);
  } else {
    fprintf(stderr, "transfer: %s is none of pipe, socket, file, open\n", words[1]);
    return 2;
  }
  printf("%zu bytes\n", bytes);
  return 0;
}
