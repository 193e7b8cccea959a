// Where a declaration is meant, in all files of the workspace: every word of its name is looked up as a definition is.
#ifndef LSS_USES_H
#define LSS_USES_H

#include "lss/server/names.h"
#include "lss/server/query.h"

typedef enum {
  USE_DECLARED,
  USE_NAME,        // looked up in what is around it
  USE_SELECTED,    // looked up in an instance, module or type
  USE_BARE_SET,    // `NAME;` in a block of settings, which means the parameter that is set,
  USE_BARE_PASSED, // what is passed on to it,
  USE_BARE_BOTH,   // or which is one declaration
  USE_OPEN         // of an instance whose module only a machine decides: it may mean it
} UseKind;

typedef struct {
  UseKind kind;
  bool open; // whatever it is taken for, only a machine decides
  Location where;
  Names *names; // of the file
} NameUse;

// Whether two nodes are one declaration; what `wraps` passes on is a copy.
bool uses_same(const Node *a, const Node *b);

// Whether a text has such a word.
bool uses_has_word(const char *text, const char *word);

// The uses (NameUse*) of a declaration in files, by file and place.  `parsed` as of names_read_into().
GPtrArray *uses_find(const Query *query, GHashTable *parsed, const GPtrArray *files, const Node *target);

#endif
