// The names of a module in the generated text: definitions for the vocabulary stand before its file is included, and
// are undefined after it; see module_names.h.
#include "lss/build/module_names.h"

#include <string.h>

// Where the definitions for the module of a file begin and end; NULL: the file is included nowhere.
static const char *definitions(const char *file, const char *text, const char **end) {
  g_autofree char *include = g_strdup_printf("\n#include \"%s\"\n", file);
  *end = strstr(text, include);
  if (!*end) return NULL;
  const char *before = g_strrstr_len(text, *end - text, "\n#undef SP_");
  return before ? before : text;
}

static gsize word_length(const char *at) {
  gsize n = 0;
  while (g_ascii_isalnum(at[n]) || at[n] == '_') n++;
  return n;
}

GPtrArray *module_names(const char *file, const char *text, const char *word) {
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  const char *end, *at = definitions(file, text, &end);
  g_autofree char *define = g_strdup_printf("\n#define SP_%s_", word);
  while (at && (at = strstr(at, define)) && at < end) {
    at += strlen(define);
    g_ptr_array_add(names, g_strndup(at, word_length(at)));
  }
  return names;
}

bool module_has_field(const char *file, const char *text, const char *name) {
  static const char type[] = "\n#define self_t ";
  const char *end, *begin = definitions(file, text, &end);
  const char *self = begin ? g_strstr_len(begin, end - begin, type) : NULL;
  if (!self) return false;
  self += strlen(type);
  g_autofree char *closing = g_strdup_printf("\n} %.*s;", (int)word_length(self), self);
  const char *close = strstr(text, closing), *open = close ? g_strrstr_len(text, close - text, "struct {") : NULL;
  if (!open) return false;
  g_autofree char *fields = g_strndup(open, (gsize)(close - open)),
                  *pattern = g_strdup_printf(" \\**%s(\\[[^;]*\\])?( : [0-9]+)?;", name);
  return g_regex_match_simple(pattern, fields, 0, 0);
}
