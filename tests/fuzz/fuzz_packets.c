// Fuzzes the reader of packet files: any bytes are frames, or are refused with one line that names the file.
#include <sys/mman.h>

// The streams themselves, so that what a run leaves open can be closed between two inputs.
#include "lss/runtime/files/packet.c"
#include "lss/runtime/files/stream.c"
#include "tests/fuzz/fuzz_streams.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  char path[32];
  int handle = memfd_create("packets", 0);
  if (handle < 0 || write(handle, bytes, size) != (ssize_t)size) abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", handle);
  file_name = path;
  stream s = {0};
  host_file_user = user_of;
  if (!setjmp(failed)) {
    static uint8_t frame[1514];
    uint32_t length;
    uint64_t stamp;
    packet_read_open(&s, path);
    while (packet_next(&s, frame, sizeof frame, &length, &stamp))
      if (length > sizeof frame) abort();
  }
  for (; file_count; file_count--) {
    HostFile *file = files[file_count - 1];
    packet_reader_free(file->reader);
    free(file->path);
    free(file);
  }
  close(handle);
  return 0;
}
