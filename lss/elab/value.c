// Construction, text and comparison of compile-time values.
#include "lss/elab/value.h"

#include "lss/base/arena.h"
#include "lss/base/units.h"
#include "lss/elab/elaborate.h"
#include "lss/runtime/text/json.h"

#include <string.h>

Value *value_new(ValueKind kind, Location location) {
  Value *value = arena_new(Value);
  value->kind = kind;
  value->location = location;
  return value;
}

Value *value_int(int64_t integer, Location location) {
  Value *value = value_new(VALUE_INT, location);
  value->integer = integer;
  return value;
}

Value *value_bool(bool truth, Location location) {
  Value *value = value_new(VALUE_BOOL, location);
  value->integer = truth;
  return value;
}

Value *value_float(double real, Location location) {
  Value *value = value_new(VALUE_FLOAT, location);
  value->real = real;
  return value;
}

Value *value_string(const char *text, Location location) {
  Value *value = value_new(VALUE_STRING, location);
  value->string = text;
  return value;
}

Value *value_quantity(Dimension dimension, int64_t num, int64_t den, Location location) {
  Value *value = value_new(VALUE_QUANTITY, location);
  value->dimension = dimension;
  value->num = num;
  value->den = den;
  return value;
}

Value *value_list(Location location) {
  Value *value = value_new(VALUE_LIST, location);
  value->items = arena_array();
  return value;
}

Value *value_record(Location location) {
  Value *value = value_new(VALUE_RECORD, location);
  value->items = arena_array();
  value->names = arena_array();
  return value;
}

Value *value_type(Type *type, Location location) {
  Value *value = value_new(VALUE_TYPE, location);
  value->type = type;
  return value;
}

int64_t value_size(const Value *value) {
  return value->kind == VALUE_LIST || value->kind == VALUE_RECORD ? value->num : 1;
}

Value *value_at(const Value *value, Location location) {
  Value *copy = value_new(value->kind, location);
  *copy = *value;
  copy->location = location;
  return copy;
}

// The depth is kept in `integer` and the size in `num`, which lists and records do not use otherwise.  A list may hold
// one list many times over: walking it takes as long as its size, not as what was built.
static int64_t depth_of(const Value *item) {
  return item->kind == VALUE_LIST || item->kind == VALUE_RECORD ? item->integer : 0;
}

static bool close_with(Value *value, int64_t depth, int64_t size, Location where) {
  enum { MAX_DEPTH = 100, MAX_SIZE = 1 << 24 };
  value->integer = depth + 1;
  value->num = size;
  if (depth < MAX_DEPTH && size <= MAX_SIZE) return true;
  if (depth >= MAX_DEPTH)
    problem(where, "runaway", "lists and records are nested more than %d deep", MAX_DEPTH);
  else
    problem(where, "runaway", "a list or record holds more than %d values in all", MAX_SIZE);
  return false;
}

bool value_close(Value *value, Location where) {
  int64_t depth = 0, size = 1;
  for (guint i = 0; i < value->items->len; i++) {
    depth = MAX(depth, depth_of(value->items->pdata[i]));
    size += value_size(value->items->pdata[i]);
  }
  return close_with(value, depth, size, where);
}

bool value_add(Value *list, Value *item, Location where) {
  g_ptr_array_add(list->items, item);
  return close_with(list, MAX(list->integer - 1, depth_of(item)), list->num + value_size(item), where);
}

bool value_replace(Value *list, guint n, Value *item, Location where) {
  const int64_t before = value_size(list->items->pdata[n]);
  list->items->pdata[n] = item;
  return close_with(list, MAX(list->integer - 1, depth_of(item)), list->num - before + value_size(item), where);
}

Value *value_field(const Value *record, const char *name) {
  for (guint i = 0; i < record->names->len; i++)
    if (!strcmp(record->names->pdata[i], name)) return record->items->pdata[i];
  return NULL;
}

const char *value_kind_text(const Value *value) {
  switch (value->kind) {
  case VALUE_INT: return "an integer";
  case VALUE_BOOL: return "a bool";
  case VALUE_FLOAT: return "a float";
  case VALUE_STRING: return "a string";
  case VALUE_QUANTITY: return arena_printf("a %s", dimension_name(value->dimension));
  case VALUE_ENUM: return arena_printf("a value of enum %s", value->type->name);
  case VALUE_LIST: return "a list";
  case VALUE_RECORD: return value->type ? arena_printf("a record of %s", value->type->name) : "a record";
  case VALUE_CLOCK: return "a clock";
  case VALUE_TYPE: return "a type";
  case VALUE_MODULE: return arena_printf("the module `%s`", value->string);
  case VALUE_CODE: return "C code";
  }
  return "a value";
}

static void print(GString *out, const Value *value) {
  switch (value->kind) {
  case VALUE_INT: g_string_append_printf(out, "%" G_GINT64_FORMAT, value->integer); break;
  case VALUE_BOOL: g_string_append(out, value->integer ? "true" : "false"); break;
  case VALUE_FLOAT: {
    const gsize begin = out->len;
    json_real_text(out, value->real);
    if (!strpbrk(out->str + begin, ".e")) g_string_append(out, ".0"); // floats are finite here
    break;
  }
  case VALUE_STRING: {
    g_autofree char *escaped = g_strescape(value->string, NULL);
    g_string_append_printf(out, "\"%s\"", escaped);
    break;
  }
  case VALUE_QUANTITY: g_string_append(out, quantity_text(value->dimension, value->num, value->den)); break;
  case VALUE_ENUM:
    for (guint i = 0; i < value->type->enumerators->len; i++) {
      Enumerator *e = value->type->enumerators->pdata[i];
      if (e->value != value->integer) continue;
      g_string_append_printf(out, "%s.%s", value->type->name, e->name);
      return;
    }
    g_string_append_printf(out, "%s(%" G_GINT64_FORMAT ")", value->type->name, value->integer);
    break;
  case VALUE_LIST:
  case VALUE_RECORD:
    g_string_append(out, value->kind == VALUE_LIST ? "[" : "{ ");
    for (guint i = 0; i < value->items->len; i++) {
      if (i) g_string_append(out, ", ");
      if (out->len > TEXT_LIMIT) break;
      if (value->kind == VALUE_RECORD) g_string_append_printf(out, "%s = ", (const char *)value->names->pdata[i]);
      print(out, value->items->pdata[i]);
    }
    g_string_append(out, value->kind == VALUE_LIST ? "]" : " }");
    break;
  case VALUE_CLOCK: g_string_append(out, value->clock->name); break;
  case VALUE_TYPE: g_string_append(out, value->type->name); break;
  case VALUE_MODULE:
    g_string_append(out, value->string);
    for (guint i = 0; value->items && i < value->items->len; i++) {
      g_string_append_printf(out, "%s%s = ", i ? ", " : "(", (const char *)value->names->pdata[i]);
      print(out, value->items->pdata[i]);
    }
    if (value->items) g_string_append_c(out, ')');
    break;
  case VALUE_CODE: g_string_append_printf(out, "<<<%s>>>", value->string); break;
  }
}

char *value_text(const Value *value) {
  g_autoptr(GString) out = g_string_new(NULL);
  print(out, value);
  return arena_strndup(out->str, out->len);
}

const char *value_range_text(const Value *least, const Value *most) {
  if (!least && !most) return NULL;
  if (!most) return arena_printf("at least %s", value_text(least));
  if (!least) return arena_printf("at most %s", value_text(most));
  return arena_printf("%s to %s", value_text(least), value_text(most));
}

// Whether two records, or the settings of two modules, have equal fields.
static bool fields_equal(const Value *a, const Value *b) {
  const guint count = a->items ? a->items->len : 0;
  if (count != (b->items ? b->items->len : 0)) return false;
  for (guint i = 0; i < count; i++) {
    const Value *other = value_field(b, a->names->pdata[i]);
    if (!other || !value_equal(a->items->pdata[i], other)) return false;
  }
  return true;
}

bool value_equal(const Value *a, const Value *b) {
  if (a == b) return true;
  if (a->kind != b->kind) {
    if (a->kind == VALUE_INT && b->kind == VALUE_FLOAT) return (double)a->integer == b->real;
    if (a->kind == VALUE_FLOAT && b->kind == VALUE_INT) return a->real == (double)b->integer;
    return false;
  }
  switch (a->kind) {
  case VALUE_INT:
  case VALUE_BOOL: return a->integer == b->integer;
  case VALUE_ENUM: return a->type == b->type && a->integer == b->integer;
  case VALUE_FLOAT: return a->real == b->real;
  case VALUE_STRING:
  case VALUE_CODE: return !strcmp(a->string, b->string);
  case VALUE_MODULE: return !strcmp(a->string, b->string) && fields_equal(a, b);
  case VALUE_QUANTITY: return a->dimension == b->dimension && rational_compare(a->num, a->den, b->num, b->den) == 0;
  case VALUE_LIST:
    if (a->items->len != b->items->len) return false;
    for (guint i = 0; i < a->items->len; i++)
      if (!value_equal(a->items->pdata[i], b->items->pdata[i])) return false;
    return true;
  case VALUE_RECORD: return fields_equal(a, b);
  case VALUE_CLOCK: return a->clock == b->clock;
  case VALUE_TYPE: return a->type == b->type;
  }
  return false;
}

int value_order(const Value *a, const Value *b) {
  if (a->kind == VALUE_QUANTITY) return rational_compare(a->num, a->den, b->num, b->den);
  if (a->kind == VALUE_FLOAT) return (a->real > b->real) - (a->real < b->real);
  return (a->integer > b->integer) - (a->integer < b->integer);
}

bool value_base_count(const Value *quantity, bool exact, int64_t *count) {
  int64_t scale = quantity->dimension == DIM_TIME ? 1000000000000000 : 1;
  __int128 n = (__int128)quantity->num * scale;
  if (exact && n % quantity->den != 0) return false;
  n /= quantity->den;
  if (n > G_MAXINT64 || n < G_MININT64) return false;
  *count = (int64_t)n;
  return true;
}
