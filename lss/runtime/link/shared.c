// The file in /dev/shm; see shared.h.
#include "lss/runtime/link/shared.h"

#include "lss/runtime/link/board.h"
#include "lss/runtime/link/ring.h"
#include "lss/runtime/text/report.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LONGEST_NAME = 100 };

char *shared_path(const char *board) {
  bool fine = *board && strlen(board) < LONGEST_NAME;
  for (const char *c = board; *c; c++) fine = fine && (g_ascii_isalnum(*c) || *c == '-' || *c == '_');
  if (fine) return g_strconcat("/dev/shm/spinach-", board, NULL);
  spinach_report_error("--board: \"%s\" is no name of letters and digits", board);
  return NULL;
}

size_t shared_ring(const Network *network, uint32_t link) {
  size_t offset = board_bytes(network->parts->len);
  for (uint32_t i = 0; i < link; i++)
    offset += ring_bytes(network_link(network, i)->bytes, network_link(network, i)->slots);
  return offset;
}

uint8_t *shared_map(const char *path, const Network *network) {
  const size_t size = shared_ring(network, network->links->len);
  const int handle = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  // It grows to what all need, and never shrinks: so it does not matter who comes first.
  const int error = handle < 0 ? errno : posix_fallocate(handle, 0, (off_t)size);
  void *memory = error ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
  if (memory == MAP_FAILED)
    spinach_report_error("error: no %zu bytes of shared memory in \"%s\": %s", size, path,
                         g_strerror(error ? error : errno));
  if (handle >= 0) close(handle);
  return memory == MAP_FAILED ? NULL : memory;
}
