// Messages and rounds by MPI; see transport.h.
//
// Nothing here blocks: MPI would spin, and the parts need the cores.
#include "lss/runtime/carrier/mpi.h"

#include "lss/runtime/carrier/transport.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  MPI_Request request;
  uint8_t *bytes;
  size_t room;
} Sending;

static MPI_Comm hosts = MPI_COMM_NULL;
static bool failed; // some call has, and none is made any more
static MPI_Datatype round_type;
static MPI_Op round_op;
static Sending *sending; // by host
static struct {
  MPI_Request request;
  uint8_t *bytes;
  size_t room, size;
  uint32_t host;
  bool begun;
} receiving;
static Round own_round, all_rounds;
static MPI_Request round_request = MPI_REQUEST_NULL;

static void add_rounds(void *in, void *inout, int *count, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *count; i++) round_add((Round *)inout + i, (const Round *)in + i);
}

void mpi_begin(int *argc, char ***argv) {
  MPI_Init(argc, argv);
}

bool mpi_join(uint32_t host, uint32_t host_count) {
  int size = 0;
  MPI_Comm_split(MPI_COMM_WORLD, 0, (int)host, &hosts); // so that ranks are numbers of hosts
  MPI_Comm_size(hosts, &size);
  MPI_Comm_set_errhandler(hosts, MPI_ERRORS_RETURN);
  MPI_Type_contiguous(sizeof(Round), MPI_BYTE, &round_type);
  MPI_Type_commit(&round_type);
  MPI_Op_create(add_rounds, 1, &round_op);
  sending = calloc(host_count, sizeof *sending);
  for (uint32_t i = 0; sending && i < host_count; i++) sending[i].request = MPI_REQUEST_NULL;
  return sending && size == (int)host_count;
}

void mpi_end(void) {
  MPI_Op_free(&round_op);
  MPI_Type_free(&round_type);
  MPI_Comm_free(&hosts);
  MPI_Finalize();
}

void mpi_abort(void) {
  MPI_Abort(MPI_COMM_WORLD, 1);
  abort();
}

bool mpi_has_failed(void) {
  return failed;
}

static void note(int result) {
  if (result != MPI_SUCCESS) failed = true;
}

static bool is_done(MPI_Request *request) {
  int done = 0;
  if (!failed) note(MPI_Test(request, &done, MPI_STATUS_IGNORE));
  return done && !failed;
}

bool transport_is_free(uint32_t host) {
  return is_done(&sending[host].request);
}

static void *grow(void *bytes, size_t *room, size_t size) {
  if (size <= *room) return bytes;
  *room = 2 * size;
  free(bytes);
  void *grown = malloc(*room);
  if (!grown) mpi_abort();
  return grown;
}

void transport_send(uint32_t host, const void *bytes, size_t size) {
  Sending *to = &sending[host];
  to->bytes = grow(to->bytes, &to->room, size);
  memcpy(to->bytes, bytes, size);
  note(MPI_Isend(to->bytes, (int)size, MPI_BYTE, (int)host, 0, hosts, &to->request));
}

// Begins to receive the next message, if there is one.
static bool begin_to_receive(void) {
  MPI_Message message;
  MPI_Status status;
  int there = 0, count = 0;
  if (!failed) note(MPI_Improbe(MPI_ANY_SOURCE, 0, hosts, &there, &message, &status));
  if (!there || failed) return false;
  MPI_Get_count(&status, MPI_BYTE, &count);
  receiving.bytes = grow(receiving.bytes, &receiving.room, (size_t)count);
  receiving.size = (size_t)count;
  receiving.host = (uint32_t)status.MPI_SOURCE;
  receiving.begun = true;
  note(MPI_Imrecv(receiving.bytes, count, MPI_BYTE, &message, &receiving.request));
  return true;
}

const void *transport_receive(uint32_t *host, size_t *size) {
  if ((!receiving.begun && !begin_to_receive()) || !is_done(&receiving.request)) return NULL;
  receiving.begun = false;
  *host = receiving.host;
  *size = receiving.size;
  return receiving.bytes;
}

void transport_join(const Round *own) {
  own_round = *own;
  if (!failed) note(MPI_Iallreduce(&own_round, &all_rounds, 1, round_type, round_op, hosts, &round_request));
}

bool transport_joined(Round *all) {
  const bool done = is_done(&round_request);
  if (done) *all = all_rounds;
  return done;
}
