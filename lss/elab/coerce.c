// Fitting values to types: parameters, fields of records, initial values of state.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/base/units.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"

#include <math.h>
#include <string.h>

static Value *misfit(Location where, const char *what, const char *wanted, const Value *got) {
  bool unit = got->kind == VALUE_QUANTITY;
  problem(where, unit ? "unit" : "parameter-type", "`%s` must be %s, not %s", what, wanted, value_kind_text(got));
  return NULL;
}

static Value *fit_integer(Value *value, const Type *type, Location where, const char *what) {
  if (value->kind != VALUE_INT) return misfit(where, what, arena_printf("an integer (%s)", type->name), value);
  bool fits = true;
  if (type->bits < 64) {
    int64_t most = G_MAXINT64 >> (type->kind == TYPE_INT ? 64 - type->bits : 63 - type->bits);
    int64_t least = type->kind == TYPE_INT ? -most - 1 : 0;
    fits = value->integer >= least && value->integer <= most;
  }
  if (fits) return value;
  problem(where, "overflow", "`%s` is %" G_GINT64_FORMAT ", which does not fit into %s", what, value->integer,
          type->name);
  return NULL;
}

static Value *zero_of(Type *type, Location where) {
  Value *value;
  switch (type->kind) {
  case TYPE_BOOL: return value_bool(false, where);
  case TYPE_FLOAT: return value_float(0, where);
  case TYPE_STRING: return value_string("", where);
  case TYPE_ENUM:
    value = value_new(VALUE_ENUM, where);
    value->type = type;
    return value;
  case TYPE_ARRAY:
    value = value_list(where);
    for (int i = 0; i < type->length && charge(1, where); i++)
      g_ptr_array_add(value->items, zero_of(type->element, where));
    value_close(value, where);
    return value;
  case TYPE_STRUCT:
    value = value_record(where);
    value->type = type;
    for (guint i = 0; i < type->fields->len; i++) {
      Field *field = type->fields->pdata[i];
      g_ptr_array_add(value->names, (gpointer)field->name);
      g_ptr_array_add(value->items, zero_of(field->type, where));
    }
    value_close(value, where);
    return value;
  default: return value_int(0, where);
  }
}

// Fields in the order of the struct; those left out are zero.
static Value *fit_record(Value *value, Type *type, Location where, const char *what) {
  if (value->kind != VALUE_RECORD) return misfit(where, what, arena_printf("a record of %s", type->name), value);
  if (value->type == type) return value;
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < type->fields->len; i++)
    g_ptr_array_add(names, (gpointer)((Field *)type->fields->pdata[i])->name);
  bool fine = true;
  for (guint i = 0; i < value->names->len; i++) {
    const char *name = value->names->pdata[i];
    bool known = false;
    for (guint k = 0; k < names->len; k++) known |= !strcmp(names->pdata[k], name);
    if (known) continue;
    problem(((Value *)value->items->pdata[i])->location, "unknown-name", "%s has no field `%s`%s", type->name, name,
            did_you_mean(diag_suggestion(name, names)));
    fine = false;
  }
  Value *record = value_record(value->location);
  record->type = type;
  for (guint i = 0; i < type->fields->len; i++) {
    Field *field = type->fields->pdata[i];
    Value *given = value_field(value, field->name);
    Value *fitted = given ? coerce_to_type(given, field->type, given->location.file ? given->location : where,
                                           arena_printf("%s.%s", what, field->name))
                          : zero_of(field->type, where);
    if (!fitted) fine = false;
    g_ptr_array_add(record->names, (gpointer)field->name);
    g_ptr_array_add(record->items, fitted);
  }
  return fine && value_close(record, where) ? record : NULL;
}

// A record of members, of which those left out are zero, or the whole as an integer.
static Value *fit_packed(Value *value, Type *type, Location where, const char *what) {
  if (value->kind == VALUE_INT) return fit_integer(value, type, where, what);
  Value *record = fit_record(value, type, where, what);
  uint64_t word = 0;
  for (guint i = 0; record && i < type->fields->len; i++)
    word |= packed_place(type->fields->pdata[i], (uint64_t)((Value *)record->items->pdata[i])->integer);
  return record ? value_int((int64_t)word, value->location) : NULL;
}

static Value *fit_array(Value *value, Type *type, Location where, const char *what) {
  if (value->kind != VALUE_LIST)
    return misfit(where, what, arena_printf("a list of %d of %s", type->length, type->element->name), value);
  if ((int)value->items->len > type->length) {
    problem(where, "index-range", "`%s` takes %d elements, not %u", what, type->length, value->items->len);
    return NULL;
  }
  Value *list = value_list(value->location);
  bool fine = true;
  for (int i = 0; i < type->length; i++) {
    if (!charge(1, where)) return NULL;
    Value *item = i < (int)value->items->len
                      ? coerce_to_type(value->items->pdata[i], type->element, where, arena_printf("%s[%d]", what, i))
                      : zero_of(type->element, where);
    if (!item) fine = false;
    g_ptr_array_add(list->items, item);
  }
  return fine && value_close(list, where) ? list : NULL;
}

Value *coerce_to_type(Value *value, Type *type, Location where, const char *what) {
  if (!charge(1, where)) return NULL;
  switch (type->kind) {
  case TYPE_BOOL: return value->kind == VALUE_BOOL ? value : misfit(where, what, "a bool", value);
  case TYPE_INT:
  case TYPE_UINT:
  case TYPE_BITS: return fit_integer(value, type, where, what);
  case TYPE_FLOAT:
    if (value->kind == VALUE_INT) return value_float((double)value->integer, value->location);
    if (value->kind != VALUE_FLOAT) return misfit(where, what, "a number", value);
    if (type->bits != 32 || isfinite((float)value->real)) return value;
    problem(where, "overflow", "`%s` is %s, which does not fit into %s", what, value_text(value), type->name);
    return NULL;
  case TYPE_ENUM:
    return value->kind == VALUE_ENUM && value->type == type
               ? value
               : misfit(where, what, arena_printf("a value of enum %s", type->name), value);
  case TYPE_STRING: return value->kind == VALUE_STRING ? value : misfit(where, what, "a string", value);
  case TYPE_PACKED: return fit_packed(value, type, where, what);
  case TYPE_STRUCT: return fit_record(value, type, where, what);
  case TYPE_ARRAY: return fit_array(value, type, where, what);
  case TYPE_STREAM: return misfit(where, what, "no initial value", value);
  }
  return NULL;
}

// ---- Parameters --------------------------------------------------------------------------------------------

static const char *const parameter_kinds[] = {"int", "float", "clock", "module", "type", "any", "struct"};

static bool is_kind(const Expr *type, const char *name) {
  return type->kind == EXPR_NAME && !strcmp(type->text, name);
}

// A type of data as the type of a parameter: a struct, an enum, an array, a number of a given width.
static Type *data_type(Scope *scope, Expr *type) {
  Dimension dimension;
  if (type->kind == EXPR_NAME && dimension_find(type->text, &dimension)) return NULL;
  for (guint i = 0; i < G_N_ELEMENTS(parameter_kinds); i++)
    if (is_kind(type, parameter_kinds[i])) return NULL;
  return evaluate_type(scope, type);
}

Value *coerce_to_parameter(Scope *scope, Value *value, Expr *type, Location where, const char *what) {
  if (!charge(1, where)) return NULL;
  if (type->kind == EXPR_LIST_TYPE) {
    if (value->kind != VALUE_LIST) return misfit(where, what, "a list", value);
    Value *list = value_list(value->location);
    bool fine = true;
    for (guint i = 0; i < value->items->len; i++) {
      Value *item = value->items->pdata[i];
      item = coerce_to_parameter(scope, item, type->left, item->location.file ? item->location : where,
                                 arena_printf("%s[%u]", what, i));
      if (!item) fine = false;
      g_ptr_array_add(list->items, item);
    }
    return fine && value_close(list, where) ? list : NULL;
  }
  if (is_kind(type, "any")) return value;
  if (is_kind(type, "int")) return value->kind == VALUE_INT ? value : misfit(where, what, "an integer", value);
  if (is_kind(type, "float")) {
    if (value->kind == VALUE_INT) return value_float((double)value->integer, value->location);
    return value->kind == VALUE_FLOAT ? value : misfit(where, what, "a float", value);
  }
  if (is_kind(type, "clock")) return value->kind == VALUE_CLOCK ? value : misfit(where, what, "a clock", value);
  if (is_kind(type, "module")) return value->kind == VALUE_MODULE ? value : misfit(where, what, "a module", value);
  if (is_kind(type, "type")) return value->kind == VALUE_TYPE ? value : misfit(where, what, "a type", value);
  if (is_kind(type, "struct")) return value->kind == VALUE_RECORD ? value : misfit(where, what, "a record", value);
  Dimension dimension;
  if (type->kind == EXPR_NAME && dimension_find(type->text, &dimension)) {
    if (value->kind == VALUE_QUANTITY && value->dimension == dimension) return value;
    const char *article = dimension == DIM_FREQUENCY ? "a frequency" : arena_printf("a %s", type->text);
    problem(where, "unit", "`%s` must be %s (%s), not %s", what, article, dimension_units(dimension),
            value_kind_text(value));
    return NULL;
  }
  Type *data = data_type(scope, type);
  return data ? coerce_to_type(value, data, where, what) : NULL;
}

Type *parameter_record_type(Scope *scope, Expr *type) {
  while (type->kind == EXPR_LIST_TYPE) type = type->left;
  Type *data = data_type(scope, type);
  while (data && data->kind == TYPE_ARRAY) data = data->element;
  return data && data->kind == TYPE_STRUCT ? data : NULL;
}

bool parameter_type_valid(Scope *scope, Expr *type, bool runtime) {
  Expr *inner = type;
  while (inner->kind == EXPR_LIST_TYPE) inner = inner->left;
  Dimension dimension;
  bool quantity = inner->kind == EXPR_NAME && dimension_find(inner->text, &dimension);
  if (runtime) {
    bool simple = inner == type && (quantity || is_kind(type, "int") || is_kind(type, "bool") ||
                                    is_kind(type, "float") || is_kind(type, "string"));
    if (!simple)
      problem(type->location, "runtime-parameter",
              "a runtime parameter is int, bool, float, string or a quantity, not `%s`", expr_text(type));
    return simple;
  }
  if (quantity) return true;
  for (guint i = 0; i < G_N_ELEMENTS(parameter_kinds); i++)
    if (is_kind(inner, parameter_kinds[i])) return true;
  Type *data = evaluate_type(scope, inner);
  if (data && data->kind == TYPE_STREAM) {
    problem(type->location, "value-type", "a stream is state; it cannot be a parameter");
    return false;
  }
  return data != NULL;
}
