// What LMBench measures of file systems: `files COUNT BYTES` creates COUNT files of BYTES in the current folder, and
// deletes them.
//
// Markers 1 and 2 enclose the creation, and 6 and 7 the deletion.  Marker 4 comes before: from then on a machine with
// two processors should simulate in detail.  A few files come and go between markers 4 and 1.
#include <fcntl.h>
#include <string.h>

#include "measure.h"

static char *bytes;
static size_t size;

static const char *name_of(unsigned number) {
  static char name[16];
  snprintf(name, sizeof name, "f%u", number);
  return name;
}

static void create(unsigned first, unsigned end) {
  for (unsigned k = first; k < end; k++) {
    const int file = open(name_of(k), O_WRONLY | O_CREAT | O_EXCL, 0600);
    need(file, name_of(k));
    if (size && write(file, bytes, size) != (ssize_t)size) need(-1, "write");
    need(close(file), "close");
  }
}

static void delete(unsigned first, unsigned end) {
  for (unsigned k = first; k < end; k++) need(unlink(name_of(k)), name_of(k));
}

int main(int count, char **words) {
  if (count != 3) {
    fprintf(stderr, "usage: files COUNT BYTES\n");
    return 2;
  }
  const unsigned files = (unsigned)number(words[1], "COUNT", 1);
  size = number(words[2], "BYTES", 0);
  bytes = malloc(size + 1);
  memset(bytes, 1, size);
  marker(4);
  create(files, files + 4);
  delete(files, files + 4);
  marker(1);
  create(0, files);
  marker(2);
  marker(6);
  delete(0, files);
  marker(7);
  printf("%u files\n", files);
  return 0;
}
