// The caret printer: shows a source line and marks a range in it.  Lines are counted in bytes by the lexer and shown
// in characters here; tabs become single spaces, and long lines are cut around the range.
#include "lss/base/diagnostics.h"
#include "lss/base/source.h"

#include <string.h>

enum { SHOWN_CHARACTERS = 160 };

static GHashTable *texts; // file name -> char*, empty when the file cannot be read

void diag_register_text(const char *file, const char *text) {
  if (!texts) texts = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
  g_hash_table_insert(texts, (gpointer)g_intern_string(file), g_strdup(text));
}

static const char *text_of(const char *file) {
  const char *text = texts ? g_hash_table_lookup(texts, file) : NULL;
  if (text) return text;
  char *contents = source_read(file, NULL, NULL);
  if (!contents) contents = g_strdup("");
  diag_register_text(file, text_without_mark(contents));
  g_free(contents);
  return g_hash_table_lookup(texts, file);
}

const char *text_without_mark(const char *text) {
  static const char mark[] = "\xef\xbb\xbf";
  return g_str_has_prefix(text, mark) ? text + strlen(mark) : text;
}

const char *source_line(const char *file, int line, int *length) {
  const char *at = text_of(file);
  for (int n = 1; n < line; n++) {
    at = strchr(at, '\n');
    if (!at) return NULL;
    at++;
  }
  if (!*at) return NULL;
  *length = (int)strcspn(at, "\r\n");
  return at;
}

// Bytes of the character at `text`; 1 for a byte that begins none.
static int character_length(const char *text, int left) {
  gunichar c = g_utf8_get_char_validated(text, left);
  return c == (gunichar)-1 || c == (gunichar)-2 || c == 0 ? 1 : g_unichar_to_utf8(c, NULL);
}

void caret_print(GString *out, Location where) {
  if (!where.file || where.line < 1 || where.column < 1) return;
  int length;
  const char *line = source_line(where.file, where.line, &length);
  if (!line) return;
  int start = MIN(where.column - 1, length);
  int end = where.end_line == where.line ? where.end_column - 1 : where.end_line > where.line ? length : start + 1;
  end = CLAMP(end, start + 1, length + 1);

  // Characters, not bytes, take columns; bytes that are no UTF-8 are shown as question marks.
  g_autoptr(GString) shown = g_string_new(NULL);
  g_autoptr(GString) marks = g_string_new(NULL);
  int columns_before = 0;
  for (int i = 0; i < start; i += character_length(line + i, length - i)) columns_before++;
  int skip = MAX(0, columns_before - SHOWN_CHARACTERS * 3 / 4);
  int column = 0;
  for (int i = 0; i <= length && column - skip < SHOWN_CHARACTERS; column++) {
    int bytes = i < length ? character_length(line + i, length - i) : 1;
    unsigned char c = i < length ? (unsigned char)line[i] : ' ';
    if (column >= skip) {
      if (i < length && bytes == 1) g_string_append_c(shown, c < ' ' || c == 0x7f ? ' ' : c >= 0x80 ? '?' : (char)c);
      if (bytes > 1) g_string_append_len(shown, line + i, bytes);
      bool first = start >= i && start < i + bytes;
      g_string_append_c(marks, first ? '^' : i > start && i < end ? '~' : ' ');
    }
    i += bytes;
  }
  while (marks->len > 0 && marks->str[marks->len - 1] == ' ') g_string_truncate(marks, marks->len - 1);
  g_string_append_printf(out, "%5d | %s\n      | %s\n", where.line, g_strchomp(shown->str), marks->str);
}
