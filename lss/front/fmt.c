// lss fmt, the formatter itself: it works on tokens, not on the tree, so that comments survive and a file with errors
// can be formatted as well.  Where lines end is the author's choice; everything between is canonical:
//   - two spaces of indentation for each open brace, four for a continued statement;
//   - one space around binary operators, `:` and `->`, none inside parentheses and brackets;
//   - at most one empty line in a row, none at the start or end of a block;
//   - comments at the ends of lines start in one column, those of longer lines behind the longest of their neighbours;
//   - no byte order mark: UTF-8 needs none.
#include "lss/front/fmt.h"

#include "lss/base/diagnostics.h"
#include "lss/base/units.h"
#include "lss/front/fmt_token.h"
#include "lss/front/fmt_wrap.h"

#include <stdbool.h>
#include <string.h>

// After these a `-`, `!`, `(` or `[` begins an operand.
static bool ends_operand(const Token *token) {
  if (token->kind == TOKEN_WORD) return !token_is(token, "return");
  return token->kind == TOKEN_NUMBER || token->kind == TOKEN_STRING || token_is(token, ")") || token_is(token, "]");
}

static bool opens_condition(const Token *token) {
  return token_is(token, "if") || token_is(token, "for") || token_is(token, "while") || token_is(token, "return") ||
         token_is(token, "on") || token_is(token, "else") || token_is(token, "debug") || token_is(token, "identity");
}

typedef struct {
  Token before, previous, token; // the last three
  bool unary;                    // `previous` is a sign or `!`
  bool unit;                     // `previous` is the slash of a unit such as Gb/s
} Spacing;

// The slash of a rate's unit, `Gb/s`, written in one piece behind a number, with a space between or without.
static bool is_rate_slash(const Token *number, const Token *word, const Token *slash) {
  if (!token_is(slash, "/") || slash->text != word->text + word->length) return false;
  if (slash->text[1] != 's' || token_is_word_char(slash->text[2])) return false;
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
  return token_is(token, "conserves") || token_is(token, "consumes") || token_is(token, "identity");
}

// Whether a term of what is conserved follows: `, held (count + 1)`.
static bool opens_term(const Token *before, const Token *word) {
  return token_is(before, ",") &&
         (token_is(word, "held") || token_is(word, "awaited") || token_is(word, "dropped") || token_is(word, "made"));
}

// Whether one space is between `previous` and `token`.
static bool wants_space(const Spacing *s) {
  const Token *a = &s->previous, *b = &s->token;
  if (b->kind == TOKEN_COMMENT) return true;
  if (token_is(b, ";") || token_is(b, ",") || token_is(b, ")") || token_is(b, "]") || token_is(b, ".") ||
      token_is(a, ".") || token_is(a, "(") || token_is(a, "["))
    return false;
  if ((token_is(a, "..") && !token_is(b, "=")) || (token_is(b, "..") && !token_is(a, "in")) || s->unary || s->unit ||
      token_is(a, "~") || token_is(a, "$"))
    return false;
  if (is_rate_slash(&s->before, a, b)) return false;
  if (token_is(b, "(") || token_is(b, "["))
    return !ends_operand(a) || opens_condition(a) || opens_term(&s->before, a) ||
           (token_is(a, "in") && s->before.kind == TOKEN_WORD && !precedes_port(&s->before)); // for (x in [1, 2])
  return true;
}

static void track(Spacing *s, Token token) {
  bool in =
      token_is(&s->previous, "in") && ends_operand(&s->before); // of a range, `int in -1..1`, or a loop; not a port
  bool operand_before = ends_operand(&s->previous) && !opens_condition(&s->previous) && !in;
  bool sign = token_is(&token, "!") || (token_is(&token, "-") && !operand_before);
  bool star = token_is(&token, "*") && token_is(&s->previous, "[");
  s->unit = is_rate_slash(&s->before, &s->previous, &token);
  s->unary = sign || star;
  s->before = s->previous;
  s->previous = token;
}

typedef struct {
  GPtrArray *lines;
  Spacing spacing;
  int depth;      // open braces, brackets and parentheses
  bool continued; // the last line ended in mid-statement
  bool arrow;     // the statement has had its `->`: commas separate receivers or signals
  bool blank;     // an empty line is due
} Formatter;

// Formats the tokens of one source line; `cursor` is at its first token.
static void format_line(Formatter *f, const char **cursor) {
  FmtLine *line = g_new0(FmtLine, 1);
  line->code = g_string_new(NULL);
  line->blank_before = f->blank;
  f->blank = false;
  bool first = true;
  int depth_at_start = f->depth;
  const char *peek = *cursor;
  for (Token t = token_next(&peek); token_closes(&t); t = token_next(&peek))
    depth_at_start--; // closers at the start of a line belong to the outer level
  line->indent = 2 * MAX(depth_at_start, 0);
  const char *look = *cursor;
  Token start = token_next(&look);
  if (f->continued && !token_closes(&start) && !token_is(&start, "{") && start.kind != TOKEN_COMMENT) line->indent += 4;
  Token last = {0};
  for (;;) {
    Token token = token_next(cursor);
    if (token.kind == TOKEN_END || token.kind == TOKEN_NEWLINE) break;
    const char *rest = *cursor;
    Token following = token_next(&rest);
    bool ends_line = following.kind == TOKEN_NEWLINE || following.kind == TOKEN_END;
    if (token.kind == TOKEN_COMMENT && ends_line && !first) {
      line->comment = g_strndup(token.text, token.length);
      continue;
    }
    f->spacing.token = token;
    if (!first && wants_space(&f->spacing)) g_string_append_c(line->code, ' ');
    g_string_append_len(line->code, token.text, (gssize)token.length);
    if (token_opens(&token)) f->depth++;
    if (token_closes(&token) && f->depth > 0) f->depth--;
    if (token.kind != TOKEN_COMMENT) {
      track(&f->spacing, token);
      if (token_is(&token, "->")) f->arrow = true;
      if (token_is(&token, ";") || token_is(&token, "{") || token_is(&token, "}")) f->arrow = false;
      last = token;
    }
    first = false;
  }
  if (last.kind != TOKEN_END)
    f->continued = !(token_is(&last, ";") || token_is(&last, "{") || token_is(&last, "}") || token_is(&last, "(") ||
                     token_is(&last, "[")) &&
                   last.kind != TOKEN_CODE && // which ends a section of a collector, unless a semicolon follows
                   (f->arrow || !token_is(&last, ","));
  g_ptr_array_add(f->lines, line);
}

// The column of the comment of lines[at]: FMT_COMMENT_COLUMN, or behind the longest of the run of longer lines that it
// is in.
static int comment_column(GPtrArray *lines, guint from, guint to, guint at) {
  int column = FMT_COMMENT_COLUMN;
  if (fmt_code_width(g_ptr_array_index(lines, at)) < FMT_COMMENT_COLUMN) return column;
  while (at > from && fmt_code_width(g_ptr_array_index(lines, at - 1)) >= FMT_COMMENT_COLUMN) at--;
  for (; at < to && fmt_code_width(g_ptr_array_index(lines, at)) >= FMT_COMMENT_COLUMN; at++)
    column = MAX(column, fmt_code_width(g_ptr_array_index(lines, at)) + 1);
  return column;
}

// Prints consecutive lines of which either all end in a comment or only one is given.
static void print_lines(GPtrArray *lines, guint from, guint to, GString *out) {
  for (guint i = from; i < to; i++) {
    FmtLine *line = g_ptr_array_index(lines, i);
    if (line->blank_before) g_string_append_c(out, '\n');
    g_string_append_printf(out, "%*s%s", line->indent, "", line->code->str);
    if (line->comment) {
      line->column = comment_column(lines, from, to, i);
      g_string_append_printf(out, "%*s%s", line->column - fmt_code_width(line), "", line->comment);
    }
    g_string_append_c(out, '\n');
  }
}

// The lines of a text, formatted.
static GPtrArray *read_lines(const char *text) {
  Formatter f = {.lines = g_ptr_array_new_with_free_func(fmt_line_free)};
  const char *cursor = text;
  bool after_open = true; // no empty line at the start of the file or of a block
  while (*cursor) {
    const char *look = cursor;
    Token token = token_next(&look);
    if (token.kind == TOKEN_END) break;
    if (token.kind == TOKEN_NEWLINE) {
      f.blank = !after_open;
      cursor = look;
      continue;
    }
    if (token_is(&token, "}")) f.blank = false;
    format_line(&f, &cursor);
    after_open = f.spacing.previous.length && token_is(&f.spacing.previous, "{");
  }
  return f.lines;
}

static char *print(GPtrArray *lines) {
  GString *out = g_string_new(NULL);
  guint from = 0;
  for (guint i = 0; i <= lines->len; i++) {
    const FmtLine *line = i < lines->len ? g_ptr_array_index(lines, i) : NULL;
    bool continues = line && line->comment && !line->blank_before && !strchr(line->comment, '\n');
    if (!continues) {
      print_lines(lines, from, i, out);
      from = i;
      if (line && !(line->comment && !strchr(line->comment, '\n'))) {
        print_lines(lines, i, i + 1, out);
        from = i + 1;
      }
    }
  }
  return g_string_free(out, FALSE);
}

char *format_lss(const char *text, int width) {
  g_autoptr(GPtrArray) lines = read_lines(text_without_mark(text));
  char *printed = print(lines);
  while (width && fmt_wrap(lines, width)) {
    g_free(printed);
    g_autofree char *wrapped = print(lines);
    g_ptr_array_unref(lines);
    lines = read_lines(wrapped);
    printed = print(lines);
  }
  return printed;
}
