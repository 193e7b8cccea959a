// What LMBench measures of a disk, through the kernel and past its cache of files, between markers 1 and 2:
//
//   disk DEVICE seek DISTANCE SPAN TIMES     reads TIMES sectors, anywhere among SPAN sectors, by turns at the
//   beginning of
//                                            the disk and DISTANCE sectors after it
//   disk DEVICE read FIRST COUNT TIMES       reads TIMES requests of COUNT sectors, one after another, from sector
//   FIRST on disk DEVICE ahead FIRST COUNT TIMES      the same with the kernel's cache, which reads ahead
//
// Marker 4 comes when the disk is open: from then on a machine with two processors should simulate in detail.  Two
// requests come before marker 1.
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>

#include "measure.h"

enum { SECTOR = 512, BEFORE = 2 };

static int device;
static void *buffer;

static void read_at(uint64_t sector, size_t count) {
  need(lseek64(device, (off64_t)(sector * SECTOR), SEEK_SET) < 0 ? -1 : 0, "lseek");
  need(read(device, buffer, count * SECTOR) == (ssize_t)(count * SECTOR) ? 0 : -1, "read");
}

static uint32_t random_below(size_t limit) {
  static uint32_t state = 1;
  state = state * 1664525 + 1013904223;
  return (uint32_t)((uint64_t)state * limit >> 32);
}

static void seek(uint64_t distance, size_t span, size_t times) {
  for (size_t n = 0; n < times; n++) read_at((n & 1 ? distance : 0) + random_below(span), 1);
}

static void read_on(uint64_t first, size_t count, size_t times) {
  for (size_t n = 0; n < times; n++) read_at(first + n * count, count);
}

int main(int count, char **words) {
  if (count != 6) {
    fprintf(stderr, "usage: disk DEVICE seek DISTANCE SPAN TIMES | read|ahead FIRST COUNT TIMES\n");
    return 2;
  }
  const uint64_t where = number(words[3], "DISTANCE or FIRST", 0);
  const int seeks = !strcmp(words[2], "seek"), ahead = !strcmp(words[2], "ahead");
  if (!seeks && !ahead && strcmp(words[2], "read")) {
    fprintf(stderr, "disk: %s is none of seek, read, ahead\n", words[2]);
    return 2;
  }
  const size_t size = number(words[4], seeks ? "SPAN" : "COUNT", 1), times = number(words[5], "TIMES", 1);
  need(posix_memalign(&buffer, 4096, (seeks ? 1 : size) * SECTOR) ? -1 : 0, "memory");
  need(device = open(words[1], O_RDONLY | O_LARGEFILE | (ahead ? 0 : O_DIRECT)), words[1]);
  marker(4);
  if (seeks) {
    seek(where, size, BEFORE);
    marker(1);
    seek(where, size, times);
  } else {
    read_on(where, size, BEFORE);
    marker(1);
    read_on(where + BEFORE * size, size, times);
  }
  marker(2);
  printf("%zu requests\n", times);
  return 0;
}
