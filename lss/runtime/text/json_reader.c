// A small JSON reader; see json_reader.h.
#include "lss/runtime/text/json_reader.h"

#include "lss/runtime/text/number.h"
#include "lss/runtime/text/refusal.h"

#include <string.h>

enum { DEEPEST = 64 };

typedef struct {
  const char *begin, *at;
  GError **error;
} Reader;

static JsonValue *read_value(Reader *reader, int depth);

static void *refuse(Reader *reader, const char *what) {
  unsigned line = 1;
  for (const char *c = reader->begin; c < reader->at; c++) line += *c == '\n';
  if (!reader->error || !*reader->error) spinach_refuse(reader->error, "line %u: %s", line, what);
  return NULL;
}

static void skip_space(Reader *reader) {
  reader->at += strspn(reader->at, " \t\r\n");
}

static bool take(Reader *reader, char c) {
  skip_space(reader);
  if (*reader->at != c) return false;
  reader->at++;
  return true;
}

void json_value_free(JsonValue *value) {
  while (value) {
    JsonValue *after = value->after;
    json_value_free(value->first);
    g_free(value->text);
    g_free(value->key);
    g_free(value);
    value = after;
  }
}

static JsonValue *value_new(JsonKind kind, char *text) {
  JsonValue *value = g_new0(JsonValue, 1);
  value->kind = kind;
  value->text = text;
  return value;
}

// Four hexadecimal digits behind `\u`; -1: they are not.
static int read_code(Reader *reader) {
  int code = 0;
  for (int i = 0; i < 4; i++) {
    const int digit = g_ascii_xdigit_value(reader->at[i]);
    if (digit < 0) return -1;
    code = code * 16 + digit;
  }
  reader->at += 4;
  return code;
}

static bool read_escape(Reader *reader, GString *text) {
  static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  const char letter = *reader->at++;
  const char *place = letter ? strchr(escapes, letter) : NULL;
  if (place) {
    g_string_append_c(text, meant[place - escapes]);
    return true;
  }
  if (letter != 'u') return false;
  int code = read_code(reader);
  if (code >= 0xd800 && code < 0xdc00 && g_str_has_prefix(reader->at, "\\u")) { // a pair of surrogates
    reader->at += 2;
    const int low = read_code(reader);
    code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + low - 0xdc00 : -1;
  }
  if (code <= 0 || (code >= 0xd800 && code < 0xe000)) return false;
  g_string_append_unichar(text, (gunichar)code);
  return true;
}

// Behind the first quote.
static char *read_string(Reader *reader) {
  g_autoptr(GString) text = g_string_new(NULL);
  for (;;) {
    const size_t plain = strcspn(reader->at, "\"\\");
    g_string_append_len(text, reader->at, (gssize)plain);
    reader->at += plain;
    if (!*reader->at) return refuse(reader, "a string does not end");
    if (*reader->at++ == '"') return g_string_free(g_steal_pointer(&text), FALSE);
    if (!read_escape(reader, text)) return refuse(reader, "a wrong escape in a string");
  }
}

// Members or elements, up to the bracket.
static JsonValue *read_inside(Reader *reader, JsonKind kind, char bracket, int depth) {
  g_autoptr(JsonValue) value = value_new(kind, NULL);
  JsonValue **end = &value->first;
  if (take(reader, bracket)) return g_steal_pointer(&value);
  do {
    g_autofree char *key = NULL;
    if (kind == JSON_OBJECT) {
      if (!take(reader, '"')) return refuse(reader, "a key in quotes is missing");
      if (!(key = read_string(reader))) return NULL;
      if (!take(reader, ':')) return refuse(reader, "a colon is missing after a key");
    }
    if (!(*end = read_value(reader, depth + 1))) return NULL;
    (*end)->key = g_steal_pointer(&key);
    end = &(*end)->after;
  } while (take(reader, ','));
  if (!take(reader, bracket)) return refuse(reader, "a comma or a closing bracket is missing");
  return g_steal_pointer(&value);
}

static JsonValue *read_value(Reader *reader, int depth) {
  static const struct {
    const char *word;
    JsonKind kind;
  } words[] = {{"true", JSON_BOOL}, {"false", JSON_BOOL}, {"null", JSON_NULL}};
  if (depth > DEEPEST) return refuse(reader, "values are nested too deep");
  if (take(reader, '{')) return read_inside(reader, JSON_OBJECT, '}', depth);
  if (take(reader, '[')) return read_inside(reader, JSON_LIST, ']', depth);
  if (take(reader, '"')) {
    char *text = read_string(reader);
    return text ? value_new(JSON_STRING, text) : NULL;
  }
  const size_t length = strspn(reader->at, "+-.0123456789Eabcdefghijklmnopqrstuvwxyz");
  g_autofree char *word = g_strndup(reader->at, length);
  reader->at += length;
  for (guint i = 0; i < G_N_ELEMENTS(words); i++)
    if (!strcmp(word, words[i].word)) return value_new(words[i].kind, g_steal_pointer(&word));
  const char *digits = word + (*word == '-');
  if (!*digits || number_length(digits) != strlen(digits)) return refuse(reader, "a value is missing");
  return value_new(JSON_NUMBER, g_steal_pointer(&word));
}

JsonValue *json_read(const char *text, GError **error) {
  Reader reader = {text, text, error};
  g_autoptr(JsonValue) value = read_value(&reader, 0);
  if (!value) return NULL;
  skip_space(&reader);
  return *reader.at ? refuse(&reader, "something follows the end of the document") : g_steal_pointer(&value);
}

const JsonValue *json_member_of(const JsonValue *object, const char *key, JsonKind kind) {
  if (!object || object->kind != JSON_OBJECT) return NULL;
  for (const JsonValue *member = object->first; member; member = member->after)
    if (!strcmp(member->key, key)) return member->kind == kind ? member : NULL;
  return NULL;
}

const char *json_text_of(const JsonValue *object, const char *key) {
  const JsonValue *member = json_member_of(object, key, JSON_STRING);
  return member ? member->text : NULL;
}

bool json_count_of(const JsonValue *object, const char *key, uint64_t most, uint64_t *count) {
  const JsonValue *member = json_member_of(object, key, JSON_NUMBER);
  const char *error;
  return member && number_read_count(member->text, 0, most, count, &error);
}
