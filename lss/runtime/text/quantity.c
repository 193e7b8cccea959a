// Quantities on a simulator's command line; see quantity.h.
#include "lss/runtime/text/quantity.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  const char *name;
  int64_t scale; // base units
} Unit;

enum { MAX_UNITS = 8 };

static const struct {
  const char *name;
  Unit units[MAX_UNITS]; // largest first among those used for printing
} dimensions[] = {
    [SPINACH_FREQUENCY] = {"frequency", {{"GHz", 1000000000}, {"MHz", 1000000}, {"kHz", 1000}, {"Hz", 1}}},
    [SPINACH_TIME] = {"time",
                      {{"s", 1000000000000000},
                       {"ms", 1000000000000},
                       {"us", 1000000000},
                       {"ns", 1000000},
                       {"ps", 1000},
                       {"fs", 1}}},
    [SPINACH_SIZE] = {"size",
                      {{"GiB", 1 << 30},
                       {"MiB", 1 << 20},
                       {"KiB", 1 << 10},
                       {"GB", 1000000000},
                       {"MB", 1000000},
                       {"kB", 1000},
                       {"B", 1}}},
    [SPINACH_RATE] = {"rate",
                      {{"Gb/s", 1000000000},
                       {"Mb/s", 1000000},
                       {"kb/s", 1000},
                       {"b/s", 1},
                       {"GB/s", 8000000000},
                       {"MB/s", 8000000},
                       {"kB/s", 8000},
                       {"B/s", 8}}},
};

static char message[200];

static bool refuse(const char **error, const char *text, spinach_dimension dimension, const char *why) {
  char units[80] = "";
  for (int i = 0; i < MAX_UNITS && dimensions[dimension].units[i].name; i++)
    snprintf(units + strlen(units), sizeof units - strlen(units), "%s%s", i ? ", " : "",
             dimensions[dimension].units[i].name);
  snprintf(message, sizeof message, "\"%.40s\" %s; a %s is a number and one of %s", text, why,
           dimensions[dimension].name, units);
  *error = message;
  return false;
}

bool spinach_quantity_parse(const char *text, spinach_dimension dimension, int64_t *value, const char **error) {
  const char *at = text;
  while (isspace((unsigned char)*at)) at++;
  bool negative = *at == '-';
  at += negative;
  __int128 digits = 0, divisor = 1;
  int count = 0;
  bool fraction = false;
  for (; isdigit((unsigned char)*at) || (*at == '.' && !fraction); at++) {
    if (*at == '.') {
      fraction = true;
      continue;
    }
    if (++count > 18) return refuse(error, text, dimension, "has too many digits");
    digits = digits * 10 + (*at - '0');
    if (fraction) divisor *= 10;
  }
  if (!count) return refuse(error, text, dimension, "does not begin with a number");
  while (isspace((unsigned char)*at)) at++;
  size_t length = strlen(at);
  while (length && isspace((unsigned char)at[length - 1])) length--;
  for (int i = 0; i < MAX_UNITS && dimensions[dimension].units[i].name; i++) {
    const Unit *unit = &dimensions[dimension].units[i];
    if (strlen(unit->name) != length || strncmp(unit->name, at, length)) continue;
    __int128 scaled = digits * unit->scale;
    if (scaled % divisor) return refuse(error, text, dimension, "is finer than the base unit");
    scaled /= divisor;
    if (scaled > INT64_MAX) return refuse(error, text, dimension, "is too large");
    *value = (int64_t)(negative ? -scaled : scaled);
    return true;
  }
  return refuse(error, text, dimension, length ? "has an unknown unit" : "lacks its unit");
}

void spinach_quantity_print(int64_t value, spinach_dimension dimension, char *text, int size) {
  const Unit *units = dimensions[dimension].units;
  for (int i = 0; i < MAX_UNITS && units[i].name; i++)
    if (units[i].scale == 1 || (value && value % units[i].scale == 0)) {
      snprintf(text, (size_t)size, "%lld %s", (long long)(value / units[i].scale), units[i].name);
      return;
    }
  snprintf(text, (size_t)size, "%lld", (long long)value);
}
