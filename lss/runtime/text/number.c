// Reads numbers; see number.h.
#include "lss/runtime/text/number.h"

#include <ctype.h>
#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char decimal_digits[] = "0123456789_";

// Digits and underscores that begin with a digit.
static size_t digits_length(const char *text) {
  return isdigit((unsigned char)text[0]) ? strspn(text, decimal_digits) : 0;
}

// Of "0x" or "0b" with a digit; 0 for other numbers.
static size_t pattern_length(const char *text) {
  const char kind = text[0] == '0' ? (char)tolower((unsigned char)text[1]) : '\0';
  const char *digits = kind == 'x' ? "0123456789abcdefABCDEF_" : kind == 'b' ? "01_" : "";
  const size_t length = *digits ? strspn(text + 2, digits) : 0;
  return length > strspn(text + 2 * (length > 0), "_") ? 2 + length : 0;
}

size_t number_length(const char *text) {
  size_t n = pattern_length(text);
  if (n) return n;
  n = digits_length(text);
  if (n && text[n] == '.') {
    const size_t fraction = digits_length(text + n + 1);
    n += fraction ? 1 + fraction : 0;
  }
  if (!n || (text[n] != 'e' && text[n] != 'E')) return n;
  const size_t sign = text[n + 1] == '+' || text[n + 1] == '-';
  const size_t digits = strspn(text + n + 1 + sign, "0123456789");
  return digits ? n + 1 + sign + digits : n;
}

// ---- Exact values

typedef unsigned __int128 Wide;

static const Wide LIMIT = (Wide)1 << 100;

static bool shift_decimal(int64_t exponent, Wide *num, Wide *den) {
  if (*num == 0) return true;
  if (exponent > 40 || exponent < -40) return false;
  for (; exponent > 0; exponent--)
    if ((*num *= 10) > LIMIT) return false;
  for (; exponent < 0; exponent++)
    if ((*den *= 10) > LIMIT) return false;
  return true;
}

// The exponent "e-3", as far as it matters.
static int64_t exponent_of(const char *text) {
  const bool negative = *text == '-';
  int64_t exponent = 0;
  for (text += *text == '-' || *text == '+'; isdigit((unsigned char)*text); text++)
    if (exponent < 1000) exponent = 10 * exponent + (*text - '0');
  return negative ? -exponent : exponent;
}

// num / den in lowest terms; false: there are more digits than have room.
static bool read_exact(const char *text, size_t length, Wide *num, Wide *den) {
  const bool pattern = pattern_length(text) > 0;
  const unsigned base = !pattern ? 10 : tolower((unsigned char)text[1]) == 'x' ? 16 : 2;
  bool point = false, exponent = false;
  *num = 0;
  *den = 1;
  for (size_t i = pattern ? 2 : 0; i < length && !exponent; i++) {
    if (text[i] == '_') continue;
    exponent = base == 10 && tolower((unsigned char)text[i]) == 'e';
    if (exponent && !shift_decimal(exponent_of(text + i + 1), num, den)) return false;
    if (text[i] == '.') point = true;
    if (exponent || text[i] == '.') continue;
    *num = *num * base + (unsigned)g_ascii_xdigit_value(text[i]);
    if (point) *den *= 10;
    if (*num > LIMIT || *den > LIMIT) return false;
  }
  Wide a = *num, b = *den;
  while (b) {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  *num /= a;
  *den /= a;
  return true;
}

bool number_exact(const char *text, size_t length, int64_t *num, int64_t *den) {
  Wide n, d;
  if (!read_exact(text, length, &n, &d) || n > INT64_MAX || d > INT64_MAX) return false;
  *num = (int64_t)n;
  *den = (int64_t)d;
  return true;
}

bool number_nearest(const char *text, size_t length, double *value) {
  Wide num, den;
  if (pattern_length(text)) {
    const bool fits = read_exact(text, length, &num, &den);
    *value = fits ? (double)num : 0;
    return fits;
  }
  char few[64];
  g_autofree char *many = length < sizeof few ? NULL : g_malloc(length + 1);
  char *digits = many ? many : few;
  size_t n = 0;
  for (size_t i = 0; i < length; i++)
    if (text[i] != '_') digits[n++] = text[i];
  digits[n] = '\0';
  *value = g_ascii_strtod(digits, NULL);
  return isfinite(*value);
}

// ---- Whole numbers

NumberFault number_take(const char **text, WholeNumber *number) {
  const char *at = *text;
  Wide num, den;
  *number = (WholeNumber){.negative = *at == '-'};
  at += number->negative;
  const size_t length = number_length(at);
  if (!length || isalnum((unsigned char)at[length]) || at[length] == '_') return NUMBER_NONE;
  double nearest;
  if (!read_exact(at, length, &num, &den))
    return number_nearest(at, length, &nearest) && nearest < 0x1p64 ? NUMBER_FRACTION : NUMBER_LARGE;
  if (den != 1) return NUMBER_FRACTION;
  if (num > UINT64_MAX) return NUMBER_LARGE;
  number->pattern = pattern_length(at) > 0;
  number->magnitude = (uint64_t)num;
  *text = at + length;
  return NUMBER_FINE;
}

bool number_signed(const WholeNumber *number, int64_t *value) {
  const uint64_t most = number->negative ? (uint64_t)INT64_MAX + 1 : number->pattern ? UINT64_MAX : INT64_MAX;
  *value = (int64_t)(number->negative ? -number->magnitude : number->magnitude);
  return number->magnitude <= most;
}

bool number_take_count(const char **text, uint64_t limit, uint64_t *number) {
  const char *at = *text;
  WholeNumber whole;
  if (number_take(&at, &whole) != NUMBER_FINE || whole.negative || whole.magnitude > limit) return false;
  *number = whole.magnitude;
  *text = at;
  return true;
}

bool number_parse(const char *text, uint64_t limit, uint64_t *number) {
  return number_take_count(&text, limit, number) && !*text;
}

// ---- Whole texts

static char message[200];

static bool refuse(const char **error, const char *text, const char *why) {
  snprintf(message, sizeof message, "\"%.60s\" %s", text, why);
  *error = message;
  return false;
}

static const char *after_blanks(const char *text) {
  while (isspace((unsigned char)*text)) text++;
  return text;
}

static bool read_whole(const char *text, WholeNumber *number, const char **error) {
  const char *at = after_blanks(text);
  const NumberFault fault = number_take(&at, number);
  if (fault == NUMBER_LARGE) return refuse(error, text, "does not fit in 64 bits");
  return (fault == NUMBER_FINE && !*after_blanks(at)) || refuse(error, text, "is not a whole number");
}

bool number_read_integer(const char *text, int64_t *value, const char **error) {
  WholeNumber number;
  return read_whole(text, &number, error) &&
         (number_signed(&number, value) || refuse(error, text, "does not fit in 64 bits"));
}

bool number_read_count(const char *text, uint64_t least, uint64_t most, uint64_t *value, const char **error) {
  WholeNumber number;
  char range[80] = "is negative";
  if (!read_whole(text, &number, error)) return false;
  *value = number.magnitude;
  if (!number.negative && number.magnitude >= least && number.magnitude <= most) return true;
  if (most < UINT64_MAX)
    snprintf(range, sizeof range, "is not in the range %" PRIu64 " to %" PRIu64, least, most);
  else if (least)
    snprintf(range, sizeof range, "is less than %" PRIu64, least);
  return refuse(error, text, range);
}

bool number_read_real(const char *text, double *value, const char **error) {
  const char *at = after_blanks(text);
  const bool negative = *at == '-';
  at += negative;
  const size_t length = number_length(at);
  if (!length || *after_blanks(at + length)) return refuse(error, text, "is not a number");
  if (!number_nearest(at, length, value)) return refuse(error, text, "is too large for a floating-point number");
  if (negative) *value = -*value;
  return true;
}
