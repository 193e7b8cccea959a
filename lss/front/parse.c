// Parsing: runs scanner and grammar over a text, and then over the expressions in its C code.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/front/scanner.h"

#include "lss/parser.h"

// What flex generates for a reentrant scanner.
int yylex_init_extra(Scan *extra, void **scanner);
int yylex_destroy(void *scanner);
struct yy_buffer_state *yy_scan_bytes(const char *text, int length, void *scanner);

// Splits C code at ${…} into pieces of text and expressions.
static void split_code(Scan *scan, Expr *code) {
  Location where = code->location, at = where;
  at.column += 3;
  const char *text = code->text, *from = text, *c = text;
  while (*c) {
    if (c[0] != '$' || c[1] != '{') {
      at.column = *c == '\n' ? 1 : at.column + 1;
      at.line += *c == '\n';
      c++;
      continue;
    }
    at.column += 2;
    at.end_line = at.line;
    at.end_column = at.column;
    const char *start = c + 2, *end = start;
    for (int depth = 1; *end; end++) {
      if (*end == '{') depth++;
      if (*end == '}' && --depth == 0) break;
    }
    if (!*end) {
      diag_error(at, "syntax", "this ${ is never closed");
      scan->errors++;
      return;
    }
    g_ptr_array_add(code->items, parse_text_expr(EXPR_STRING, where, arena_strndup(from, (gsize)(c - from))));
    Expr *inner = parse_expression(start, (gsize)(end - start), at);
    if (inner)
      g_ptr_array_add(code->items, inner);
    else
      scan->errors++;
    for (; start <= end; start++) {
      at.column = *start == '\n' ? 1 : at.column + 1;
      at.line += *start == '\n';
    }
    from = c = end + 1;
  }
  g_ptr_array_add(code->items, parse_text_expr(EXPR_STRING, where, arena_strdup(from)));
}

static void run(Scan *scan, const char *text, gsize length) {
  scan->docs = arena_array();
  scan->declarations = arena_array();
  scan->codes = arena_array();
  void *scanner;
  yylex_init_extra(scan, &scanner);
  yy_scan_bytes(text, (int)length, scanner);
  if (yyparse(scan, scanner) != 0 && scan->errors == 0) scan->errors = 1;
  if (scan->code) g_string_free(g_steal_pointer(&scan->code), TRUE);
  yylex_destroy(scanner);
  for (guint i = 0; i < scan->codes->len; i++) split_code(scan, scan->codes->pdata[i]);
}

SourceFile *parse_text(const char *path, const char *text, gsize length) {
  SourceFile *file = arena_new(SourceFile);
  file->path = g_intern_string(path);
  Scan scan = {.path = file->path, .line = 1, .column = 1, .start_token = START_FILE, .file = file};
  if (length > (1u << 26)) {
    diag_error((Location){.file = file->path}, "syntax", "this file is larger than 64 MiB");
    file->nodes = arena_array();
    file->failed = true;
    return file;
  }
  const char *begin = text_without_mark(text);
  run(&scan, begin, length - (gsize)(begin - text));
  if (!file->nodes) file->nodes = arena_array();
  file->failed = scan.errors > 0;
  tree_attach_docs(&scan);
  return file;
}

Expr *parse_expression(const char *text, gsize length, Location start) {
  Scan scan = {.path = start.file, .line = start.line, .column = start.column, .start_token = START_EXPRESSION};
  run(&scan, text, length);
  return scan.errors ? NULL : scan.expression;
}
