// The tokens of LSS text as the formatter sees them: comments are some of them, and text with errors has tokens as
// well.
#ifndef LSS_FMT_TOKEN_H
#define LSS_FMT_TOKEN_H

#include <glib.h>
#include <stdbool.h>

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

// The token at the cursor, which moves behind it; white space before it is skipped, except for ends of lines.
Token token_next(const char **cursor);

bool token_is(const Token *token, const char *text);
bool token_opens(const Token *token); // a brace, bracket or parenthesis
bool token_closes(const Token *token);
bool token_is_word_char(char c);

#endif
