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
  GHashTable *files;   // canonical path -> SourceFile*, of those that were looked at
  GHashTable *parsed;  // likewise, also what was read for others
  GHashTable *globals; // name -> const Node*, what is known in all files
} Names;

Names *names_read(const char *path, const CompileOptions *options);
// The same, where several files are looked at: each is read once, into `parsed`, an arena_table().
Names *names_read_into(GHashTable *parsed, const char *path, const CompileOptions *options);

// The file that a file imports: of the library, or a machine among the examples; NULL when there is none.
SourceFile *names_file(Names *names, const char *name, const char *importer);
// The machine that a file extends, or, when it extends none, the file itself.
SourceFile *names_extended(Names *names, SourceFile *file);

// What a name means: a declaration, an entry of a table that has the name, or a file; nothing in all of them.
typedef struct {
  const Node *node;
  const Expr *record;
  const char *file;
  const Node *passed; // of `NAME;` in a block of settings, whose own meaning is a parameter: what is passed on to it
  Location used;      // where the name is used
  bool selected;      // it is looked up in an instance, module or type, not in what is around it
  bool bare;          // it is `NAME;` in a block of settings
  bool open;          // of which instance or module it is, only a machine decides
} Meaning;

// The meaning of the name at a place of the main file, column in bytes, both from 1.
Meaning names_meaning(Names *names, int line, int column);

// The nodes of the main file around a place, outermost first.
GPtrArray *names_around(const Names *names, int line, int column);
// Whether they are in a module or function, which see of a machine around them what every file would see.
bool names_apart(const GPtrArray *around);
// What a name or expression means between those nodes; NULL when that is not known.
const Node *names_find(Names *names, const GPtrArray *around, const char *name);
const Node *names_resolve(Names *names, const GPtrArray *around, const Expr *expr);
// The same outside all but the `depth` outermost of the nodes.
const Node *names_find_outside(Names *names, const GPtrArray *around, guint depth, const char *name);
// What it means where a module, a type or state is expected, which nothing else of its name hides.
typedef enum { EXPECT_TYPE, EXPECT_MODULE, EXPECT_STATE } Expected;
const Node *names_find_expected(Names *names, const GPtrArray *around, const char *name, Expected expected);
// Whether it is a parameter or argument that stands for a type or module, and is meant where one is expected.
bool names_holds_type(const Node *node);
// What a body declares of this name, in a block or not, or passes on of what it wraps; NULL when there is none.
const Node *names_in_body(Names *names, const GPtrArray *body, const char *name);
const Node *names_module(Names *names, const char *name);
// The same of a module only, as a ModuleLookup; `names` is a Names.
const Node *names_lookup(const char *name, gpointer names);

// Calls `visit` for what can be selected from an instance, port, type or value with a dot.
typedef void (*NamesVisit)(const Node *node, gpointer data);
void names_members(Names *names, const Node *node, NamesVisit visit, gpointer data);
// One of these; NULL when there is none.
const Node *names_member(Names *names, const Node *node, const char *name);
// The same of state, which may have the name of a port.
const Node *names_state(Names *names, const Node *node, const char *name);
// The module, struct, packed word, enum or bundle that declares them; NULL when the text does not say.
const Node *names_holder(Names *names, const Node *node);
// Whether only a machine decides of which module an instance is: it comes by a value, or instances of several modules
// have its name, each under a condition.
bool names_is_open(Names *names, const GPtrArray *around, const Node *instance);
// Calls `visit` for the declarations in a list, those inside `if` and `for` included.
void names_declared(const GPtrArray *nodes, NamesVisit visit, gpointer data);

// Whether the top of a file creates instances, which makes it a machine.
bool file_instantiates(const char *path);

// The text of a file between the ends of a place; in the arena.
const char *names_text(Location where);

#endif
