// Suggestions for units, and exact rational arithmetic for quantities.
#include "lss/base/units.h"

#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"

#include <string.h>

const char *unit_suggestion(const char *name) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  const UnitOfMeasure *unit;
  for (guint i = 0; (unit = unit_at(i)); i++) {
    // A unit in the wrong case (Mhz, kib) is the commonest slip.
    if (!g_ascii_strcasecmp(unit->name, name)) return unit->name;
    if (g_ascii_isalpha(*unit->name)) g_ptr_array_add(names, (gpointer)unit->name);
  }
  return strlen(name) > 2 ? diag_suggestion(name, names) : NULL;
}

bool rational_normalize(__int128 num, __int128 den, int64_t *out_num, int64_t *out_den) {
  if (den < 0) {
    num = -num;
    den = -den;
  }
  __int128 a = num < 0 ? -num : num, b = den;
  while (b) {
    __int128 rest = a % b;
    a = b;
    b = rest;
  }
  if (a > 1) {
    num /= a;
    den /= a;
  }
  if (num > G_MAXINT64 || num < -(__int128)G_MAXINT64 || den > G_MAXINT64) return false;
  *out_num = (int64_t)num;
  *out_den = (int64_t)den;
  return true;
}

bool rational_add(int64_t an, int64_t ad, int64_t bn, int64_t bd, int64_t *num, int64_t *den) {
  return rational_normalize((__int128)an * bd + (__int128)bn * ad, (__int128)ad * bd, num, den);
}

bool rational_multiply(int64_t an, int64_t ad, int64_t bn, int64_t bd, int64_t *num, int64_t *den) {
  return rational_normalize((__int128)an * bn, (__int128)ad * bd, num, den);
}

int rational_compare(int64_t an, int64_t ad, int64_t bn, int64_t bd) {
  __int128 left = (__int128)an * bd, right = (__int128)bn * ad;
  return left < right ? -1 : left > right;
}

char *quantity_text(Dimension dimension, int64_t num, int64_t den) {
  const UnitOfMeasure *best = quantity_unit(dimension, num, den);
  int64_t n = num, d = den;
  if (best) rational_multiply(num, den, best->den, best->num, &n, &d);
  const char *name = best ? best->name : dimension_base_unit(dimension);
  if (d == 1) return arena_printf("%" G_GINT64_FORMAT "%s%s", n, *name ? " " : "", name);
  return arena_printf("%" G_GINT64_FORMAT "/%" G_GINT64_FORMAT "%s%s", n, d, *name ? " " : "", name);
}
