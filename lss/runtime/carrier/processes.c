// Child processes; see processes.h.
#include "lss/runtime/carrier/processes.h"

#include "lss/runtime/text/report.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

// In the child: becomes the part.  All signals are blocked until they do what they do in a new process.
static _Noreturn void become(const PlanPart *part, int log, pid_t group, pid_t carrier) {
  sigset_t none;
  sigemptyset(&none);
  for (int i = 1; i < NSIG; i++) signal(i, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGTERM); // the carrier may end before the part has found it on the board
  if (getppid() != carrier) _exit(PROCESS_REFUSES);
  sigprocmask(SIG_SETMASK, &none, NULL);
  setpgid(0, group);
  const int input = open("/dev/null", O_RDONLY);
  if (input >= 0) dup2(input, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  for (int i = STDERR_FILENO + 1; i < 1024; i++) close(i); // those of MPI
  execv(part->command[0], part->command);
  dprintf(STDERR_FILENO, "carrier: error: cannot start \"%s\": %s\n", part->command[0], strerror(errno));
  _exit(PROCESS_REFUSES);
}

static bool start(Processes *processes, const PlanPart *part, uint32_t number) {
  const int log = open(part->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (log < 0)
    return spinach_report_error("cannot write \"%s\": %s (all hosts need the folder of the run)", part->log,
                                g_strerror(errno));
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t carrier = getpid(), process = fork();
  if (process == 0) become(part, log, processes->group, carrier);
  const int error = errno;
  sigprocmask(SIG_SETMASK, &before, NULL);
  close(log);
  if (process < 0) return spinach_report_error("cannot start \"%s\": %s", part->command[0], g_strerror(error));
  if (!processes->group) processes->group = process;
  setpgid(process, processes->group); // whoever is first
  processes->children[processes->count++] = (Child){number, process, true, 0};
  processes->running++;
  return true;
}

bool processes_start(Processes *processes, const Plan *plan, uint32_t host) {
  processes->children = g_new0(Child, plan->parts->len);
  for (uint32_t i = 0; i < plan->parts->len; i++) {
    if (plan_part(plan, i)->host != host || start(processes, plan_part(plan, i), i)) continue;
    processes_signal(processes, SIGKILL);
    return false;
  }
  return true;
}

const Child *processes_reap(Processes *processes) {
  for (uint32_t i = 0; i < processes->count; i++) {
    Child *child = &processes->children[i];
    int status;
    if (!child->running || waitpid(child->process, &status, WNOHANG) != child->process) continue;
    child->running = false;
    child->status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    processes->running--;
    return child;
  }
  return NULL;
}

void processes_signal(const Processes *processes, int number) {
  for (uint32_t i = 0; i < processes->count; i++)
    if (processes->children[i].running) kill(processes->children[i].process, number);
}
