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
  bool renames;                              // it takes a new name
} QueryKind;

struct Query {
  const QueryKind *kind;
  const CompileOptions *options;
  char *path;
  Position position;
  char *name;    // the new one, or NULL
  bool declared; // of references: the declaration, too
};

// The compiler's line and column of the position, both from 1, the column in bytes.
void query_place(const Query *query, int *line, int *column);

// Work of a job, `data` a Query; the response is the member `result`, or why there is none the member `error`, and
// `warning` is what the user is to know besides.
JsonValue *query_work(gpointer data);
// Says why there is no response, in one line.
void query_refuse(const char *format, ...) G_GNUC_PRINTF(1, 2);
// Says what the response leaves undone; several are one line.
void query_warn(const char *format, ...) G_GNUC_PRINTF(1, 2);

#endif
