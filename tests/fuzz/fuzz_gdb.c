// Fuzzes the debugger's side of gdb's remote protocol, all of it in this process: framing, stub, registers, memory,
// breakpoints, history.  Each line of an input is a packet, given with the right checksum, and then as bytes as they
// are.  The state of the machine may change by a resume, a write or `monitor set` that was not refused, as this file's
// own reading of the packet says, and by nothing else.
#include "lss/runtime/debug/change.h"
#include "lss/runtime/debug/debug.h"
#include "lss/runtime/debug/drain.h"
#include "lss/runtime/debug/gdb_packet.h"
#include "lss/runtime/debug/run_control.h"
#include "lss/runtime/debug/stub.h"
#include "tests/fuzz/two_processors.h"

#include <stdlib.h>

static bool is_requested(void) {
  return false;
}

static void say(const char *text) {
  if (!*text) abort();
}

// ---- What is checked

static guint64 packets; // given to the stub

static __attribute__((destructor)) void say_packets(void) {
  fprintf(stderr, "%" G_GUINT64_FORMAT " packets\n", packets);
}

// Whether a packet may change the state, unless the reply is an error.
static bool may_change(const GString *packet) {
  static const char SET[] = "qRcmd,736574"; // "set"
  return (packet->len && strchr("MXGPcsCSb", packet->str[0])) || g_str_has_prefix(packet->str, "vCont;") ||
         !g_ascii_strncasecmp(packet->str, SET, strlen(SET)) || g_str_has_prefix(packet->str, "qRcmd,20");
}

// A checkpoint is a file, which has no place here.
static bool writes_a_file(const GString *packet) {
  return g_str_has_prefix(packet->str, "qRcmd,") && strcasestr(packet->str, "636865636b");
}

static StubState give(Stub *stub, const GString *packet) {
  g_autofree uint8_t *before = g_memdup2(spinach_arena, spinach_arena_size);
  g_autoptr(GString) reply = g_string_new(NULL);
  if (writes_a_file(packet)) return STUB_GOES_ON;
  packets++;
  StubState state = stub_reply(stub, packet, reply);
  if (state == STUB_WANTS_EVENTS) {
    stub_refuse_events(stub, "there are none");
    state = stub_reply(stub, packet, reply);
  }
  const bool changed = memcmp(before, spinach_arena, spinach_arena_size) != 0;
  if (changed && (!may_change(packet) || (reply->len && reply->str[0] == 'E'))) abort();
  g_autoptr(GString) framed = g_string_new(NULL), read = g_string_new(NULL);
  gdb_packet_append(framed, reply);
  GByteArray *bytes = g_byte_array_append(g_byte_array_new(), (const guint8 *)framed->str, (guint)framed->len);
  if (reply->len <= PACKET_SIZE / 2 && (gdb_packet_take(bytes, read) != PACKET_WHOLE || !g_string_equal(read, reply)))
    abort();
  g_byte_array_unref(bytes);
  return state;
}

static void give_bytes(Stub *stub, const guint8 *data, gsize size) {
  g_autoptr(GString) payload = g_string_new(NULL);
  GByteArray *bytes = g_byte_array_append(g_byte_array_new(), data, (guint)size);
  for (guint left = bytes->len + 1; bytes->len < left;) {
    left = bytes->len;
    if (gdb_packet_take(bytes, payload) == PACKET_WHOLE && give(stub, payload) != STUB_GOES_ON) break;
  }
  g_byte_array_unref(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const spinach_options options;
  static bool begun;
  if (!begun) {
    two_processors_begin(&options);
    run_control_begin(1 << 20, is_requested);
    begun = true;
  }
  drain_let_go();
  two_processors_again();
  change_state();
  Stub *stub = stub_new(say);
  g_autofree char *text = g_strndup((const char *)data, size);
  for (const char *line = text, *end; line < text + size; line = end + 1) {
    end = memchr(line, '\n', size - (gsize)(line - text));
    if (!end) end = text + size;
    g_autoptr(GString) packet = g_string_new_len(line, end - line);
    if (give(stub, packet) != STUB_GOES_ON) break;
  }
  give_bytes(stub, data, size);
  stub_free(stub);
  return 0;
}
