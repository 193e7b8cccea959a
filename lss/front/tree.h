// The tree that the parser builds: what the text says, and nothing about what it means.  Declarations and statements
// are Nodes, everything that has a value or names a type is an Expr (types are written like expressions: `bits(8)`,
// `mem_request(64)`, `uint8[4]`, `int32 | float32`).  All of it lives in the arena.
#ifndef LSS_TREE_H
#define LSS_TREE_H

#include "lss/base/location.h"
#include "lss/front/function_kind.h"
#include "lss/front/state_kind.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

// ---- Expressions and types ---------------------------------------------------------------------------------------
typedef enum {
  EXPR_INT,           // integer
  EXPR_FLOAT,         // real; text is the literal, for exact reading
  EXPR_QUANTITY,      // text is the number, unit the unit
  EXPR_BOOL,          // integer
  EXPR_STRING,        // text, escapes resolved
  EXPR_LIST,          // items
  EXPR_RECORD,        // names (const char*), items, places (Location* of the names)
  EXPR_NAME,          // text
  EXPR_TYPE_VARIABLE, // text, without the quote
  EXPR_CODE,          // items: text pieces as EXPR_STRING, and the expressions of ${…}; text is the raw C
  EXPR_UNARY,         // op, left
  EXPR_BINARY,        // op, left, right
  EXPR_CONDITIONAL,   // left ? right : third
  EXPR_FIELD,         // left . text; `place` is that of the field's name
  EXPR_INDEX,         // left [ right ]
  EXPR_INDEX_ALL,     // left [*]
  EXPR_INDEX_RANGE,   // left [ right .. third ], either end may be NULL
  EXPR_LIST_TYPE,     // left []
  EXPR_CALL           // left ( items )
} ExprKind;

// Operators: the character itself, or one of these.
enum { OP_OR = 256, OP_AND, OP_EQ, OP_NE, OP_LE, OP_GE, OP_SHL, OP_SHR };

typedef struct Value Value; // elaboration's
typedef struct Expr Expr;
struct Expr {
  ExprKind kind;
  int op;
  int depth; // of the tree below, bounded by MAX_DEPTH
  Location location;
  Location place;
  const char *text;
  const char *unit;
  int64_t integer;
  double real;
  Expr *left, *right, *third;
  GPtrArray *items;
  GPtrArray *names;
  GPtrArray *places;
  Value *constant; // the evaluator's memo for literals
};

// Deeper expressions are rejected by the parser, so that recursive walks need no bound of their own.
enum { MAX_DEPTH = 400 };

// ---- Declarations and statements -----------------------------------------------------------------------------------
typedef enum {
  NODE_IMPORT,    // name
  NODE_EXTENDS,   // name (machine), body (NODE_ASSIGN, NODE_DEFAULT)
  NODE_STRUCT,    // name, arguments (NODE_ARGUMENT), body (NODE_FIELD)
  NODE_ENUM,      // name, body (NODE_ENUMERATOR)
  NODE_PACKED,    // name, arguments, type (of the whole), body (NODE_FIELD)
  NODE_BUNDLE,    // name, arguments, body (NODE_MEMBER)
  NODE_TYPE,      // name, type
  NODE_FUNCTION,  // name, arguments, type (of the result, may be NULL), body
  NODE_CONST,     // name, value
  NODE_MODULE,    // name, crossing, part, body; machine, of one that is made of a file's statements
  NODE_PARAMETER, // name, type, type_name (its text, once asked for), value (default, may be NULL), runtime, range (an
                  // EXPR_INDEX_RANGE without left, may be NULL), bare (what is around it fixes the value)
  NODE_USERPOINT, // name, arguments (NODE_FIELD), type (of the result), value (EXPR_CODE or NULL)
  NODE_PORT,      // name, type, output, optional, paced, keyed, repeated
  NODE_STATE,     // body (NODE_FIELD, NODE_RANGE)
  NODE_RANGE,     // target (a state field, or a member of one: an EXPR_FIELD), value (modulo what; may be NULL), within
  NODE_LOCAL,     // name, type, dimensions, specialize
  NODE_STAT,      // name, type, dimensions, text (unit, may be NULL), gauge
  NODE_DERIVED,   // name, value, text (unit, may be NULL)
  NODE_CONSERVATION, // name (conserves, makes, consumes), body (NODE_PART)
  NODE_PART,         // value (a port), or name (held, dropped, made, awaited; altered) and value (what it is)
  NODE_IDENTITY,     // value
  NODE_CUT,          // value
  NODE_BEHAVIOUR, // function, name of a handler, index_name, partial, reads, writes (Expr), value (port of phase_end,
                  // parameter of a reset)
  NODE_EVENT,     // name, arguments (NODE_FIELD)
  NODE_COLLECTOR, // name, text (pattern), type_name (event), shared, body (NODE_SECTION)
  NODE_SECTION,  // name (include, declare, init, record, report), value (EXPR_CODE); of a record of another event: text
                 // (pattern), type_name (event)
  NODE_DEBUG,    // name, body (NODE_ROLE, NODE_PROPERTY, NODE_REGION)
  NODE_ROLE,     // name, value (a reference or a string), target (likewise: a map, may be NULL)
  NODE_PROPERTY, // name, value
  NODE_REGION,   // range (of addresses), value (as of a role), type (records with name and offset, may be NULL)
  NODE_CLOCK,    // name, value
  NODE_INSTANCE, // name, value (count, may be NULL), type (module), clock (may be NULL), body (NODE_ASSIGN), part
  NODE_WRAPS,    // the same, body (also NODE_DEFAULT), arguments (NODE_ARGUMENT: what `except` names)
  NODE_DEFAULT,  // name, value, range (both may be NULL): what an outer parameter has in place of the inner one's
  NODE_VAR,      // name, value
  NODE_ASSIGN,   // target, value; name (settings, and where a loop begins), bare (`NAME;`)
  NODE_CONNECT,  // target, receivers (Expr), type (annotation, may be NULL)
  NODE_CALL,     // target (an EXPR_CALL)
  NODE_IF,       // value, body, other (may be NULL)
  NODE_FOR,      // first, value, step, body
  NODE_FOR_IN,   // name, value, body
  NODE_WHILE,    // value, body
  NODE_BREAK,
  NODE_CONTINUE,
  NODE_RETURN, // value (may be NULL)
  NODE_FIELD,  // name, type, dimensions, within (what it may be, as a range; may be NULL), value (initial, may be
               // NULL), state: struct fields, state, signatures; of members of packed words name, type, within, range
               // (right: the first bit, third: the last, may be NULL)
  NODE_ENUMERATOR, // name, value (may be NULL)
  NODE_MEMBER,     // name, type, output (forward)
  NODE_ARGUMENT    // name, type (may be NULL), value (default, may be NULL)
} NodeKind;

typedef struct Node Node;
struct Node {
  NodeKind kind;
  Location location; // from first to last token
  const char *name;
  Location place;  // of the name
  const char *doc; // documentation comment, trimmed; NULL when there is none
  const char *text;
  const char *type_name;
  Expr *type, *value, *target, *clock, *range, *within;
  Node *first, *step;
  GPtrArray *arguments, *body, *other, *dimensions, *reads, *writes, *receivers;
  GHashTable *names;   // of the body, at its first `wraps`: see wrapped.c
  const Node *fitting; // of NODE_INSTANCE and NODE_WRAPS: the module that was found to fit last
  const char *index_name;
  struct SourceFile *machine;
  FunctionKind function;
  StateKind state;
  bool runtime, initial, output, optional, paced, keyed, repeated, partial, crossing, part, shared, specialize, gauge,
      bare;
};

// ---- Files -------------------------------------------------------------------------------------------------
typedef struct Scope Scope; // elaboration's
typedef struct SourceFile {
  const char *path;        // as opened; interned
  const char *doc;         // the first documentation comment, when it precedes everything else
  GPtrArray *nodes;        // Node*
  bool failed;             // had syntax errors
  struct SourceFile *base; // the machine that it extends, once that is read; else NULL
  Scope *own;              // the names that are private to it; NULL while there are none
} SourceFile;

// Parses a file whose text is given.  Errors are reported; the result holds what could be understood.
SourceFile *parse_text(const char *path, const char *text, gsize length);

// What a file extends, a NODE_EXTENDS, or NULL.
const Node *file_extends(const SourceFile *file);
// Whether a file holds statements of a machine, and not declarations alone.
bool file_is_machine(const SourceFile *file);
// A machine as a module that is called so: the statements of `bottom`, which `file` extends or is; NULL when there are
// none.
Node *file_machine(SourceFile *file, const SourceFile *bottom, const char *name);

// Parses a single expression, whose first character is at `start`; NULL after errors.
Expr *parse_expression(const char *text, gsize length, Location start);

// The words of the language, reserved ones first, one after the other; NULL behind the last (lexer.l).
const char *keyword_at(guint index);

// ---- Construction, for the parser --------------------------------------------------------------------------
Expr *expr_new(ExprKind kind, Location location);
Expr *expr_unary(int op, Location location, Expr *left);
Expr *expr_binary(int op, Expr *left, Expr *right);
// Sets the depth from the children; false, with an error reported, when it exceeds MAX_DEPTH.
bool expr_close(Expr *expr);
Node *node_new(NodeKind kind, Location location);
Node *node_copy(const Node *node);

// The text of an expression, as it would be written (for messages and documentation).
char *expr_text(const Expr *expr); // in the arena
// How an operator is written; one character goes through `buffer`, whose end is the caller's zero.
const char *operator_text(int op, char buffer[2]);

const char *node_kind_name(NodeKind kind); // "parameter"
// "conserves in, out, held count", as it is written.
const char *node_conserved_text(const Node *node); // in the arena
// Whether it declares what all files know: a type, function, constant or module, or imports that.
bool node_is_global(const Node *node);
// Whether the settings of an instance can set it: a parameter or a userpoint.
bool node_is_settable(const Node *node);
// Whether it declares a type that may have arguments: a struct or a packed word.
bool node_is_family(const Node *node);
// Whether it is known in its own file only: a function, constant or alias of a type whose name begins with `_`.
bool node_is_private(const Node *node);
// Whether its `body` and `other` are statements of the body around it: `if` and loops.
bool node_is_block(const Node *node);
// Whether it makes instances of a module: `instance` or `wraps`.
bool node_makes_instances(const Node *node);

#endif
