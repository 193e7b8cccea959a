// The formatter's lexer.  Unlike the compiler's it keeps comments and takes any text.
#include "lss/front/fmt_token.h"

#include "lss/base/units.h"

#include <string.h>

bool token_is(const Token *token, const char *text) {
  return token->length == strlen(text) && !strncmp(token->text, text, token->length);
}

bool token_is_word_char(char c) {
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

Token token_next(const char **cursor) {
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
    for (end = p + number_length(p); token_is_word_char(*end) || (*end == '.' && g_ascii_isdigit(end[1])); end++);
  } else if (token_is_word_char(*p) || (*p == '\'' && token_is_word_char(p[1]))) {
    token.kind = TOKEN_WORD;
    for (end = p + 1; token_is_word_char(*end); end++);
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

bool token_closes(const Token *token) {
  return token_is(token, "}") || token_is(token, ")") || token_is(token, "]");
}

bool token_opens(const Token *token) {
  return token_is(token, "{") || token_is(token, "(") || token_is(token, "[");
}
