// Many runs from one checkpoint; see serve.h.  The state is unpacked once into memory that every run maps privately, so
// that beginning there costs what a run touches.  A run is forked before anything was started: streams, which a start
// opens, belong to one process.
#include "lss/runtime/checkpoint/serve.h"
#include "lss/runtime/checkpoint/checkpoint.h"
#include "lss/runtime/files/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
  const spinach_options *options;
  GPtrArray *words; // of the command line of every run, without the end
  int (*simulate)(int argc, char **argv);
  GString *text;       // read and not run yet
  GHashTable *running; // pid to the number of its line
  GHashTable *logs;    // device and inode of the log of each run, as text, to the number of its line
  guint lines;
  int signals; // descriptor that says which came
  sigset_t waited;
  bool ended; // nothing more comes
  int status;
} Server;

// What the server was given, without what makes it one; and its checkpoint by a name that holds in any folder.
static GPtrArray *words_of_all(int argc, char **argv, const char *checkpoint) {
  GPtrArray *words = g_ptr_array_new();
  static const char *const own[] = {"--serve", "--restore"};
  for (int i = 0; i < argc; i++) {
    bool mine = false;
    for (guint k = 0; k < G_N_ELEMENTS(own) && !mine; k++) {
      const bool alone = !strcmp(argv[i], own[k]);
      mine = i && (alone || (g_str_has_prefix(argv[i], own[k]) && argv[i][strlen(own[k])] == '='));
      i += mine && alone;
    }
    if (!mine) g_ptr_array_add(words, argv[i]);
  }
  g_ptr_array_add(words, "--restore");
  g_ptr_array_add(words, g_canonicalize_filename(checkpoint, NULL));
  return words;
}

static void reply(guint line, const char *what, int number) {
  printf("%u %s %d\n", line, what, number);
  fflush(stdout);
}

static void refuse_line(Server *server, guint line, const char *why) {
  spinach_report_error("line %u: %s", line, why);
  reply(line, "ends", 2);
  server->status = 1;
}

// ---- In the process of a run

static bool enter(const char *folder, int log) {
  const int none = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (none >= 0 && !chdir(folder) && dup2(log, STDOUT_FILENO) >= 0 && dup2(log, STDERR_FILENO) >= 0 &&
      dup2(none, STDIN_FILENO) >= 0)
    return true;
  return spinach_report_error("cannot work in the folder \"%s\": %s", folder, g_strerror(errno));
}

static _Noreturn void be_run(const Server *server, pid_t parent, int log, char **line) {
  prctl(PR_SET_PDEATHSIG, SIGTERM); // it ends with its server
  if (getppid() != parent) _exit(128 + SIGTERM);
  close(server->signals);
  sigprocmask(SIG_UNBLOCK, &server->waited, NULL);
  if (!enter(line[0], log)) _exit(2);
  spinach_streams_close_consoles("runs of --serve have none (leave it out, or run this alone with --restore)");
  for (char **word = line + 1; *word; word++) g_ptr_array_add(server->words, *word);
  g_ptr_array_add(server->words, NULL);
  const int status = server->simulate((int)server->words->len - 1, (char **)server->words->pdata);
  fflush(NULL);
  _exit(status);
}

// ---- In the server

// Opens what a run prints, in its folder, which is made if it is missing; -1 with *why, which the caller frees.
static int open_log(const char *folder, bool *is_new, char **why) {
  g_autofree char *path = g_build_filename(folder, "log.txt", NULL);
  if (g_mkdir_with_parents(folder, 0777)) {
    *why = g_strdup_printf("cannot work in the folder \"%s\": %s", folder, g_strerror(errno));
    return -1;
  }
  int log = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  *is_new = log >= 0;
  if (log < 0 && errno == EEXIST) log = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (log < 0) *why = g_strdup_printf("cannot write \"%s\": %s", path, g_strerror(errno));
  return log;
}

// The same of a folder that no other line has: one of two runs there would replace what the other writes.  A log that
// is new is of none before, whatever inode it has.
static int claim_folder(Server *server, const char *folder, guint line, char **why) {
  bool is_new = false;
  const int log = open_log(folder, &is_new, why);
  struct stat status;
  if (log < 0 || fstat(log, &status) || !S_ISREG(status.st_mode)) return log;
  g_autofree char *key =
      g_strdup_printf("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, (guint64)status.st_dev, (guint64)status.st_ino);
  const guint before = is_new ? 0 : GPOINTER_TO_UINT(g_hash_table_lookup(server->logs, key));
  if (before)
    *why = g_strdup_printf("the folder \"%s\" is that of line %u; name another one for each run", folder, before);
  else if (ftruncate(log, 0))
    *why = g_strdup_printf("cannot write \"%s/log.txt\": %s", folder, g_strerror(errno));
  if (*why) {
    close(log);
    return -1;
  }
  g_hash_table_insert(server->logs, g_steal_pointer(&key), GUINT_TO_POINTER(line));
  return log;
}

static void begin(Server *server, const char *text) {
  const guint number = ++server->lines;
  g_autoptr(GError) error = NULL;
  g_auto(GStrv) line = NULL;
  if (!g_shell_parse_argv(text, NULL, &line, &error)) {
    const bool empty = g_error_matches(error, G_SHELL_ERROR, G_SHELL_ERROR_EMPTY_STRING);
    return refuse_line(server, number, empty ? "it is empty; write a folder, then options" : error->message);
  }
  if (g_str_has_prefix(line[0], "-"))
    return refuse_line(server, number, "it begins with an option; write a folder first");
  for (char **word = line + 1; *word; word++)
    if (g_str_has_prefix(*word, "--serve") || g_str_has_prefix(*word, "--restore") ||
        g_str_has_prefix(*word, "--compare") || g_str_has_prefix(*word, "--may-differ"))
      return refuse_line(server, number, "what it begins with is the server's checkpoint");
  g_autofree char *why = NULL;
  const int log = claim_folder(server, line[0], number, &why);
  if (log < 0) return refuse_line(server, number, why);
  fflush(NULL);
  const pid_t parent = getpid(), child = fork();
  if (!child) be_run(server, parent, log, line);
  close(log);
  if (child < 0) return refuse_line(server, number, g_strerror(errno));
  g_hash_table_insert(server->running, GINT_TO_POINTER(child), GUINT_TO_POINTER(number));
  reply(number, "begins", child);
}

// Runs whole lines of what was read, and at the end what has none.
static void begin_lines(Server *server) {
  while (g_hash_table_size(server->running) < server->options->serve) {
    const char *end = memchr(server->text->str, '\n', server->text->len);
    if (!end && !(server->ended && server->text->len)) return;
    const gsize length = end ? (gsize)(end - server->text->str) : server->text->len;
    g_autofree char *line = g_strndup(server->text->str, length);
    g_string_erase(server->text, 0, (gssize)(length + (end ? 1 : 0)));
    begin(server, line);
  }
}

static void read_lines(Server *server) {
  char bytes[4096];
  const ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
  if (count > 0)
    g_string_append_len(server->text, bytes, count);
  else if (count == 0 || errno != EINTR)
    server->ended = true;
}

static void end_runs(Server *server) {
  int status;
  for (pid_t child; (child = waitpid(-1, &status, WNOHANG)) > 0;) {
    gpointer number;
    if (!g_hash_table_steal_extended(server->running, GINT_TO_POINTER(child), NULL, &number)) continue;
    const int ended = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (ended && !server->status) server->status = 1;
    reply(GPOINTER_TO_UINT(number), "ends", ended);
  }
}

// A signal to the server goes to all runs, each of which ends in good order; nothing more is begun.
static void take_signal(Server *server) {
  struct signalfd_siginfo got;
  if (read(server->signals, &got, sizeof got) != sizeof got || got.ssi_signo == SIGCHLD) return;
  GHashTableIter iterator;
  gpointer child;
  g_hash_table_iter_init(&iterator, server->running);
  while (g_hash_table_iter_next(&iterator, &child, NULL)) kill(GPOINTER_TO_INT(child), (int)got.ssi_signo);
  server->ended = true;
  g_string_truncate(server->text, 0);
  server->status = 128 + (int)got.ssi_signo;
}

static void serve(Server *server) {
  for (;;) {
    begin_lines(server);
    const guint running = g_hash_table_size(server->running);
    if (server->ended && !running && !server->text->len) return;
    const bool reads = !server->ended && running < server->options->serve;
    struct pollfd events[] = {{server->signals, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    if (poll(events, reads ? 2 : 1, -1) < 0) continue;
    if (events[0].revents) take_signal(server);
    end_runs(server);
    if (reads && events[1].revents) read_lines(server);
  }
}

int spinach_serve(int argc, char **argv, spinach_options *options, int (*simulate)(int argc, char **argv)) {
  Server server = {.options = options,
                   .words = words_of_all(argc, argv, options->restore),
                   .simulate = simulate,
                   .text = g_string_new(NULL),
                   .running = g_hash_table_new(NULL, NULL),
                   .logs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
  if (!spinach_restore_share(options)) return 2;
  static const int waited[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP};
  sigemptyset(&server.waited);
  for (guint i = 0; i < G_N_ELEMENTS(waited); i++) sigaddset(&server.waited, waited[i]);
  sigprocmask(SIG_BLOCK, &server.waited, NULL);
  signal(SIGPIPE, SIG_IGN); // who asked may be gone; the runs go on
  server.signals = signalfd(-1, &server.waited, SFD_CLOEXEC);
  serve(&server);
  g_hash_table_unref(server.running);
  g_hash_table_unref(server.logs);
  g_string_free(server.text, TRUE);
  return server.status;
}
