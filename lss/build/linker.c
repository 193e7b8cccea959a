// Calls the linker itself: clang's driver takes as long to say what is to be linked with what as linking a small
// simulator takes.  What it says (-###) is kept in the cache, under the hash of what it was asked.
#include "lss/build/linker.h"

#include <string.h>

enum { KEY_LENGTH = 40 };
static const char object_word[] = "OBJECTS", output_word[] = "SIMULATOR";

static guint count_word(char **words, const char *word) {
  guint count = 0;
  for (; *words; words++) count += !strcmp(*words, word);
  return count;
}

// Whether it is one call of lld, with one place for the objects and one for the simulator.
static bool is_expected(char **words) {
  return words[0] && g_str_has_suffix(words[0], "/ld.lld") && g_file_test(words[0], G_FILE_TEST_IS_EXECUTABLE) &&
         count_word(words, object_word) == 1 && count_word(words, output_word) == 1;
}

// The only command line in what the driver said, as words; NULL when there are several, or none.
static char **read_command(const char *said) {
  g_auto(GStrv) lines = g_strsplit(said, "\n", -1);
  const char *only = NULL;
  for (char **line = lines; *line; line++) {
    if (!g_str_has_prefix(*line, " \"")) continue;
    if (only) return NULL;
    only = *line;
  }
  char **words = NULL;
  return only && g_shell_parse_argv(only, NULL, &words, NULL) ? words : NULL;
}

static GPtrArray *driver_words(const GPtrArray *words, const GPtrArray *objects, const char *output) {
  GPtrArray *all = g_ptr_array_new();
  for (guint i = 0; i < words->len; i++) {
    const bool place = objects && !strcmp(words->pdata[i], LINKER_OBJECTS);
    if (!place) g_ptr_array_add(all, words->pdata[i]);
    for (guint k = 0; place && k < objects->len; k++) g_ptr_array_add(all, objects->pdata[k]);
  }
  g_ptr_array_add(all, (gpointer) "-o");
  g_ptr_array_add(all, (gpointer)output);
  return all;
}

// Where the cache has the reply: a word on a line.
static char *reply_path(const Toolchain *t, const GPtrArray *question) {
  g_autoptr(GString) text = g_string_new(t->flags_text);
  for (guint i = 0; i < question->len; i++) g_string_append_printf(text, "\n%s", (char *)question->pdata[i]);
  g_autofree char *key = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text->str, (gssize)text->len);
  return g_strdup_printf("%s/%.*s.link", t->cache.folder, KEY_LENGTH, key);
}

// What is not kept is asked again.
static void keep(Toolchain *t, char **words, const char *path) {
  g_autofree char *text = g_strjoinv("\n", words), *made = g_build_filename(t->cache.scratch, "link", NULL);
  if (g_file_set_contents(made, text, -1, NULL)) cache_keep(&t->cache, made, path, NULL);
}

// How the driver would call the linker, or NULL.
static char **ask(Toolchain *t, const GPtrArray *words) {
  g_autoptr(GPtrArray) question = driver_words(words, NULL, output_word);
  g_autofree char *path = reply_path(t, question), *known = NULL, *said = NULL;
  if (cache_check(path, NULL) && g_file_get_contents(path, &known, NULL, NULL)) {
    g_auto(GStrv) command = g_strsplit(known, "\n", -1);
    return is_expected(command) ? g_steal_pointer(&command) : NULL;
  }
  g_ptr_array_add(question, (gpointer) "-###");
  if (tool_run(t, t->clang, question, "asking about linking", &said) != TOOL_FINE) return NULL;
  g_auto(GStrv) command = read_command(said);
  if (!command || !is_expected(command)) return NULL;
  keep(t, command, path);
  return g_steal_pointer(&command);
}

static ToolResult call(const Toolchain *t, char **command, const GPtrArray *objects, const char *made) {
  g_autoptr(GPtrArray) arguments = g_ptr_array_new();
  for (char **word = command + 1; *word; word++) {
    if (!strcmp(*word, object_word))
      for (guint i = 0; i < objects->len; i++) g_ptr_array_add(arguments, objects->pdata[i]);
    else
      g_ptr_array_add(arguments, !strcmp(*word, output_word) ? (char *)made : *word);
  }
  g_autofree char *messages = NULL;
  return tool_run(t, command[0], arguments, "linking", &messages);
}

ToolResult linker_run(Toolchain *t, const GPtrArray *words, const GPtrArray *objects, const char *made,
                      char **messages) {
  g_auto(GStrv) command = ask(t, words);
  if (command && call(t, command, objects, made) == TOOL_FINE) return TOOL_FINE;
  // The libraries may have moved since it was asked; when they have not, it is the driver's messages that are known.
  g_autoptr(GPtrArray) all = driver_words(words, objects, made);
  return tool_run(t, t->clang, all, "linking", messages);
}
