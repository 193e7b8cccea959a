// Responses to the editor's requests, by the method that asks; each runs in a job of its own.
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
JsonValue *respond_formatting(const Query *query);     // canonical layout

// The question that a method asks; NULL when it is none.
const QueryKind *query_kind(const char *method);

// Adds what can be asked to the server's capabilities.
void query_capabilities(JsonValue *capabilities);

#endif
