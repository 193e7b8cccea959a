// Fuzzes the reader of packet files: any bytes are frames, or are refused with one line that names the file.
#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>

// The streams themselves, so that what a run leaves open can be closed between two inputs.
#include "lss/runtime/files/packet.c"
#include "lss/runtime/files/stream.c"

static jmp_buf failed;
static const char *file_name;

_Noreturn void spinach_fail(const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length <= 0 || !strstr(text, file_name) || strchr(text, '\n')) abort();
  longjmp(failed, 1);
}

// Of the end of a run, which no input comes to.
bool spinach_report_error(const char *format, ...) {
  (void)format;
  abort();
}

// No machine uses the streams.
static char *user_of(const char *path) {
  return g_strdup(path);
}

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
