/* Scripts for a console; see console_script.h. */
#include "console_script.h"

#include <string.h>

#include "program/input_file.h"
#include "program/program.h"

typedef enum { WAIT, SEND, AFTER } Kind;

typedef struct {
  Kind kind;
  char *text;     /* to wait for, or to send */
  guint64 cycles; /* of AFTER */
} Step;

struct ConsoleScript {
  GArray *steps;
  guint step;       /* the one that is being done */
  gsize sent;       /* characters of it that have arrived */
  guint64 time;     /* cycle in which the step before, or its last character, was done */
  GString *printed; /* since the last text that was waited for */
};

static void clear_step(gpointer step) {
  g_free(((Step *)step)->text);
}

static gboolean parse_time(const char *text, guint64 hz, guint64 *cycles) {
  static const struct {
    const char *name;
    guint64 parts; /* of a second */
  } units[] = {{"s", 1}, {"ms", 1000}, {"us", 1000000}, {"ns", 1000000000}};
  char *unit;
  if (!g_ascii_isdigit(text[0])) return FALSE;
  const guint64 number = g_ascii_strtoull(text, &unit, 10);
  unit = g_strstrip(unit);
  for (gsize n = 0; n < G_N_ELEMENTS(units); n++)
    if (strcmp(unit, units[n].name) == 0 && number < G_MAXUINT64 / hz)
      return *cycles = number * hz / units[n].parts, TRUE;
  return FALSE;
}

static gboolean parse_line(ConsoleScript *script, char *line, guint64 hz) {
  static const char *const names[] = {[WAIT] = "wait ", [SEND] = "send ", [AFTER] = "after "};
  for (Kind kind = WAIT; kind <= AFTER; kind++) {
    if (!g_str_has_prefix(line, names[kind])) continue;
    Step step = {.kind = kind, .text = g_strcompress(line + strlen(names[kind]))};
    const gboolean good = step.text[0] != '\0' && (kind != AFTER || parse_time(step.text, hz, &step.cycles));
    g_array_append_val(script->steps, step);
    return good;
  }
  return FALSE;
}

ConsoleScript *console_script_open(const char *path, guint64 hz, GError **error) {
  g_autoptr(GError) failure = NULL;
  g_autofree char *text = input_file_read(path, NULL, &failure);
  if (text == NULL) {
    g_set_error(error, PROGRAM_ERROR, PROGRAM_ERROR_FILE, "cannot read %s: %s", path, failure->message);
    return NULL;
  }
  g_autoptr(ConsoleScript) script = g_new0(ConsoleScript, 1);
  script->printed = g_string_new(NULL);
  script->steps = g_array_new(FALSE, FALSE, sizeof(Step));
  g_array_set_clear_func(script->steps, clear_step);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (guint n = 0; lines[n] != NULL; n++)
    if (lines[n][0] != '\0' && lines[n][0] != '#' && !parse_line(script, lines[n], hz)) {
      g_set_error(error, PROGRAM_ERROR, PROGRAM_ERROR_FORMAT,
                  "%s:%u: expected 'wait TEXT', 'send TEXT' or 'after TIME', such as 'after 10 ms'", path, n + 1);
      return NULL;
    }
  return g_steal_pointer(&script);
}

void console_script_free(ConsoleScript *script) {
  if (script == NULL) return;
  g_string_free(script->printed, TRUE);
  g_array_unref(script->steps);
  g_free(script);
}

static const Step *current(const ConsoleScript *script) {
  return script->step < script->steps->len ? &g_array_index(script->steps, Step, script->step) : NULL;
}

/* The next step begins; one that waits for what has been printed already is done at once. */
static void finish(ConsoleScript *script, guint64 time) {
  const Step *step;
  script->time = time;
  script->sent = 0;
  for (script->step++; (step = current(script)) != NULL && step->kind == WAIT; script->step++) {
    const char *found = strstr(script->printed->str, step->text);
    if (found == NULL) return;
    g_string_erase(script->printed, 0, found - script->printed->str + (gssize)strlen(step->text));
  }
}

void console_script_printed(ConsoleScript *script, guint64 now, guint8 character) {
  const Step *step = current(script);
  if (step == NULL || character == '\0') return;
  g_string_append_c(script->printed, (char)character);
  if (step->kind != WAIT || !g_str_has_suffix(script->printed->str, step->text)) return;
  g_string_truncate(script->printed, 0);
  finish(script, now);
}

guint64 console_script_next(ConsoleScript *script, guint64 spacing) {
  const Step *step = current(script);
  for (; step != NULL && step->kind == AFTER; step = current(script)) finish(script, script->time + step->cycles);
  return step != NULL && step->kind == SEND ? script->time + spacing : G_MAXUINT64;
}

guint8 console_script_take(ConsoleScript *script, guint64 spacing) {
  const Step *step = current(script);
  const guint8 character = (guint8)step->text[script->sent];
  script->time += spacing;
  if (step->text[++script->sent] == '\0') finish(script, script->time);
  return character;
}
