// The protocol's JSON; see protocol.h.
#include "lss/server/protocol.h"

#include "lss/base/diagnostics.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DEEPEST = 64 };

JsonValue *json_read(const char *text, const char **why) {
  struct json_tokener *tokener = json_tokener_new_ex(DEEPEST);
  json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
  JsonValue *value = json_tokener_parse_ex(tokener, text, (int)strlen(text) + 1);
  const enum json_tokener_error error = json_tokener_get_error(tokener);
  json_tokener_free(tokener);
  if (error == json_tokener_success) return value;
  json_object_put(value);
  *why = json_tokener_error_desc(error);
  return NULL;
}

JsonValue *json_at(JsonValue *value, ...) {
  va_list keys;
  va_start(keys, value);
  for (const char *key; value && (key = va_arg(keys, const char *));) {
    JsonValue *inner = NULL;
    if (json_object_is_type(value, json_type_object)) json_object_object_get_ex(value, key, &inner);
    value = inner;
  }
  va_end(keys);
  return value;
}

const char *json_text(JsonValue *value) {
  return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

int json_number(JsonValue *value, int otherwise) {
  return json_object_is_type(value, json_type_int) ? json_object_get_int(value) : otherwise;
}

bool json_position(JsonValue *value, Position *position) {
  *position =
      (Position){json_number(json_at(value, "line", NULL), -1), json_number(json_at(value, "character", NULL), -1)};
  return position->line >= 0 && position->column >= 0;
}

void json_set(JsonValue *object, const char *key, JsonValue *value) {
  json_object_object_add(object, key, value);
}

void json_set_text(JsonValue *object, const char *key, const char *text) {
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  json_object_object_add(object, key, json_object_new_string(valid));
}

void json_set_number(JsonValue *object, const char *key, int number) {
  json_object_object_add(object, key, json_object_new_int(number));
}

void json_add(JsonValue *array, JsonValue *value) {
  json_object_array_add(array, value);
}

// ---- Positions -----------------------------------------------------------------------------------------------------

// The bytes of the character at `text`, which ends in a zero, and its units of UTF-16; what is no UTF-8 is one of each.
static gsize character(const char *text, int *units) {
  gunichar c = g_utf8_get_char_validated(text, -1);
  const bool wrong = c == (gunichar)-1 || c == (gunichar)-2;
  *units = !wrong && c > 0xffff ? 2 : 1;
  return wrong ? 1 : (gsize)g_unichar_to_utf8(c, NULL);
}

gsize position_offset(const char *text, Position position) {
  const char *at = text;
  for (int line = 0; line < position.line; line++) {
    const char *end = strchr(at, '\n');
    if (!end) return strlen(text);
    at = end + 1;
  }
  for (int column = 0, units; column < position.column && *at && *at != '\n' && *at != '\r'; column += units)
    at += character(at, &units);
  return (gsize)(at - text);
}

Position offset_position(const char *text, gsize offset) {
  Position position = {0, 0};
  const char *line = text;
  for (const char *end; (end = memchr(line, '\n', (gsize)(text + offset - line))); line = end + 1) position.line++;
  for (int units; line < text + offset && *line; position.column += units) line += character(line, &units);
  return position;
}

// A line and column of the compiler, both from 1, the column in bytes.
static Position place_position(const char *file, int line, int column) {
  int length, units;
  const char *text = line > 0 ? source_line(file, line, &length) : NULL;
  Position position = {MAX(line - 1, 0), 0};
  if (!text) return position;
  const char *end = text + MIN(column - 1, length);
  for (const char *at = text; at < end; position.column += units) at += character(at, &units);
  return position;
}

JsonValue *position_json(Position position) {
  JsonValue *result = json_object_new_object();
  json_set_number(result, "line", position.line);
  json_set_number(result, "character", position.column);
  return result;
}

JsonValue *range_json(Location where) {
  const bool whole = where.end_line >= where.line && where.end_line > 0;
  JsonValue *range = json_object_new_object();
  json_set(range, "start", position_json(place_position(where.file, where.line, where.column)));
  json_set(range, "end",
           position_json(place_position(where.file, whole ? where.end_line : where.line,
                                        whole ? where.end_column : where.column)));
  return range;
}

// ---- Sending -------------------------------------------------------------------------------------------------------

static void send_message(JsonValue *message) {
  json_set_text(message, "jsonrpc", "2.0");
  const char *text = json_object_to_json_string_ext(message, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
  printf("Content-Length: %zu\r\n\r\n%s", strlen(text), text);
  fflush(stdout); // a client that is gone shows as the end of the input
  json_object_put(message);
}

void send_result(JsonValue *id, JsonValue *result) {
  JsonValue *message = json_object_new_object();
  json_set(message, "id", json_object_get(id));
  json_set(message, "result", result);
  send_message(message);
}

void send_error(JsonValue *id, int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  JsonValue *message = json_object_new_object(), *error = json_object_new_object();
  json_set_number(error, "code", code);
  json_set_text(error, "message", text);
  json_set(message, "id", json_object_get(id));
  json_set(message, "error", error);
  send_message(message);
}

void send_notification(const char *method, JsonValue *params) {
  JsonValue *message = json_object_new_object();
  json_set_text(message, "method", method);
  json_set(message, "params", params);
  send_message(message);
}
