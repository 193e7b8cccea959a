// Documentation of a parsed file: what `lss doc` prints and the module reference is made of.
#ifndef LSS_REFERENCE_H
#define LSS_REFERENCE_H

#include "lss/front/wrapped.h"

typedef enum { REFERENCE_TEXT, REFERENCE_MARKDOWN, REFERENCE_JSON } ReferenceStyle; // JSON: a line for each node

// Appends the documentation of `node`, a module or a type, declared in `path`.  `about` is what the file's opening
// comment says, or NULL.  `find` reads the modules that it wraps.
void reference_print(GString *out, const Node *node, const char *path, const char *about, ReferenceStyle style,
                     ModuleLookup find, gpointer data);

// True for declarations that reference_print() can describe.
bool reference_covers(const Node *node);

// The module `name` of a file, or NULL.
const Node *reference_module(const SourceFile *file, const char *name);

// True when the module declares behaviour of its own, so that a C file of the same stem belongs to it.
bool reference_is_leaf(const Node *module);

// The first sentence of a documentation comment, on one line; "" for NULL.  In the arena.
char *reference_summary(const char *doc);

// The text of the `//` comment that opens a file, its lines joined, paragraphs kept; NULL without.  In the arena.
char *reference_opening(const char *text);

#endif
