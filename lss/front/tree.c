// Construction of the tree, documentation comments, and expressions as text.
#include "lss/front/tree.h"

#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/front/scanner.h"

#include <string.h>

Expr *expr_new(ExprKind kind, Location location) {
  Expr *expr = arena_new(Expr);
  expr->kind = kind;
  expr->location = location;
  expr->depth = 1;
  return expr;
}

Expr *expr_unary(int op, Location location, Expr *left) {
  Expr *expr = expr_new(EXPR_UNARY, location);
  expr->op = op;
  expr->left = left;
  return expr;
}

Expr *expr_binary(int op, Expr *left, Expr *right) {
  Expr *expr = expr_new(EXPR_BINARY, location_span(left->location, right->location));
  expr->op = op;
  expr->left = left;
  expr->right = right;
  return expr;
}

bool expr_close(Expr *expr) {
  int depth = 0;
  if (expr->left) depth = MAX(depth, expr->left->depth);
  if (expr->right) depth = MAX(depth, expr->right->depth);
  if (expr->third) depth = MAX(depth, expr->third->depth);
  for (guint i = 0; expr->items && i < expr->items->len; i++)
    depth = MAX(depth, ((Expr *)expr->items->pdata[i])->depth);
  expr->depth = depth + 1;
  if (expr->depth <= MAX_DEPTH) return true;
  diag_error(expr->location, "syntax", "this expression is nested too deeply; %d levels are the limit", MAX_DEPTH);
  return false;
}

Node *node_new(NodeKind kind, Location location) {
  Node *node = arena_new(Node);
  node->kind = kind;
  node->location = location;
  return node;
}

Node *node_copy(const Node *node) {
  Node *copy = node_new(node->kind, node->location);
  *copy = *node;
  return copy;
}

const char *node_kind_name(NodeKind kind) {
  static const char *const names[] = {[NODE_IMPORT] = "import",
                                      [NODE_EXTENDS] = "extends",
                                      [NODE_STRUCT] = "struct",
                                      [NODE_ENUM] = "enum",
                                      [NODE_PACKED] = "packed word",
                                      [NODE_BUNDLE] = "bundle",
                                      [NODE_TYPE] = "type",
                                      [NODE_FUNCTION] = "function",
                                      [NODE_CONST] = "const",
                                      [NODE_MODULE] = "module",
                                      [NODE_PARAMETER] = "parameter",
                                      [NODE_USERPOINT] = "userpoint",
                                      [NODE_PORT] = "port",
                                      [NODE_STATE] = "state",
                                      [NODE_LOCAL] = "local",
                                      [NODE_STAT] = "stat",
                                      [NODE_DERIVED] = "stat",
                                      [NODE_CONSERVATION] = "conservation",
                                      [NODE_PART] = "part of a conservation",
                                      [NODE_IDENTITY] = "identity",
                                      [NODE_CUT] = "cut",
                                      [NODE_BEHAVIOUR] = "handler",
                                      [NODE_EVENT] = "event",
                                      [NODE_COLLECTOR] = "collector",
                                      [NODE_SECTION] = "collector section",
                                      [NODE_DEBUG] = "debug view",
                                      [NODE_ROLE] = "role",
                                      [NODE_PROPERTY] = "property",
                                      [NODE_RANGE] = "range",
                                      [NODE_REGION] = "memory region",
                                      [NODE_CLOCK] = "clock",
                                      [NODE_INSTANCE] = "instance",
                                      [NODE_WRAPS] = "wraps",
                                      [NODE_DEFAULT] = "default",
                                      [NODE_VAR] = "variable",
                                      [NODE_ASSIGN] = "assignment",
                                      [NODE_CONNECT] = "connection",
                                      [NODE_CALL] = "call",
                                      [NODE_IF] = "if",
                                      [NODE_FOR] = "for",
                                      [NODE_FOR_IN] = "for",
                                      [NODE_WHILE] = "while",
                                      [NODE_BREAK] = "break",
                                      [NODE_CONTINUE] = "continue",
                                      [NODE_RETURN] = "return",
                                      [NODE_FIELD] = "field",
                                      [NODE_ENUMERATOR] = "enumerator",
                                      [NODE_MEMBER] = "member",
                                      [NODE_ARGUMENT] = "argument"};
  return names[kind];
}

bool node_is_family(const Node *node) {
  return node->kind == NODE_STRUCT || node->kind == NODE_PACKED;
}

bool node_is_private(const Node *node) {
  const bool can = node->kind == NODE_FUNCTION || node->kind == NODE_CONST || node->kind == NODE_TYPE;
  return can && *node->name == '_';
}

bool node_is_global(const Node *node) {
  switch (node->kind) {
  case NODE_IMPORT:
  case NODE_STRUCT:
  case NODE_ENUM:
  case NODE_PACKED:
  case NODE_BUNDLE:
  case NODE_TYPE:
  case NODE_FUNCTION:
  case NODE_CONST:
  case NODE_MODULE: return true;
  default: return false;
  }
}

bool node_is_settable(const Node *node) {
  return node->kind == NODE_PARAMETER || node->kind == NODE_USERPOINT;
}

bool node_is_block(const Node *node) {
  return node->kind == NODE_IF || node->kind == NODE_FOR || node->kind == NODE_FOR_IN || node->kind == NODE_WHILE;
}

bool node_makes_instances(const Node *node) {
  return node->kind == NODE_INSTANCE || node->kind == NODE_WRAPS;
}

// ---- Files that are machines ---------------------------------------------------------------------------------------

const Node *file_extends(const SourceFile *file) {
  for (guint i = 0; i < file->nodes->len; i++)
    if (((const Node *)file->nodes->pdata[i])->kind == NODE_EXTENDS) return file->nodes->pdata[i];
  return NULL;
}

bool file_is_machine(const SourceFile *file) {
  for (guint i = 0; i < file->nodes->len; i++)
    if (!node_is_global(file->nodes->pdata[i])) return true;
  return false;
}

Node *file_machine(SourceFile *file, const SourceFile *bottom, const char *name) {
  if (!file_is_machine(bottom)) return NULL;
  Node *node = node_new(NODE_MODULE, (Location){.file = file->path});
  node->name = name;
  node->place = node->location;
  node->doc = file->doc;
  node->machine = file;
  node->body = arena_array();
  for (guint i = 0; i < bottom->nodes->len; i++)
    if (!node_is_global(bottom->nodes->pdata[i])) g_ptr_array_add(node->body, bottom->nodes->pdata[i]);
  return node;
}

// ---- Documentation -------------------------------------------------------------------------------------------------

static bool before(int line, int column, int other_line, int other_column) {
  return line < other_line || (line == other_line && column < other_column);
}

// The declaration that ends on the line before a comment on a line of its own, when a blank line cuts the comment off
// from what comes next.
static Node *ended_before(const DocComment *doc, const GPtrArray *declarations) {
  Node *best = NULL;
  if (doc->next_line && doc->next_line <= doc->location.end_line + 1) return NULL;
  for (guint i = 0; i < declarations->len; i++) {
    Node *node = declarations->pdata[i];
    if (node->location.end_line + 1 == doc->location.line) best = node;
  }
  return best;
}

// The declaration that began or ended last before a comment that follows something on its line.  One that ended has to
// have done so on that line; of what began, the comment is inside.
static Node *latest_before(const DocComment *doc, const GPtrArray *declarations) {
  Node *best = NULL;
  int line = 0, column = 0; // of its begin or end
  for (guint i = 0; i < declarations->len; i++) {
    Node *node = declarations->pdata[i];
    const Location *at = &node->location;
    const bool ended = !before(doc->location.line, doc->location.column, at->end_line, at->end_column);
    const int its_line = ended ? at->end_line : at->line, its_column = ended ? at->end_column : at->column;
    if (!ended && !before(at->line, at->column, doc->location.line, doc->location.column)) continue;
    if (before(its_line, its_column, line, column)) continue;
    line = its_line;
    column = its_column;
    best = ended && its_line != doc->location.line ? NULL : node;
  }
  return best;
}

// A comment that follows something on its line belongs to what that declares; any other belongs to the declaration that
// begins right after it.
static Node *owner_of(const DocComment *doc, const GPtrArray *declarations) {
  if (doc->follows_token) return latest_before(doc, declarations);
  Node *above = ended_before(doc, declarations);
  for (guint i = 0; i < declarations->len && !above; i++) {
    Node *node = declarations->pdata[i];
    if (node->location.line == doc->next_line && node->location.column == doc->next_column) return node;
  }
  return above;
}

static bool has_page(const Node *node) {
  switch (node->kind) {
  case NODE_MODULE:
  case NODE_STRUCT:
  case NODE_ENUM:
  case NODE_PACKED:
  case NODE_BUNDLE:
  case NODE_TYPE:
  case NODE_FUNCTION: return true;
  default: return false;
  }
}

// The text of a comment.  One at the end of a line, and that of a part of a module, is shown in a row of a table, so
// its line breaks mean nothing.
static const char *text_of(const DocComment *doc, const Node *node) {
  if (has_page(node) && !doc->follows_token) return doc->text;
  g_auto(GStrv) lines = g_strsplit(doc->text, "\n", -1);
  g_autoptr(GString) out = g_string_new(NULL);
  const char *between = "";
  for (char **line = lines; *line; line++) {
    if (!*g_strstrip(*line)) {
      between = "\n\n"; // a paragraph ends
      continue;
    }
    g_string_append_printf(out, "%s%s", g_str_has_prefix(*line, "- ") && *between == ' ' ? "\n" : between, *line);
    between = " ";
  }
  return arena_strdup(out->str);
}

void tree_attach_docs(Scan *scan) {
  for (guint i = 0; i < scan->docs->len; i++) {
    DocComment *doc = scan->docs->pdata[i];
    Node *node = owner_of(doc, scan->declarations);
    if (node)
      node->doc = node->doc ? arena_printf("%s\n\n%s", node->doc, text_of(doc, node)) : text_of(doc, node);
    else if (i == 0 && !doc->follows_token)
      scan->file->doc = doc->text;
  }
}

// ---- Text --------------------------------------------------------------------------------------------------

const char *operator_text(int op, char buffer[2]) {
  switch (op) {
  case OP_OR: return "||";
  case OP_AND: return "&&";
  case OP_EQ: return "==";
  case OP_NE: return "!=";
  case OP_LE: return "<=";
  case OP_GE: return ">=";
  case OP_SHL: return "<<";
  case OP_SHR: return ">>";
  default:
    buffer[0] = (char)op;
    buffer[1] = '\0';
    return buffer;
  }
}

static void print(GString *out, const Expr *expr);

static void print_items(GString *out, const Expr *expr) {
  for (guint i = 0; i < expr->items->len; i++) {
    if (i) g_string_append(out, ", ");
    if (expr->names) g_string_append_printf(out, "%s = ", (const char *)expr->names->pdata[i]);
    print(out, expr->items->pdata[i]);
  }
}

static void print_operand(GString *out, const Expr *expr) {
  bool braces = expr->kind == EXPR_BINARY || expr->kind == EXPR_CONDITIONAL;
  if (braces) g_string_append_c(out, '(');
  print(out, expr);
  if (braces) g_string_append_c(out, ')');
}

static void print(GString *out, const Expr *expr) {
  char buffer[2];
  switch (expr->kind) {
  case EXPR_INT:
  case EXPR_FLOAT:
  case EXPR_NAME: g_string_append(out, expr->text); break;
  case EXPR_QUANTITY: g_string_append_printf(out, "%s %s", expr->text, expr->unit); break;
  case EXPR_BOOL: g_string_append(out, expr->integer ? "true" : "false"); break;
  case EXPR_STRING: {
    g_autofree char *escaped = g_strescape(expr->text, NULL);
    g_string_append_printf(out, "\"%s\"", escaped);
    break;
  }
  case EXPR_TYPE_VARIABLE: g_string_append_printf(out, "'%s", expr->text); break;
  case EXPR_CODE: g_string_append_printf(out, "<<<%s>>>", expr->text); break;
  case EXPR_LIST:
    g_string_append_c(out, '[');
    print_items(out, expr);
    g_string_append_c(out, ']');
    break;
  case EXPR_RECORD:
    g_string_append(out, "{ ");
    print_items(out, expr);
    g_string_append(out, " }");
    break;
  case EXPR_UNARY:
    g_string_append_c(out, (char)expr->op);
    print_operand(out, expr->left);
    break;
  case EXPR_BINARY:
    print_operand(out, expr->left);
    g_string_append_printf(out, " %s ", operator_text(expr->op, buffer));
    print_operand(out, expr->right);
    break;
  case EXPR_CONDITIONAL:
    print_operand(out, expr->left);
    g_string_append(out, " ? ");
    print_operand(out, expr->right);
    g_string_append(out, " : ");
    print_operand(out, expr->third);
    break;
  case EXPR_FIELD:
    print_operand(out, expr->left);
    g_string_append_printf(out, ".%s", expr->text);
    break;
  case EXPR_INDEX:
    print_operand(out, expr->left);
    g_string_append_c(out, '[');
    print(out, expr->right);
    g_string_append_c(out, ']');
    break;
  case EXPR_INDEX_ALL:
    print(out, expr->left);
    g_string_append(out, "[*]");
    break;
  case EXPR_INDEX_RANGE:
    print(out, expr->left);
    g_string_append_c(out, '[');
    if (expr->right) print(out, expr->right);
    g_string_append(out, "..");
    if (expr->third) print(out, expr->third);
    g_string_append_c(out, ']');
    break;
  case EXPR_LIST_TYPE:
    print(out, expr->left);
    g_string_append(out, "[]");
    break;
  case EXPR_CALL:
    print(out, expr->left);
    g_string_append_c(out, '(');
    print_items(out, expr);
    g_string_append_c(out, ')');
    break;
  }
}

char *expr_text(const Expr *expr) {
  g_autoptr(GString) out = g_string_new(NULL);
  if (expr) print(out, expr);
  return arena_strndup(out->str, out->len);
}

const char *node_conserved_text(const Node *node) {
  const char *text = node->name;
  for (guint i = 0; i < node->body->len; i++) {
    const Node *part = node->body->pdata[i];
    const char *value = part->value ? expr_text(part->value) : "", *word = part->name ? part->name : "";
    text = arena_printf("%s%s %s%s%s", text, i ? "," : "", word, *word && *value ? " " : "", value);
  }
  return text;
}
