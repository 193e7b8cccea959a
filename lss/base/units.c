// The table of units, and exact rational arithmetic for quantities.
#include "lss/base/units.h"

#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"

#include <string.h>

static const UnitOfMeasure units[] = {
    {"Hz", DIM_FREQUENCY, 1, 1},
    {"kHz", DIM_FREQUENCY, 1000, 1},
    {"MHz", DIM_FREQUENCY, 1000000, 1},
    {"GHz", DIM_FREQUENCY, 1000000000, 1},
    {"s", DIM_TIME, 1, 1},
    {"ms", DIM_TIME, 1, 1000},
    {"us", DIM_TIME, 1, 1000000},
    {"ns", DIM_TIME, 1, 1000000000},
    {"ps", DIM_TIME, 1, 1000000000000},
    {"fs", DIM_TIME, 1, 1000000000000000},
    {"B", DIM_SIZE, 1, 1},
    {"kB", DIM_SIZE, 1000, 1},
    {"MB", DIM_SIZE, 1000000, 1},
    {"GB", DIM_SIZE, 1000000000, 1},
    {"KiB", DIM_SIZE, 1 << 10, 1},
    {"MiB", DIM_SIZE, 1 << 20, 1},
    {"GiB", DIM_SIZE, 1 << 30, 1},
    {"b/s", DIM_RATE, 1, 1},
    {"kb/s", DIM_RATE, 1000, 1},
    {"Mb/s", DIM_RATE, 1000000, 1},
    {"Gb/s", DIM_RATE, 1000000000, 1},
    {"B/s", DIM_RATE, 8, 1},
    {"kB/s", DIM_RATE, 8000, 1},
    {"MB/s", DIM_RATE, 8000000, 1},
    {"GB/s", DIM_RATE, 8000000000, 1},
    {"percent", DIM_FRACTION, 1, 100},
};

static const char *const dimension_names[] = {"frequency", "time", "size", "rate", "fraction"};
static const char *const base_units[] = {"Hz", "s", "B", "b/s", ""};

const UnitOfMeasure *unit_at(unsigned index) {
  return index < G_N_ELEMENTS(units) ? &units[index] : NULL;
}

const UnitOfMeasure *unit_find(const char *name) {
  for (guint i = 0; i < G_N_ELEMENTS(units); i++)
    if (!strcmp(units[i].name, name)) return &units[i];
  return NULL;
}

const char *unit_suggestion(const char *name) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < G_N_ELEMENTS(units); i++) {
    // A unit in the wrong case (Mhz, kib) is the commonest slip.
    if (!g_ascii_strcasecmp(units[i].name, name)) return units[i].name;
    g_ptr_array_add(names, (gpointer)units[i].name);
  }
  return strlen(name) > 2 ? diag_suggestion(name, names) : NULL;
}

const char *dimension_name(Dimension dimension) {
  return dimension_names[dimension];
}
const char *dimension_base_unit(Dimension dimension) {
  return base_units[dimension];
}

const char *dimension_units(Dimension dimension) {
  static const char *const lists[] = {"Hz, kHz, MHz, GHz", "s, ms, us, ns, ps, fs", "B, KiB, MiB, GiB, kB, MB, GB",
                                      "b/s, kb/s, Mb/s, Gb/s, B/s, MB/s, GB/s", "percent"};
  return lists[dimension];
}

bool dimension_find(const char *name, Dimension *dimension) {
  for (guint i = 0; i < G_N_ELEMENTS(dimension_names); i++) {
    if (strcmp(dimension_names[i], name) != 0) continue;
    *dimension = (Dimension)i;
    return true;
  }
  return false;
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

bool rational_parse(const char *text, int64_t *num, int64_t *den) {
  __int128 n = 0, d = 1;
  const __int128 limit = (__int128)1 << 100;
  const char *c = text;
  int base = 10;
  if (c[0] == '0' && g_ascii_tolower(c[1]) == 'x') {
    base = 16;
    c += 2;
  } else if (c[0] == '0' && g_ascii_tolower(c[1]) == 'b') {
    base = 2;
    c += 2;
  }
  bool point = false;
  for (; *c; c++) {
    if (*c == '_') continue;
    if (*c == '.') {
      point = true;
      continue;
    }
    if (base == 10 && g_ascii_tolower(*c) == 'e') break;
    n = n * base + g_ascii_xdigit_value(*c);
    if (point) d *= 10;
    if (n > limit || d > limit) return false;
  }
  if (*c) {
    gint64 exponent = g_ascii_strtoll(c + 1, NULL, 10);
    if (exponent > 40 || exponent < -40) return n == 0 ? rational_normalize(0, 1, num, den) : false;
    for (; exponent > 0; exponent--) {
      if ((n *= 10) > limit) return false;
    }
    for (; exponent < 0; exponent++) {
      if ((d *= 10) > limit) return false;
    }
  }
  return rational_normalize(n, d, num, den);
}

size_t decimal_length(const char *text) {
  size_t n = strspn(text, "0123456789_");
  if (text[n] == '.' && g_ascii_isdigit(text[n + 1])) n += 1 + strspn(text + n + 1, "0123456789_");
  if (text[n] != 'e' && text[n] != 'E') return n;
  size_t sign = text[n + 1] == '+' || text[n + 1] == '-';
  size_t digits = strspn(text + n + 1 + sign, "0123456789");
  return digits ? n + 1 + sign + digits : n;
}

bool quantity_parse(const char *text, Dimension dimension, int64_t *num, int64_t *den) {
  if (!g_ascii_isdigit(*text)) return false;
  size_t length = decimal_length(text);
  g_autofree char *number = g_strndup(text, length);
  const char *rest = text + length;
  const UnitOfMeasure *unit = unit_find(rest + strspn(rest, " "));
  return unit && unit->dimension == dimension && rational_parse(number, num, den) &&
         rational_multiply(*num, *den, unit->num, unit->den, num, den);
}

char *quantity_text(Dimension dimension, int64_t num, int64_t den) {
  // Decimal sizes are rarer than binary ones, which come later in the table and win.
  const UnitOfMeasure *best = NULL;
  for (guint i = 0; i < G_N_ELEMENTS(units); i++) {
    const UnitOfMeasure *unit = &units[i];
    int64_t n, d;
    if (unit->dimension != dimension || !rational_multiply(num, den, unit->den, unit->num, &n, &d) || d != 1) continue;
    if (num == 0) {
      best = best ? best : unit;
      continue;
    }
    if (!best || (unit->dimension == DIM_SIZE && strstr(unit->name, "i")) ||
        rational_compare(unit->num, unit->den, best->num, best->den) > 0)
      best = unit;
  }
  int64_t n = num, d = den;
  if (best) rational_multiply(num, den, best->den, best->num, &n, &d);
  const char *name = best ? best->name : base_units[dimension];
  if (d == 1) return arena_printf("%" G_GINT64_FORMAT "%s%s", n, *name ? " " : "", name);
  return arena_printf("%" G_GINT64_FORMAT "/%" G_GINT64_FORMAT "%s%s", n, d, *name ? " " : "", name);
}
