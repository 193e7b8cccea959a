// Types, interned by name, and the terms in their place until inference is done.
#include "lss/base/arena.h"
#include "lss/elab/elaborate.h"

#include <string.h>

static Type *intern(TypeKind kind, int bits, const char *name, const char *c_name) {
  Type *type = g_hash_table_lookup(compile->types, name);
  if (type) return type;
  type = arena_new(Type);
  type->kind = kind;
  type->bits = bits;
  type->name = arena_strdup(name);
  // Builtin C types are shared; what lss itself declares in C needs a name of its own.
  bool shared = kind != TYPE_STRUCT && kind != TYPE_PACKED && kind != TYPE_ENUM && kind != TYPE_ARRAY &&
                !(kind == TYPE_BITS && bits > 64);
  g_autofree char *unique = g_strdup(c_name);
  while (!shared && g_hash_table_contains(compile->c_names, unique)) {
    char *longer = g_strconcat(unique, "_", NULL);
    g_free(unique);
    unique = longer;
  }
  type->c_name = arena_strdup(unique);
  if (!shared) g_hash_table_insert(compile->c_names, (gpointer)type->c_name, type);
  type->id = (int)compile->netlist->types->len;
  g_hash_table_insert(compile->types, (gpointer)type->name, type);
  g_ptr_array_add(compile->netlist->types, type);
  return type;
}

Type *type_simple(TypeKind kind, int bits) {
  g_autofree char *name = NULL, *c_name = NULL;
  switch (kind) {
  case TYPE_BOOL: return intern(kind, 1, "bool", "bool");
  case TYPE_STRING: return intern(kind, 0, "string", "const char *");
  case TYPE_STREAM: return intern(kind, 0, "stream", "spinach_stream");
  case TYPE_FLOAT: return bits == 32 ? intern(kind, 32, "float32", "float") : intern(kind, 64, "float64", "double");
  case TYPE_BITS:
    if (bits != 8 && bits != 16 && bits != 32 && bits != 64) {
      name = g_strdup_printf("bits(%d)", bits);
      c_name = bits > 64 ? g_strdup_printf("bits_%d", bits)
                         : g_strdup(bits < 8    ? "uint8_t"
                                    : bits < 16 ? "uint16_t"
                                    : bits < 32 ? "uint32_t"
                                                : "uint64_t");
      return intern(kind, bits, name, c_name);
    }
    kind = TYPE_UINT;
    break;
  default: break;
  }
  name = g_strdup_printf("%s%d", kind == TYPE_INT ? "int" : "uint", bits);
  c_name = g_strconcat(name, "_t", NULL);
  return intern(kind, bits, name, c_name);
}

static const struct {
  const char *name;
  TypeKind kind;
  int bits;
} builtins[] = {
    {"bool", TYPE_BOOL, 1},     {"int8", TYPE_INT, 8},       {"int16", TYPE_INT, 16},     {"int32", TYPE_INT, 32},
    {"int64", TYPE_INT, 64},    {"uint8", TYPE_UINT, 8},     {"uint16", TYPE_UINT, 16},   {"uint32", TYPE_UINT, 32},
    {"uint64", TYPE_UINT, 64},  {"float32", TYPE_FLOAT, 32}, {"float64", TYPE_FLOAT, 64}, {"string", TYPE_STRING, 0},
    {"stream", TYPE_STREAM, 0},
};

Type *type_builtin(const char *name) {
  for (guint i = 0; i < G_N_ELEMENTS(builtins); i++)
    if (!strcmp(builtins[i].name, name)) return type_simple(builtins[i].kind, builtins[i].bits);
  return NULL;
}

void type_names(GPtrArray *names) {
  for (guint i = 0; i < G_N_ELEMENTS(builtins); i++) g_ptr_array_add(names, (gpointer)builtins[i].name);
}

Type *type_array(Type *element, int length) {
  g_autofree char *name = g_strdup_printf("%s[%d]", element->name, length);
  g_autofree char *c_name = g_strdup_printf("arr%d_%s", length, element->name);
  for (char *c = c_name; *c; c++)
    if (!g_ascii_isalnum(*c)) *c = '_';
  Type *type = intern(TYPE_ARRAY, 0, name, c_name);
  type->element = element;
  type->length = length;
  return type;
}

// Scalars in a value of the type; types of more than MAX_SCALARS are not made.
int64_t type_scalars(const Type *type) {
  if (type->kind != TYPE_STRUCT && type->kind != TYPE_ARRAY) return 1;
  gpointer known = g_hash_table_lookup(compile->scalars, type->name);
  if (known) return GPOINTER_TO_INT(known);
  int64_t total = 0;
  if (type->kind == TYPE_ARRAY) total = type_scalars(type->element) * type->length;
  for (guint i = 0; type->fields && i < type->fields->len; i++)
    total += type_scalars(((Field *)type->fields->pdata[i])->type);
  total = MIN(total, G_MAXINT32);
  g_hash_table_insert(compile->scalars, (gpointer)type->name, GINT_TO_POINTER((int)total));
  return total;
}

Type *type_struct(const char *name, const char *c_name, GPtrArray *fields) {
  Type *type = intern(TYPE_STRUCT, 0, name, c_name);
  if (!type->fields) type->fields = fields;
  return type;
}

Type *type_packed(const char *name, const char *c_name, Type *base, GPtrArray *members) {
  Type *type = intern(TYPE_PACKED, base->bits, name, c_name);
  if (!type->fields) type->fields = members;
  type->element = base;
  return type;
}

Type *type_enum(const char *name, GPtrArray *enumerators) {
  Type *type = intern(TYPE_ENUM, 0, name, name);
  if (!type->enumerators) type->enumerators = enumerators;
  return type;
}

bool type_can_travel(const Type *type) {
  if (type->kind == TYPE_STRING || type->kind == TYPE_STREAM) return false;
  if (type->kind == TYPE_ARRAY) return type_can_travel(type->element);
  for (guint i = 0; type->kind == TYPE_STRUCT && i < type->fields->len; i++)
    if (!type_can_travel(((Field *)type->fields->pdata[i])->type)) return false;
  return true;
}

// ---- Terms -------------------------------------------------------------------------------------------------

Term *term_of(Type *type) {
  GPtrArray *known = compile->type_terms; // by the type's number
  if (type->id >= (int)known->len) g_ptr_array_set_size(known, type->id + 1);
  Term *term = known->pdata[type->id];
  if (term) return term;
  known->pdata[type->id] = term = arena_new(Term);
  term->kind = TERM_TYPE;
  term->type = type;
  return term;
}

Term *term_variable(const char *name, Location place) {
  Term *term = arena_new(Term);
  term->kind = TERM_VARIABLE;
  term->name = name;
  term->place = place;
  return term;
}

Term *term_array(Term *element, int length) {
  Type *known = term_type(element);
  if (known) return term_of(type_array(known, length));
  Term *term = arena_new(Term);
  term->kind = TERM_ARRAY;
  term->element = element;
  term->length = length;
  return term;
}

// Variables on the way are bound to what is found, so that long chains are walked once.
Term *term_find(Term *term) {
  Term *end = term;
  while (end->kind == TERM_VARIABLE && end->bound) end = end->bound;
  while (term != end) {
    Term *next = term->bound;
    term->bound = end;
    term = next;
  }
  return end;
}

Type *term_type(Term *term) {
  term = term_find(term);
  if (term->kind == TERM_TYPE) return term->type;
  if (term->kind == TERM_VARIABLE) return NULL;
  Type *element = term_type(term->element);
  return element ? type_array(element, term->length) : NULL;
}

char *term_text(Term *term) {
  term = term_find(term);
  switch (term->kind) {
  case TERM_TYPE: return arena_strdup(term->type->name);
  case TERM_ARRAY: return arena_printf("%s[%d]", term_text(term->element), term->length);
  case TERM_VARIABLE: break;
  }
  if (!term->alternatives) return arena_printf("'%s", term->name);
  g_autoptr(GString) out = g_string_new(NULL);
  for (guint i = 0; i < term->alternatives->len; i++)
    g_string_append_printf(out, "%s%s", i ? " | " : "", ((Type *)term->alternatives->pdata[i])->name);
  return arena_strdup(out->str);
}

static bool occurs(Term *variable, Term *term) {
  term = term_find(term);
  if (term == variable) return true;
  return term->kind == TERM_ARRAY && occurs(variable, term->element);
}

static bool bind(Term *variable, Term *term) {
  if (occurs(variable, term)) return false;
  if (variable->alternatives) {
    Type *type = term_type(term);
    if (type) {
      if (!g_ptr_array_find(variable->alternatives, type, NULL)) return false;
    } else {
      // An array of a variable: the alternatives that are such arrays decide.
      Type *only = NULL;
      int fitting = 0;
      for (guint i = 0; i < variable->alternatives->len; i++) {
        Type *t = variable->alternatives->pdata[i];
        if (t->kind != TYPE_ARRAY || t->length != term->length) continue;
        only = t;
        fitting++;
      }
      if (fitting == 0) return false;
      if (fitting == 1 && !unify(term, term_of(only))) return false;
    }
  }
  variable->bound = term;
  return true;
}

// Two variables: what both allow remains; one alternative left is the type.
static bool unify_variables(Term *a, Term *b) {
  if (!a->alternatives) {
    a->bound = b;
    return true;
  }
  if (!b->alternatives) {
    b->bound = a;
    return true;
  }
  GPtrArray *both = arena_array();
  for (guint i = 0; i < a->alternatives->len; i++)
    if (g_ptr_array_find(b->alternatives, a->alternatives->pdata[i], NULL))
      g_ptr_array_add(both, a->alternatives->pdata[i]);
  if (both->len == 0) return false;
  Term *rest = b;
  if (both->len == 1) {
    rest = term_of(both->pdata[0]);
    b->bound = rest;
  } else {
    b->alternatives = both;
  }
  a->bound = rest;
  return true;
}

bool unify(Term *a, Term *b) {
  a = term_find(a);
  b = term_find(b);
  if (a == b) return true;
  if (a->kind == TERM_VARIABLE && b->kind == TERM_VARIABLE) return unify_variables(a, b);
  if (a->kind == TERM_VARIABLE) return bind(a, b);
  if (b->kind == TERM_VARIABLE) return bind(b, a);
  if (a->kind == TERM_TYPE && b->kind == TERM_TYPE) return a->type == b->type;
  if (a->kind == TERM_ARRAY && b->kind == TERM_ARRAY) return a->length == b->length && unify(a->element, b->element);
  Term *array = a->kind == TERM_ARRAY ? a : b;
  Type *type = a->kind == TERM_TYPE ? a->type : b->type;
  return type->kind == TYPE_ARRAY && type->length == array->length && unify(array->element, term_of(type->element));
}

gsize type_size(const Type *type, gsize *alignment) {
  gsize size = 0, a = 1;
  switch (type->kind) {
  case TYPE_BOOL: size = a = 1; break;
  case TYPE_INT:
  case TYPE_UINT:
  case TYPE_FLOAT: size = a = (gsize)type->bits / 8; break;
  case TYPE_BITS:
    if (type->bits > 64)
      size = (gsize)(type->bits + 63) / 64 * 8, a = 8;
    else
      size = a = type->bits <= 8 ? 1 : type->bits <= 16 ? 2 : type->bits <= 32 ? 4 : 8;
    break;
  case TYPE_ENUM: size = a = 4; break;
  case TYPE_PACKED: return type_size(type->element, alignment);
  case TYPE_STRING: size = a = 8; break;
  case TYPE_STREAM: size = 24, a = 8; break;
  case TYPE_ARRAY: size = type_size(type->element, &a) * (gsize)type->length; break;
  case TYPE_STRUCT:
    for (guint i = 0; i < type->fields->len; i++) {
      gsize field_alignment, n = type_size(((Field *)type->fields->pdata[i])->type, &field_alignment);
      size = (size + field_alignment - 1) / field_alignment * field_alignment + n;
      a = MAX(a, field_alignment);
    }
    size = (size + a - 1) / a * a;
    break;
  }
  if (alignment) *alignment = a;
  return size;
}

bool type_is_whole_number(const Type *type) {
  switch (type->kind) {
  case TYPE_BOOL:
  case TYPE_INT:
  case TYPE_UINT:
  case TYPE_PACKED:
  case TYPE_ENUM: return true;
  case TYPE_BITS: return type->bits <= 64;
  default: return false;
  }
}
