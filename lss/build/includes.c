// Includes and questions about includes, whatever conditions they are under: comments and literals are skipped, macros
// are not expanded.
#include "lss/build/includes.h"

#include <string.h>

static bool is_word(char c) {
  return g_ascii_isalnum(c) || c == '_';
}

static const char *skip_blanks(const char *at) {
  for (;;) {
    while (*at == ' ' || *at == '\t') at++;
    const char *end = at[0] == '/' && at[1] == '*' ? strstr(at + 2, "*/") : NULL;
    if (!end) return at;
    at = end + 2;
  }
}

// Past a comment, a literal, a word or one sign.
static const char *skip(const char *at) {
  const char *end = at[0] == '/' && at[1] == '*' ? strstr(at + 2, "*/") : NULL;
  if (end) return end + 2;
  if (at[0] == '/' && at[1] == '/') return at + strcspn(at, "\n");
  if (*at == '"' || *at == '\'') {
    const char quote = *at++;
    while (*at && *at != quote && *at != '\n') at += at[0] == '\\' && at[1] ? 2 : 1;
    return *at == quote ? at + 1 : at;
  }
  if (!is_word(*at)) return at + 1;
  while (is_word(*at)) at++;
  return at;
}

static bool begins_with_word(const char *at, const char *word) {
  const gsize length = strlen(word);
  return !strncmp(at, word, length) && !is_word(at[length]);
}

// The name between quotes or angles, with the first of them; NULL where there is none.
static char *read_name(const char *at) {
  const char *end = *at == '"' ? strchr(at + 1, '"') : *at == '<' ? strchr(at + 1, '>') : NULL;
  return end ? g_strndup(at, (gsize)(end - at)) : NULL;
}

// After the # of a directive.
static void read_directive(Includes *includes, const char *at) {
  static const char *const words[] = {"include", "include_next", "import", "embed"};
  at = skip_blanks(at);
  for (gsize i = 0; i < G_N_ELEMENTS(words); i++) {
    if (!begins_with_word(at, words[i])) continue;
    g_autofree char *name = read_name(skip_blanks(at + strlen(words[i])));
    if (!name)
      includes->computed = true;
    else if (*name == '"')
      g_ptr_array_add(includes->quoted, g_strdup(name + 1));
  }
}

static void read_question(Includes *includes, const char *at) {
  static const char *const words[] = {"__has_include", "__has_include_next", "__has_embed"};
  for (gsize i = 0; i < G_N_ELEMENTS(words); i++) {
    if (!begins_with_word(at, words[i])) continue;
    at = skip_blanks(at + strlen(words[i]));
    if (*at != '(') return; // whether it is defined
    char *name = read_name(skip_blanks(at + 1));
    if (name)
      g_ptr_array_add(includes->tested, name);
    else
      includes->unknown = true;
    return;
  }
}

// The text with its continued lines joined.
static char *join_lines(const char *text, gsize size) {
  GString *joined = g_string_sized_new(size + 1);
  const char *const end = text + size;
  while (text < end) {
    const char *stop = memchr(text, '\\', (gsize)(end - text));
    while (stop && stop + 1 < end && stop[1] != '\n') stop = memchr(stop + 1, '\\', (gsize)(end - stop - 1));
    const bool found = stop && stop + 1 < end;
    g_string_append_len(joined, text, (found ? stop : end) - text);
    text = found ? stop + 2 : end;
  }
  return g_string_free(joined, FALSE);
}

Includes *includes_read(const char *text, gsize size) {
  Includes *includes = g_new0(Includes, 1);
  includes->quoted = g_ptr_array_new_with_free_func(g_free);
  includes->tested = g_ptr_array_new_with_free_func(g_free);
  g_autofree char *joined = join_lines(text, size);
  bool begins = true; // a line
  for (const char *at = joined; *at;) {
    const char *next = skip(at);
    if (begins && *at == '#') read_directive(includes, next);
    if (*at == '_') read_question(includes, at);
    if (*at == '\n')
      begins = true;
    else if (*at != ' ' && *at != '\t' && *at != '/')
      begins = false;
    at = next;
  }
  return includes;
}

void includes_free(Includes *includes) {
  g_ptr_array_unref(includes->quoted);
  g_ptr_array_unref(includes->tested);
  g_free(includes);
}
