// Hexdumps; see hexdump.h.
#include "lss/runtime/text/hexdump.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

enum { ROW = 16, MOST_ROWS = 8 };

// One row: at most ROW of the bytes behind `at`.
static void add_row(GString *text, const char *word, const uint8_t *bytes, size_t count, size_t at, uint64_t address) {
  g_string_append_printf(text, "  %s%06" G_GINT64_MODIFIER "x ", word, address + at);
  for (size_t i = 0; i < ROW; i++) {
    if (at + i < count)
      g_string_append_printf(text, "%s%02x", i == ROW / 2 ? "  " : " ", bytes[at + i]);
    else
      g_string_append(text, i == ROW / 2 ? "    " : "   ");
  }
  g_string_append(text, "  ");
  for (size_t i = at; i < MIN(count, at + ROW); i++)
    g_string_append_c(text, g_ascii_isprint(bytes[i]) ? (char)bytes[i] : '.');
  while (text->str[text->len - 1] == ' ') g_string_truncate(text, text->len - 1);
  g_string_append_c(text, '\n');
}

char *spinach_hexdump(const uint8_t *bytes, size_t count, uint64_t address) {
  GString *text = g_string_new(NULL);
  bool starred = false;
  for (size_t at = 0; at < count; at += ROW) {
    const bool same = at && at + ROW <= count && !memcmp(bytes + at, bytes + at - ROW, ROW);
    if (!same) add_row(text, "", bytes, count, at, address);
    if (same && !starred) g_string_append(text, "  *\n");
    starred = same;
  }
  return g_string_free(text, FALSE);
}

static bool differs(const uint8_t *a, size_t a_count, const uint8_t *b, size_t b_count, size_t at) {
  return at < a_count && at < b_count ? a[at] != b[at] : (at < a_count) != (at < b_count);
}

static void add_marks(GString *text, gsize indent, const uint8_t *a, size_t a_count, const uint8_t *b, size_t b_count,
                      size_t at) {
  g_string_append_printf(text, "%*s", (int)indent, "");
  for (size_t i = 0; i < ROW; i++) {
    if (i == ROW / 2) g_string_append_c(text, ' ');
    g_string_append(text, differs(a, a_count, b, b_count, at + i) ? " ^^" : "   ");
  }
  while (text->str[text->len - 1] == ' ') g_string_truncate(text, text->len - 1);
  g_string_append_c(text, '\n');
}

char *spinach_hexdump_difference(const uint8_t *expected, size_t expected_count, const uint8_t *actual,
                                 size_t actual_count) {
  static const char wanted[] = "expected ", got[] = "came out ";
  GString *text = g_string_new(NULL);
  int rows = 0;
  for (size_t at = 0; at < MAX(expected_count, actual_count); at += ROW) {
    bool any = false;
    for (size_t i = 0; i < ROW; i++) any |= differs(expected, expected_count, actual, actual_count, at + i);
    if (!any) continue;
    if (rows++ == MOST_ROWS) {
      g_string_append(text, "  and in the following bytes\n");
      break;
    }
    add_row(text, wanted, expected, expected_count, at, 0);
    add_row(text, got, actual, actual_count, at, 0);
    add_marks(text, strlen("  ") + strlen(wanted) + strlen("000000 "), expected, expected_count, actual, actual_count,
              at);
  }
  return g_string_free(text, FALSE);
}
