// Quantities; see quantity.h.
#include "lss/runtime/text/quantity.h"

#include "lss/runtime/text/number.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define UNIT(name, dimension, num, den, preferred) {name, dimension, num, den, preferred},
static const UnitOfMeasure units[] = {
#include "lss/runtime/text/units.def"
};
#undef UNIT

enum { UNITS = sizeof units / sizeof *units };

static const char *const names[DIMENSIONS] = {"frequency", "time", "size", "rate", "fraction"};

const UnitOfMeasure *unit_at(unsigned index) {
  return index < UNITS ? &units[index] : NULL;
}

const UnitOfMeasure *unit_find(const char *name) {
  for (unsigned i = 0; i < UNITS; i++)
    if (!strcmp(units[i].name, name)) return &units[i];
  return NULL;
}

const char *dimension_name(Dimension dimension) {
  return names[dimension];
}

const char *dimension_base_unit(Dimension dimension) {
  for (unsigned i = 0; i < UNITS; i++)
    if (units[i].dimension == dimension && units[i].num == units[i].den) return units[i].name;
  return "";
}

const char *dimension_units(Dimension dimension) {
  static char lists[DIMENSIONS][80];
  char *list = lists[dimension];
  if (list[0]) return list;
  for (unsigned i = 0; i < UNITS; i++)
    if (units[i].dimension == dimension && isalpha((unsigned char)units[i].name[0])) {
      const size_t used = strlen(list);
      snprintf(list + used, sizeof lists[0] - used, "%s%s", used ? ", " : "", units[i].name);
    }
  return list;
}

bool dimension_find(const char *name, Dimension *dimension) {
  for (int i = 0; i < DIMENSIONS; i++) {
    if (strcmp(names[i], name) != 0) continue;
    *dimension = (Dimension)i;
    return true;
  }
  return false;
}

static bool is_whole(const UnitOfMeasure *unit, int64_t num, int64_t den) {
  return (__int128)num * unit->den % ((__int128)den * unit->num) == 0;
}

static bool is_larger(const UnitOfMeasure *unit, const UnitOfMeasure *other) {
  return (__int128)unit->num * other->den > (__int128)other->num * unit->den;
}

const UnitOfMeasure *quantity_unit(Dimension dimension, int64_t num, int64_t den) {
  const UnitOfMeasure *best = NULL;
  for (unsigned i = 0; i < UNITS; i++) {
    const UnitOfMeasure *unit = &units[i];
    if (unit->dimension != dimension || !is_whole(unit, num, den)) continue;
    if (num == 0) return unit;
    // Others than the preferred ones only where these have nothing larger than the base unit.
    const bool taken = !best || unit->preferred || !best->preferred || best->num == best->den;
    if (!best || (taken && is_larger(unit, best))) best = unit;
  }
  return best;
}

// ---- Reading

static char message[240];

static bool refuse(const char **error, const char *text, Dimension dimension, const char *why) {
  const char *list = dimension_units(dimension);
  snprintf(message, sizeof message, "\"%.60s\" %s; a %s is a number and %s%s", text, why, names[dimension],
           strchr(list, ',') ? "one of " : "", list);
  *error = message;
  return false;
}

typedef struct {
  bool negative;
  const char *digits;
  size_t length; // of the digits
  const UnitOfMeasure *unit;
} Parts;

static const char *after_blanks(const char *text) {
  while (isspace((unsigned char)*text)) text++;
  return text;
}

static bool take_apart(const char *text, Dimension dimension, Parts *parts, const char **error) {
  char name[16] = "";
  const char *at = after_blanks(text);
  parts->negative = *at == '-';
  parts->digits = at + parts->negative;
  parts->length = number_length(parts->digits);
  if (!parts->length) return refuse(error, text, dimension, "does not begin with a number");
  at = after_blanks(parts->digits + parts->length);
  size_t length = strlen(at);
  while (length && isspace((unsigned char)at[length - 1])) length--;
  if (!length) return refuse(error, text, dimension, "lacks its unit");
  if (length < sizeof name) memcpy(name, at, length);
  parts->unit = unit_find(name);
  if (!parts->unit) return refuse(error, text, dimension, "has an unknown unit");
  if (parts->unit->dimension == dimension) return true;
  char why[40];
  snprintf(why, sizeof why, "is a %s", names[parts->unit->dimension]);
  return refuse(error, text, dimension, why);
}

static int64_t common_divisor(int64_t a, int64_t b) {
  while (b) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

bool quantity_read_wide(const char *text, Dimension dimension, int64_t per, __int128 *value, const char **error) {
  Parts parts;
  int64_t num, den;
  if (!take_apart(text, dimension, &parts, error)) return false;
  if (!number_exact(parts.digits, parts.length, &num, &den))
    return refuse(error, text, dimension, "is too large or too precise");
  // The number of 1/`per` base units in one unit, in lowest terms: neither product below can overflow.
  const int64_t common = common_divisor(per, parts.unit->den);
  const __int128 scaled = (__int128)num * parts.unit->num * (per / common);
  const __int128 divisor = (__int128)den * (parts.unit->den / common);
  if (scaled % divisor) return refuse(error, text, dimension, "is finer than the base unit");
  *value = parts.negative ? -(scaled / divisor) : scaled / divisor;
  return true;
}

bool quantity_read(const char *text, Dimension dimension, int64_t per, int64_t *value, const char **error) {
  __int128 wide;
  if (!quantity_read_wide(text, dimension, per, &wide, error)) return false;
  if (wide > INT64_MAX || wide < -INT64_MAX) return refuse(error, text, dimension, "is too large");
  *value = (int64_t)wide;
  return true;
}

bool quantity_read_base(const char *text, Dimension dimension, int64_t *value, const char **error) {
  return quantity_read(text, dimension, dimension == DIM_TIME ? QUANTITY_FEMTO : 1, value, error);
}

bool quantity_read_real(const char *text, Dimension dimension, double *value, const char **error) {
  Parts parts;
  int64_t num, den;
  if (!take_apart(text, dimension, &parts, error)) return false;
  if (number_exact(parts.digits, parts.length, &num, &den) && den <= INT64_MAX / parts.unit->den)
    *value = (double)((long double)num * (long double)parts.unit->num / (long double)(den * parts.unit->den));
  else if (number_nearest(parts.digits, parts.length, value))
    *value = *value * (double)parts.unit->num / (double)parts.unit->den;
  else
    return refuse(error, text, dimension, "is too large");
  if (parts.negative) *value = -*value;
  return true;
}

// ---- Printing

void quantity_print(int64_t value, Dimension dimension, char *text, int size) {
  const int64_t per = dimension == DIM_TIME ? QUANTITY_FEMTO : 1;
  const UnitOfMeasure *unit = quantity_unit(dimension, value, per);
  snprintf(text, (size_t)size, "%lld %s", (long long)((__int128)value * unit->den / ((__int128)per * unit->num)),
           unit->name);
}
