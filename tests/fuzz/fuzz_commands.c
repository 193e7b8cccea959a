// Fuzzes --interactive=json, all of it in this process: any bytes are lines, each of which is answered by exactly one
// line, an object of JSON that says whether the command was carried out.
#include "lss/runtime/commands/interactive.h"
#include "lss/runtime/commands/line_reader.h"
#include "lss/runtime/commands/replies.h"
#include "lss/runtime/engine/machine.h"
#include "tests/fuzz/two_processors.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int memory(const char *name) {
  const int handle = memfd_create(name, 0);
  if (handle < 0) abort();
  return handle;
}

// Files, which have no place here; and variants, which are other processes.
static bool goes_beyond(const char *text) {
  return strstr(text, "checkpoint") || strstr(text, "event") || strstr(text, "marker") || strstr(text, "trace");
}

static bool quits(const char *line, size_t length) {
  if (length > LONGEST_LINE || memchr(line, 0, length)) return false;
  g_autofree char *text = g_strstrip(g_strndup(line, length));
  const size_t verb = strcspn(text, " \t");
  return verb == strlen("quit") && !strncmp(text, "quit", verb);
}

// As this file reads the input: the end of it is answered, too, unless a command ended the run before.
static guint lines_to_reply_to(const char *text, size_t size) {
  guint count = 0;
  for (const char *line = text, *end; line < text + size; line = end + 1) {
    end = memchr(line, '\n', size - (size_t)(line - text));
    if (!end) end = text + size;
    count++;
    if (quits(line, (size_t)(end - line))) return count;
  }
  return count + 1;
}

static void check_reply(const char *line) {
  enum json_tokener_error error;
  struct json_object *reply = json_tokener_parse_verbose(line, &error), *ok, *other;
  if (!reply || error != json_tokener_success || !json_object_object_get_ex(reply, "ok", &ok)) abort();
  const bool fine = json_object_get_boolean(ok);
  if (!json_object_object_get_ex(reply, fine ? "time_fs" : "error", &other)) abort();
  if (json_object_object_length(reply) != (fine ? 5 : 2)) abort();
  json_object_put(reply);
}

static void check_replies(int handle, guint wanted) {
  const off_t size = lseek(handle, 0, SEEK_END);
  g_autofree char *text = g_malloc0((gsize)size + 1);
  if (pread(handle, text, (size_t)size, 0) != size || !size || text[size - 1] != '\n') abort();
  text[size - 1] = '\0';
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  if (g_strv_length(lines) != wanted) abort();
  for (char **line = lines; *line; line++) check_reply(*line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static spinach_options options = {.interactive = true, .interactive_json = true};
  static int replies = -1;
  if (replies < 0) {
    replies = memory("replies");
    options.print = g_array_new(FALSE, FALSE, sizeof(spinach_place));
    two_processors_begin(&options);
    if (!replies_open(replies)) abort();
  }
  g_autofree char *text = g_malloc0(size + 1);
  memcpy(text, data, size);
  for (size_t i = 0; i < size; i += strlen(text + i) + 1)
    if (goes_beyond(text + i)) return 0;
  two_processors_again();
  const int input = memory("input");
  if (write(input, data, size) != (ssize_t)size || lseek(input, 0, SEEK_SET) || dup2(input, STDIN_FILENO) < 0) abort();
  close(input);
  if (ftruncate(replies, 0) || lseek(replies, 0, SEEK_SET)) abort();
  if (!spinach_interactive_run(&options)) abort();
  check_replies(replies, lines_to_reply_to(text, size));
  return 0;
}
