// A small JSON reader: a document becomes a tree of values, which is looked at and freed as a whole.
#ifndef SPINACH_JSON_READER_H
#define SPINACH_JSON_READER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_LIST, JSON_OBJECT } JsonKind;

typedef struct JsonValue {
  JsonKind kind;
  char *text;                      // of a string; of a number or bool as it is written
  char *key;                       // of a member of an object
  struct JsonValue *first, *after; // members or elements, in order; the next one beside it
} JsonValue;

// Reads all of `text`.  On failure returns NULL and sets *error to a sentence with the line.
JsonValue *json_read(const char *text, GError **error);
void json_value_free(JsonValue *value);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(JsonValue, json_value_free)

// A member of an object of that kind; NULL: there is none.
const JsonValue *json_member_of(const JsonValue *object, const char *key, JsonKind kind);
// The same as text; NULL: there is none.
const char *json_text_of(const JsonValue *object, const char *key);
// A whole number of at most `most`; false: there is none.
bool json_count_of(const JsonValue *object, const char *key, uint64_t most, uint64_t *count);

#endif
