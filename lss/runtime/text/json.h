// A small JSON writer: values are appended in order, and commas, indentation and escapes are its business.
#ifndef SPINACH_JSON_H
#define SPINACH_JSON_H

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct {
  GString *text;
  int depth;
  bool first; // nothing was written yet at this depth
  bool after_key;
  int row;   // depth of the list or document that is written on one line; 0: none
  FILE *out; // where the text goes before it grows long; NULL: it is kept
  bool failed;
} Json;

void json_start(Json *json);
// The same of a document that is written on one line.
void json_start_line(Json *json);
// Ends the document and returns its text, which the caller frees.
char *json_finish(Json *json);

// A document of any length, of which little is in memory.
void json_start_stream(Json *json, FILE *out);
// Ends it; false, with errno, when some of it could not be written.
bool json_finish_stream(Json *json);

void json_open(Json *json, char bracket);  // '{' or '['
void json_close(Json *json, char bracket); // '}' or ']'
void json_open_row(Json *json);            // a list of numbers on one line
void json_key(Json *json, const char *key);
void json_string(Json *json, const char *string); // NULL writes null
void json_int(Json *json, gint64 number);
void json_uint(Json *json, guint64 number);
void json_wide(Json *json, unsigned __int128 number);
void json_real(Json *json, double number);
void json_real_text(GString *out, double number); // shortest text that reads back the same
// A string by itself.  A byte that is of no character is written as a surrogate, U+DC00 and the byte, as Python reads
// it (surrogateescape).
void json_append_string(GString *text, const char *string);
void json_bool(Json *json, bool truth);
void json_written(Json *json, const char *text); // a value that was written before, as text

// A key and its value, or the start of it, in one call.
void json_open_member(Json *json, const char *key, char bracket);
void json_member(Json *json, const char *key, const char *string);
void json_member_int(Json *json, const char *key, gint64 number);
void json_member_bool(Json *json, const char *key, bool truth);

#endif
