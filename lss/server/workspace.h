// The files that an editor works on: the .lss files below the folders that it has open, and its open documents.
#ifndef LSS_WORKSPACE_H
#define LSS_WORKSPACE_H

#include "lss/server/query.h"

// Takes the folders from the parameters of `initialize`.
void workspace_open(JsonValue *params);
void workspace_clear(void);

// Their canonical paths (char*), sorted; an editor without folders has that of the document.  NULL, with the query
// refused, when there are too many.
GPtrArray *workspace_files(const Query *query);

#endif
