// Types of LSS as C: which definitions a unit needs, in order, and how large they are.
#include "lss/emit/emit.h"

#include <string.h>

// Names of types that functions of the generated code give to their parameters: there they are called otherwise.
static bool is_hidden(const char *name) {
  static const char *const parameters[] = {"ctx", "i", "id", "p", "present", "r", "s", "w", "x", NULL};
  return g_strv_contains(parameters, name);
}

const char *emit_c_type(const Type *type) {
  switch (type->kind) {
  case TYPE_STRING: return "const char *";
  case TYPE_STREAM: return "spinach_stream";
  default: break;
  }
  if (!is_hidden(type->c_name)) return type->c_name;
  g_autofree char *unhidden = g_strconcat("spinach_called_", type->c_name, NULL);
  return g_intern_string(unhidden);
}

// Several types share a C type, so descriptors are called after what the user calls the type.
char *emit_type_symbol(const Type *type) {
  const bool declared = type->kind == TYPE_STRUCT || type->kind == TYPE_PACKED || type->kind == TYPE_ENUM;
  const char *name = declared ? type->c_name : type->name;
  GString *symbol = g_string_new("spinach_type_");
  for (const char *c = name; *c; c++) g_string_append_c(symbol, g_ascii_isalnum(*c) ? *c : '_');
  return g_string_free(symbol, FALSE);
}

void emit_type_declarations(GString *out, const Netlist *netlist, GHashTable *types) {
  for (guint i = 0; i < netlist->types->len; i++) {
    Type *type = netlist->types->pdata[i];
    if (!g_hash_table_contains(types, type)) continue;
    g_autofree char *symbol = emit_type_symbol(type);
    g_string_append_printf(out, "extern const struct spinach_type %s;\n", symbol);
  }
}

static void emit_collect_type(GHashTable *types, Type *type) {
  if (!type || !g_hash_table_add(types, type)) return;
  for (guint i = 0; type->fields && i < type->fields->len; i++)
    emit_collect_type(types, ((Field *)type->fields->pdata[i])->type);
  emit_collect_type(types, type->element);
}

static void collect_value_types(GHashTable *types, const Value *value) {
  if (!value) return;
  if (value->kind == VALUE_ENUM || value->kind == VALUE_RECORD) emit_collect_type(types, value->type);
  for (guint i = 0; value->items && i < value->items->len; i++) collect_value_types(types, value->items->pdata[i]);
}

void emit_collect_instance_types(GHashTable *types, Instance *instance) {
  for (guint i = 0; i < instance->ports->len; i++) emit_collect_type(types, ((Port *)instance->ports->pdata[i])->type);
  for (guint i = 0; i < instance->state->len; i++) {
    StateField *field = instance->state->pdata[i];
    emit_collect_type(types, field->type);
    collect_value_types(types, field->initial);
  }
  for (guint i = 0; i < instance->locals->len; i++)
    emit_collect_type(types, ((Local *)instance->locals->pdata[i])->type);
  for (guint i = 0; i < instance->parameters->len; i++) {
    Parameter *parameter = instance->parameters->pdata[i];
    emit_collect_type(types, parameter->record_type);
    collect_value_types(types, parameter->value);
  }
  for (guint i = 0; i < instance->userpoints->len; i++) {
    Userpoint *userpoint = instance->userpoints->pdata[i];
    emit_collect_type(types, userpoint->result);
    for (guint j = 0; j < userpoint->arguments->len; j++)
      emit_collect_type(types, ((Field *)userpoint->arguments->pdata[j])->type);
  }
  for (guint i = 0; i < instance->events->len; i++) {
    Event *event = instance->events->pdata[i];
    for (guint j = 0; j < event->arguments->len; j++)
      emit_collect_type(types, ((Field *)event->arguments->pdata[j])->type);
  }
  for (guint i = 0; i < instance->type_variables->len; i++)
    emit_collect_type(types, ((Field *)instance->type_variables->pdata[i])->type);
}

// Inside structs an array is a C array; elsewhere it is a struct that holds one.
void emit_field(GString *out, const char *name, const Type *type, const GArray *dimensions) {
  GString *suffix = g_string_new(NULL);
  for (guint i = 0; dimensions && i < dimensions->len; i++)
    g_string_append_printf(suffix, "[%d]", MAX(g_array_index(dimensions, int, i), 1));
  if (!dimensions)
    for (; type->kind == TYPE_ARRAY; type = type->element) g_string_append_printf(suffix, "[%d]", type->length);
  g_string_append_printf(out, "  %s %s%s;\n", emit_c_type(type), name, suffix->str);
  g_string_free(suffix, TRUE);
}

// A function that reads a member, one that gives the word with another value in it, and a macro for the bits of a value
// in it, which is constant where the value is.  Types may be called as their arguments would be.
static void emit_member(GString *out, const Type *type, const Field *member) {
  const char *word = type->c_name, *name = member->name, *value = emit_c_type(member->type);
  g_autofree char *mask = g_strdup_printf("UINT64_C(0x%" G_GINT64_MODIFIER "x)", G_MAXUINT64 >> (64 - member->bits));
  g_string_append_printf(out, "#define %s_of_%s(spinach_v) ((%s)(((uint64_t)(spinach_v) & %s) << %d))\n", word, name,
                         word, mask, member->first);
  g_string_append_printf(out, "static inline %s %s_%s(%s spinach_w) { return (%s)(spinach_w >> %d & %s); }\n", value,
                         word, name, word, value, member->first, mask);
  g_string_append_printf(out, "static inline %s %s_set_%s(%s spinach_w, %s spinach_v) {\n", word, word, name, word,
                         value);
  g_string_append_printf(out, "  return (%s)((spinach_w & ~(%s << %d)) | %s_of_%s(spinach_v));\n}\n", word, mask,
                         member->first, word, name);
}

static void emit_definition(GString *out, const Type *type) {
  switch (type->kind) {
  case TYPE_BITS:
    if (type->bits > 64)
      g_string_append_printf(out, "typedef struct { uint64_t w[%d]; } %s;\n", (type->bits + 63) / 64, type->c_name);
    break;
  case TYPE_ENUM:
    g_string_append(out, "typedef enum {");
    for (guint i = 0; i < type->enumerators->len; i++) {
      Enumerator *e = type->enumerators->pdata[i];
      g_string_append_printf(out, " %s_%s = %" G_GINT64_FORMAT ",", type->c_name, e->name, e->value);
    }
    g_string_append_printf(out, " } %s;\n", type->c_name);
    break;
  case TYPE_PACKED:
    g_string_append_printf(out, "typedef %s %s;\n", emit_c_type(type->element), type->c_name);
    for (guint i = 0; i < type->fields->len; i++) emit_member(out, type, type->fields->pdata[i]);
    break;
  case TYPE_STRUCT:
    g_string_append(out, "typedef struct {\n");
    for (guint i = 0; i < type->fields->len; i++) {
      Field *field = type->fields->pdata[i];
      emit_field(out, field->name, field->type, NULL);
    }
    g_string_append_printf(out, "} %s;\n", type->c_name);
    break;
  case TYPE_ARRAY:
    g_string_append_printf(out, "typedef struct { %s v[%d]; } %s;\n", emit_c_type(type->element), type->length,
                           type->c_name);
    break;
  default: break;
  }
}

static void emit_type(GString *out, const Type *type) {
  emit_definition(out, type);
  const char *name = emit_c_type(type);
  if (strcmp(name, type->c_name) != 0) g_string_append_printf(out, "typedef %s %s;\n", type->c_name, name);
}

void emit_types(GString *out, const Netlist *netlist, GHashTable *types, GHashTable *already) {
  for (guint i = 0; i < netlist->types->len; i++) {
    Type *type = netlist->types->pdata[i];
    if (!g_hash_table_contains(types, type) || (already && !g_hash_table_add(already, type))) continue;
    emit_type(out, type);
  }
}
