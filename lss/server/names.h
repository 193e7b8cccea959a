// What names mean in a file as it is, by its text alone: nothing is elaborated, so it works for a module by itself
// and beside errors.  What is read lives in the arena, for one question.
#ifndef LSS_NAMES_H
#define LSS_NAMES_H

#include "lss/base/compile_options.h"
#include "lss/front/tree.h"

// A file, what it imports, and the modules that were looked up since.
typedef struct {
  const CompileOptions *options;
  SourceFile *main;
  GHashTable *files;   // canonical path -> SourceFile*
  GHashTable *globals; // name -> const Node*
} Names;

Names *names_read(const char *path, const CompileOptions *options);

// What a name means: a declaration, an entry of a table that has the name, or a file; nothing in all of them.
typedef struct {
  const Node *node;
  const Expr *record;
  const char *file;
  Location used; // where the name is used
} Meaning;

// The meaning of the name at a place of the main file, column in bytes, both from 1.
Meaning names_meaning(Names *names, int line, int column);

// The nodes of the main file around a place, outermost first.
GPtrArray *names_around(const Names *names, int line, int column);
// What a name or expression means between those nodes; NULL when that is not known.
const Node *names_find(Names *names, const GPtrArray *around, const char *name);
const Node *names_resolve(Names *names, const GPtrArray *around, const Expr *expr);
const Node *names_module(Names *names, const char *name);
// The same of a module only, as a ModuleLookup; `names` is a Names.
const Node *names_lookup(const char *name, gpointer names);

// Calls `visit` for what can be selected from an instance, port, type or value with a dot.
typedef void (*NamesVisit)(const Node *node, gpointer data);
void names_members(Names *names, const Node *node, NamesVisit visit, gpointer data);
// Calls `visit` for the declarations in a list, those inside `if` and `for` included.
void names_declared(const GPtrArray *nodes, NamesVisit visit, gpointer data);

// Whether the top of a file creates instances, which makes it a machine.
bool file_instantiates(const char *path);

// The text of a file between the ends of a place; in the arena.
const char *names_text(Location where);

#endif
