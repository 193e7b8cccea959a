// lss fmt, the formatter itself: it works on tokens, not on the tree, so that comments survive and a file with errors
// can be formatted as well.  Where lines end is the author's choice; everything between is canonical:
//   - two spaces of indentation for each open brace, four for a continued statement;
//   - one space around binary operators, `:` and `->`, none inside parentheses and brackets;
//   - at most one empty line in a row, none at the start or end of a block;
//   - comments at the ends of lines start in one column, those of longer lines behind the longest of their neighbours.
#include "lss/front/fmt.h"

#include "lss/base/units.h"

#include <stdbool.h>
#include <string.h>

enum { COMMENT_COLUMN = 48 };

typedef enum {
  TOKEN_END,
  TOKEN_NEWLINE,
  TOKEN_WORD,
  TOKEN_NUMBER,
  TOKEN_STRING,
  TOKEN_CODE,
  TOKEN_COMMENT,
  TOKEN_PUNCTUATION
} TokenKind;

typedef struct {
  TokenKind kind;
  const char *text;
  gsize length;
} Token;

static bool is(const Token *token, const char *text) {
  return token->length == strlen(text) && !strncmp(token->text, text, token->length);
}

static bool is_word_char(char c) {
  return g_ascii_isalnum(c) || c == '_';
}

// Where the token that starts at `p` ends, up to and including `closer`; the last character of the text when it is
// missing.
static const char *through(const char *p, const char *closer) {
  const char *end = strstr(p, closer);
  if (end) return end + strlen(closer);
  for (end = p + strlen(p); end > p && g_ascii_isspace(end[-1]); end--);
  return end;
}

static const char *string_end(const char *p) {
  for (p++; *p && *p != '"' && *p != '\n'; p++)
    if (*p == '\\' && p[1]) p++;
  return *p == '"' ? p + 1 : p;
}

static Token next_token(const char **cursor) {
  const char *p = *cursor;
  while (*p == ' ' || *p == '\t' || *p == '\r') p++;
  Token token = {TOKEN_END, p, 0};
  const char *end = p;
  if (*p == '\n')
    token.kind = TOKEN_NEWLINE, end = p + 1;
  else if (g_str_has_prefix(p, "//"))
    token.kind = TOKEN_COMMENT, end = p + strcspn(p, "\n");
  else if (g_str_has_prefix(p, "/*"))
    token.kind = TOKEN_COMMENT, end = through(p + 2, "*/");
  else if (g_str_has_prefix(p, "<<<"))
    token.kind = TOKEN_CODE, end = through(p + 3, ">>>");
  else if (*p == '"')
    token.kind = TOKEN_STRING, end = string_end(p);
  else if (g_ascii_isdigit(*p)) {
    token.kind = TOKEN_NUMBER;
    for (end = p + number_length(p); is_word_char(*end) || (*end == '.' && g_ascii_isdigit(end[1])); end++);
  } else if (is_word_char(*p) || (*p == '\'' && is_word_char(p[1]))) {
    token.kind = TOKEN_WORD;
    for (end = p + 1; is_word_char(*end); end++);
  } else if (*p) {
    static const char *const long_ones[] = {"->", "..", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>"};
    token.kind = TOKEN_PUNCTUATION;
    end = p + 1;
    for (gsize i = 0; i < G_N_ELEMENTS(long_ones); i++)
      if (g_str_has_prefix(p, long_ones[i])) end = p + 2;
    while ((*end & 0xc0) == 0x80) // the rest of a UTF-8 character
      end++;
  }
  token.length = (gsize)(end - p);
  *cursor = end;
  if (token.kind == TOKEN_COMMENT)
    while (token.length && g_ascii_isspace(token.text[token.length - 1])) token.length--;
  return token;
}

// After these a `-`, `!`, `(` or `[` begins an operand.
static bool ends_operand(const Token *token) {
  if (token->kind == TOKEN_WORD) return !is(token, "return");
  return token->kind == TOKEN_NUMBER || token->kind == TOKEN_STRING || is(token, ")") || is(token, "]");
}

static bool opens_condition(const Token *token) {
  return is(token, "if") || is(token, "for") || is(token, "while") || is(token, "return") || is(token, "on") ||
         is(token, "else") || is(token, "debug") || is(token, "identity");
}

typedef struct {
  Token before, previous, token; // the last three
  bool unary;                    // `previous` is a sign or `!`
  bool unit;                     // `previous` is the slash of a unit such as Gb/s
} Spacing;

// The slash of a rate's unit, `Gb/s`, written in one piece behind a number, with a space between or without.
static bool is_rate_slash(const Token *number, const Token *word, const Token *slash) {
  if (!is(slash, "/") || slash->text != word->text + word->length) return false;
  if (slash->text[1] != 's' || is_word_char(slash->text[2])) return false;
  Token unit = *word;
  if (word->kind == TOKEN_NUMBER) {
    gsize n = number_length(unit.text);
    if (n >= unit.length) return false;
    unit.text += n;
    unit.length -= n;
  } else if (number->kind != TOKEN_NUMBER) {
    return false;
  }
  g_autofree char *name = g_strndup(unit.text, unit.length + strlen("/s"));
  return unit_find(name) != NULL;
}

// What precedes a port or a sum, which may be called `in`.
static bool precedes_port(const Token *token) {
  return is(token, "conserves") || is(token, "consumes") || is(token, "identity");
}

// Whether a term of what is conserved follows: `, held (count + 1)`.
static bool opens_term(const Token *before, const Token *word) {
  return is(before, ",") && (is(word, "held") || is(word, "awaited") || is(word, "dropped") || is(word, "made"));
}

// Whether one space is between `previous` and `token`.
static bool wants_space(const Spacing *s) {
  const Token *a = &s->previous, *b = &s->token;
  if (b->kind == TOKEN_COMMENT) return true;
  if (is(b, ";") || is(b, ",") || is(b, ")") || is(b, "]") || is(b, ".") || is(a, ".") || is(a, "(") || is(a, "["))
    return false;
  if ((is(a, "..") && !is(b, "=")) || (is(b, "..") && !is(a, "in")) || s->unary || s->unit || is(a, "~") || is(a, "$"))
    return false;
  if (is_rate_slash(&s->before, a, b)) return false;
  if (is(b, "(") || is(b, "["))
    return !ends_operand(a) || opens_condition(a) || opens_term(&s->before, a) ||
           (is(a, "in") && s->before.kind == TOKEN_WORD && !precedes_port(&s->before)); // for (x in [1, 2])
  return true;
}

static void track(Spacing *s, Token token) {
  bool in = is(&s->previous, "in") && ends_operand(&s->before); // of a range, `int in -1..1`, or a loop; not a port
  bool operand_before = ends_operand(&s->previous) && !opens_condition(&s->previous) && !in;
  bool sign = is(&token, "!") || (is(&token, "-") && !operand_before);
  bool star = is(&token, "*") && is(&s->previous, "[");
  s->unit = is_rate_slash(&s->before, &s->previous, &token);
  s->unary = sign || star;
  s->before = s->previous;
  s->previous = token;
}

typedef struct {
  GString *code; // without indentation
  char *comment; // at the end of the line, or NULL
  int indent;    // columns
  bool blank_before;
} Line;

static void line_free(gpointer data) {
  Line *line = data;
  g_string_free(line->code, TRUE);
  g_free(line->comment);
  g_free(line);
}

typedef struct {
  GPtrArray *lines;
  Spacing spacing;
  int depth;      // open braces, brackets and parentheses
  bool continued; // the last line ended in mid-statement
  bool arrow;     // the statement has had its `->`: commas separate receivers or signals
  bool blank;     // an empty line is due
} Formatter;

static bool closes(const Token *token) {
  return is(token, "}") || is(token, ")") || is(token, "]");
}

static bool opens(const Token *token) {
  return is(token, "{") || is(token, "(") || is(token, "[");
}

// Formats the tokens of one source line; `cursor` is at its first token.
static void format_line(Formatter *f, const char **cursor) {
  Line *line = g_new0(Line, 1);
  line->code = g_string_new(NULL);
  line->blank_before = f->blank;
  f->blank = false;
  bool first = true;
  int depth_at_start = f->depth;
  const char *peek = *cursor;
  for (Token t = next_token(&peek); closes(&t); t = next_token(&peek))
    depth_at_start--; // closers at the start of a line belong to the outer level
  line->indent = 2 * MAX(depth_at_start, 0);
  const char *look = *cursor;
  Token start = next_token(&look);
  if (f->continued && !closes(&start) && !is(&start, "{") && start.kind != TOKEN_COMMENT) line->indent += 4;
  Token last = {0};
  for (;;) {
    Token token = next_token(cursor);
    if (token.kind == TOKEN_END || token.kind == TOKEN_NEWLINE) break;
    const char *rest = *cursor;
    Token following = next_token(&rest);
    bool ends_line = following.kind == TOKEN_NEWLINE || following.kind == TOKEN_END;
    if (token.kind == TOKEN_COMMENT && ends_line && !first) {
      line->comment = g_strndup(token.text, token.length);
      continue;
    }
    f->spacing.token = token;
    if (!first && wants_space(&f->spacing)) g_string_append_c(line->code, ' ');
    g_string_append_len(line->code, token.text, (gssize)token.length);
    if (opens(&token)) f->depth++;
    if (closes(&token) && f->depth > 0) f->depth--;
    if (token.kind != TOKEN_COMMENT) {
      track(&f->spacing, token);
      if (is(&token, "->")) f->arrow = true;
      if (is(&token, ";") || is(&token, "{") || is(&token, "}")) f->arrow = false;
      last = token;
    }
    first = false;
  }
  if (last.kind != TOKEN_END)
    f->continued = !(is(&last, ";") || is(&last, "{") || is(&last, "}") || is(&last, "(") || is(&last, "[")) &&
                   last.kind != TOKEN_CODE && // which ends a section of a collector, unless a semicolon follows
                   (f->arrow || !is(&last, ","));
  g_ptr_array_add(f->lines, line);
}

static int code_width(const Line *line) {
  return line->indent + (int)g_utf8_strlen(line->code->str, -1);
}

// The column of the comment of lines[at]: COMMENT_COLUMN, or behind the longest of the run of longer lines that it
// is in.
static int comment_column(GPtrArray *lines, guint from, guint to, guint at) {
  int column = COMMENT_COLUMN;
  if (code_width(g_ptr_array_index(lines, at)) < COMMENT_COLUMN) return column;
  while (at > from && code_width(g_ptr_array_index(lines, at - 1)) >= COMMENT_COLUMN) at--;
  for (; at < to && code_width(g_ptr_array_index(lines, at)) >= COMMENT_COLUMN; at++)
    column = MAX(column, code_width(g_ptr_array_index(lines, at)) + 1);
  return column;
}

// Prints consecutive lines of which either all end in a comment or only one is given.
static void print_lines(GPtrArray *lines, guint from, guint to, GString *out) {
  for (guint i = from; i < to; i++) {
    const Line *line = g_ptr_array_index(lines, i);
    if (line->blank_before) g_string_append_c(out, '\n');
    g_string_append_printf(out, "%*s%s", line->indent, "", line->code->str);
    if (line->comment)
      g_string_append_printf(out, "%*s%s", comment_column(lines, from, to, i) - code_width(line), "", line->comment);
    g_string_append_c(out, '\n');
  }
}

char *format_lss(const char *text) {
  Formatter f = {.lines = g_ptr_array_new_with_free_func(line_free)};
  const char *cursor = text;
  bool after_open = true; // no empty line at the start of the file or of a block
  while (*cursor) {
    const char *look = cursor;
    Token token = next_token(&look);
    if (token.kind == TOKEN_END) break;
    if (token.kind == TOKEN_NEWLINE) {
      f.blank = !after_open;
      cursor = look;
      continue;
    }
    if (is(&token, "}")) f.blank = false;
    format_line(&f, &cursor);
    after_open = f.spacing.previous.length && is(&f.spacing.previous, "{");
  }
  GString *out = g_string_new(NULL);
  guint from = 0;
  for (guint i = 0; i <= f.lines->len; i++) {
    const Line *line = i < f.lines->len ? g_ptr_array_index(f.lines, i) : NULL;
    bool continues = line && line->comment && !line->blank_before && !strchr(line->comment, '\n');
    if (!continues) {
      print_lines(f.lines, from, i, out);
      from = i;
      if (line && !(line->comment && !strchr(line->comment, '\n'))) {
        print_lines(f.lines, i, i + 1, out);
        from = i + 1;
      }
    }
  }
  g_ptr_array_unref(f.lines);
  return g_string_free(out, FALSE);
}
