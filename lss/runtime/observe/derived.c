// Works out derived statistics; see derived.h.
#include "lss/runtime/observe/derived.h"

#include "lss/runtime/engine/request.h"

#include <math.h>

static const spinach_machine *const machine = &spinach_machine_table;

static double number_of(const struct spinach_type *type, const void *value) {
  if (type->kind == SPINACH_FLOAT) return type->size == 4 ? (double)*(const float *)value : *(const double *)value;
  const int64_t integer = spinach_integer(type, value);
  return type->kind == SPINACH_INT ? (double)integer : (double)(uint64_t)integer;
}

static void add_operands(const spinach_derived *derived, GArray *operands) {
  for (uint32_t i = 0; i < derived->step_count; i++) {
    const spinach_derived_step *step = &derived->steps[i];
    double operand;
    if (step->kind == 'c') {
      operand = (double)spinach_cycles(machine->instances[step->instance].clock);
    } else if (step->kind == 's') {
      const spinach_place place = {step->instance, step->field, 0, spinach_field_elements(step->field)};
      operand = number_of(step->field->type, spinach_element(&place, step->index));
    } else {
      continue;
    }
    g_array_append_val(operands, operand);
  }
}

// Takes the operands of the statistic from `before` and `now`, and puts `at` behind them.
static double work_out(const spinach_derived *derived, const GArray *before, const GArray *now, guint *at) {
  g_autofree double *stack = g_new(double, derived->step_count + 1);
  guint depth = 0;
  for (uint32_t i = 0; i < derived->step_count; i++) {
    const spinach_derived_step *step = &derived->steps[i];
    if (step->kind == 'n') {
      stack[depth++] = step->number;
    } else if (step->kind == 'c' || step->kind == 's') {
      const bool counts = before && !(step->kind == 's' && step->field->gauge);
      stack[depth++] = g_array_index(now, double, *at) - (counts ? g_array_index(before, double, *at) : 0);
      ++*at;
    } else {
      double *left = &stack[--depth - 1], right = stack[depth];
      *left = step->kind == '+'   ? *left + right
              : step->kind == '-' ? *left - right
              : step->kind == '*' ? *left * right
                                  : (right != 0 ? *left / right : NAN);
    }
  }
  return stack[0];
}

void spinach_derived_operands(GArray *operands) {
  for (uint32_t i = 0; i < machine->derived_count; i++) add_operands(&machine->derived[i], operands);
}

double spinach_derived_value(const spinach_derived *derived) {
  g_autoptr(GArray) operands = g_array_new(FALSE, FALSE, sizeof(double));
  guint at = 0;
  add_operands(derived, operands);
  return work_out(derived, NULL, operands, &at);
}

void spinach_derived_values(const GArray *before, const GArray *now, GArray *values) {
  guint at = 0;
  for (uint32_t i = 0; i < machine->derived_count; i++) {
    const double value = work_out(&machine->derived[i], before, now, &at);
    g_array_append_val(values, value);
  }
}

void spinach_derived_write(Json *json, const GArray *before, const GArray *now) {
  if (!machine->derived_count) return;
  g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(double));
  spinach_derived_values(before, now, values);
  json_key(json, "derived");
  json_open_row(json);
  for (guint i = 0; i < values->len; i++) {
    if (isfinite(g_array_index(values, double, i)))
      json_real(json, g_array_index(values, double, i));
    else
      json_string(json, NULL);
  }
  json_close(json, ']');
}
