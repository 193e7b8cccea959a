// Network load for the guest, measured from outside: `netload WHAT [BYTES] [COUNT]` sends or receives so many datagrams
// of so many bytes, or a stream in COUNT pieces of BYTES, and retires marker 1 when the first third is over and marker
// 2 at the end, so what comes between them is a steady state.  The other end is a `station` at 10.0.0.1.  No C library:
// the kernel's system calls only, so what is measured is the kernel.
#include "marker.h"
#include "system_call.h"

enum { INTERNET = 2, DATAGRAM = 1, STREAM = 2, MOST = 65536 };
enum { PORT_ECHO = 7, PORT_DISCARD = 9, PORT_STATION = 5001 };

static struct {
  unsigned short family, port; // the port with its high byte first
  unsigned char address[4];
  char rest[8];
} place;
static unsigned char bytes[MOST];

static void check(int holds, const char *what) {
  if (holds) return;
  say("netload: ");
  say(what);
  say("\n");
  call(EXIT, 1, 0, 0);
}

// A socket that is joined to a port of the station, or, with `own`, to that port of this machine.
static long open_socket(long type, unsigned port, int own) {
  const long socket = call(SOCKET, INTERNET, (const void *)type, 0);
  place.family = INTERNET;
  place.port = (unsigned short)(port << 8 | port >> 8);
  if (!own) place.address[0] = 10, place.address[3] = 1;
  check(call(own ? BIND : CONNECT, socket, &place, sizeof place) == 0, "no connection");
  return socket;
}

// Reads until there are so many bytes.
static void read_all(long socket, long length) {
  for (long got = 0; got < length;) {
    const long more = call(READ, socket, bytes, length - got < MOST ? length - got : MOST);
    check(more > 0, "the stream ended");
    got += more;
  }
}

typedef void Step(long socket, long length);

static void send_one(long socket, long length) {
  check(call(WRITE, socket, bytes, length) == length, "not sent");
}

static void receive_one(long socket, long length) {
  (void)length;
  check(call(READ, socket, bytes, MOST) >= 0, "not received");
}

static void echo_one(long socket, long length) {
  send_one(socket, length);
  check(call(READ, socket, bytes, MOST) == length, "another length came back");
}

static const struct {
  const char *name;
  long type;
  unsigned port;
  int own;
  Step *step;
} loads[] = {
    {"send", DATAGRAM, PORT_DISCARD, 0, send_one},      {"receive", DATAGRAM, PORT_STATION, 1, receive_one},
    {"echo", DATAGRAM, PORT_ECHO, 0, echo_one},         {"tcp-send", STREAM, PORT_STATION, 0, send_one},
    {"tcp-receive", STREAM, PORT_STATION, 0, read_all},
};

static void run(const char *what, long length, long count) {
  for (unsigned i = 0; i < sizeof loads / sizeof *loads; i++) {
    if (!same(what, loads[i].name)) continue;
    check(length > 0 && length <= MOST && count > 2, "netload WHAT BYTES COUNT: 1 to 65536 bytes, 3 times at least");
    const long socket = open_socket(loads[i].type, loads[i].port, loads[i].own);
    if (loads[i].step == read_all) send_one(socket, 1); // so the station begins
    for (long n = 0; n < count; n++) {
      if (n == count / 3) marker(1);
      loads[i].step(socket, length);
    }
    marker(2);
    call(EXIT, 0, 0, 0);
  }
  check(0, "send, receive, echo, tcp-send or tcp-receive");
}

void begin(char **stack) {
  const long words = (long)stack[0];
  const char *what = words > 1 ? stack[2] : "";
  run(what, number(words > 2 ? stack[3] : 0), number(words > 3 ? stack[4] : 0));
}
