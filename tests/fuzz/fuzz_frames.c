// Fuzzes what comes to a gateway from outside: any bytes are a record, frames on a TCP connection or a place, as the
// first byte says, or are refused with one line.
#include <sys/mman.h>

// The streams and readers themselves, so that what a run leaves open can be closed between two inputs.
#include "lss/runtime/files/stream.c"
#include "lss/runtime/gateway/frame_record.c"
#include "lss/runtime/gateway/frame_socket.c"
#include "tests/fuzz/fuzz_streams.h"

static void fuzz_record(const uint8_t *bytes, size_t size) {
  char path[32];
  int handle = memfd_create("frames", 0);
  if (handle < 0 || write(handle, bytes, size) != (ssize_t)size) abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", handle);
  FrameReplay replay = {.path = path,
                        .came = g_array_new(FALSE, FALSE, sizeof(Entry)),
                        .sent = g_array_new(FALSE, FALSE, sizeof(Entry)),
                        .bytes = g_byte_array_new()};
  host_file_user = user_of;
  if (!setjmp(failed)) {
    static uint8_t frame[1514];
    read_record(&replay);
    frame_replay_begin(&replay, 100, 0);
    for (uint64_t now = 0; now < 100; now += 10)
      if (frame_replay_came(&replay, now, frame, sizeof frame) > 0) frame_replay_sent(&replay, now, frame, 14);
  }
  for (; file_count; file_count--) {
    HostFile *file = files[file_count - 1];
    free(file->bytes);
    free(file->path);
    free(file);
  }
  g_array_unref(replay.came);
  g_array_unref(replay.sent);
  g_byte_array_unref(replay.bytes);
  close(handle);
}

// In pieces whose sizes the bytes themselves say.
static void fuzz_connection(const uint8_t *bytes, size_t size) {
  static uint8_t frame[1514];
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends)) abort();
  FrameSocket *socket = g_new0(FrameSocket, 1);
  *socket = (FrameSocket){GATEWAY_STREAM, ends[0], NULL, g_byte_array_new(), g_byte_array_new()};
  while (size) {
    const size_t piece = MIN(size, 1 + bytes[0] % 16u);
    if (send(ends[1], bytes, piece, MSG_NOSIGNAL) < 0 && !frame_socket_lost(socket)) abort();
    bytes += piece, size -= piece;
    for (int32_t length; (length = frame_socket_receive(socket, frame, sizeof frame));)
      if (length > (int32_t)sizeof frame || (length >= 0 && length < FRAME_LEAST)) abort();
    frame_socket_send(socket, frame, 60);
  }
  close(ends[1]);
  if (frame_socket_receive(socket, frame, sizeof frame) == 0 && !frame_socket_lost(socket)) abort();
  frame_socket_close(socket);
}

static void fuzz_place(const uint8_t *bytes, size_t size) {
  g_autoptr(GError) error = NULL;
  g_autofree char *text = g_strndup((const char *)bytes, size);
  GatewayPlace place;
  if (!gateway_place_read(text, &place, &error) && (!error || place.text)) abort();
  gateway_place_clear(&place);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static void (*const kinds[])(const uint8_t *bytes, size_t size) = {fuzz_record, fuzz_connection, fuzz_place};
  if (size) kinds[bytes[0] % G_N_ELEMENTS(kinds)](bytes + 1, size - 1);
  return 0;
}
