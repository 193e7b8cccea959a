// What LMBench measures of system calls, between markers 1 and 2: `calls NAME` makes one over and over, and prints what
// each takes by the guest's clock before marker 5.
//
// Marker 4 comes when all is ready: from then on a machine with two processors should simulate in detail.  A tenth of
// the calls comes before marker 1.
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "measure.h"

#define NAME "/etc/rc.local" // a file that is there

static int file, sockets[2], ways[2][2]; // ways: there, and back
static struct stat status;
static volatile sig_atomic_t caught;

static void open_null(void) {
  need(file = open("/dev/null", O_RDWR), "/dev/null");
}
static void open_file(void) {
  need(file = open(NAME, O_RDONLY), NAME);
}
static void get_pid(void) {
  getppid(); // which no C library remembers
}
static void write_byte(void) {
  need(write(file, "", 1), "write");
}
static void stat_file(void) {
  need(stat(NAME, &status), NAME);
}
static void fstat_file(void) {
  need(fstat(file, &status), "fstat");
}

static void read_byte(void) {
  char byte;
  need(read(file, &byte, 1), "read");
}

static void read_again(void) {
  char byte;
  need(pread(file, &byte, 1, 0), "pread");
}

static void open_close(void) {
  const int one = open(NAME, O_RDONLY);
  need(one, NAME);
  close(one);
}

// Descriptors of a file that can always be read, as many as are selected from.
static void open_many(int count) {
  open_null();
  for (int most = file; most < count - 1; need(most = dup(file), "dup")) {
  }
}

static void open_10(void) {
  open_many(10);
}
static void open_60(void) {
  open_many(60);
}

static void select_from(int count) {
  fd_set set;
  struct timeval no_time = {0, 0};
  FD_ZERO(&set);
  for (int k = 0; k < count; k++) FD_SET(k, &set);
  need(select(count, &set, NULL, NULL, &no_time), "select");
}

static void select_10(void) {
  select_from(10);
}
static void select_60(void) {
  select_from(60);
}

static void on_signal(int number) {
  (void)number;
  caught++;
}

static void install(void) {
  struct sigaction action = {.sa_handler = on_signal};
  need(sigaction(SIGUSR1, &action, NULL), "sigaction");
}

static void handle(void) {
  kill(getpid(), SIGUSR1);
}

// A child that sends back what it is sent, until there is no more.
static void serve(int from, int to) {
  char byte;
  while (read(from, &byte, 1) == 1) need(write(to, &byte, 1), "write");
  _exit(0);
}

static void begin_pipe(void) {
  need(pipe(ways[0]), "pipe");
  need(pipe(ways[1]), "pipe");
  const int child = fork();
  need(child, "fork");
  if (child == 0) {
    close(ways[0][1]);
    serve(ways[0][0], ways[1][1]);
  }
}

static void begin_socket(void) {
  need(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), "socketpair");
  ways[0][1] = ways[1][0] = sockets[0];
  const int child = fork();
  need(child, "fork");
  if (child == 0) {
    close(sockets[0]);
    serve(sockets[1], sockets[1]);
  }
}

static void to_and_fro(void) {
  char byte = 0;
  need(write(ways[0][1], &byte, 1), "write");
  if (read(ways[1][0], &byte, 1) != 1) exit(2);
}

static void fork_exit(void) {
  const int child = fork();
  need(child, "fork");
  if (child == 0) _exit(0);
  need(waitpid(child, NULL, 0), "waitpid");
}

// The child executes this program anew, as `calls hello`.
static void fork_exec(void) {
  const int child = fork();
  need(child, "fork");
  if (child == 0) {
    dup2(file, STDOUT_FILENO);
    execl("/proc/self/exe", "calls", "hello", NULL);
    _exit(2);
  }
  int result = 0;
  need(waitpid(child, &result, 0), "waitpid");
  if (result) exit(2);
}

static const struct {
  const char *name;
  void (*begin)(void);
  void (*call)(void);
  int times;
} calls[] = {
    {"getpid", NULL, get_pid, 1000},           {"read", open_null, read_byte, 1000},
    {"readfile", open_file, read_again, 1000}, {"write", open_null, write_byte, 1000},
    {"stat", NULL, stat_file, 1000},           {"fstat", open_null, fstat_file, 1000},
    {"open", NULL, open_close, 1000},          {"select10", open_10, select_10, 1000},
    {"select60", open_60, select_60, 1000},    {"install", NULL, install, 1000},
    {"handler", install, handle, 1000},        {"pipe", begin_pipe, to_and_fro, 200},
    {"socket", begin_socket, to_and_fro, 200}, {"fork", NULL, fork_exit, 20},
    {"exec", open_null, fork_exec, 20},
};

// Measures the call of this name; false: there is none.
static int measure(const char *name) {
  for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) {
    if (strcmp(calls[k].name, name)) continue;
    if (calls[k].begin) calls[k].begin();
    marker(4);
    for (int n = 0; n < calls[k].times / 10; n++) calls[k].call();
    const uint64_t begin = now();
    marker(1);
    for (int n = 0; n < calls[k].times; n++) calls[k].call();
    marker(2);
    print_each(now() - begin, calls[k].times);
    return 1;
  }
  return 0;
}

int main(int count, char **words) {
  if (count == 2 && !strcmp(words[1], "hello")) return puts("Hello world") < 0;
  if (count == 2 && measure(words[1])) return 0;
  fprintf(stderr, "usage: calls NAME, one of");
  for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) fprintf(stderr, " %s", calls[k].name);
  fprintf(stderr, "\n");
  return 2;
}
