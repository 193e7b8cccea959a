// Answers to the editor's questions; each runs in a job of its own.
#ifndef LSS_ANSWERS_H
#define LSS_ANSWERS_H

#include "lss/server/query.h"

JsonValue *answer_hover(const Query *query);      // what `lss doc` says, or the declaration (hover.c)
JsonValue *answer_definition(const Query *query); // where a name is declared (hover.c)
JsonValue *answer_completion(const Query *query); // what could be written (completion.c)
JsonValue *answer_symbols(const Query *query);    // what a file declares (symbols.c)
JsonValue *answer_formatting(const Query *query); // canonical layout (query.c)

// The compiler's line and column of the position, both from 1, the column in bytes (query.c).
void query_place(const Query *query, int *line, int *column);

#endif
