// Type expressions: names, families of structs with arguments, arrays, alternatives, type variables.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/base/units.h"
#include "lss/elab/bounds.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"

#include <string.h>

enum { MAX_BITS = 65536, MAX_LENGTH = 1 << 20, MAX_SCALARS = 1 << 20 };

static bool too_large(int64_t scalars, Location where) {
  if (scalars <= MAX_SCALARS) return false;
  problem(where, "overflow", "a value of this type would have more than %d elements", MAX_SCALARS);
  return true;
}

// ---- Declared types ----------------------------------------------------------------------------------------

// The scope of a family's body: its arguments by name.  NULL after errors.
Scope *family_scope(Symbol *symbol, GPtrArray *arguments, Location where, char **suffix, char **c_suffix) {
  Node *node = symbol->node;
  guint given = arguments ? arguments->len : 0;
  *suffix = *c_suffix = "";
  if (given > node->arguments->len) {
    problem(where, "arguments", "`%s` takes %u argument%s, not %u", node->name, node->arguments->len,
            node->arguments->len == 1 ? "" : "s", given);
    diag_note(node->place, "declared here");
    return NULL;
  }
  Scope *around = file_scope(symbol->file), *scope = scope_new(around, NULL);
  GString *text = g_string_new(NULL), *c_text = g_string_new(NULL);
  bool fine = true;
  for (guint i = 0; i < node->arguments->len && fine; i++) {
    Node *argument = node->arguments->pdata[i];
    Value *value = i < given ? arguments->pdata[i] : argument->value ? evaluate(scope, argument->value) : NULL;
    if (!value && i >= given && !argument->value) {
      problem(where, "arguments", "`%s` needs the argument `%s`", node->name, argument->name);
      diag_note(argument->place, "declared here");
    }
    if (value)
      value = coerce_to_parameter(around, value, argument->type, i < given ? where : argument->place, argument->name);
    Symbol *name = value ? scope_declare(scope, SYMBOL_VALUE, argument->name, argument->place) : NULL;
    if (!name) {
      fine = false;
      break;
    }
    name->value = value;
    const char *shown = value_text(value);
    g_string_append_printf(text, "%s%s", i ? ", " : "", shown);
    g_string_append_printf(c_text, "_%s", shown);
  }
  if (fine && node->arguments->len) {
    for (char *c = c_text->str; *c; c++)
      if (!g_ascii_isalnum(*c)) *c = '_';
    *suffix = arena_printf("(%s)", text->str);
    *c_suffix = arena_strdup(c_text->str);
  }
  g_string_free(text, TRUE);
  g_string_free(c_text, TRUE);
  return fine ? scope : NULL;
}

bool circular(Symbol *symbol, Location where) {
  if (!symbol->busy) return false;
  problem(where, "circular", "`%s` is defined by itself", symbol->name);
  diag_note(symbol->place, "declared here");
  return true;
}

bool check_field_name(GHashTable *seen, Node *field) {
  const Node *other = g_hash_table_lookup(seen, field->name);
  if (other) {
    problem(field->place, "duplicate-name", "the field `%s` is declared twice", field->name);
    diag_note(other->place, "first declared here");
  }
  g_hash_table_insert(seen, (gpointer)field->name, field);
  return !other;
}

static Type *struct_of(Scope *scope, Node *node, const char *name, const char *c_name) {
  GPtrArray *fields = arena_array();
  int64_t scalars = 0;
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < node->body->len; i++) {
    Node *field = node->body->pdata[i];
    Type *type = evaluate_type(scope, field->type);
    for (guint d = field->dimensions->len; type && d-- > 0;) {
      int64_t n;
      type = evaluate_int(scope, field->dimensions->pdata[d], "the length of an array", 1, MAX_LENGTH, &n)
                 ? (too_large(n * type_scalars(type), field->location) ? NULL : type_array(type, (int)n))
                 : NULL;
    }
    check_field_name(seen, field);
    check_c_name(field->name, field->place, "a field");
    if (field->value)
      problem(field->value->location, "misplaced", "a field of a struct has no initial value; only state has");
    if (type) scalars += type_scalars(type);
    if (!type || too_large(scalars, field->location)) return NULL;
    Field *f = arena_new(Field);
    *f = (Field){.name = field->name, .type = type, .doc = field->doc};
    if (!bounds_of_member(scope, field, f)) return NULL;
    g_ptr_array_add(fields, f);
  }
  return type_struct(name, c_name, fields);
}

static Type *family_type(Symbol *symbol, GPtrArray *arguments, Location where) {
  Node *node = symbol->node;
  char *suffix, *c_suffix;
  if (circular(symbol, where)) return NULL;
  symbol->busy = true;
  Scope *scope = family_scope(symbol, arguments, where, &suffix, &c_suffix);
  const char *name = scope ? arena_printf("%s%s", node->name, suffix) : NULL;
  Type *result = name ? g_hash_table_lookup(compile->types, name) : NULL;
  if (scope && !result && node->body->len == 0) {
    problem(node->place, "value-type", "the %s `%s` has no fields", node_kind_name(node->kind), node->name);
  } else if (scope && !result) {
    const char *c_name = arena_printf("%s%s", node->name, c_suffix);
    result = node->kind == NODE_PACKED ? packed_of(scope, node, name, c_name) : struct_of(scope, node, name, c_name);
  }
  symbol->busy = false;
  return result;
}

static Term *alias_term(Symbol *symbol, Location where);

static Type *enum_type(Symbol *symbol, Location where) {
  Node *node = symbol->node;
  if (symbol->done) return symbol->type;
  if (circular(symbol, where)) return NULL;
  symbol->busy = true;
  GPtrArray *enumerators = arena_array();
  int64_t next = 0;
  for (guint i = 0; i < node->body->len; i++) {
    Node *item = node->body->pdata[i];
    int64_t value = next;
    if (item->value)
      evaluate_int(file_scope(symbol->file), item->value, "the value of an enumerator", G_MININT32, G_MAXINT32, &value);
    for (guint k = 0; k < i; k++) {
      Node *other = node->body->pdata[k];
      if (strcmp(other->name, item->name) != 0) continue;
      problem(item->place, "duplicate-name", "the enumerator `%s` is declared twice", item->name);
      diag_note(other->place, "first declared here");
    }
    for (guint k = 0; k < enumerators->len; k++) {
      Enumerator *other = enumerators->pdata[k];
      if (other->value != value || !strcmp(other->name, item->name)) continue;
      problem(item->place, "duplicate-name", "`%s` has the value %" G_GINT64_FORMAT ", which `%s` has already",
              item->name, value, other->name);
    }
    Enumerator *e = arena_new(Enumerator);
    *e = (Enumerator){item->name, value};
    g_ptr_array_add(enumerators, e);
    next = value + 1;
  }
  symbol->type = type_enum(node->name, enumerators);
  symbol->done = true;
  symbol->busy = false;
  return symbol->type;
}

Type *declared_type(Symbol *symbol, GPtrArray *arguments, Location where) {
  Node *node = symbol->node;
  if (node_is_family(node)) return family_type(symbol, arguments, where);
  if (arguments) {
    problem(where, "arguments", "`%s` takes no arguments", node->name);
    diag_note(node->place, "declared here");
    return NULL;
  }
  if (node->kind == NODE_ENUM) return enum_type(symbol, where);
  Term *term = alias_term(symbol, where);
  if (term && !term_type(term)) {
    problem(where, "value-type", "a single type is expected here, and `%s` is one of several", node->name);
    diag_note(node->place, "declared here");
  }
  return term ? term_type(term) : NULL;
}

// ---- Type expressions --------------------------------------------------------------------------------------

Term *checked_array(Term *element, int64_t length, Location where) {
  Type *known = term_type(element);
  if (too_large(length * (known ? type_scalars(known) : 1), where)) return NULL;
  return term_array(element, (int)length);
}

static Term *named(Type *type) {
  return type ? term_of(type) : NULL;
}

static bool is_type_declaration(const Symbol *symbol) {
  return symbol && symbol->kind == SYMBOL_DECLARATION &&
         (node_is_family(symbol->node) || symbol->node->kind == NODE_ENUM || symbol->node->kind == NODE_TYPE);
}

static Term *not_a_type(Expr *expr, const char *is) {
  problem(expr->location, "value-type", "`%s` is %s, not a type", expr_text(expr), is);
  return NULL;
}

static Term *value_term(Scope *scope, Expr *expr) {
  Value *value = evaluate(scope, expr);
  if (!value) return NULL;
  if (value->kind == VALUE_TYPE) return term_of(value->type);
  return not_a_type(expr, value_kind_text(value));
}

// Another name for a type, or for alternatives of which each use has its own choice.
static Term *alias_term(Symbol *symbol, Location where) {
  if (symbol->done && symbol->type) return term_of(symbol->type);
  if (circular(symbol, where)) return NULL;
  symbol->busy = true;
  Term *term = evaluate_term(file_scope(symbol->file), symbol->node->type);
  symbol->busy = false;
  symbol->type = term ? term_type(term) : NULL;
  symbol->done = true;
  return term;
}

static Term *name_term(Scope *scope, Expr *expr) {
  Type *type = type_builtin(expr->text);
  if (type) return term_of(type);
  Symbol *symbol = scope_find_type(scope, expr->text);
  if (is_type_declaration(symbol) && symbol->node->kind == NODE_TYPE) return alias_term(symbol, expr->location);
  if (is_type_declaration(symbol)) return named(declared_type(symbol, NULL, expr->location));
  if (!symbol) {
    Dimension dimension;
    bool quantity = dimension_find(expr->text, &dimension);
    bool real = !strcmp(expr->text, "float") || (quantity && dimension == DIM_FRACTION);
    if (real || quantity || !strcmp(expr->text, "int")) {
      problem(expr->location, "value-type", "`%s` is a type of parameters; what is sent or stored has a width: %s",
              expr->text, real ? "float32, float64" : "int8 to int64, uint8 to uint64, bits(n)");
      return NULL;
    }
  }
  if (!symbol) {
    if (!report_private(expr->text, expr->location))
      problem(expr->location, "unknown-name", "there is no type `%s`%s", expr->text,
              unknown_name_cure(expr->text, expr->location.file, scope_suggestion(scope, expr->text)));
    return NULL;
  }
  if (symbol->kind == SYMBOL_DECLARATION && symbol->node->kind == NODE_BUNDLE) return not_a_type(expr, "a bundle");
  return value_term(scope, expr);
}

static Term *call_term(Scope *scope, Expr *expr) {
  if (expr->left->kind != EXPR_NAME) return value_term(scope, expr);
  const char *name = expr->left->text;
  if (!strcmp(name, "bits")) {
    int64_t n;
    if (expr->items->len != 1) {
      problem(expr->location, "arguments", "bits() takes 1 argument, its width, not %u", expr->items->len);
      return NULL;
    }
    if (!evaluate_int(scope, expr->items->pdata[0], "the width of bits()", 1, MAX_BITS, &n)) return NULL;
    return term_of(type_simple(TYPE_BITS, (int)n));
  }
  Symbol *symbol = scope_find_type(scope, name);
  if (!symbol) {
    if (!report_private(name, expr->left->location))
      problem(expr->left->location, "unknown-name", "there is no type `%s`%s", name,
              unknown_name_cure(name, expr->location.file, scope_suggestion(scope, name)));
    return NULL;
  }
  if (symbol->kind == SYMBOL_DECLARATION && symbol->node->kind == NODE_BUNDLE) return not_a_type(expr, "a bundle");
  if (!is_type_declaration(symbol)) return value_term(scope, expr);
  GPtrArray *arguments = arena_array();
  for (guint i = 0; i < expr->items->len; i++) {
    Value *value = evaluate(scope, expr->items->pdata[i]);
    if (!value) return NULL;
    g_ptr_array_add(arguments, value);
  }
  return named(declared_type(symbol, arguments, expr->location));
}

static bool collect_alternatives(Scope *scope, Expr *expr, GPtrArray *into) {
  if (expr->kind == EXPR_BINARY && expr->op == '|')
    return collect_alternatives(scope, expr->left, into) && collect_alternatives(scope, expr->right, into);
  Term *term = evaluate_term(scope, expr);
  if (!term) return false;
  Type *type = term_type(term);
  if (!type) {
    problem(expr->location, "value-type", "the alternatives of a disjunctive type cannot hold type variables");
    return false;
  }
  if (!g_ptr_array_find(into, type, NULL)) g_ptr_array_add(into, type);
  return true;
}

static Term *variable_term(Scope *scope, Expr *expr) {
  Inst *owner = NULL;
  for (Scope *s = scope; s && !owner; s = s->parent) owner = s->owner;
  if (!owner) {
    problem(expr->location, "value-type", "the type variable '%s has a meaning only inside a module", expr->text);
    return NULL;
  }
  for (guint i = 0; owner->variables && i < owner->variables->len; i++) {
    Term *known = owner->variables->pdata[i];
    if (!strcmp(known->name, expr->text)) return known;
  }
  Term *term = term_variable(expr->text, expr->location);
  if (!owner->variables) owner->variables = arena_array();
  g_ptr_array_add(owner->variables, term);
  return term;
}

// Whether a name is that of a list, and what follows in brackets an index, not the length of an array.
static bool is_list(Scope *scope, Expr *expr) {
  const Symbol *symbol = expr->kind == EXPR_NAME ? scope_find_type(scope, expr->text) : NULL;
  if (!symbol) return false;
  const bool constant = symbol->kind == SYMBOL_DECLARATION && symbol->node->kind == NODE_CONST;
  const Value *value = constant ? evaluate(scope, expr) : symbol->kind == SYMBOL_VALUE ? symbol->value : NULL;
  return value && value->kind == VALUE_LIST;
}

static Term *term_inside(Scope *scope, Expr *expr) {
  int64_t n;
  bool truth;
  switch (expr->kind) {
  case EXPR_NAME: return name_term(scope, expr);
  case EXPR_CALL: return call_term(scope, expr);
  case EXPR_TYPE_VARIABLE: return variable_term(scope, expr);
  case EXPR_INDEX: {
    if (is_list(scope, expr->left)) return value_term(scope, expr); // of types: its elements are values
    Term *element = evaluate_term(scope, expr->left);
    if (!element || !evaluate_int(scope, expr->right, "the length of an array", 1, MAX_LENGTH, &n)) return NULL;
    return checked_array(element, n, expr->location);
  }
  case EXPR_BINARY:
    if (expr->op == '|') {
      Term *term = term_variable("", expr->location);
      term->alternatives = arena_array();
      if (!collect_alternatives(scope, expr, term->alternatives)) return NULL;
      return term->alternatives->len == 1 ? term_of(term->alternatives->pdata[0]) : term;
    }
    return value_term(scope, expr);
  case EXPR_CONDITIONAL:
    if (!evaluate_bool(scope, expr->left, &truth)) return NULL;
    return evaluate_term(scope, truth ? expr->right : expr->third);
  case EXPR_LIST_TYPE:
    problem(expr->location, "value-type", "`%s` is a list, which only parameters can be; an array has a length",
            expr_text(expr));
    return NULL;
  default: return value_term(scope, expr);
  }
}

Term *evaluate_term(Scope *scope, Expr *expr) {
  if (!charge(1, expr->location) || !enter(expr->location)) return NULL;
  Term *term = term_inside(scope, expr);
  leave();
  return term;
}

Type *evaluate_type(Scope *scope, Expr *expr) {
  Term *term = evaluate_term(scope, expr);
  if (!term) return NULL;
  Type *type = term_type(term);
  if (!type) problem(expr->location, "value-type", "a single type is expected here, not `%s`", expr_text(expr));
  return type;
}
