// Runtime parameters: texts from the command line into the state, and back for the manifest.
#include "lss/runtime/engine/options.h"
#include "lss/runtime/text/quantity.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

// The dimension of a quantity's type; false for other types.
static bool dimension_of(const char *type, spinach_dimension *dimension) {
  static const char *const names[] = {
      [SPINACH_FREQUENCY] = "frequency", [SPINACH_TIME] = "time", [SPINACH_SIZE] = "size", [SPINACH_RATE] = "rate"};
  for (int i = 0; i < (int)G_N_ELEMENTS(names); i++)
    if (!strcmp(type, names[i])) {
      *dimension = (spinach_dimension)i;
      return true;
    }
  return false;
}

typedef union {
  int64_t integer;
  bool truth;
  double real;
  char string[SPINACH_STRING_SIZE];
} Cell;

static void store(const spinach_parameter *parameter, const Cell *cell) {
  static const size_t sizes[] = {[SPINACH_PARAMETER_INT] = sizeof(int64_t),
                                 [SPINACH_PARAMETER_BOOL] = sizeof(bool),
                                 [SPINACH_PARAMETER_FLOAT] = sizeof(double),
                                 [SPINACH_PARAMETER_STRING] = SPINACH_STRING_SIZE};
  for (uint32_t i = 0; i < parameter->target_count; i++)
    memcpy((char *)spinach_instance_state(parameter->targets[i].instance) + parameter->targets[i].offset, cell,
           sizes[parameter->kind]);
}

static bool read_integer(const spinach_parameter *parameter, const char *text, int64_t *value) {
  spinach_dimension dimension;
  if (dimension_of(parameter->type, &dimension)) {
    const char *error;
    return spinach_quantity_parse(text, dimension, value, &error) ||
           spinach_report_error("%s: %s", parameter->name, error);
  }
  char *end;
  errno = 0;
  *value = strtoll(text, &end, 0);
  if (end == text || *end) return spinach_report_error("%s: \"%s\" is not an integer", parameter->name, text);
  if (errno) return spinach_report_error("%s: %s does not fit in 64 bits", parameter->name, text);
  return true;
}

static bool read_real(const spinach_parameter *parameter, const char *text, double *value) {
  char *end;
  *value = g_ascii_strtod(text, &end);
  bool number = end != text;
  if (number && !isfinite(*value))
    return spinach_report_error("%s: \"%s\" is not a finite number", parameter->name, text);
  while (g_ascii_isspace(*end)) end++;
  if (number && !strcmp(parameter->type, "fraction") && (!strcmp(end, "percent") || !strcmp(end, "%"))) {
    *value /= 100;
    return true;
  }
  if (!number || *end) return spinach_report_error("%s: \"%s\" is not a number", parameter->name, text);
  return true;
}

static bool in_range(const spinach_parameter *parameter, const Cell *cell, const char *text) {
  bool outside = parameter->kind == SPINACH_PARAMETER_INT
                     ? cell->integer < parameter->least_integer || cell->integer > parameter->most_integer
                     : cell->real < parameter->least_real || cell->real > parameter->most_real;
  return !outside || spinach_report_error("%s: %s is outside its range, %s", parameter->name, text, parameter->range);
}

static bool read_setting(const spinach_parameter *parameter, const char *text, Cell *cell) {
  memset(cell, 0, sizeof *cell);
  switch (parameter->kind) {
  case SPINACH_PARAMETER_INT: return read_integer(parameter, text, &cell->integer) && in_range(parameter, cell, text);
  case SPINACH_PARAMETER_FLOAT: return read_real(parameter, text, &cell->real) && in_range(parameter, cell, text);
  case SPINACH_PARAMETER_BOOL:
    cell->truth = !strcmp(text, "true") || !strcmp(text, "1");
    if (!cell->truth && strcmp(text, "false") && strcmp(text, "0"))
      return spinach_report_error("%s: \"%s\" is neither true nor false", parameter->name, text);
    return true;
  case SPINACH_PARAMETER_STRING:
    if (strlen(text) >= SPINACH_STRING_SIZE)
      return spinach_report_error("%s: the text has %zu characters; at most %d are kept", parameter->name, strlen(text),
                                  SPINACH_STRING_SIZE - 1);
    strcpy(cell->string, text);
    return true;
  }
  return false;
}

bool spinach_settings_store(const spinach_options *options) {
  static Cell cell;
  for (uint32_t i = 0; i < spinach_machine_table.parameter_count; i++) {
    const spinach_parameter *parameter = &spinach_machine_table.parameters[i];
    memset(&cell, 0, sizeof cell);
    if (parameter->kind == SPINACH_PARAMETER_INT)
      cell.integer = parameter->default_integer;
    else if (parameter->kind == SPINACH_PARAMETER_BOOL)
      cell.truth = parameter->default_integer != 0;
    else if (parameter->kind == SPINACH_PARAMETER_FLOAT)
      cell.real = parameter->default_real;
    else if (!read_setting(parameter, parameter->default_string ? parameter->default_string : "", &cell))
      return false;
    store(parameter, &cell);
  }
  for (guint i = 0; i < options->settings->len; i++) {
    const spinach_setting *setting = &g_array_index(options->settings, spinach_setting, i);
    if (!read_setting(setting->parameter, setting->text, &cell)) return false;
    store(setting->parameter, &cell);
  }
  return true;
}

// As few digits as read back the same; fractions in percent.
static char *real_text(const spinach_parameter *parameter, double value) {
  bool fraction = !strcmp(parameter->type, "fraction");
  double shown = fraction ? value * 100 : value;
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  for (int digits = 1; digits <= 17; digits++) {
    g_autofree char *format = g_strdup_printf("%%.%dg", digits);
    g_ascii_formatd(text, sizeof text, format, shown);
    double back = g_ascii_strtod(text, NULL);
    if ((fraction ? back / 100 : back) == value) break;
  }
  // With fewer digits than it has before the point the number is whole: 30 and not 3e+01.
  if (strchr(text, 'e') && fabs(shown) >= 1 && fabs(shown) < 1e15) g_ascii_formatd(text, sizeof text, "%.0f", shown);
  return g_strconcat(text, fraction ? " percent" : "", NULL);
}

char *spinach_parameter_text(const spinach_parameter *parameter) {
  char text[80];
  spinach_dimension dimension;
  const void *place = parameter->target_count ? (char *)spinach_instance_state(parameter->targets[0].instance) +
                                                    parameter->targets[0].offset
                                              : NULL;
  switch (parameter->kind) {
  case SPINACH_PARAMETER_STRING: return g_strdup(place ? place : parameter->default_string);
  case SPINACH_PARAMETER_BOOL:
    return g_strdup((place ? *(const bool *)place : parameter->default_integer != 0) ? "true" : "false");
  case SPINACH_PARAMETER_FLOAT: return real_text(parameter, place ? *(const double *)place : parameter->default_real);
  case SPINACH_PARAMETER_INT: break;
  }
  int64_t value = place ? *(const int64_t *)place : parameter->default_integer;
  if (!dimension_of(parameter->type, &dimension)) return g_strdup_printf("%" PRId64, value);
  spinach_quantity_print(value, dimension, text, sizeof text);
  return g_strdup(text);
}
