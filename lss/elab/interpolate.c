// C code as a value: the text between <<< and >>>, with the values of ${expressions} in it.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"

static void append_c(GString *out, const Value *value, Location where) {
  int64_t count;
  switch (value->kind) {
  case VALUE_INT:
    g_string_append_printf(out, "%" G_GINT64_FORMAT "%s", value->integer,
                           value->integer > G_MAXINT32 || value->integer < G_MININT32 ? "LL" : "");
    return;
  case VALUE_BOOL: g_string_append(out, value->integer ? "1" : "0"); return;
  case VALUE_FLOAT:
  case VALUE_TYPE: g_string_append(out, value->kind == VALUE_TYPE ? value->type->c_name : value_text(value)); return;
  case VALUE_ENUM: {
    const char *text = value_text(value);
    for (; *text; text++) g_string_append_c(out, *text == '.' ? '_' : *text);
    return;
  }
  case VALUE_STRING: {
    g_autofree char *escaped = g_strescape(value->string, NULL);
    g_string_append_printf(out, "\"%s\"", escaped);
    return;
  }
  case VALUE_QUANTITY:
    if (value->dimension == DIM_FRACTION) {
      char text[G_ASCII_DTOSTR_BUF_SIZE];
      g_string_append(out, g_ascii_dtostr(text, sizeof text, (double)value->num / (double)value->den));
    } else if (value_base_count(value, false, &count)) {
      g_string_append_printf(out, "%" G_GINT64_FORMAT "LL", count);
    } else {
      problem(where, "overflow", "%s does not fit into 64 bits", value_text(value));
    }
    return;
  case VALUE_LIST:
    g_string_append(out, "{");
    for (guint i = 0; i < value->items->len; i++) {
      if (i) g_string_append(out, ", ");
      append_c(out, value->items->pdata[i], where);
    }
    g_string_append(out, "}");
    return;
  case VALUE_RECORD:
    g_string_append(out, "{");
    for (guint i = 0; i < value->items->len; i++) {
      g_string_append_printf(out, "%s.%s = ", i ? ", " : "", (const char *)value->names->pdata[i]);
      append_c(out, value->items->pdata[i], where);
    }
    g_string_append(out, "}");
    return;
  case VALUE_CODE: g_string_append(out, value->string); return;
  case VALUE_CLOCK:
  case VALUE_MODULE: problem(where, "value-type", "%s cannot be put into C code", value_kind_text(value)); return;
  }
}

Value *evaluate_code(Scope *scope, Expr *expr) {
  Value *code = value_new(VALUE_CODE, expr->location);
  g_autoptr(GString) out = g_string_new(NULL);
  for (guint i = 0; i < expr->items->len; i++) {
    Expr *piece = expr->items->pdata[i];
    if (i % 2 == 0) {
      g_string_append(out, piece->text);
      continue;
    }
    Value *value = evaluate(scope, piece);
    if (!value || !charge((int)value_size(value) - 1, piece->location)) return NULL;
    append_c(out, value, piece->location);
  }
  if (!charge((int)(out->len / 16), expr->location)) return NULL;
  code->string = arena_strdup(out->str);
  return code;
}
