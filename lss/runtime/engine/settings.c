// Runtime parameters; see settings.h.
#include "lss/runtime/engine/settings.h"

#include "lss/runtime/text/number.h"
#include "lss/runtime/text/pattern.h"
#include "lss/runtime/text/quantity.h"

#include <inttypes.h>
#include <math.h>

static const spinach_machine *const machine = &spinach_machine_table;

static bool is_called(const spinach_parameter *parameter, const char *name) {
  return !strcmp(parameter->name, name) || g_strv_contains(parameter->aliases, name);
}

const spinach_parameter *spinach_find_parameter(const char *name) {
  for (uint32_t i = 0; i < machine->parameter_count; i++)
    if (is_called(&machine->parameters[i], name)) return &machine->parameters[i];
  return NULL;
}

bool spinach_parameter_matches(const spinach_parameter *parameter, const char *pattern) {
  bool matches = spinach_path_matches(pattern, parameter->name);
  for (const char *const *alias = parameter->aliases; *alias && !matches; alias++)
    matches = spinach_path_matches(pattern, *alias);
  return matches;
}

typedef union {
  int64_t integer;
  bool truth;
  double real;
  char string[SPINACH_STRING_SIZE];
} Cell;

// A text has nothing but zeros after it; pages with nothing but zeros are left as they are.
static void store_text(char *place, const char *text) {
  const size_t length = strlen(text), before = strnlen(place, SPINACH_STRING_SIZE);
  if (before > length) memset(place + length, 0, before - length);
  memcpy(place, text, length + 1);
}

static void store(const spinach_parameter *parameter, const Cell *cell) {
  static const size_t sizes[] = {[SPINACH_PARAMETER_INT] = sizeof(int64_t),
                                 [SPINACH_PARAMETER_BOOL] = sizeof(bool),
                                 [SPINACH_PARAMETER_FLOAT] = sizeof(double)};
  for (uint32_t i = 0; i < parameter->target_count; i++) {
    const spinach_target *target = &parameter->targets[i];
    char *state = spinach_instance_state(target->instance);
    if (parameter->kind == SPINACH_PARAMETER_STRING)
      store_text(state + target->text, cell->string);
    else
      memcpy(state + target->offset, cell, sizes[parameter->kind]);
  }
}

static bool read_integer(const spinach_parameter *parameter, const char *text, int64_t *value) {
  Dimension dimension;
  const char *error;
  const bool fine = dimension_find(parameter->type, &dimension) ? quantity_read_base(text, dimension, value, &error)
                                                                : number_read_integer(text, value, &error);
  return fine || spinach_report_error("%s: %s", parameter->name, error);
}

static bool read_real(const spinach_parameter *parameter, const char *text, double *value) {
  Dimension dimension;
  const char *error;
  const bool fine = dimension_find(parameter->type, &dimension) ? quantity_read_real(text, dimension, value, &error)
                                                                : number_read_real(text, value, &error);
  return fine || spinach_report_error("%s: %s", parameter->name, error);
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
      return spinach_report_error("%s: the text has %zu bytes, at most %d fit", parameter->name, strlen(text),
                                  SPINACH_STRING_SIZE - 1);
    strcpy(cell->string, text);
    return true;
  }
  return false;
}

bool spinach_settings_store(const spinach_options *options) {
  static Cell cell;
  for (uint32_t i = 0; i < machine->parameter_count; i++) {
    const spinach_parameter *parameter = &machine->parameters[i];
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
  const bool fraction = !strcmp(parameter->type, "fraction");
  const char *error;
  double back;
  g_autofree char *text = NULL;
  for (int digits = 1; digits <= 17; digits++) {
    char format[8], number[G_ASCII_DTOSTR_BUF_SIZE];
    const double shown = fraction ? value * 100 : value;
    g_snprintf(format, sizeof format, "%%.%dg", digits);
    g_ascii_formatd(number, sizeof number, format, shown);
    // With fewer digits than it has before the point the number is whole: 30 and not 3e+01.
    if (strchr(number, 'e') && fabs(shown) >= 1 && fabs(shown) < 1e15)
      g_ascii_formatd(number, sizeof number, "%.0f", shown);
    g_free(text);
    text = g_strconcat(number, fraction ? " percent" : "", NULL);
    if (fraction ? quantity_read_real(text, DIM_FRACTION, &back, &error) : number_read_real(text, &back, &error))
      if (back == value) break;
  }
  return g_steal_pointer(&text);
}

const char *spinach_parameter_string(const spinach_parameter *parameter, uint32_t target) {
  const spinach_target *place = &parameter->targets[target];
  return (const char *)spinach_instance_state(place->instance) + place->text;
}

char *spinach_parameter_text(const spinach_parameter *parameter) {
  char text[QUANTITY_TEXT];
  Dimension dimension;
  const void *place = parameter->target_count ? (char *)spinach_instance_state(parameter->targets[0].instance) +
                                                    parameter->targets[0].offset
                                              : NULL;
  switch (parameter->kind) {
  case SPINACH_PARAMETER_STRING:
    return g_strdup(place ? spinach_parameter_string(parameter, 0) : parameter->default_string);
  case SPINACH_PARAMETER_BOOL:
    return g_strdup((place ? *(const bool *)place : parameter->default_integer != 0) ? "true" : "false");
  case SPINACH_PARAMETER_FLOAT: return real_text(parameter, place ? *(const double *)place : parameter->default_real);
  case SPINACH_PARAMETER_INT: break;
  }
  int64_t value = place ? *(const int64_t *)place : parameter->default_integer;
  if (!dimension_find(parameter->type, &dimension)) return g_strdup_printf("%" PRId64, value);
  quantity_print(value, dimension, text, sizeof text);
  return g_strdup(text);
}

// The parameter of the instance at hand that names a path, whose text it is or which is or holds the same; NULL: none.
static const spinach_parameter *parameter_of(uint32_t instance, const char *path) {
  const spinach_parameter *found = NULL;
  for (uint32_t i = 0; i < machine->parameter_count; i++) {
    const spinach_parameter *parameter = &machine->parameters[i];
    for (uint32_t k = 0; k < parameter->target_count && parameter->kind == SPINACH_PARAMETER_STRING; k++) {
      if (parameter->targets[k].instance != (int32_t)instance) continue;
      const char *text = spinach_parameter_string(parameter, k);
      if (text == path) return parameter;
      if (strstr(text, path) && (!found || !strcmp(text, path))) found = parameter;
    }
  }
  return found;
}

char *spinach_file_user(const char *path) {
  const uint32_t instance = spinach_current();
  const spinach_parameter *found = parameter_of(instance, path);
  if (!found) return g_strdup(*spinach_path(instance) ? spinach_path(instance) : "the machine");
  if (strchr(found->name, '.')) return g_strdup(found->name);
  return found->target_count > 1 ? g_strdup_printf("--%s (%s)", found->name, spinach_path(instance))
                                 : g_strdup_printf("--%s", found->name);
}
