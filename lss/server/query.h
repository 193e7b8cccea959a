// Questions about a document: what is at a position, what it contains, how it would be laid out.
#ifndef LSS_QUERY_H
#define LSS_QUERY_H

#include "lss/base/compile_options.h"
#include "lss/server/protocol.h"

typedef struct Query Query;

typedef struct {
  const char *method, *capability;
  bool positioned;
  JsonValue *(*respond)(const Query *query); // NULL for nothing
} QueryKind;

struct Query {
  const QueryKind *kind;
  const CompileOptions *options;
  char *path;
  Position position;
};

// The question that a method asks; NULL when it is none.
const QueryKind *query_kind(const char *method);

// Adds what can be asked to the server's capabilities.
void query_capabilities(JsonValue *capabilities);

// Work of a job, `data` a Query; the response is the member `result`.
JsonValue *query_work(gpointer data);

#endif
