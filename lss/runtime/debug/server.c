// The connection to gdb; see debug.h.  One at a time; on the loopback interface unless another address is named.
#include "lss/runtime/cores/cores.h"
#include "lss/runtime/debug/conduct.h"
#include "lss/runtime/debug/debug.h"
#include "lss/runtime/debug/drain.h"
#include "lss/runtime/debug/gdb_packet.h"
#include "lss/runtime/debug/handover.h"
#include "lss/runtime/debug/run_control.h"
#include "lss/runtime/debug/stub.h"
#include "lss/runtime/engine/signals.h"
#include "lss/runtime/files/listener.h"
#include "lss/runtime/files/own_name.h"
#include "lss/runtime/link/part.h"
#include "lss/runtime/text/number.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { INTERRUPT = 0x03, CHUNK = 4096 };
static const char DEBUG_STOPPED[] = "stopped by gdb"; // at most 15 characters

static const spinach_options *given;
static int listener = -1, connection = -1;
static GByteArray *received; // and not yet taken
static GString *last;        // what was sent last, framed
static bool runs_free;       // gdb has let go of the machine
static bool ran_free;        // it had when this connection was made, over which no packet has come yet
static bool spoken;          // one has
static OwnName socket_name;  // of a Unix socket

// ---- The port -------------------------------------------------------------------------------------------------------

static bool refuse(const char *why) {
  return spinach_report_error("--gdb: cannot listen on \"%s\": %s", given->gdb, why);
}

static void remove_name(void) {
  own_name_remove(&socket_name);
}

static void take_name(const char *path) {
  own_name_take(&socket_name, path);
  spinach_on_leave = remove_name; // a run that gdb has left may end with an error
}

static bool open_path(const char *path) {
  g_autoptr(GError) why = NULL;
  listener = listener_at_path(path, &why);
  if (listener < 0) return refuse(why->message);
  take_name(path);
  fprintf(stderr, "%s: target extended-remote %s\n", spinach_program, path);
  return true;
}

static bool open_port(const char *text) {
  g_autoptr(GError) why = NULL;
  g_autofree char *host = NULL;
  const char *written = listener_split(text, &host);
  uint64_t number;
  if (!number_parse(written, 65535, &number))
    return refuse("a port is a number from 0 to 65535; 0 takes one that is free");
  uint16_t port = (uint16_t)number;
  bool exposed;
  listener = listener_at_port(host, &port, &exposed, &why);
  if (listener < 0) return refuse(why->message);
  const char *shown = !host ? "127.0.0.1" : strcmp(host, "*") ? host : "";
  fprintf(stderr, "%s: target extended-remote %s:%u\n", spinach_program, shown, port);
  if (exposed)
    fprintf(stderr,
            "%s: warning: every computer that reaches %s can change the machine (--gdb PORT is this computer alone)\n",
            spinach_program, host);
  return true;
}

// What an earlier process listened to.
static bool adopt(GVariant *session) {
  const char *path;
  g_variant_get_child(session, 0, "i", &listener);
  g_variant_get_child(session, 1, "i", &connection);
  g_variant_get_child(session, 2, "&s", &path);
  if (*path) take_name(path);
  fcntl(listener, F_SETFD, FD_CLOEXEC);
  fcntl(connection, F_SETFD, FD_CLOEXEC);
  return true;
}

bool spinach_debug_open(const spinach_options *options) {
  given = options;
  g_autoptr(GVariant) session = handover_session();
  if (session) return adopt(session);
  if (!spinach_cores()->len)
    return spinach_report_error(
        "--gdb: no module of this machine declares a processor (docs/language.md, debug views)");
  const bool at_port = strchr(options->gdb, ':') || strspn(options->gdb, "0123456789") == strlen(options->gdb);
  return at_port ? open_port(options->gdb) : open_path(options->gdb);
}

static void close_all(void) {
  if (connection >= 0) close(connection);
  if (listener >= 0) close(listener);
  remove_name();
  connection = listener = -1;
}

// ---- Bytes ----------------------------------------------------------------------------------------------------------

static void hang_up(void) {
  close(connection);
  connection = -1;
  g_byte_array_set_size(received, 0);
}

static void send_text(const char *text, gsize length) {
  while (length && connection >= 0) {
    const ssize_t sent = send(connection, text, length, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return; // the next read finds it closed
    text += sent;
    length -= (gsize)sent;
  }
}

static void send_packet(const GString *payload) {
  g_string_truncate(last, 0);
  gdb_packet_append(last, payload);
  send_text(last->str, last->len);
}

static void say(const char *text) {
  g_autoptr(GString) payload = g_string_new("O");
  gdb_packet_append_bytes(payload, (const guint8 *)text, strlen(text));
  send_packet(payload);
}

static bool is_readable(int handle, int timeout) {
  struct pollfd waits = {.fd = handle, .events = POLLIN};
  return poll(&waits, 1, timeout) > 0;
}

// What has come is added; an end is the end of the connection.
static void receive(void) {
  guint8 bytes[CHUNK];
  const ssize_t count = recv(connection, bytes, sizeof bytes, 0);
  if (count > 0)
    g_byte_array_append(received, bytes, (guint)count);
  else if (count == 0 || errno != EINTR)
    hang_up();
}

// Whoever speaks another protocol, a page in a browser for one, is not listened to: what looks like a packet in the
// middle of it is text of somebody else.
static void hang_up_on_stranger(void) {
  static bool said;
  if (!said) fprintf(stderr, "%s: --gdb: hung up: what was sent is not gdb's protocol\n", spinach_program);
  said = true;
  hang_up();
}

// While the machine runs: whether somebody wants it to stop.
static bool is_requested(void) {
  if (connection < 0) return is_readable(listener, 0);
  if (!is_readable(connection, 0)) return false;
  receive();
  return connection < 0 || runs_free || memchr(received->data, INTERRUPT, received->len);
}

// ---- The session ----------------------------------------------------------------------------------------------------

static void accept_gdb(void) {
  connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  ran_free = runs_free;
  spoken = false;
}

static char *words_of(const GPtrArray *wanted) {
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < wanted->len; i++)
    g_string_append_printf(text, "%s%s", i ? ", " : "", (const char *)wanted->pdata[i]);
  return g_string_free(text, FALSE);
}

// The packet needs events that this simulator does not record: the variant that does goes on with it.
#define SESSION_TYPE "(iisayayv)" // listener, connection, path of the socket, received, packet, the stub
static StubState record_events(Stub *stub, const GString *packet, GString *reply) {
  const int handles[] = {listener, connection, -1};
  g_autofree char *words = words_of(stub_wanted(stub));
  if (spinach_part_is_among_others()) {
    g_autofree char *why = g_strdup_printf("this simulator does not record %s, and a part among others cannot become "
                                           "one that does (build the network with --record, or debug the part alone "
                                           "with --replay-links)",
                                           words);
    stub_refuse_events(stub, why);
    return stub_reply(stub, packet, reply);
  }
  fprintf(stderr, "%s: building a variant that records %s\n", spinach_program, words);
  GVariant *session =
      g_variant_new("(iis@ay@ayv)", listener, connection, socket_name.path ? socket_name.path : "",
                    g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, received->data, received->len, 1),
                    g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, packet->str, packet->len, 1), stub_pack(stub));
  g_autoptr(GPtrArray) more = g_ptr_array_new();
  for (guint i = 0; i < stub_wanted(stub)->len; i++) {
    g_ptr_array_add(more, "--record");
    g_ptr_array_add(more, stub_wanted(stub)->pdata[i]);
  }
  drain_let_go();
  g_autofree char *why = handover_become(given, more, session, handles);
  stub_refuse_events(stub, why);
  return stub_reply(stub, packet, reply);
}

// One packet, if one is there; false: none is.
static bool serve_one(Stub *stub, StubState *state) {
  g_autoptr(GString) payload = g_string_new(NULL), reply = g_string_new(NULL);
  const bool acknowledges = !stub_is_quiet(stub);
  switch (gdb_packet_take(received, payload)) {
  case PACKET_NONE: return false;
  case PACKET_INTERRUPT: return true; // it stands still already, or has just been stopped
  case PACKET_REPEAT:
    if (acknowledges) send_text(last->str, last->len);
    return true;
  case PACKET_DAMAGED:
    if (acknowledges) send_text("-", 1);
    return true;
  case PACKET_FOREIGN: hang_up_on_stranger(); return true;
  case PACKET_WHOLE: break;
  }
  spoken = true;
  if (acknowledges) send_text("+", 1);
  *state = stub_reply(stub, payload, reply);
  if (*state == STUB_WANTS_EVENTS) *state = record_events(stub, payload, reply);
  if (*state != STUB_KILLED || reply->len) send_packet(reply);
  return true;
}

// In the variant: the session as it was, and the packet again.
static StubState go_on(Stub *stub, GVariant *session) {
  g_autoptr(GVariant) bytes = g_variant_get_child_value(session, 3), packet = g_variant_get_child_value(session, 4),
                      boxed = g_variant_get_child_value(session, 5), packed = g_variant_get_variant(boxed);
  g_autoptr(GString) reply = g_string_new(NULL);
  gsize length;
  const char *data = g_variant_get_fixed_array(packet, &length, 1);
  g_autoptr(GString) payload = g_string_new_len(data, (gssize)length);
  handover_arrive();
  stub_unpack(stub, packed);
  data = g_variant_get_fixed_array(bytes, &length, 1);
  g_byte_array_append(received, (const guint8 *)data, (guint)length);
  StubState state = stub_reply(stub, payload, reply);
  if (state == STUB_WANTS_EVENTS) {
    stub_refuse_events(stub, "the variant does not record that either");
    state = stub_reply(stub, payload, reply);
  }
  send_packet(reply);
  return state;
}

// Waits for a packet of a gdb that has stopped the machine.  `spinach network` and ps show that by the name of the
// process, since the others wait for it.
static void wait_for_packet(void) {
  char name[16] = "";
  prctl(PR_GET_NAME, name);
  prctl(PR_SET_NAME, DEBUG_STOPPED);
  if (is_readable(connection, -1)) receive();
  prctl(PR_SET_NAME, name);
}

// Answers gdb until it lets go of the machine, kills it, or is gone.  A signal ends the run of a part among others when
// gdb lets it go on.
static StubState serve(Stub *stub) {
  StubState state = STUB_GOES_ON;
  while (connection >= 0 && state == STUB_GOES_ON && (spinach_part_is_among_others() || !spinach_interrupted())) {
    if (!serve_one(stub, &state)) wait_for_packet();
  }
  return state;
}

// Others go on until all end together.
static const char *end_by_debugger(void) {
  static const char WHY[] = "ended by the debugger";
  if (!spinach_part_is_among_others()) {
    spinach_part_complete(spinach_next_instant());
    return WHY;
  }
  spinach_part_end(BOARD_ENDS, spinach_next_instant(), WHY);
  return run_control_end();
}

static const char *run(Stub *stub) {
  g_autoptr(GVariant) session = handover_session();
  runs_free = given->gdb_run && !session;
  if (session) go_on(stub, session);
  while (!spinach_interrupted()) {
    if (runs_free) {
      const Stop stop = run_control_forward(0, false, STOPS_OF_ALL);
      if (stop.kind == STOP_FAILED || stop.kind == STOP_OVER) return run_control_end();
    }
    if (connection < 0 && is_readable(listener, runs_free ? 0 : -1)) accept_gdb();
    if (connection < 0) continue;
    runs_free = false;
    const StubState state = serve(stub);
    if (state == STUB_KILLED) return end_by_debugger();
    if (stub_has_ended(stub)) return run_control_end();
    if (connection < 0 && spoken) stub_forget(stub);
    runs_free = spoken || ran_free;
  }
  const char *why = run_conduct.begin();
  return why ? why : run_control_end(); // a part goes on until all end together
}

const char *spinach_debug_run(const spinach_options *options) {
  received = g_byte_array_new();
  last = g_string_new(NULL);
  run_control_begin(options->history, is_requested);
  Stub *stub = stub_new(say);
  const char *why = run(stub);
  stub_free(stub);
  run_control_leave();
  close_all();
  return why;
}
