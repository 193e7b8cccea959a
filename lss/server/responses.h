// Responses to the editor's requests; each runs in a job of its own.
#ifndef LSS_RESPONSES_H
#define LSS_RESPONSES_H

#include "lss/server/query.h"

JsonValue *respond_hover(const Query *query);          // what `lss doc` says, or the declaration (hover.c)
JsonValue *respond_definition(const Query *query);     // where a name is declared (hover.c)
JsonValue *respond_uses(const Query *query);           // where else it is used (uses.c)
JsonValue *respond_prepare_rename(const Query *query); // what would be renamed (rename.c)
JsonValue *respond_rename(const Query *query);         // its edits (rename.c)
JsonValue *respond_completion(const Query *query);     // what could be written (completion.c)
JsonValue *respond_symbols(const Query *query);        // what a file declares (symbols.c)
JsonValue *respond_formatting(const Query *query);     // canonical layout (query.c)

// The compiler's line and column of the position, both from 1, the column in bytes (query.c).
void query_place(const Query *query, int *line, int *column);

#endif
