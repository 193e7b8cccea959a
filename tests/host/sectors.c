// Reads the first sector of the host machine's disk and prints the text there, then writes PASSES others and reads them
// back: a driver of one queue that polls, in memory that caches keep.
enum { VIRTIO = 0x1f002000 };
#include "virtio_disk.h"

static unsigned char out[SECTOR] __attribute__((aligned(64))), in[SECTOR] __attribute__((aligned(64)));

int main(void) {
  if (PAST_CACHES(VIRTIO + 0x200) != 0) end(2); // there is no other disk
  begin();
  request(READ, 0, in);
  for (const unsigned char *c = in; *c; c++) BYTE(UART) = *c;
  for (unsigned pass = 1; pass <= PASSES; pass++) {
    for (unsigned k = 0; k < SECTOR; k++) out[k] = (unsigned char)(pass * 7 + k);
    request(WRITE, pass, out);
    request(READ, pass, in);
    for (unsigned k = 0; k < SECTOR; k++)
      if (in[k] != out[k]) end(4);
  }
  end(0);
}
