// Work in a forked process; see job.h.
#include "lss/server/job.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONGEST_SECONDS = 120 }; // of processor time

struct Job {
  pid_t process;
  int pipe;
  guint watch;
  GString *text;
  JobDone done;
  gpointer data;
};

static void write_all(int handle, const char *text) {
  for (gsize left = strlen(text); left > 0;) {
    const ssize_t written = write(handle, text, left);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text += written;
    left -= (gsize)written;
  }
}

// In the new process.  Standard output is the protocol's; what the compiler prints goes where its errors go.
static void run_work(JobWork work, gpointer data, int handle) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const struct rlimit limit = {LONGEST_SECONDS, LONGEST_SECONDS};
  setrlimit(RLIMIT_CPU, &limit);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  JsonValue *result = work(data);
  write_all(handle, json_object_to_json_string_ext(result, JSON_C_TO_STRING_PLAIN));
  _exit(0);
}

static void job_free(Job *job) {
  waitpid(job->process, NULL, 0);
  close(job->pipe);
  g_string_free(job->text, TRUE);
  g_free(job);
}

static gboolean receive(gint handle, GIOCondition condition, gpointer data) {
  (void)condition;
  Job *job = data;
  char buffer[65536];
  const ssize_t got = read(handle, buffer, sizeof buffer);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return G_SOURCE_CONTINUE;
  if (got > 0) {
    g_string_append_len(job->text, buffer, got);
    return G_SOURCE_CONTINUE;
  }
  const char *why;
  g_autoptr(JsonValue) result = json_read(job->text->str, &why);
  const JobDone done = job->done;
  gpointer done_data = job->data;
  job_free(job);
  done(result, done_data);
  return G_SOURCE_REMOVE;
}

Job *job_start(JobWork work, gpointer work_data, JobDone done, gpointer done_data) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return NULL;
  const pid_t process = fork();
  if (process < 0) {
    close(ends[0]);
    close(ends[1]);
    return NULL;
  }
  if (process == 0) run_work(work, work_data, ends[1]);
  setpgid(process, process); // by the first of the two
  close(ends[1]);
  Job *job = g_new0(Job, 1);
  *job = (Job){.process = process, .pipe = ends[0], .text = g_string_new(NULL), .done = done, .data = done_data};
  job->watch = g_unix_fd_add(job->pipe, G_IO_IN | G_IO_HUP | G_IO_ERR, receive, job);
  return job;
}

void job_cancel(Job *job) {
  g_source_remove(job->watch);
  kill(-job->process, SIGKILL);
  kill(job->process, SIGKILL);
  job_free(job);
}
