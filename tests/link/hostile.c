// A part that is none: it takes a seat in a run of spinach network's simulators, sends nonsense over one link, and
// stays.
//
//   hostile FILE HASH PARTS OWN OFFSET BYTES SLOTS CUT KIND
//
// FILE is what the parts share, OFFSET where the ring of the link is in it.  KIND: item, early, tail, promise.
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lss/runtime/link/board.h"
#include "lss/runtime/link/ring.h"
#include "tests/emulib/check.h"

static void send_nonsense(Ring *ring, const char *kind) {
  uint8_t item[1024];
  CHECK(ring->item_size <= sizeof item);
  memset(item, 0x77, sizeof item);
  if (!strcmp(kind, "item")) CHECK(ring_send(ring, 1, 1 + ring->cut, item));
  if (!strcmp(kind, "early")) CHECK(ring_send(ring, 1, 2, item));
  if (!strcmp(kind, "tail")) ring->memory->tail = 1000000;
  ring_promise(ring, 1000000000);
  // The other end looks when it likes: at some time it sees a promise and then less.
  for (int i = 0; i < 1000 && !strcmp(kind, "promise"); i++) {
    usleep(7000);
    ring->memory->promise = 5;
    usleep(13000);
    ring->memory->promise = 1000000000;
  }
}

int main(int argc, char **argv) {
  CHECK(argc == 10);
  const uint32_t parts = (uint32_t)atoi(argv[3]), own = (uint32_t)atoi(argv[4]);
  const size_t offset = board_bytes(parts) + strtoull(argv[5], NULL, 10);
  int handle;
  while ((handle = open(argv[1], O_RDWR)) < 0) usleep(1000);
  uint8_t *shared = MAP_FAILED;
  for (int i = 0; i < 1000 && lseek(handle, 0, SEEK_END) < (off_t)offset; i++) usleep(1000);
  const size_t size = (size_t)lseek(handle, 0, SEEK_END);
  shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
  CHECK(shared != MAP_FAILED);
  Board board;
  CHECK(board_attach(&board, shared, parts, own));
  uint32_t first;
  char other[BOARD_HASH + 1];
  CHECK(board_claim(&board, argv[2], &first, other));
  Ring ring;
  ring_attach(&ring, shared + offset, (uint32_t)atoi(argv[6]), (uint32_t)atoi(argv[7]), strtoull(argv[8], NULL, 10));
  CHECK(board_sit(&board, (uint32_t)getpid()));
  send_nonsense(&ring, argv[9]);
  sleep(20);
  return 0;
}
