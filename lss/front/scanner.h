// What lexer, parser and the formatter share: the state of one scan, tokens' locations, comments.
#ifndef LSS_SCANNER_H
#define LSS_SCANNER_H

#include "lss/front/tree.h"

// A documentation comment and its location; tree_attach_docs() gives it to a declaration.
typedef struct {
  const char *text; // without stars and margins
  Location location;
  bool follows_token;         // something precedes it on its line
  int next_line, next_column; // of the token after it; 0 at the end of the file
} DocComment;

typedef struct {
  const char *path;
  int line, column; // of the next character
  int start_token;  // what to parse: pushed before the first token
  int previous_token;
  int previous_end_line;      // of the last token
  int state_depth;            // braces open since `state`; 1: where fields begin
  bool conserving;            // between `conserves` and its `;`
  Location last, before_last; // tokens
  GPtrArray *docs;            // DocComment*
  guint docs_waiting;         // docs from this index on wait for their next token
  GPtrArray *codes;           // Expr*: C code, whose expressions are parsed when the grammar is through
  GPtrArray *declarations;    // Node* that may carry documentation, in the order of their ends
  Location code_start;        // of the C text being read
  GString *code;
  SourceFile *file;
  Expr *expression;
  int errors;
  bool quiet; // an error of the lexer was reported for the current token
} Scan;

void tree_attach_docs(Scan *scan);

// For the actions of the grammar (actions.c).
Node *parse_declare(Scan *scan, NodeKind kind, Location where, const char *name, Location place);
// Reports a name where only one word, which is no reserved one, is allowed.
void parse_word(Scan *scan, Location where, const char *word, const char *expected, const char *place);
// Names what `for (i = 0; ...)` may declare, as `for (var i = 0; ...)` does.
Node *parse_loop_start(Node *first);
GPtrArray *parse_list(gpointer first);
GPtrArray *parse_with(GPtrArray *list, gpointer item);
Expr *parse_text_expr(ExprKind kind, Location where, const char *text);
void parse_record_add(Expr *record, const char *name, Location place, Expr *value);
Expr *parse_code(Scan *scan, Location where, const char *text);

// Says what was found, and what the grammar would have taken; tokens by their names in the grammar (syntax_error.c).
void syntax_error(Scan *scan, Location where, const char *found, const char *const *expected, int count);

#endif
