// The Language Server Protocol's JSON: messages that come in, responses and notifications that go out, positions.
#ifndef LSS_PROTOCOL_H
#define LSS_PROTOCOL_H

#include "lss/base/location.h"

#include <glib.h>
#include <json-c/json.h>
#include <stdbool.h>

typedef struct json_object JsonValue;
static inline void json_value_put(JsonValue *value) {
  json_object_put(value);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(JsonValue, json_value_put)

// Of JSON-RPC and of LSP.
enum {
  ERROR_PARSE = -32700,
  ERROR_INVALID_REQUEST = -32600,
  ERROR_UNKNOWN_METHOD = -32601,
  ERROR_INVALID_PARAMS = -32602,
  ERROR_INTERNAL = -32603,
  ERROR_NOT_INITIALIZED = -32002,
  ERROR_REQUEST_FAILED = -32803,
  ERROR_CANCELLED = -32800
};

// Lines from 0, columns in units of UTF-16.
typedef struct {
  int line, column;
} Position;

// The value of a text; NULL, with *why, when it is no JSON.
JsonValue *json_read(const char *text, const char **why);

// The value at a path of keys, "textDocument", "uri", NULL; NULL when something on the way is missing.  Borrowed.
JsonValue *json_at(JsonValue *value, ...) G_GNUC_NULL_TERMINATED;
// Such a value as a string or number; NULL or `otherwise` when it is none.
const char *json_text(JsonValue *value);
int json_number(JsonValue *value, int otherwise);
bool json_position(JsonValue *value, Position *position);

// Adds a member or an element, which is the container's from then on.
void json_set(JsonValue *object, const char *key, JsonValue *value);
void json_set_text(JsonValue *object, const char *key, const char *text);
void json_set_number(JsonValue *object, const char *key, int number);
void json_add(JsonValue *array, JsonValue *value);

// Between bytes of a text and positions.
gsize position_offset(const char *text, Position position);
Position offset_position(const char *text, gsize offset);

// The range of a place, by the text of its file as the editor has it.
JsonValue *range_json(Location where);
JsonValue *position_json(Position position);

// Sends one message; `result`, `params` are consumed.
void send_result(JsonValue *id, JsonValue *result);
void send_error(JsonValue *id, int code, const char *format, ...) G_GNUC_PRINTF(3, 4);
void send_notification(const char *method, JsonValue *params);

#endif
