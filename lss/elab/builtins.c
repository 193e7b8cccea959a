// The built-in functions of LSS.
#include "lss/base/arena.h"
#include "lss/base/csv.h"
#include "lss/base/diagnostics.h"
#include "lss/base/source.h"
#include "lss/base/units.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"

#include <math.h>
#include <string.h>

enum { CSV_LIMIT = 1 << 26 }; // bytes of a table

#define ARGUMENT(n) ((Value *)arguments->pdata[n])

static Value *wrong(const char *function, const char *wanted, const Value *got, Location where) {
  const char *kind = got->kind == VALUE_TYPE ? arena_printf("the type %s", got->type->name) : value_kind_text(got);
  problem(where, "value-type", "%s() takes %s, not %s", function, wanted, kind);
  return NULL;
}

static Value *length(GPtrArray *arguments, Location where) {
  Value *v = ARGUMENT(0);
  if (v->kind == VALUE_LIST) return value_int(v->items->len, where);
  if (v->kind == VALUE_STRING) return value_int((int64_t)strlen(v->string), where);
  return wrong("length", "a list or a string", v, where);
}

static Value *append(GPtrArray *arguments, Location where) {
  Value *v = ARGUMENT(0);
  if (v->kind != VALUE_LIST) return wrong("append", "a list first", v, where);
  if (!charge((int)v->items->len, where)) return NULL;
  Value *list = value_list(where);
  for (guint i = 0; i < v->items->len; i++) g_ptr_array_add(list->items, v->items->pdata[i]);
  g_ptr_array_add(list->items, ARGUMENT(1));
  return value_close(list, where) ? list : NULL;
}

static Value *extreme(GPtrArray *arguments, Location where, int op) {
  Value *less = operator_binary(op, ARGUMENT(0), ARGUMENT(1), where);
  return !less ? NULL : less->integer ? ARGUMENT(0) : ARGUMENT(1);
}
static Value *minimum(GPtrArray *arguments, Location where) {
  return extreme(arguments, where, '<');
}
static Value *maximum(GPtrArray *arguments, Location where) {
  return extreme(arguments, where, '>');
}

static Value *absolute(GPtrArray *arguments, Location where) {
  Value *v = ARGUMENT(0);
  bool negative = v->kind == VALUE_INT     ? v->integer < 0
                  : v->kind == VALUE_FLOAT ? v->real < 0
                                           : v->kind == VALUE_QUANTITY && v->num < 0;
  if (v->kind != VALUE_INT && v->kind != VALUE_FLOAT && v->kind != VALUE_QUANTITY)
    return wrong("abs", "a number", v, where);
  return negative ? operator_unary('-', v, where) : v;
}

// Integers, and sizes in bytes: both are asked for powers of two.
static bool whole(const Value *v, int64_t *n) {
  if (v->kind == VALUE_INT) {
    *n = v->integer;
    return true;
  }
  return v->kind == VALUE_QUANTITY && v->dimension == DIM_SIZE && value_base_count(v, true, n);
}

static Value *logarithm(GPtrArray *arguments, Location where) {
  int64_t n;
  if (!whole(ARGUMENT(0), &n)) return wrong("log2", "an integer or a size of whole bytes", ARGUMENT(0), where);
  if (n < 1) {
    problem(where, "value-type", "log2() of %" G_GINT64_FORMAT " does not exist; it takes 1 or more", n);
    return NULL;
  }
  return value_int(n == 1 ? 0 : 64 - __builtin_clzll((unsigned long long)(n - 1)), where);
}

static Value *power_of_two(GPtrArray *arguments, Location where) {
  int64_t n;
  if (!whole(ARGUMENT(0), &n))
    return wrong("is_power_of_two", "an integer or a size of whole bytes", ARGUMENT(0), where);
  return value_bool(n > 0 && (n & (n - 1)) == 0, where);
}

static Value *to_int(GPtrArray *arguments, Location where) {
  Value *v = ARGUMENT(0);
  int64_t n;
  switch (v->kind) {
  case VALUE_INT: return v;
  case VALUE_BOOL:
  case VALUE_ENUM: return value_int(v->integer, where);
  case VALUE_FLOAT:
    if (!(fabs(v->real) < 9.2e18)) break;
    return value_int((int64_t)v->real, where);
  case VALUE_QUANTITY:
    if (!value_base_count(v, false, &n)) break;
    return value_int(n, where);
  default: return wrong("int", "a number, a bool, an enum value or a quantity", v, where);
  }
  problem(where, "overflow", "the result does not fit into 64 bits");
  return NULL;
}

static Value *to_float(GPtrArray *arguments, Location where) {
  Value *v = ARGUMENT(0);
  if (v->kind == VALUE_FLOAT) return v;
  if (v->kind == VALUE_INT) return value_float((double)v->integer, where);
  if (v->kind == VALUE_QUANTITY)
    return value_float((double)v->num / (double)v->den * (v->dimension == DIM_TIME ? 1e15 : 1), where);
  return wrong("float", "a number or a quantity", v, where);
}

static Value *to_string(GPtrArray *arguments, Location where) {
  Value *v = ARGUMENT(0);
  if (v->kind == VALUE_STRING) return v;
  char *text = value_text(v);
  if (strlen(text) > TEXT_LIMIT) {
    problem(where, "overflow", "the text of this value is longer than %d characters", TEXT_LIMIT);
    return NULL;
  }
  return charge((int)strlen(text) / 16, where) ? value_string(text, where) : NULL;
}

static Value *range(GPtrArray *arguments, Location where) {
  Value *v = ARGUMENT(0);
  if (v->kind != VALUE_INT) return wrong("range", "an integer", v, where);
  if (!charge((int)CLAMP(v->integer, 0, G_MAXINT), where)) return NULL;
  Value *list = value_list(where);
  for (int64_t i = 0; i < v->integer; i++) g_ptr_array_add(list->items, value_int(i, where));
  return value_close(list, where) ? list : NULL;
}

static int64_t type_bits(const Type *type) {
  int64_t bits = 0;
  switch (type->kind) {
  case TYPE_BOOL: return 1;
  case TYPE_INT:
  case TYPE_UINT:
  case TYPE_BITS:
  case TYPE_PACKED:
  case TYPE_FLOAT: return type->bits;
  case TYPE_ENUM: return 32;
  case TYPE_ARRAY: return type_bits(type->element) * type->length;
  case TYPE_STRUCT:
    for (guint i = 0; i < type->fields->len; i++) bits += type_bits(((Field *)type->fields->pdata[i])->type);
    return bits;
  default: return 0;
  }
}

static bool holds_text(const Type *type) {
  if (type->kind == TYPE_STRING || type->kind == TYPE_STREAM) return true;
  if (type->kind == TYPE_ARRAY) return holds_text(type->element);
  for (guint i = 0; type->kind == TYPE_STRUCT && i < type->fields->len; i++)
    if (holds_text(((Field *)type->fields->pdata[i])->type)) return true;
  return false;
}

static Value *size_of(GPtrArray *arguments, Location where) {
  Value *v = ARGUMENT(0);
  if (v->kind != VALUE_TYPE || holds_text(v->type)) return wrong("sizeof", "a type that can be sent", v, where);
  return value_int((int64_t)type_size(v->type, NULL), where);
}

static Value *bits_of(GPtrArray *arguments, Location where) {
  Value *v = ARGUMENT(0);
  if (v->kind != VALUE_TYPE || holds_text(v->type)) return wrong("bits_of", "a type that can be sent", v, where);
  return value_int(type_bits(v->type), where);
}

static Value *lane_of(GPtrArray *arguments, Location where) {
  const Value *keys = ARGUMENT(0), *key = ARGUMENT(1);
  if (keys->kind != VALUE_LIST) return wrong("lane_of", "a list of keys first", keys, where);
  if (key->kind != VALUE_STRING) return wrong("lane_of", "a key, which is a string, second", key, where);
  if (!charge((int)keys->items->len, where)) return NULL;
  g_autoptr(GPtrArray) known = g_ptr_array_new();
  int64_t found = -1;
  for (guint i = 0; i < keys->items->len; i++) {
    const Value *item = keys->items->pdata[i];
    if (item->kind != VALUE_STRING) return wrong("lane_of", "keys that are strings", item, where);
    g_ptr_array_add(known, (gpointer)item->string);
    if (strcmp(item->string, key->string) != 0) continue;
    if (found >= 0) {
      problem(where, "ambiguous-key", "lanes %d and %u both have the key \"%s\"", (int)found, i, key->string);
      return NULL;
    }
    found = i;
  }
  if (found >= 0) return value_int(found, where);
  problem(where, "unknown-key", "no lane has the key \"%s\"%s", key->string,
          did_you_mean(diag_suggestion(key->string, known)));
  return NULL;
}

// ---- Tables in files -----------------------------------------------------------------------------------------------

// The path of a file whose name stands in a source, beside that source; a name with -D is that of the working
// directory.
static const char *beside(const Value *name) {
  const char *source = name->location.file;
  if (g_path_is_absolute(name->string) || !source || !g_ptr_array_find(compile->netlist->sources, source, NULL))
    return name->string;
  g_autofree char *folder = g_path_get_dirname(source), *path = g_build_filename(folder, name->string, NULL);
  return strcmp(folder, ".") == 0 ? name->string : arena_strdup(path);
}

// A number as LSS has it, perhaps with a unit, or true or false; everything else is a string.
static Value *cell_value(const CsvCell *cell) {
  const gsize length = strlen(cell->text), sign = cell->text[0] == '-', digits = number_length(cell->text + sign);
  const char *unit = cell->text + sign + digits;
  while (*unit == ' ' || *unit == '\t') unit++;
  const bool number = digits > 0 && (!*unit || unit_find(unit)),
             truth = !strcmp(cell->text, "true") || !strcmp(cell->text, "false");
  if (cell->quoted || (!number && !truth)) return value_string(cell->text, cell->place);
  Expr *expr = parse_expression(cell->text, length, cell->place);
  return expr ? evaluate(compile->globals, expr) : NULL;
}

static bool is_column_name(const CsvCell *cell, const Value *record) {
  const bool begins = g_ascii_isalpha(*cell->text) || *cell->text == '_',
             word = strspn(cell->text, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_") == strlen(cell->text);
  const Expr *name = begins && word ? parse_expression(cell->text, strlen(cell->text), cell->place) : NULL;
  if (begins && word && !name) return false; // it is a reserved word
  if (!name || name->kind != EXPR_NAME) {
    problem(cell->place, "csv", "the first line has the names of columns, which are identifiers, not \"%s\"",
            cell->text);
    return false;
  }
  for (guint i = 0; i < record->names->len; i++) {
    if (strcmp(record->names->pdata[i], cell->text) != 0) continue;
    problem(cell->place, "csv", "two columns are called `%s`", cell->text);
    return false;
  }
  return true;
}

// A row as a record with the names of the columns; NULL after an error.
static Value *row_value(const Csv *csv, const GArray *cells, GPtrArray *names) {
  if (cells->len != names->len) {
    problem(csv->place, "csv", "a row has %u values, one for each column, not %u", names->len, cells->len);
    return NULL;
  }
  Value *record = value_record(csv->place);
  record->names = names;
  for (guint i = 0; i < cells->len; i++) {
    Value *value = cell_value(&g_array_index(cells, CsvCell, i));
    if (!value) return NULL;
    g_ptr_array_add(record->items, value);
  }
  return charge(1 + (int)cells->len, csv->place) && value_close(record, csv->place) ? record : NULL;
}

static Value *table_value(Csv *csv, GArray *cells, Location where) {
  Value *header = value_record(where), *list = value_list(where);
  if (!csv_row(csv, cells) && !csv->fault) {
    problem((Location){.file = csv->path}, "csv", "this table is empty; its first line has the names of columns");
    return NULL;
  }
  for (guint i = 0; !csv->fault && i < cells->len; i++) {
    const CsvCell *cell = &g_array_index(cells, CsvCell, i);
    if (!is_column_name(cell, header)) return NULL;
    g_ptr_array_add(header->names, (gpointer)cell->text);
  }
  while (!csv->fault && csv_row(csv, cells)) {
    Value *row = row_value(csv, cells, header->names);
    if (!row) return NULL;
    g_ptr_array_add(list->items, row);
  }
  if (csv->fault) {
    problem(csv->fault_place, "csv", "%s", csv->fault);
    return NULL;
  }
  return value_close(list, where) ? list : NULL;
}

static Value *read_csv(GPtrArray *arguments, Location where) {
  const Value *name = ARGUMENT(0);
  if (name->kind != VALUE_STRING) return wrong("read_csv", "the name of a file", name, where);
  const char *path = g_intern_string(beside(name));
  gsize length;
  g_autoptr(GError) error = NULL;
  g_autofree char *text = source_read(path, &length, &error);
  if (!text) {
    const bool missing = g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT);
    problem(where, "csv", "cannot read %s: %s", path, missing ? "there is no such file" : error->message);
    return NULL;
  }
  if (!g_ptr_array_find(compile->netlist->sources, path, NULL))
    g_ptr_array_add(compile->netlist->sources, (gpointer)path);
  const char *wrongly = length > CSV_LIMIT                             ? "this table is larger than 64 MiB"
                        : !g_utf8_validate(text, (gssize)length, NULL) ? "this table is not a text in UTF-8"
                                                                       : NULL;
  if (wrongly) {
    problem((Location){.file = path}, "csv", "%s", wrongly);
    return NULL;
  }
  g_autoptr(GArray) cells = g_array_new(FALSE, FALSE, sizeof(CsvCell));
  Csv csv = csv_begin(path, text);
  return table_value(&csv, cells, where);
}

static const struct {
  const char *name;
  Builtin function;
  int least, most;
} table[] = {
    {"length", length, 1, 1},
    {"append", append, 2, 2},
    {"min", minimum, 2, 2},
    {"max", maximum, 2, 2},
    {"abs", absolute, 1, 1},
    {"log2", logarithm, 1, 1},
    {"is_power_of_two", power_of_two, 1, 1},
    {"int", to_int, 1, 1},
    {"float", to_float, 1, 1},
    {"string", to_string, 1, 1},
    {"range", range, 1, 1},
    {"sizeof", size_of, 1, 1},
    {"bits_of", bits_of, 1, 1},
    {"lane_of", lane_of, 2, 2},
    {"read_csv", read_csv, 1, 1},
};

Builtin builtin_find(const char *name, int *least, int *most) {
  for (guint i = 0; i < G_N_ELEMENTS(table); i++) {
    if (strcmp(table[i].name, name) != 0) continue;
    *least = table[i].least;
    *most = table[i].most;
    return table[i].function;
  }
  return NULL;
}

void builtin_names(GPtrArray *names) {
  for (guint i = 0; i < G_N_ELEMENTS(table); i++) g_ptr_array_add(names, (gpointer)table[i].name);
}
