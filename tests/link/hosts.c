// Carriers of toy machines; see hosts.h.  Messages and rounds seem to need any time: now and then, what is there is not
// looked at.
#include "tests/link/hosts.h"

#include "lss/runtime/carrier/transport.h"
#include "tests/emulib/check.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_HOSTS = 16, LONGEST = 1 << 18, GARBLED = 200 };

typedef struct {
  Round said[2];           // in this round and the one before
  _Atomic uint64_t joined; // rounds
  _Atomic bool aborts;     // as a carrier that ends all others, when its parts have ended
} Joined;

static int line[MOST_HOSTS][MOST_HOSTS]; // a socket of the first to the second
static uint32_t host_count, own;
static Joined *joined; // by host
static uint64_t random_state;
static struct {
  uint8_t bytes[LONGEST];
  size_t size; // 0: it has left
} waiting[MOST_HOSTS];
static uint8_t received[LONGEST];
static bool is_garbling;
static uint32_t garbled;

static bool by_chance(uint32_t one_in) {
  random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
  return (random_state >> 33) % one_in == 0;
}

void hosts_connect(uint32_t count) {
  CHECK(count <= MOST_HOSTS);
  host_count = count;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < i; k++) {
      int ends[2];
      CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends));
      line[i][k] = ends[0];
      line[k][i] = ends[1];
    }
  joined = mmap(NULL, count * sizeof *joined, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(joined != MAP_FAILED);
}

void hosts_disconnect(void) {
  for (uint32_t i = 0; i < host_count; i++)
    for (uint32_t k = 0; k < host_count; k++)
      if (i != k) close(line[i][k]);
  munmap(joined, host_count * sizeof *joined);
}

// ---- In place of mpi.c

bool transport_is_free(uint32_t host) {
  if (!waiting[host].size || by_chance(8)) return !waiting[host].size;
  const ssize_t sent = send(line[own][host], waiting[host].bytes, waiting[host].size, 0);
  CHECK(sent == (ssize_t)waiting[host].size || (sent < 0 && errno == EAGAIN));
  if (sent > 0) waiting[host].size = 0;
  return sent > 0;
}

void transport_send(uint32_t host, const void *bytes, size_t size) {
  CHECK(!waiting[host].size && size && size <= LONGEST);
  memcpy(waiting[host].bytes, bytes, size);
  waiting[host].size = size;
  if (is_garbling && garbled++ > GARBLED) waiting[host].size = 3;
  if (is_garbling && by_chance(2)) waiting[host].bytes[random_state % size] = (uint8_t)(random_state >> 40);
  transport_is_free(host);
}

const void *transport_receive(uint32_t *host, size_t *size) {
  for (uint32_t i = 0; i < host_count; i++) {
    if (i == own || by_chance(4)) continue;
    const ssize_t came = recv(line[own][i], received, sizeof received, 0);
    if (came <= 0) continue;
    *host = i;
    *size = (size_t)came;
    return received;
  }
  return NULL;
}

void transport_join(const Round *round) {
  Joined *mine = &joined[own];
  mine->said[mine->joined % 2] = *round;
  atomic_fetch_add(&mine->joined, 1);
}

bool transport_joined(Round *all) {
  const uint64_t rounds = joined[own].joined;
  if (by_chance(4)) return false;
  for (uint32_t i = 0; i < host_count; i++)
    if (atomic_load(&joined[i].joined) < rounds) return false;
  *all = joined[own].said[(rounds - 1) % 2];
  for (uint32_t i = 0; i < host_count; i++)
    if (i != own) round_add(all, &joined[i].said[(rounds - 1) % 2]);
  return true;
}

// ---- A carrier

// A process that is no child of this one: whether it has ended, it looks itself.
static void look_at_parts(Carrier *carrier) {
  Board *board = &carrier->board;
  bool all_over = true;
  for (uint32_t i = 0; i < carrier->part_count; i++) {
    const uint32_t part = carrier->parts[i];
    const bool never_came = board_is_broken(board) && !atomic_load(&board->seats[part].process);
    if (atomic_load(&board->seats[part].over) || never_came) continue;
    if (board_look_for_dead(board, &part, 1) == part)
      board_break(board, part);
    else
      all_over = false;
  }
  carrier->exited = all_over;
}

static bool is_aborted(Carrier *carrier) {
  bool aborted = false;
  joined[own].aborts = carrier->fault && carrier->exited;
  for (uint32_t i = 0; i < host_count; i++) aborted |= joined[i].aborts;
  if (aborted && !board_is_broken(&carrier->board)) board_break(&carrier->board, carrier->board.own); // as SIGTERM does
  return aborted && carrier->exited;
}

void hosts_carry(Carrier *carrier, uint64_t seed, bool garbles) {
  own = carrier->host;
  is_garbling = garbles;
  random_state = seed + own;
  memset(waiting, 0, sizeof waiting);
  CHECK(carrier_begin(carrier, (uint32_t)getpid()));
  while (!carrier_is_complete(carrier) && !is_aborted(carrier)) {
    const uint32_t ticket = board_ticket(&carrier->board);
    look_at_parts(carrier);
    if (!carrier_turn(carrier, (uint32_t)getpid())) board_sleep(&carrier->board, ticket, by_chance(16) ? 1 : 0);
    board_awake(&carrier->board);
  }
  if (carrier->fault) fprintf(stdout, "host %u: %s\n", own, carrier->fault);
  carrier_end(carrier);
}
