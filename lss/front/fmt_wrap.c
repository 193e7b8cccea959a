// Breaks lines of LSS that are too long.  Comments are filled; one at the end of a line for which there is no room
// there goes above the line.  Statements are broken where the fewest brackets are open: after an opening brace, whose
// closing one then stands alone, or else as late as possible, after a comma, a semicolon or an operator.
#include "lss/front/fmt_wrap.h"

#include "lss/front/fmt_token.h"

#include <string.h>

enum {
  LEAST_ROOM = 60, // columns for a comment at the end of a line
  MARGIN = 3,      // spaces after the star of a line of a comment that make it a drawing
};

void fmt_line_free(gpointer data) {
  FmtLine *line = data;
  g_string_free(line->code, TRUE);
  g_free(line->comment);
  g_free(line);
}

static FmtLine *line_new(const char *code, gssize length, int indent, bool blank_before) {
  FmtLine *line = g_new0(FmtLine, 1);
  line->code = g_string_new_len(code, length < 0 ? (gssize)strlen(code) : length);
  line->indent = indent;
  line->blank_before = blank_before;
  return line;
}

static int columns(const char *text, gssize length) {
  return (int)g_utf8_strlen(text, length);
}

int fmt_code_width(const FmtLine *line) {
  return line->indent + columns(line->code->str, -1);
}

// ---- Comments

// Whether two spaces follow a sentence in a comment.
static bool spaces_sentences(const char *comment) {
  return strstr(comment, ".  ") != NULL;
}

// Adds the words of a line; one that ends a sentence keeps a space if `spaced`.
static void add_words(GPtrArray *words, const char *text, bool spaced) {
  while (*(text += strspn(text, " \t\r"))) {
    const gsize length = strcspn(text, " \t\r");
    const char *next = text + length;
    const bool sentence = spaced && text[length - 1] == '.' && (!*next || g_str_has_prefix(next, "  "));
    g_autofree char *word = g_strndup(text, length);
    g_ptr_array_add(words, g_strconcat(word, sentence ? " " : "", NULL));
    text = next;
  }
}

// The words of a comment, without its frame and the stars of its margin.
static GPtrArray *words_of(const char *comment) {
  const gsize opener = comment[1] == '/' ? 2 : 1 + strspn(comment + 1, "*"), length = strlen(comment);
  const bool closed = comment[1] == '*' && length >= opener + 2 && g_str_has_suffix(comment, "*/");
  g_autofree char *inside = g_strndup(comment + opener, length - opener - (closed ? 2 : 0));
  GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
  g_auto(GStrv) lines = g_strsplit(inside, "\n", -1);
  for (guint i = 0; lines[i]; i++) {
    const char *line = g_strchug(lines[i]);
    if (i > 0 && *line == '*') line++; // its margin
    add_words(words, line, spaces_sentences(comment));
  }
  return words;
}

// Words in lines that end before `width`.  The first line begins in `column` with the opener, the others with `prefix`
// after `margin` columns.
static char *fill(const char *opener, GPtrArray *words, const char *closer, int column, int margin, const char *prefix,
                  int width) {
  GString *out = g_string_new(opener);
  int at = column + columns(opener, -1);
  bool fresh = true;
  for (guint i = 0; i < words->len; i++) {
    const char *word = words->pdata[i];
    const int needs = columns(word, -1) + (i + 1 == words->len ? columns(closer, -1) : 0);
    if (!fresh && at + 1 + needs > width) {
      if (out->str[out->len - 1] == ' ') g_string_truncate(out, out->len - 1);
      g_string_append_printf(out, "\n%*s%s", margin, "", prefix);
      at = margin + columns(prefix, -1);
      fresh = true;
    }
    g_string_append_printf(out, "%s%s", fresh ? "" : " ", word);
    at += columns(word, -1) + !fresh;
    fresh = false;
  }
  if (!fresh && out->str[out->len - 1] == ' ') g_string_truncate(out, out->len - 1);
  g_string_append(out, closer);
  return g_string_free(out, FALSE);
}

// Whether a line of a text is longer than the width; its first line begins in `column`.
static bool is_too_long(const char *text, int column, int width) {
  for (const char *line = text; line;) {
    const char *end = strchr(line, '\n');
    if (column + columns(line, end ? end - line : -1) > width) return true;
    column = 0;
    line = end ? end + 1 : NULL;
  }
  return false;
}

static bool is_block(const char *comment) {
  return g_str_has_prefix(comment, "/*");
}

static const char *opener_of(const char *comment) {
  return !is_block(comment) ? "// " : g_str_has_prefix(comment, "/**") && comment[3] != '/' ? "/** " : "/* ";
}

static char *filled_above(const char *comment, int indent, int width) {
  g_autoptr(GPtrArray) words = words_of(comment);
  const char *opener = opener_of(comment);
  return is_block(comment) ? fill(opener, words, " */", indent, indent + columns(opener, -1), "", width)
                           : fill(opener, words, "", indent, indent, opener, width);
}

// Fills the comment at the end of a line, or puts it into a line of its own above.
static bool wrap_comment(GPtrArray *lines, guint at, int width) {
  FmtLine *line = lines->pdata[at];
  if (!line->comment || !is_too_long(line->comment, line->column, width)) return false;
  const int code = fmt_code_width(line);
  const int column = code < FMT_COMMENT_COLUMN ? FMT_COMMENT_COLUMN : code + 1;
  g_autofree char *comment = g_steal_pointer(&line->comment);
  if (is_block(comment) && !strchr(line->code->str, '\n') && width - column >= LEAST_ROOM) {
    g_autoptr(GPtrArray) words = words_of(comment);
    const char *opener = opener_of(comment);
    line->comment = fill(opener, words, " */", column, column + columns(opener, -1), "", width);
    return strcmp(comment, line->comment) != 0;
  }
  g_autofree char *above = filled_above(comment, line->indent, width);
  g_ptr_array_insert(lines, (gint)at, line_new(above, -1, line->indent, line->blank_before));
  line->blank_before = false;
  return true;
}

// A line of a paragraph that may be filled: not the drawing, the list or the example that more space shows.
static bool is_prose(const FmtLine *line, int indent) {
  const char *text = line->code->str;
  return !line->comment && line->indent == indent && g_str_has_prefix(text, "// ") && text[3] != ' ' &&
         !g_str_has_prefix(text + 3, "- ");
}

// Fills the paragraph of lines of comment that begins here; sets `end` to the line after it.
static bool wrap_paragraph(GPtrArray *lines, guint at, guint *end, int width) {
  const FmtLine *first = lines->pdata[at];
  const int indent = first->indent;
  const bool blank_before = first->blank_before;
  bool too_long = false;
  g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GString) before = g_string_new(NULL);
  for (*end = at; *end < lines->len; ++*end) {
    const FmtLine *line = lines->pdata[*end];
    if (!is_prose(line, indent) || (*end > at && line->blank_before)) break;
    too_long |= is_too_long(line->code->str, indent, width);
    if (*end > at) g_string_append_printf(before, "\n%*s", indent, "");
    g_string_append(before, line->code->str);
    g_autoptr(GPtrArray) more = words_of(line->code->str);
    g_ptr_array_extend_and_steal(words, g_steal_pointer(&more));
  }
  if (!too_long) return false;
  g_autofree char *filled = fill("// ", words, "", indent, indent, "// ", width);
  if (!strcmp(filled, before->str)) return false;
  g_ptr_array_remove_range(lines, at, *end - at);
  g_ptr_array_insert(lines, (gint)at, line_new(filled, -1, indent, blank_before));
  *end = at + 1;
  return true;
}

// ---- Comments of several lines that stand alone

// What follows the margin of a line of such a comment, and whether its layout shows something.
static const char *after_margin(const char *line, bool first, bool *drawn) {
  const char *p = line;
  if (!first) {
    while (*p == ' ' || *p == '\t') p++;
    if (*p == '*' && p[1] != '/') p++;
  }
  const gsize spaces = strspn(p, " \t");
  *drawn = !first && (spaces >= MARGIN || g_str_has_prefix(p + spaces, "- "));
  return p + spaces;
}

// A paragraph, or a line as it is; `out` has what comes before.
static void add_filled(GString *out, GPtrArray *words, const char *opener, int indent, int width) {
  if (!words->len) return;
  const bool first = out->len == 0;
  if (!first) g_string_append_printf(out, "\n%*s", indent, "");
  g_autofree char *text = fill(first ? opener : " *  ", words, "", indent, indent, " *  ", width);
  g_string_append(out, text);
  g_ptr_array_set_size(words, 0);
}

static bool wrap_block(FmtLine *line, int width) {
  if (!is_block(line->code->str) || line->comment || !is_too_long(line->code->str, line->indent, width)) return false;
  const char *opener = opener_of(line->code->str), *end = strstr(line->code->str, "*/");
  if (!end || end[2]) return false; // not a comment alone
  const gsize skipped = strlen(opener) - 1;
  g_autofree char *inside = g_strndup(line->code->str + skipped, (gsize)(end - line->code->str) - skipped);
  g_auto(GStrv) parts = g_strsplit(g_strchomp(inside), "\n", -1);
  g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GString) out = g_string_new(NULL);
  for (guint i = 0; parts[i]; i++) {
    bool drawn;
    const char *text = after_margin(parts[i], i == 0, &drawn);
    if (*text && !drawn) {
      add_words(words, text, spaces_sentences(inside));
      continue;
    }
    add_filled(out, words, opener, line->indent, width);
    if (!out->len && *text) g_string_append_len(out, opener, (gssize)skipped);
    if (out->len) g_string_append_printf(out, "\n%*s %s", line->indent, "", *text ? g_strchug(parts[i]) : "*");
  }
  add_filled(out, words, opener, line->indent, width);
  g_string_append(out, " */");
  if (!strcmp(out->str, line->code->str)) return false;
  g_string_assign(line->code, out->str);
  return true;
}

// ---- Statements

typedef enum { AFTER_OPERATOR, AFTER_COMMA, AFTER_STATEMENT, AFTER_BRACE } BreakKind;

typedef struct {
  gssize at; // the end of the token
  int depth;
  BreakKind kind;
} Break;

// `condition`: the closing parenthesis of what an `if` or a loop begins with.
static bool break_kind(const Token *previous, const Token *token, bool condition, BreakKind *kind) {
  static const char *const operators[] = {"&&", "||", "+", "?", "==", "!=", "->"};
  *kind = AFTER_OPERATOR;
  for (gsize i = 0; i < G_N_ELEMENTS(operators); i++)
    if (token_is(token, operators[i])) return true;
  *kind = AFTER_COMMA;
  if (token_is(token, ",")) return true;
  *kind = AFTER_STATEMENT;
  if (token_is(token, ";") || condition) return true;
  *kind = AFTER_BRACE; // of a body; a record stays together
  return token_is(token, "{") && previous->kind != TOKEN_END && !token_is(previous, "=") && !token_is(previous, ",") &&
         !token_is(previous, "(") && !token_is(previous, "[");
}

// Whether another place is a better one: fewer brackets are open there, or there is more reason, or it is later.
static bool is_better(const Break *known, const Break *other) {
  if (known->at < 0) return true;
  if (other->depth != known->depth) return other->depth < known->depth;
  if ((known->kind == AFTER_BRACE) != (other->kind == AFTER_BRACE)) return other->kind == AFTER_BRACE;
  if ((known->kind == AFTER_OPERATOR) != (other->kind == AFTER_OPERATOR)) return known->kind == AFTER_OPERATOR;
  return true;
}

static Break find_break(const FmtLine *line, int width) {
  Break best = {.at = -1};
  Token previous = {0};
  const char *cursor = line->code->str;
  const Token first = token_next(&cursor);
  bool conditional = token_is(&first, "if") || token_is(&first, "for") || token_is(&first, "while");
  cursor = line->code->str;
  for (int depth = 0;;) {
    const Token token = token_next(&cursor);
    const gssize end = (gssize)(token.text + token.length - line->code->str);
    if (token.kind == TOKEN_END || token.kind == TOKEN_NEWLINE) break;
    if (line->indent + columns(line->code->str, end) > width) break;
    if (token_closes(&token)) depth--;
    Break here = {.at = end, .depth = depth};
    const bool condition = conditional && depth == 0 && token_is(&token, ")");
    if (condition) conditional = false;
    if (line->code->str[end] == ' ' && break_kind(&previous, &token, condition, &here.kind) && is_better(&best, &here))
      best = here;
    if (token_opens(&token)) depth++;
    previous = token;
  }
  return best;
}

// The closing brace that belongs to the opening one before `from`; -1: it is not in this line of the file.
static gssize closing_brace(const GString *code, gssize from) {
  const char *cursor = code->str + from;
  for (int depth = 1;;) {
    const Token token = token_next(&cursor);
    if (token.kind == TOKEN_END || token.kind == TOKEN_NEWLINE) return -1;
    depth += token_opens(&token) - token_closes(&token);
    if (!depth) return (gssize)(token.text - code->str);
  }
}

static void split(GPtrArray *lines, guint at, gssize place) {
  FmtLine *line = lines->pdata[at];
  while (line->code->str[place] == ' ') place++;
  FmtLine *rest = line_new(line->code->str + place, -1, line->indent, false);
  rest->comment = g_steal_pointer(&line->comment);
  g_string_truncate(line->code, (gsize)place);
  g_string_truncate(line->code, strlen(g_strchomp(line->code->str)));
  g_ptr_array_insert(lines, (gint)at + 1, rest);
}

// The comment of a statement that is broken goes above it.
static bool wrap_statement(GPtrArray *lines, guint at, int width) {
  FmtLine *line = lines->pdata[at];
  const char *newline = strchr(line->code->str, '\n');
  if (line->indent + columns(line->code->str, newline ? newline - line->code->str : -1) <= width) return false;
  const Break place = find_break(line, width);
  if (place.at < 0) return false;
  if (line->comment) {
    g_autofree char *comment = g_steal_pointer(&line->comment);
    g_autofree char *above = filled_above(comment, line->indent, width);
    g_ptr_array_insert(lines, (gint)at, line_new(above, -1, line->indent, line->blank_before));
    line->blank_before = false;
    at++;
  }
  const gssize closing = place.kind == AFTER_BRACE ? closing_brace(line->code, place.at) : -1;
  if (closing >= 0) split(lines, at, closing);
  split(lines, at, place.at);
  return true;
}

bool fmt_wrap(GPtrArray *lines, int width) {
  bool changed = false;
  for (guint at = 0; at < lines->len;) {
    guint end = at + 1;
    const guint before = lines->len;
    if (is_prose(lines->pdata[at], ((FmtLine *)lines->pdata[at])->indent))
      changed |= wrap_paragraph(lines, at, &end, width);
    else if (wrap_block(lines->pdata[at], width) || wrap_statement(lines, at, width) || wrap_comment(lines, at, width))
      changed = true, end = at + 1 + (lines->len > before ? lines->len - before : 0);
    at = end;
  }
  return changed;
}
