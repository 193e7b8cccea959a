// Scripts for a console; see console_script.h.
#include "console_script.h"

#include "lss/runtime/text/quantity.h"

#include <glib.h>
#include <string.h>

typedef enum { NOTHING, WAIT, SEND, AFTER, WRONG } Kind;

typedef struct {
  Kind kind;
  char text[CONSOLE_TEXT + 1]; // to wait for, or to send
  uint32_t length;             // of it: what is sent may have zeros
  uint64_t ns;                 // of AFTER
  uint32_t next;               // offset of the next line
} Line;

static bool parse_time(const char *text, uint64_t *ns) {
  const char *error;
  int64_t nanoseconds;
  if (!quantity_read(text, DIM_TIME, 1000000000, &nanoseconds, &error) || nanoseconds < 0) return false;
  *ns = (uint64_t)nanoseconds;
  return true;
}

static const char *const names[] = {[WAIT] = "wait ", [SEND] = "send ", [AFTER] = "after "};

static Kind kind_of(const char *text) {
  for (Kind kind = WAIT; kind <= AFTER; kind++)
    if (g_str_has_prefix(text, names[kind])) return kind;
  return WRONG;
}

// Adds what a text between quotes says, in one character or an escape of C; false when there is no room.  Returns what
// follows in *text.
static bool add_character(const char **text, Line *line) {
  const char *at = *text;
  if (line->length == CONSOLE_TEXT) return false;
  if (*at != '\\') {
    line->text[line->length++] = *at;
    *text = at + 1;
    return true;
  }
  size_t digits = strspn(at + 1, "01234567"), size = 1 + (digits == 0 ? 1 : MIN(digits, 3));
  g_autofree char *escape = g_strndup(at, size), *plain = g_strcompress(escape);
  line->text[line->length++] = plain[0]; // a zero is an empty text
  *text = at + size;
  return true;
}

// The text between quotes, to the end of the line but for blanks.  What is printed has no zeros to wait for.
static bool parse_quoted(const char *text, Line *line) {
  const char *end = text;
  if (*end++ != '"') return false;
  while (*end != '\0' && *end != '"') end += *end == '\\' && end[1] != '\0' ? 2 : 1;
  if (*end != '"' || end[1 + strspn(end + 1, " \t\r")] != '\0') return false;
  line->length = 0;
  for (const char *at = text + 1; at < end;)
    if (!add_character(&at, line)) return false;
  line->text[line->length] = '\0';
  return line->length > 0 && (line->kind == SEND || strlen(line->text) == line->length);
}

static Kind parse(const char *text, Line *line) {
  if (text[0] == '\0' || text[0] == '#') return NOTHING;
  const Kind kind = kind_of(text);
  if (kind == WRONG) return WRONG;
  const char *rest = text + strlen(names[kind]);
  line->kind = kind;
  return (kind == AFTER ? parse_time(rest, &line->ns) : parse_quoted(rest, line)) ? kind : WRONG;
}

static size_t length_of_line(ConsoleScript script, uint32_t at) {
  const char *text = script.text + at, *end = memchr(text, '\n', script.size - at);
  return end != NULL ? (size_t)(end - text) : script.size - at;
}

static char *copy_line(ConsoleScript script, uint32_t at) {
  return at < script.size ? g_strndup(script.text + at, length_of_line(script, at)) : g_strdup("");
}

// The line at an offset; false at the end.
static bool read_line(ConsoleScript script, uint32_t at, Line *line) {
  if (at >= script.size) return false;
  const size_t length = length_of_line(script, at);
  g_autofree char *copy = copy_line(script, at);
  line->next = at + (uint32_t)length + (at + length < script.size);
  line->kind = parse(copy, line);
  return true;
}

// What is wrong with a line; the caller frees it.
static char *describe(const char *text) {
  const Kind kind = kind_of(text);
  const char *rest = kind == WRONG ? "" : text + strlen(names[kind]);
  if ((kind == WAIT || kind == SEND) && rest[0] != '\0' && strchr(rest, '"') == NULL)
    return g_strdup_printf("the text of \"%s\" has no quotes (write: %s\"%s\")", text, names[kind], rest);
  return g_strdup("expected 'wait \"TEXT\"', 'send \"TEXT\"', TEXT of 1 to 255 characters, or 'after TIME', such as "
                  "'after 10 ms'");
}

uint32_t console_script_wrong_line(ConsoleScript script, char *why, size_t size) {
  Line line = {0};
  uint32_t number = 1;
  for (uint32_t at = 0; read_line(script, at, &line); at = line.next, number++) {
    if (line.kind != WRONG && line.next >= at) continue;
    g_autofree char *text = copy_line(script, at), *description = describe(text);
    g_strlcpy(why, description, size);
    return number;
  }
  return 0;
}

void console_script_step(ConsoleScript script, uint32_t at, char *text, size_t size) {
  uint32_t number = 1;
  for (uint32_t k = 0; k < at && k < script.size; k++) number += script.text[k] == '\n';
  g_autofree char *line = copy_line(script, at), *step = g_strdup_printf("line %u (%s)", number, line);
  g_strlcpy(text, step, size);
}

bool console_script_waits(ConsoleScript script, const ConsoleProgress *progress) {
  ConsoleProgress at = *progress;
  uint64_t ns;
  return script.text != NULL && console_script_next(script, &at, &ns) == CONSOLE_WAITS;
}

// The first line of a kind at an offset or behind it; false when there is none.
static bool find(ConsoleScript script, Kind kind, uint32_t *at, Line *line) {
  for (; read_line(script, *at, line); *at = line->next)
    if (line->kind == kind) return true;
  return false;
}

// How much of a text has been printed, when `matched` characters of it had been and another one follows.
static uint32_t match(const char *text, uint32_t matched, char character) {
  while (text[matched] != character) {
    if (matched == 0) return 0;
    const uint32_t before = matched--;
    while (matched > 0 && memcmp(text, text + before - matched, matched) != 0) matched--;
  }
  return matched + 1;
}

bool console_script_printed(ConsoleScript script, ConsoleProgress *progress, uint8_t character) {
  Line line;
  uint32_t at = progress->wait;
  if (character == '\0' || !find(script, WAIT, &at, &line)) return false;
  progress->matched = match(line.text, progress->matched, (char)character);
  if (line.text[progress->matched] != '\0') return false;
  progress->matched = 0;
  progress->wait = line.next;
  return progress->line == at;
}

// Goes on with the next line.
static void finish(ConsoleProgress *progress, const Line *line) {
  progress->line = line->next;
  progress->sent = 0;
}

ConsoleStep console_script_next(ConsoleScript script, ConsoleProgress *progress, uint64_t *ns) {
  Line line;
  *ns = 0;
  for (; read_line(script, progress->line, &line); finish(progress, &line)) {
    if (line.kind == SEND) return CONSOLE_SENDS;
    if (line.kind == WAIT && progress->wait <= progress->line) return CONSOLE_WAITS;
    if (line.kind == AFTER) *ns = line.ns > G_MAXUINT64 - *ns ? G_MAXUINT64 : *ns + line.ns;
  }
  return CONSOLE_ENDS;
}

uint8_t console_script_take(ConsoleScript script, ConsoleProgress *progress) {
  Line line;
  if (!read_line(script, progress->line, &line) || line.kind != SEND) return 0;
  const uint8_t character = (uint8_t)line.text[progress->sent++];
  if (progress->sent == line.length) finish(progress, &line);
  return character;
}
