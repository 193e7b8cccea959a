// Messages of syntax errors: the token found, and those that were expected, shortened to what helps.
#include "lss/base/diagnostics.h"
#include "lss/front/scanner.h"

#include <string.h>

// A token's name in the grammar: "a name", "bool", "'+'".  Words and signs of the language get backquotes.
static void describe(GString *out, const char *name, bool article) {
  if (name[0] == '\'' && name[1])
    g_string_append_printf(out, "`%c`", name[1]);
  else if (!strchr(name, ' '))
    g_string_append_printf(out, "`%s`", name);
  else
    g_string_append(out, article ? name : strchr(name, ' ') + 1);
}

static bool among(const char *const *names, guint count, const char *wanted) {
  for (guint i = 0; i < count; i++)
    if (!strcmp(names[i], wanted)) return true;
  return false;
}

// What an expression may begin with is said in two words.
static bool begins_expression(const char *name) {
  static const char *const all[] = {"a name",     "a type variable",
                                    "a string",   "C code <<< >>>",
                                    "a number",   "a fractional number",
                                    "a quantity", "bool",
                                    "bits",       "clock",
                                    "false",      "module",
                                    "string",     "struct",
                                    "true",       "type"};
  return among(all, G_N_ELEMENTS(all), name) || (name[0] == '\'' && strchr("+-!~({[", name[1]));
}

// What may follow one is left out: an operator is never what was forgotten.
static bool continues_expression(const char *name) {
  static const char *const all[] = {"||", "&&", "==", "!=", "<=", ">=", "<<", ">>"};
  return among(all, G_N_ELEMENTS(all), name) || (name[0] == '\'' && strchr("+-*/%&|^<>?.([", name[1]));
}

static void append_expected(GString *text, const char *const *expected, int count) {
  enum { MOST = 5 };
  bool expression = among(expected, (guint)count, "a number"), operators = among(expected, (guint)count, "<<");
  g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
  if (expression) g_ptr_array_add(words, g_strdup("an expression"));
  for (int i = 0; i < count; i++) {
    if ((expression && begins_expression(expected[i])) || (operators && continues_expression(expected[i]))) continue;
    GString *word = g_string_new(NULL);
    describe(word, expected[i], true);
    g_ptr_array_add(words, g_string_free(word, FALSE));
  }
  if (words->len > MOST) return;
  for (guint i = 0; i < words->len; i++)
    g_string_append_printf(text, "%s%s",
                           i == 0                ? "; expected "
                           : i + 1 == words->len ? " or "
                                                 : ", ",
                           (char *)words->pdata[i]);
}

// Whether an error is in the declaration of a userpoint, before its code.
static bool in_userpoint(Location where) {
  int length;
  const char *line = source_line(where.file, where.line, &length);
  if (!line || where.column < 1 || where.column > length) return false;
  g_autofree char *before = g_strndup(line, (gsize)where.column - 1);
  return g_regex_match_simple("^\\s*userpoint\\b[^=;]*$", before, 0, 0);
}

void syntax_error(Scan *scan, Location where, const char *found, const char *const *expected, int count) {
  scan->errors++;
  if (scan->quiet) { // the lexer has said what is wrong
    scan->quiet = false;
    return;
  }
  const bool single = !scan->file; // an expression in C code or on the command line, which ends before its file does
  if (single && found && !strcmp(found, "the end of the file")) {
    found = "the end of the expression";
    if (!scan->before_last.line) {
      diag_error(where, "syntax", "an expression is missing here");
      return;
    }
  }
  g_autoptr(GString) text = g_string_new("unexpected ");
  int length;
  const char *line = found && !strcmp(found, "a name") ? source_line(where.file, where.line, &length) : NULL;
  if (line && where.end_column - 1 <= length)
    g_string_append_printf(text, "name \"%.*s\"", where.end_column - where.column, line + where.column - 1);
  else {
    bool name_wanted = among(expected, (guint)count, "a name");
    if (found && name_wanted && g_ascii_isalpha(found[0]) && !strchr(found, ' '))
      g_string_append(text, "reserved word ");
    describe(text, found ? found : "the text", false);
  }
  append_expected(text, expected, count);
  diag_error(where, "syntax", "%s", text->str);
  if (in_userpoint(where))
    diag_note(NOWHERE,
              "a userpoint is written: userpoint NAME(TYPE ARGUMENT, TYPE ARGUMENT) -> TYPE = <<< C code >>>;");
  // What is missing at the end of a line is detected on the next one.
  if (among(expected, (guint)count, "';'") && scan->before_last.line && scan->before_last.end_line < where.line) {
    Location end = scan->before_last;
    end.line = end.end_line;
    end.column = end.end_column;
    end.end_column++;
    diag_note(end, "a `;` may be missing here");
  }
}
