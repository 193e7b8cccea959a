// Forks of a run: their processes, pipes and results; see forks.h.
#include "lss/runtime/engine/forks.h"

#include "lss/runtime/engine/hooks.h"
#include "lss/runtime/engine/machine.h"
#include "lss/runtime/engine/signals.h"
#include "lss/runtime/files/detach.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_MILLISECONDS = 100 }; // between two looks whether a signal came

// What a fork sends, in one piece: so it comes whole or not at all.
typedef struct {
  uint32_t outcome, size;
  char bytes[1024]; // the result, or the words of an error
} Message;
_Static_assert(sizeof(Message) <= PIPE_BUF && FORK_RESULT <= sizeof((Message *)0)->bytes, "a message is one piece");

typedef struct {
  uint32_t id;
  const char *what;
  uint64_t number, began_ns;
  pid_t process;
  int handle; // from which its message comes; -1: it has ended
  fork_outcome outcome;
  char *bytes; // its result, or the words of its error
  size_t size;
} Fork;

static GQueue forks = G_QUEUE_INIT;   // Fork, oldest first: those whose results were not taken,
static GQueue running = G_QUEUE_INIT; // and of these those that execute
static uint64_t limit = 1;
static void (*detach_observers)(void), (*machine_goes_on)(void);
static int own_handle = -1; // in a fork: where its message goes

void spinach_forks_limit(uint64_t most) {
  limit = most;
}

void spinach_forks_prepare(void (*detach)(void), void (*go_on)(void)) {
  detach_observers = detach;
  machine_goes_on = go_on;
}

// ---- In a fork ------------------------------------------------------------------------------------------------------

static _Noreturn void leave(uint32_t outcome, const void *bytes, size_t size) {
  Message message = {.outcome = outcome, .size = (uint32_t)MIN(size, sizeof message.bytes)};
  memcpy(message.bytes, bytes, message.size);
  const ssize_t sent = write(own_handle, &message, sizeof message);
  _exit(sent == (ssize_t)sizeof message ? 0 : 1);
}

_Noreturn void fork_end(const void *result, size_t size) {
  leave(FORK_ENDED, result, size);
}

_Noreturn void spinach_fork_over(void) {
  leave(FORK_OVER, "", 0);
}

_Noreturn void spinach_fork_fail(const char *text) {
  char words[sizeof((Message *)0)->bytes];
  const int length = snprintf(words, sizeof words, "%.900s (at %llu ns)", text, (unsigned long long)spinach_now_ns());
  leave(FORK_FAILED, words, (size_t)length + 1);
}

static void on_error(const char *text) {
  spinach_fork_fail(text);
}

static void on_fault(const char *text) {
  leave(FORK_FAILED, text, strlen(text) + 1);
}

// The run is this one's parent, and the only one that signals reach.
static void become_fork(pid_t run, const int ends[2], const GArray *descriptors) {
  static const int ignored[] = {SIGINT, SIGTERM, SIGHUP};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != run) _exit(1);
  for (size_t i = 0; i < G_N_ELEMENTS(ignored); i++) signal(ignored[i], SIG_IGN);
  close(ends[0]);
  own_handle = ends[1];
  g_queue_init(&forks); // these are the run's
  g_queue_init(&running);
  spinach_on_error = on_error;
  spinach_on_fault = on_fault;
  spinach_streams_detach();
  detach_apply(descriptors, own_handle);
  spinach_hooks.before_instant = NULL;
  spinach_hooks.after_instant = NULL;
  spinach_hooks.before_step = NULL;
  spinach_hooks.after_step = NULL;
  spinach_hooks.after_advance = NULL;
  spinach_hooks.each_cycle = false;
  spinach_hooks.go_on = machine_goes_on;
  detach_observers();
}

// ---- In the run -----------------------------------------------------------------------------------------------------

// What is known of a fork that sent nothing.
static void explain(Fork *fork, int status) {
  fork->outcome = spinach_interrupted() ? FORK_OVER : FORK_FAILED;
  fork->bytes = WIFSIGNALED(status) ? g_strdup_printf("a signal ended its process: %s", strsignal(WTERMSIG(status)))
                                    : g_strdup("its process ended without a result");
}

// Its message has come, or never will.
static void finish(Fork *fork) {
  Message message;
  int status = 0;
  ssize_t got;
  do got = read(fork->handle, &message, sizeof message);
  while (got < 0 && errno == EINTR);
  close(fork->handle);
  fork->handle = -1;
  g_queue_remove(&running, fork);
  while (waitpid(fork->process, &status, 0) < 0 && errno == EINTR) {
  }
  if (got != (ssize_t)sizeof message) {
    explain(fork, status);
    return;
  }
  fork->outcome = message.outcome;
  fork->size = message.size;
  fork->bytes = g_memdup2(message.bytes, message.size);
}

static void kill_all(void) {
  for (GList *link = running.head; link; link = link->next) kill(((const Fork *)link->data)->process, SIGKILL);
}

// Waits until this fork has ended, or, without one, any.  A signal to the run ends all.
static void wait_for(Fork *only) {
  g_autoptr(GArray) handles = g_array_new(FALSE, FALSE, sizeof(struct pollfd));
  g_autoptr(GPtrArray) owners = g_ptr_array_new();
  for (GList *link = running.head; link; link = link->next) {
    Fork *fork = link->data;
    if (only && fork != only) continue;
    const struct pollfd handle = {.fd = fork->handle, .events = POLLIN};
    g_array_append_val(handles, handle);
    g_ptr_array_add(owners, fork);
  }
  struct pollfd *polled = (struct pollfd *)(void *)handles->data;
  do
    if (spinach_interrupted()) kill_all();
  while (poll(polled, handles->len, LOOK_MILLISECONDS) <= 0);
  for (guint i = 0; i < owners->len; i++)
    if (polled[i].revents) finish(owners->pdata[i]);
}

// A process and the pipe from it; -1 with errno if there is none for it, 0 in the new process.
static pid_t start(int ends[2]) {
  if (pipe2(ends, O_CLOEXEC)) return -1;
  const pid_t process = fork();
  const int why = errno;
  if (process < 0) {
    close(ends[0]);
    close(ends[1]);
  }
  errno = why;
  return process;
}

bool fork_begin(uint32_t id, const char *what, uint64_t number) {
  spinach_effects++;
  if (own_handle >= 0)
    spinach_error(id, "a forked process cannot fork again: %s %llu", what, (unsigned long long)number);
  while (running.length && running.length >= limit) wait_for(NULL);
  if (spinach_interrupted()) return false;
  const pid_t run = getpid();
  g_autoptr(GArray) descriptors = detach_note();
  int ends[2];
  pid_t process;
  while ((process = start(ends)) < 0 && running.length) wait_for(NULL);
  if (process < 0)
    spinach_error(id, "no process can be forked for %s %llu: %s (allow this user more processes, or free memory)", what,
                  (unsigned long long)number, strerror(errno));
  if (!process) {
    become_fork(run, ends, descriptors);
    return true;
  }
  close(ends[1]);
  Fork *fork = g_new0(Fork, 1);
  *fork = (Fork){
      .id = id, .what = what, .number = number, .began_ns = spinach_now_ns(), .process = process, .handle = ends[0]};
  g_queue_push_tail(&forks, fork);
  g_queue_push_tail(&running, fork);
  if (!limit) wait_for(fork);
  return false;
}

static void report(const Fork *fork) {
  const char *path = spinach_path(fork->id);
  spinach_progress_clear();
  fflush(stdout);
  fprintf(stderr, "%s: warning: %s%s%s %llu, which was forked at %llu ns, failed: %s\n", spinach_program, path,
          *path ? ": " : "", fork->what, (unsigned long long)fork->number, (unsigned long long)fork->began_ns,
          fork->bytes);
}

fork_outcome fork_take(uint32_t id, void *result, size_t size) {
  GList *link = forks.head;
  while (link && ((const Fork *)link->data)->id != id) link = link->next;
  if (!link) return FORK_NONE;
  Fork *fork = link->data;
  while (fork->handle >= 0) wait_for(fork);
  const fork_outcome outcome = fork->outcome;
  if (outcome == FORK_ENDED) memcpy(result, fork->bytes, MIN(size, fork->size));
  if (outcome == FORK_FAILED) report(fork);
  g_queue_delete_link(&forks, link);
  g_free(fork->bytes);
  g_free(fork);
  return outcome;
}

void spinach_forks_join(void) {
  if (forks.length) spinach_work_out_statistics(-1);
}

void spinach_forks_join_always(void) {
  spinach_hooks.after_advance = spinach_forks_join;
}
