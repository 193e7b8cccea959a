// A small JSON writer; see json.h.
#include "lss/runtime/text/json.h"

#include <math.h>
#include <stdlib.h>

void json_start(Json *json) {
  *json = (Json){.text = g_string_new(NULL), .first = true};
}

void json_start_line(Json *json) {
  json_start(json);
  json->row = 1;
}

char *json_finish(Json *json) {
  g_string_append_c(json->text, '\n');
  return g_string_free(json->text, FALSE);
}

// ---- Documents of any length --------------------------------------------------------------------------------------

enum { MOST_KEPT = 1 << 16 };

void json_start_stream(Json *json, FILE *out) {
  json_start(json);
  json->out = out;
}

static void pass_on(Json *json) {
  if (!json->failed && fwrite(json->text->str, 1, json->text->len, json->out) != json->text->len) json->failed = true;
  g_string_truncate(json->text, 0);
}

bool json_finish_stream(Json *json) {
  g_string_append_c(json->text, '\n');
  pass_on(json);
  g_string_free(json->text, TRUE);
  return !json->failed;
}

// ---- Values --------------------------------------------------------------------------------------------------------

static void new_line(Json *json) {
  static const char blanks[] = "                                ";
  if (json->row) {
    if (!json->first) g_string_append_c(json->text, ' ');
    return;
  }
  g_string_append_c(json->text, '\n');
  for (gsize left = 2 * (gsize)json->depth, now; left; left -= now)
    g_string_append_len(json->text, blanks, (gssize)(now = MIN(left, sizeof blanks - 1)));
}

// What is between the previous value and the next one.
static void before_value(Json *json) {
  if (json->out && json->text->len > MOST_KEPT) pass_on(json);
  if (json->after_key) {
    json->after_key = false;
    return;
  }
  if (json->depth == 0) return;
  if (!json->first) g_string_append_c(json->text, ',');
  new_line(json);
  json->first = false;
}

void json_open(Json *json, char bracket) {
  before_value(json);
  g_string_append_c(json->text, bracket);
  json->depth++;
  json->first = true;
}

void json_open_row(Json *json) {
  json_open(json, '[');
  if (!json->row) json->row = json->depth;
}

void json_close(Json *json, char bracket) {
  json->depth--;
  if (!json->first && !json->row) new_line(json);
  if (json->row > json->depth) json->row = 0;
  g_string_append_c(json->text, bracket);
  json->first = false;
}

void json_append_string(GString *text, const char *string) {
  g_string_append_c(text, '"');
  for (const char *p = string, *next; *p; p = next) {
    const char *plain = p;
    while (*p >= 0x20 && *p < 0x7f && *p != '"' && *p != '\\') p++;
    g_string_append_len(text, plain, p - plain);
    if (!*p) break;
    const unsigned char c = (unsigned char)*p;
    const bool whole = c < 0x80 || g_utf8_get_char_validated(p, -1) < (gunichar)-2;
    next = whole ? g_utf8_next_char(p) : p + 1;
    if (!whole)
      g_string_append_printf(text, "\\udc%02x", c);
    else if (c == '"' || c == '\\')
      g_string_append_printf(text, "\\%c", c);
    else if (c == '\n')
      g_string_append(text, "\\n");
    else if (c == '\t')
      g_string_append(text, "\\t");
    else if (c < 0x20 || c == 0x7f)
      g_string_append_printf(text, "\\u%04x", c);
    else
      g_string_append_len(text, p, next - p);
  }
  g_string_append_c(text, '"');
}

void json_key(Json *json, const char *key) {
  before_value(json);
  json_append_string(json->text, key);
  g_string_append(json->text, ": ");
  json->after_key = true;
}

void json_string(Json *json, const char *string) {
  before_value(json);
  if (!string) {
    g_string_append(json->text, "null");
    return;
  }
  json_append_string(json->text, string);
}

void json_int(Json *json, gint64 number) {
  before_value(json);
  g_string_append_printf(json->text, "%" G_GINT64_FORMAT, number);
}

void json_uint(Json *json, guint64 number) {
  before_value(json);
  g_string_append_printf(json->text, "%" G_GUINT64_FORMAT, number);
}

void json_wide(Json *json, unsigned __int128 number) {
  char digits[40];
  int first = (int)sizeof digits;
  do digits[--first] = (char)('0' + (int)(number % 10));
  while (number /= 10);
  before_value(json);
  g_string_append_len(json->text, digits + first, (gssize)sizeof digits - first);
}

void json_real_text(GString *out, double number) {
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  for (int digits = 1; digits <= 17; digits++) {
    g_autofree char *format = g_strdup_printf("%%.%dg", digits);
    g_ascii_formatd(buffer, sizeof buffer, format, number);
    if (g_ascii_strtod(buffer, NULL) == number) break;
  }
  g_string_append(out, buffer);
}

void json_real(Json *json, double number) {
  before_value(json);
  if (isfinite(number))
    json_real_text(json->text, number);
  else
    g_string_append(json->text, "null"); // JSON has no word for these
}

void json_bool(Json *json, bool truth) {
  before_value(json);
  g_string_append(json->text, truth ? "true" : "false");
}

void json_written(Json *json, const char *text) {
  before_value(json);
  g_string_append(json->text, text);
}

void json_open_member(Json *json, const char *key, char bracket) {
  json_key(json, key);
  json_open(json, bracket);
}

void json_member(Json *json, const char *key, const char *string) {
  json_key(json, key);
  json_string(json, string);
}

void json_member_int(Json *json, const char *key, gint64 number) {
  json_key(json, key);
  json_int(json, number);
}

void json_member_bool(Json *json, const char *key, bool truth) {
  json_key(json, key);
  json_bool(json, truth);
}
