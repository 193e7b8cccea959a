// The carrier of a host: one process, which starts the parts of its host and moves what they exchange with those of
// other hosts.
//
//   carrier PLAN HOST
//
// mpirun starts one for each host.  Each line in the file that the plan names for the host is for `spinach network`:
//
//   carrier PROCESS         it has started
//   part NUMBER PROCESS     and so has a part
//   ended NUMBER STATUS     that has ended, with this status or, negative, by this signal
//   error TEXT              the run cannot go on
//   over                    all parts have ended, and so has this carrier
//
// SIGUSR1 ends the run as Ctrl-C does.  SIGTERM is what MPI sends when another carrier is gone: then the parts end
// where they are.
#include "lss/runtime/carrier/carrier.h"
#include "lss/runtime/carrier/mpi.h"
#include "lss/runtime/carrier/plan.h"
#include "lss/runtime/carrier/processes.h"
#include "lss/runtime/link/shared.h"
#include "lss/runtime/text/number.h"
#include "lss/runtime/text/report.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Nanoseconds: the shortest and the longest time between two looks; how long parts have to refuse what they were given
// when another one has; and to end when one has failed, and when a carrier is gone, before mpirun kills this one.
static const uint64_t SHORTEST_NAP = 10 * 1000, LONGEST_NAP = 1000 * 1000, REFUSAL_TIME = 200 * 1000 * 1000,
                      GRACE = 30 * UINT64_C(1000000000), LAST_GRACE = 500 * 1000 * 1000;

static Plan *plan;
static Network *network;
static uint32_t own; // the number of this host
static Carrier carrier;
static Processes processes;
static char *file;           // in /dev/shm
static int report_file = -1; // the file for what this carrier has to say
static bool spins;           // a core is spare
static uint64_t failed_at;   // a part has failed; 0: none
static uint64_t lacks_since; // a part will not come, and the others wait for it; 0: none
static volatile sig_atomic_t interrupted, terminated, child_ended;

// A line for `spinach network`.
static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_autofree char *line = g_strconcat(text, "\n", NULL);
  const ssize_t written = write(report_file < 0 ? STDERR_FILENO : report_file, line, strlen(line));
  (void)written; // nobody would hear of it
}

static _Noreturn void abort_run(const char *text) {
  say("error %s", text);
  processes_signal(&processes, SIGKILL);
  if (file) unlink(file);
  mpi_abort();
}

static uint64_t nanoseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// ---- The beginning ------------------------------------------------------------------------------------------------

// Leaves this process and its parts so many cores as the plan says.
static void take_cores(void) {
  cpu_set_t allowed, taken;
  const uint64_t wanted = plan_host(plan, own)->cores;
  uint64_t found = 0;
  CPU_ZERO(&allowed);
  CPU_ZERO(&taken);
  sched_getaffinity(0, sizeof allowed, &allowed);
  for (int i = 0; i < CPU_SETSIZE && found < wanted; i++)
    if (CPU_ISSET(i, &allowed)) {
      CPU_SET(i, &taken);
      found++;
    }
  g_autofree char *text = g_strdup_printf("it has %llu cores, not %llu as the file of hosts says",
                                          (unsigned long long)found, (unsigned long long)wanted);
  if (found < wanted) abort_run(text);
  sched_setaffinity(0, sizeof taken, &taken);
}

static void read_files(const char *path) {
  if (!(plan = plan_read(path))) abort_run(spinach_reported_error());
  if (own >= plan->hosts->len) abort_run("there is no such host in the plan");
  report_file = open(plan_host(plan, own)->said, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (report_file < 0) abort_run("it cannot write into the folder of the run (all hosts need the same files)");
  say("carrier %d", (int)getpid());
  if (!(network = network_read(plan->network))) abort_run(spinach_reported_error());
  if (strcmp(network->hash, plan->hash) || network->parts->len != plan->parts->len)
    abort_run("its network.json is not the one with which the run was started (all hosts need the same files)");
}

static uint32_t *hosts_of_parts(void) {
  uint32_t *hosts = g_new0(uint32_t, plan->parts->len);
  for (uint32_t i = 0; i < plan->parts->len; i++) hosts[i] = plan_part(plan, i)->host;
  return hosts;
}

static void add_link(uint8_t *shared, uint32_t number) {
  const NetworkLink *link = network_link(network, number);
  const bool leaves = carrier.host_of[link->from] == own;
  if (leaves == (carrier.host_of[link->to] == own)) return;
  const uint32_t peer = leaves ? link->to : link->from;
  CarriedLink *carried = &carrier.links[carrier.link_count++];
  *carried = (CarriedLink){.leaves = leaves,
                           .number = number,
                           .part = leaves ? link->from : link->to,
                           .host = carrier.host_of[peer],
                           .peer = peer};
  ring_attach(&carried->ring, shared + shared_ring(network, number), link->bytes, link->slots, link->cut);
}

static void name_file(void) {
  g_autofree char *name = g_strdup_printf("%s-%u", plan->board, own);
  if (!(file = shared_path(name))) abort_run(spinach_reported_error());
}

// Takes the places of the parts of other hosts in what the parts of this one share.
static void join_board(void) {
  uint32_t first, seat = 0;
  char other[BOARD_HASH + 1];
  carrier.host = own;
  carrier.host_count = plan->hosts->len;
  carrier.host_of = hosts_of_parts();
  while (seat < plan->parts->len && carrier.host_of[seat] == own) seat++;
  uint8_t *shared = shared_map(file, network);
  if (!shared) abort_run(spinach_reported_error());
  carrier.links = g_new0(CarriedLink, network->links->len + 1);
  for (uint32_t i = 0; i < network->links->len; i++) add_link(shared, i);
  if (!board_attach(&carrier.board, shared, plan->parts->len, seat) || !carrier_begin(&carrier, (uint32_t)getpid()))
    abort_run("out of memory");
  if (!board_claim(&carrier.board, network->hash, &first, other)) abort_run("its shared memory is of another network");
}

static void on_signal(int number) {
  if (number == SIGUSR1) interrupted = 1;
  if (number == SIGTERM) terminated = 1;
  if (number == SIGCHLD) child_ended = 1;
}

static void listen_to_signals(void) {
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  action.sa_flags = SA_NOCLDSTOP;
  sigaction(SIGCHLD, &action, NULL); // ends a nap
  prctl(PR_SET_TIMERSLACK, 1000UL);  // naps are short
}

// ---- The run ------------------------------------------------------------------------------------------------------

static bool has_others(void) {
  return plan->hosts->len > 1;
}

// A part that has not left in good order ends all.
static void note_end(const Child *child) {
  const bool killed = failed_at && nanoseconds() - failed_at > GRACE; // here, since others have failed
  say("ended %u %d", child->part, killed ? EXIT_FAILURE : child->status);
  if (child->status && !failed_at) failed_at = nanoseconds();
  const bool starting = has_others() && !board_is_full(&carrier.board);
  if (child->status && !lacks_since && (starting || child->status == PROCESS_REFUSES)) lacks_since = nanoseconds();
  if (!has_others() || !child->status) return;
  if (!atomic_load(&carrier.board.seats[child->part].over)) board_break(&carrier.board, child->part);
}

// All parts are to end in good order.  Where not all have come, none has begun, and those that wait for the others end
// at the second signal.
static void stop_parts(void) {
  static uint64_t stopped_at;
  static bool again;
  if (!stopped_at) {
    stopped_at = nanoseconds();
    processes_signal(&processes, SIGTERM);
  }
  const bool begun = has_others() && board_is_full(&carrier.board);
  if (begun || again || nanoseconds() - stopped_at < LAST_GRACE) return;
  again = true;
  processes_signal(&processes, SIGTERM);
}

static void look_at_children(void) {
  static bool passed;
  const Child *child;
  if (child_ended) {
    child_ended = 0; // before the look
    while ((child = processes_reap(&processes))) note_end(child);
  }
  if (interrupted && !passed) processes_signal(&processes, SIGINT); // a second one would end them where they are
  passed = interrupted;
  if (lacks_since && nanoseconds() - lacks_since > REFUSAL_TIME) carrier.stopped = true;
  if (carrier.stopped) stop_parts();
  if (failed_at && nanoseconds() - failed_at > GRACE) processes_signal(&processes, SIGKILL);
  carrier.exited = !processes.running && (!lacks_since || carrier.stopped); // other hosts have to hear of it
}

// Sleeps until there is news from a part, or until then.
static void nap(uint32_t ticket, uint64_t time) {
  const struct timespec most = {0, (long)time};
  if (has_others())
    syscall(SYS_futex, &carrier.board.mine->ticket, FUTEX_WAIT, ticket, &most, NULL, 0);
  else
    nanosleep(&most, NULL);
  if (has_others()) board_awake(&carrier.board);
}

// Another carrier is gone: without it the parts cannot go on.
static _Noreturn void end_where_they_are(void) {
  const uint64_t began = nanoseconds();
  if (file) unlink(file); // first: mpirun may kill this process at any time
  if (has_others() && board_is_full(&carrier.board))
    board_break(&carrier.board, carrier.board.own);
  else
    processes_signal(&processes, SIGTERM);
  while (processes.running && nanoseconds() - began < LAST_GRACE) {
    look_at_children();
    nanosleep(&(struct timespec){.tv_nsec = (long)LONGEST_NAP}, NULL);
  }
  processes_signal(&processes, SIGKILL);
  say("over");
  _exit(1);
}

// What came from another carrier makes no sense, so that nothing can be agreed on with it any more.
static _Noreturn void abort_for_fault(void) {
  const char *link = carrier.fault_link < network->links->len ? network_link(network, carrier.fault_link)->path : "";
  g_autofree char *text =
      g_strdup_printf("%s%s%s (%s %s)", link, *link ? ": " : "", carrier.fault,
                      carrier.fault_host == own ? "on" : "from", plan_host(plan, carrier.fault_host)->name);
  abort_run(text);
}

static void carry(void) {
  const uint32_t process = (uint32_t)getpid();
  uint64_t moved_at = nanoseconds();
  while (has_others() ? !carrier_is_complete(&carrier) : processes.running > 0) {
    const uint32_t ticket = has_others() && !spins ? board_ticket(&carrier.board) : 0;
    look_at_children();
    if (terminated || mpi_has_failed()) end_where_they_are();
    if (carrier.fault && carrier.exited) abort_for_fault();
    if (file && has_others() && board_is_full(&carrier.board)) {
      unlink(file);
      g_clear_pointer(&file, g_free);
    }
    const uint64_t now = nanoseconds();
    if (has_others() && carrier_turn(&carrier, process)) {
      moved_at = now;
    } else if (spins && !failed_at) {
      __builtin_ia32_pause();
    } else {
      const uint64_t idle = (now - moved_at) / 8; // whoever answers late has no answer soon
      nap(ticket, idle < SHORTEST_NAP ? SHORTEST_NAP : idle > LONGEST_NAP ? LONGEST_NAP : idle);
    }
  }
}

int main(int argc, char **argv) {
  uint64_t number;
  listen_to_signals();
  mpi_begin(&argc, &argv);
  spinach_program = "carrier";
  spinach_report_keep(true); // lines are for `spinach network`
  if (argc != 3 || !number_parse(argv[2], UINT32_MAX, &number)) abort_run("its command line is not PLAN HOST");
  own = (uint32_t)number;
  read_files(argv[1]);
  if (!mpi_join(own, plan->hosts->len))
    abort_run("mpirun has not started a carrier for each host: it is of another MPI than the compiler mpicc was");
  take_cores();
  name_file();
  if (has_others()) join_board();
  if (!processes_start(&processes, plan, own)) abort_run(spinach_reported_error());
  for (uint32_t i = 0; i < processes.count; i++)
    say("part %u %d", processes.children[i].part, (int)processes.children[i].process);
  cpu_set_t cores;
  sched_getaffinity(0, sizeof cores, &cores);
  spins = (uint32_t)CPU_COUNT(&cores) > processes.count;
  carry();
  if (file) unlink(file); // not all have come
  say("over");
  mpi_end();
  return 0;
}
