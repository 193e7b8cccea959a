// Values of parameters and initial states as C.
#include "lss/emit/emit.h"

#include <string.h>

void emit_c_string(GString *out, const char *text) {
  g_string_append_c(out, '"');
  for (const char *c = text; *c; c++) {
    if (*c == '"' || *c == '\\')
      g_string_append_printf(out, "\\%c", *c);
    else if (*c == '\n')
      g_string_append(out, "\\n");
    else if ((unsigned char)*c < ' ' || *c == '?')
      g_string_append_printf(out, "\\%03o", (unsigned char)*c);
    else
      g_string_append_c(out, *c);
  }
  g_string_append_c(out, '"');
}

void emit_quoted(GString *out, const char *text) {
  if (text)
    emit_c_string(out, text);
  else
    g_string_append(out, "NULL");
}

// The place that clang should name for what follows.
void emit_line(GString *out, Location location) {
  g_string_append_printf(out, "\n#line %d ", MAX(location.line, 1));
  emit_c_string(out, location.file ? location.file : "unknown");
  g_string_append_c(out, '\n');
}

// What is before this is complete: inside a brace that the file forgot, clang refuses the declaration, at that place.
void emit_closed(GString *out, const char *file, int line) {
  emit_line(out, (Location){.file = file, .line = line});
  g_string_append(out, "static void spinach_closed(void);\n#line 1 \"generated\"\n");
}

// The user's C, in its own line and column.
void emit_code(GString *out, const Value *code) {
  if (!code) return;
  emit_line(out, code->location);
  g_string_append_printf(out, "%*s%s", code->location.column - 1 + (int)strlen("<<<"), "", code->string);
}

// The same as the body of a function whose brace is open.
void emit_body(GString *out, const Value *code) {
  if (code) {
    Location where = code->location;
    emit_code(out, code);
    emit_line(out, (Location){.file = where.file, .line = where.end_line});
    g_string_append_printf(out, "%*s}\n", MAX(where.end_column - 1 - (int)strlen(">>>"), 0), "");
    emit_closed(out, where.file, where.end_line);
  } else {
    g_string_append(out, "}\n#line 1 \"generated\"\n");
  }
}

static void emit_integer(GString *out, gint64 n) {
  if (n == G_MININT64)
    g_string_append(out, "(-0x7fffffffffffffffLL - 1)");
  else if (n > G_MAXINT32 || n < -G_MAXINT32)
    g_string_append_printf(out, n < 0 ? "(%" G_GINT64_FORMAT "LL)" : "%" G_GINT64_FORMAT "LL", n);
  else
    g_string_append_printf(out, n < 0 ? "(%" G_GINT64_FORMAT ")" : "%" G_GINT64_FORMAT, n);
}

static void emit_real(GString *out, double real) {
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_dtostr(text, sizeof text, real);
  g_string_append_printf(out, strpbrk(text, ".en") ? "(%s)" : "(%s.0)", text);
}

void emit_value(GString *out, const Value *value) {
  switch (value->kind) {
  case VALUE_INT: emit_integer(out, value->integer); break;
  case VALUE_BOOL: g_string_append(out, value->integer ? "true" : "false"); break;
  case VALUE_FLOAT: emit_real(out, value->real); break;
  case VALUE_STRING: emit_c_string(out, value->string); break;
  case VALUE_QUANTITY: {
    if (value->dimension == DIM_FRACTION) {
      emit_real(out, (double)value->num / (double)value->den);
      break;
    }
    __int128 scale = value->dimension == DIM_TIME ? 1000000000000000LL : 1;
    emit_integer(out, (gint64)((__int128)value->num * scale / value->den));
    break;
  }
  case VALUE_ENUM:
    for (guint i = 0; i < value->type->enumerators->len; i++) {
      Enumerator *e = value->type->enumerators->pdata[i];
      if (e->value != value->integer) continue;
      g_string_append_printf(out, "%s_%s", value->type->c_name, e->name);
      return;
    }
    g_string_append_printf(out, "((%s)%" G_GINT64_FORMAT ")", value->type->c_name, value->integer);
    break;
  case VALUE_LIST:
    g_string_append(out, "{");
    for (guint i = 0; i < value->items->len; i++) {
      emit_value(out, value->items->pdata[i]);
      g_string_append(out, ", ");
    }
    g_string_append(out, "}");
    break;
  case VALUE_RECORD:
    g_string_append(out, "{");
    for (guint i = 0; i < value->items->len; i++) {
      g_string_append_printf(out, ".%s = ", (const char *)value->names->pdata[i]);
      emit_value(out, value->items->pdata[i]);
      g_string_append(out, ", ");
    }
    g_string_append(out, "}");
    break;
  default: g_string_append(out, "0"); break;
  }
}

// The C type of a runtime parameter in the state; NULL for strings, which are arrays of characters.
const char *emit_runtime_type(const Parameter *parameter) {
  const char *type = parameter->type_name;
  if (!strcmp(type, "bool")) return "bool";
  if (!strcmp(type, "float") || !strcmp(type, "fraction")) return "double";
  if (!strcmp(type, "string")) return NULL;
  return "int64_t";
}

// C has nothing for types, modules and code, nor for records that are of no struct.
static bool holds(const Value *value) {
  return value->kind <= VALUE_ENUM || (value->kind == VALUE_RECORD && value->type);
}

// The C type of a list's elements; NULL when C has none: they are lists, or of several kinds.
static const char *element_type(const Parameter *parameter) {
  const GPtrArray *items = parameter->value->items;
  const Value *first = items->len ? items->pdata[0] : NULL;
  for (guint i = 0; i < items->len; i++) {
    const Value *item = items->pdata[i];
    if (!holds(item) || item->kind != first->kind || item->type != first->type) return NULL;
  }
  if (first && first->type) return first->type->c_name;
  if (parameter->record_type) return parameter->record_type->c_name;
  // A list without elements has the type that it was declared with.
  const char *declared = parameter->type_name;
  const bool real = g_str_has_prefix(declared, "float") || g_str_has_prefix(declared, "fraction[");
  if (first ? first->kind == VALUE_BOOL : g_str_has_prefix(declared, "bool[")) return "bool";
  if (first ? first->kind == VALUE_STRING : g_str_has_prefix(declared, "string[")) return "char *const";
  if (first ? first->kind == VALUE_FLOAT || first->dimension == DIM_FRACTION : real) return "double";
  return "int64_t";
}

// Makes SP_param_NAME mean the value of a parameter.
void emit_parameter(GString *out, const Parameter *parameter) {
  const char *name = parameter->name;
  const Value *value = parameter->value;
  if (parameter->runtime) {
    g_string_append_printf(out,
                           emit_runtime_type(parameter) ? "#define SP_param_%s (self->rt_%s)\n"
                                                        : "#define SP_param_%s spinach_text_at(&self->rt_%s)\n",
                           name, name);
    return;
  }
  if (!value) return;
  if (value->kind == VALUE_LIST) {
    const char *type = element_type(parameter);
    if (!type) return;
    g_string_append_printf(out, "enum { @S@_length_%s = %u };\n", name, value->items->len);
    g_string_append_printf(out, "#define SP_param_length_%s @S@_length_%s\n", name, name);
    g_string_append_printf(out, "static const %s @S@_param_%s[%u] = ", type, name, MAX(value->items->len, 1u));
    if (value->items->len)
      emit_value(out, value);
    else
      g_string_append(out, "{}");
    g_string_append_printf(out, ";\n#define SP_param_%s @S@_param_%s\n", name, name);
    return;
  }
  if (value->kind != VALUE_CLOCK && !holds(value)) return;
  if (value->kind == VALUE_RECORD) {
    g_string_append_printf(out, "static const %s @S@_param_%s = ", value->type->c_name, name);
    emit_value(out, value);
    g_string_append_printf(out, ";\n#define SP_param_%s @S@_param_%s\n", name, name);
    return;
  }
  if (value->kind == VALUE_CLOCK) {
    g_string_append_printf(out, "#define SP_param_%s %" G_GINT64_FORMAT "LL\n", name,
                           value->clock ? value->clock->num / value->clock->den : 0);
    return;
  }
  g_string_append_printf(out, "#define SP_param_%s ", name);
  emit_value(out, value);
  g_string_append(out, "\n");
}

// Assigns the initial value of a state field of *self, whose memory is zero.
void emit_initial(GString *out, const StateField *field) {
  if (!field->initial) return;
  const Value *value = field->initial;
  g_autofree char *name = plan_field_name(field);
  GString *text = g_string_new(NULL);
  emit_value(text, value);
  bool scalar_zero = !strcmp(text->str, "0") || !strcmp(text->str, "false");
  if (!scalar_zero) {
    const char *type = emit_c_type(field->type);
    if (field->dimensions->len) { // a list, of one dimension
      g_string_append_printf(out,
                             "  { static const %s initial[%d] = %s; memcpy(self->%s, initial, sizeof initial); }\n",
                             type, g_array_index(field->dimensions, int, 0), text->str, name);
    } else if (plan_by_pointer(field->type)) {
      bool wrap = field->type->kind == TYPE_ARRAY;
      g_string_append_printf(out, "  self->%s = (%s)%s%s%s;\n", name, type, wrap ? "{" : "", text->str,
                             wrap ? "}" : "");
    } else {
      g_string_append_printf(out, "  self->%s = %s;\n", name, text->str);
    }
  }
  g_string_free(text, TRUE);
}

void emit_collector_include(GString *out, const Collector *collector) {
  if (!collector->include) return;
  emit_code(out, collector->include);
  g_string_append(out, "\n#line 1 \"generated\"\n");
}
