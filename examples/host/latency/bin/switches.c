// What LMBench measures of context switches: `switches PROCESSES BYTES` passes a token around a ring of processes, each
// of which sums up an array of BYTES when it has the token.
//
// Markers 1 and 2 enclose the token's rounds, and markers 6 and 7 as many passes and sums of one process alone: the
// difference is the switches.  Marker 4 comes when all is ready: from then on a machine with two processors should
// simulate in detail.  Some rounds come before each measurement.
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "measure.h"

enum { MOST = 16, PASSES = 64, ALONE = 64 };

static int ring[MOST + 1][2]; // the pipe to each process; the last is of one process alone
static int *array;
static size_t words;
static volatile int total;

static void sum(void) {
  int sum = 0;
  for (size_t k = 0; k < words; k++) sum += array[k];
  total = sum;
}

// Takes the token from one pipe, works, and passes it on; false: it will not come any more.
static int pass(int from, int to) {
  char token;
  if (read(from, &token, 1) != 1) return 0;
  sum();
  need(write(to, &token, 1), "write");
  return 1;
}

static void give(int to) {
  need(write(to, "", 1), "write");
}

// A process of the ring, with an array of its own.  It ends with the first one.
static void begin(int from, int to) {
  const int child = fork();
  need(child, "fork");
  if (child) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (words) memset(array, 1, words * sizeof *array);
  while (pass(from, to)) {
  }
  _exit(2);
}

static void rounds(int processes, int times) {
  for (int n = 0; n < times; n++) {
    give(ring[1 % processes][1]);
    char token;
    need(read(ring[0][0], &token, 1), "read");
    sum();
  }
}

static void alone(int times) {
  for (int n = 0; n < times; n++) pass(ring[MOST][0], ring[MOST][1]);
}

int main(int count, char **arguments) {
  if (count != 3) {
    fprintf(stderr, "usage: switches PROCESSES BYTES\n");
    return 2;
  }
  const size_t processes = number(arguments[1], "PROCESSES", 2);
  words = number(arguments[2], "BYTES", 0) / sizeof *array;
  if (processes > MOST) {
    fprintf(stderr, "switches: a ring has at most %d processes\n", MOST);
    return 2;
  }
  array = calloc(words + 1, sizeof *array);
  for (int k = 0; k <= MOST; k++) need(pipe(ring[k]), "pipe");
  for (size_t k = 1; k < processes; k++) begin(ring[k][0], ring[(k + 1) % processes][1]);
  if (words) memset(array, 1, words * sizeof *array);
  give(ring[MOST][1]);
  rounds((int)processes, 1); // all are there
  marker(4);
  alone(ALONE / 8);
  marker(6);
  alone(ALONE);
  marker(7);
  rounds((int)processes, 2);
  marker(1);
  rounds((int)processes, PASSES / (int)processes);
  marker(2);
  printf("%d switches\n", PASSES / (int)processes * (int)processes);
  return 0;
}
