// libedit's readline interface, loaded at run time; see line_editor.h.
#include "lss/runtime/commands/line_editor.h"

#include "lss/runtime/engine/request.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char LIBRARY[] = "libedit.so.2";

typedef char **(*Completer)(const char *word, int start, int end);
typedef char *(*Generator)(const char *word, int state);

// What is used of readline's interface.
static struct {
  char *(*readline)(const char *prompt);
  int (*add_history)(const char *line);
  char **(*completion_matches)(const char *word, Generator generator);
  char **line_buffer, **basic_word_break_characters;
  Completer *attempted_completion_function;
  int *attempted_completion_over, *completion_append_character;
} rl;

static LineCompleter completer;
static GPtrArray *candidates;

static bool find(void *library, const char *name, void *where) {
  void *symbol = dlsym(library, name);
  memcpy(where, &symbol, sizeof symbol);
  return symbol;
}

static char *generate(const char *word, int state) {
  static guint next;
  if (!state) next = 0;
  while (next < candidates->len) {
    const char *one = candidates->pdata[next++];
    if (g_str_has_prefix(one, word)) return strdup(one);
  }
  return NULL;
}

static char **complete(const char *word, int start, int end) {
  (void)end;
  g_autofree char *before = g_strndup(*rl.line_buffer, (gsize)start);
  g_clear_pointer(&candidates, g_ptr_array_unref);
  candidates = completer(before, word);
  *rl.attempted_completion_over = candidates != NULL;
  if (!candidates) return NULL;
  *rl.completion_append_character = ' ';
  for (guint i = 0; i < candidates->len; i++)
    if (strchr(".({=", ((const char *)candidates->pdata[i])[strlen(candidates->pdata[i]) - 1]))
      *rl.completion_append_character = '\0';
  return rl.completion_matches(word, generate);
}

// Whether there is an editor; says once when there is none.
static bool load(void) {
  static enum { UNKNOWN, LOADED, MISSING } state;
  if (state != UNKNOWN) return state == LOADED;
  state = MISSING;
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library && find(library, "readline", &rl.readline) && find(library, "add_history", &rl.add_history) &&
      find(library, "rl_completion_matches", &rl.completion_matches) &&
      find(library, "rl_line_buffer", &rl.line_buffer) &&
      find(library, "rl_basic_word_break_characters", &rl.basic_word_break_characters) &&
      find(library, "rl_attempted_completion_function", &rl.attempted_completion_function) &&
      find(library, "rl_attempted_completion_over", &rl.attempted_completion_over) &&
      find(library, "rl_completion_append_character", &rl.completion_append_character)) {
    static char breaks[] = LINE_BREAKS;
    *rl.basic_word_break_characters = breaks;
    *rl.attempted_completion_function = complete;
    state = LOADED;
  } else {
    spinach_report_error("lines cannot be edited and completed here: there is no %s", LIBRARY);
  }
  return state == LOADED;
}

static char *read_plain(void) {
  char *line = NULL;
  size_t room = 0;
  setvbuf(stdin, NULL, _IONBF, 0);
  ssize_t length = getline(&line, &room, stdin);
  if (length < 0) {
    free(line);
    return NULL;
  }
  if (length && line[length - 1] == '\n') line[length - 1] = '\0';
  return line;
}

static bool is_edited(void) {
  return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && load();
}

void line_remember(const char *line) {
  if (is_edited() && *line) rl.add_history(line);
}

char *line_read(const char *prompt, LineCompleter complete_with) {
  completer = complete_with;
  fflush(stdout);
  if (!is_edited()) {
    if (isatty(STDIN_FILENO)) printf("%s", prompt);
    fflush(stdout);
    return read_plain();
  }
  char *line = rl.readline(prompt);
  if (line && *line) rl.add_history(line);
  return line;
}
