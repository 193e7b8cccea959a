// Expressions: what they denote, and their values.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/base/units.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"

#include <string.h>

#define NOTHING ((Operand){.kind = OPERAND_NONE})

static Operand of_value(Value *value) {
  return value ? (Operand){.kind = OPERAND_VALUE, .value = value} : NOTHING;
}

// ---- Names -------------------------------------------------------------------------------------------------

static Value *constant(Symbol *symbol, Location where) {
  if (symbol->done) return symbol->value;
  if (symbol->busy) {
    problem(where, "circular", "`%s` is defined by itself", symbol->name);
    diag_note(symbol->place, "declared here");
    return NULL;
  }
  symbol->busy = true;
  symbol->value = evaluate(file_scope(symbol->file), symbol->node->value);
  symbol->busy = false;
  symbol->done = true;
  return symbol->value;
}

static Operand declaration(Symbol *symbol, Expr *expr) {
  switch (symbol->node->kind) {
  case NODE_CONST: return of_value(constant(symbol, expr->location));
  case NODE_STRUCT:
  case NODE_ENUM:
  case NODE_PACKED:
  case NODE_TYPE: {
    Type *type = declared_type(symbol, NULL, expr->location);
    return type ? of_value(value_type(type, expr->location)) : NOTHING;
  }
  case NODE_MODULE: {
    Value *value = value_new(VALUE_MODULE, expr->location);
    value->string = symbol->name;
    return of_value(value);
  }
  case NODE_FUNCTION:
    problem(expr->location, "value-type", "`%s` is a function; call it with %s(...)", symbol->name, symbol->name);
    return NOTHING;
  default:
    problem(expr->location, "value-type", "`%s` is a %s, which has no value", symbol->name,
            node_kind_name(symbol->node->kind));
    return NOTHING;
  }
}

static Operand name_operand(Scope *scope, Expr *expr) {
  const char *name = expr->text;
  Symbol *symbol = scope_find(scope, name);
  const Inst *owner = compile->running;
  if (!symbol) {
    Type *type = type_builtin(name);
    if (type) return of_value(value_type(type, expr->location));
    if (!strcmp(name, "name") && owner) {
      if (compile->in_part) compile->in_part->says_name = true;
      return of_value(value_string(owner->instance->path, expr->location));
    }
    symbol = load_module(name);
  }
  if (!symbol) {
    const bool reported = owner && owner->wraps_unknown; // that may declare it
    if (!reported && !report_private(name, expr->location)) {
      enum { DISTINCT = 8 }; // a name of so many characters is not near another by chance
      const char *near = scope_suggestion(scope, name);
      if (!near) near = part_suggestion(name, compile->like);
      if (!near && strlen(name) >= DISTINCT) near = module_suggestion(expr);
      problem(expr->location, "unknown-name", "there is no `%s` here%s", name,
              unknown_name_cure(name, expr->location.file, near));
    }
    return NOTHING;
  }
  if (!check_passed_name(symbol, expr->location)) return NOTHING;
  switch (symbol->kind) {
  case SYMBOL_PROMISED: // kept when it was looked up
  case SYMBOL_VALUE:
    if (symbol->value && symbol->value->kind == VALUE_LIST) symbol->value->owner = NULL; // from here on others hold it
    return of_value(symbol->value);
  case SYMBOL_RUNTIME: return (Operand){.kind = OPERAND_RUNTIME, .symbol = symbol};
  case SYMBOL_DECLARATION: return declaration(symbol, expr);
  case SYMBOL_INSTANCE: return (Operand){.kind = OPERAND_INSTANCE, .inst = symbol->inst};
  case SYMBOL_INSTANCES: return (Operand){.kind = OPERAND_INSTANCES, .insts = symbol->insts};
  case SYMBOL_PORT: return (Operand){.kind = OPERAND_PORT, .inst = symbol->port->inst, .own = true, .port = name};
  case SYMBOL_USERPOINT: return (Operand){.kind = OPERAND_USERPOINT, .userpoint = symbol->userpoint};
  case SYMBOL_LOCAL: return (Operand){.kind = OPERAND_LOCAL, .symbol = symbol};
  }
  return NOTHING;
}

// ---- Selection ---------------------------------------------------------------------------------------------

static Operand value_field_operand(Value *base, Expr *expr) {
  const char *name = expr->text;
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  if (base->kind == VALUE_RECORD) {
    Value *field = value_field(base, name);
    if (field) return of_value(field);
    for (guint i = 0; i < base->names->len; i++) g_ptr_array_add(names, base->names->pdata[i]);
    problem(expr->place, "unknown-name", "this record has no field `%s`%s", name,
            did_you_mean(diag_suggestion(name, names)));
    return NOTHING;
  }
  if (base->kind == VALUE_TYPE && base->type->kind == TYPE_ENUM) {
    for (guint i = 0; i < base->type->enumerators->len; i++) {
      Enumerator *e = base->type->enumerators->pdata[i];
      g_ptr_array_add(names, (gpointer)e->name);
      if (strcmp(e->name, name) != 0) continue;
      Value *value = value_new(VALUE_ENUM, expr->location);
      value->type = base->type;
      value->integer = e->value;
      return of_value(value);
    }
    problem(expr->place, "unknown-name", "the enum `%s` has no value `%s`%s", base->type->name, name,
            did_you_mean(diag_suggestion(name, names)));
    return NOTHING;
  }
  problem(expr->location, "value-type", "`%s` is %s and has no fields", expr_text(expr->left), value_kind_text(base));
  return NOTHING;
}

// Whether what is called so here has a field of this name itself.
static bool has_field(const Symbol *symbol, const char *field) {
  switch (symbol->kind) {
  case SYMBOL_VALUE: return !symbol->value || symbol->value->kind == VALUE_RECORD;
  case SYMBOL_PORT: return symbol->port->is_bundle || !strcmp(field, "width") || !strcmp(field, "keys");
  case SYMBOL_LOCAL:
  case SYMBOL_RUNTIME: return false;
  default: return true;
  }
}

// `mode.fast` where a port or a parameter is called like the enum.
static Operand hidden_enumerator(Scope *scope, Expr *expr) {
  if (expr->left->kind != EXPR_NAME) return NOTHING;
  const Symbol *nearest = scope_find(scope, expr->left->text);
  Symbol *meant = nearest ? scope_find_type(scope, expr->left->text) : NULL;
  if (meant == nearest || meant->kind != SYMBOL_DECLARATION || meant->node->kind != NODE_ENUM) return NOTHING;
  Type *type = has_field(nearest, expr->text) ? NULL : declared_type(meant, NULL, expr->location);
  return type ? value_field_operand(value_type(type, expr->location), expr) : NOTHING;
}

// What the parent knows of an instance.
static Operand instance_field_operand(Inst *inst, const Expr *expr) {
  const Setting *setting = read_setting(inst, expr->text, expr->location);
  if (setting) return of_value(setting->value);
  Value *value;
  if (constant_of(inst, expr->text, expr->place, &value)) return of_value(value);
  return (Operand){.kind = OPERAND_PORT, .inst = inst, .port = expr->text};
}

static Operand field_operand(Scope *scope, Expr *expr) {
  Operand base = hidden_enumerator(scope, expr);
  if (base.kind != OPERAND_NONE) return base;
  base = resolve(scope, expr->left);
  const char *name = expr->text;
  switch (base.kind) {
  case OPERAND_NONE: return NOTHING;
  case OPERAND_VALUE: return value_field_operand(base.value, expr);
  case OPERAND_INSTANCE: return instance_field_operand(base.inst, expr);
  case OPERAND_PORT:
    if (!strcmp(name, "width"))
      return of_value(
          value_int(port_width(base.inst, base.own, base.port, base.member, expr->location), expr->location));
    if (!strcmp(name, "keys")) return of_value(port_keys(base.inst, base.port, base.member, expr->location));
    base.member = base.member ? arena_printf("%s.%s", base.member, name) : name;
    return base;
  case OPERAND_USERPOINT:
    if (!strcmp(name, "replaced")) return of_value(value_bool(base.userpoint->replaced, expr->location));
    problem(expr->place, "unknown-name", "a userpoint has only `.replaced`, not `.%s`", name);
    return NOTHING;
  case OPERAND_INSTANCES:
    problem(expr->location, "value-type", "`%s` is an array of instances; say which one, as in `%s[0].%s`",
            expr_text(expr->left), expr_text(expr->left), name);
    return NOTHING;
  case OPERAND_LOCAL:
  case OPERAND_RUNTIME:
    problem(expr->location, "value-type", "`%s` has no fields", expr_text(expr->left));
    return NOTHING;
  }
  return NOTHING;
}

// What is indexed.  A list that a variable alone holds stays so.
static Operand indexed_operand(Scope *scope, Expr *expr) {
  const Symbol *symbol = expr->kind == EXPR_NAME ? scope_find(scope, expr->text) : NULL;
  const bool list = symbol && symbol->kind == SYMBOL_VALUE && symbol->value && symbol->value->kind == VALUE_LIST;
  const void *owner = list ? symbol->value->owner : NULL;
  const Operand operand = resolve(scope, expr);
  if (owner && operand.kind == OPERAND_VALUE) operand.value->owner = owner;
  return operand;
}

static Operand index_operand(Scope *scope, Expr *expr) {
  Operand base = indexed_operand(scope, expr->left);
  int64_t n;
  if (base.kind == OPERAND_NONE) return NOTHING;
  if (base.kind == OPERAND_INSTANCES) {
    if (!evaluate_int(scope, expr->right, "the index", 0, (int64_t)base.insts->len - 1, &n)) return NOTHING;
    return (Operand){.kind = OPERAND_INSTANCE, .inst = base.insts->pdata[n]};
  }
  if (base.kind == OPERAND_VALUE && base.value->kind == VALUE_LIST) {
    if (!evaluate_int(scope, expr->right, "the index", 0, (int64_t)base.value->items->len - 1, &n)) return NOTHING;
    return of_value(base.value->items->pdata[n]);
  }
  if (base.kind == OPERAND_VALUE && base.value->kind == VALUE_TYPE) {
    Term *term = evaluate_term(scope, expr);
    Type *type = term ? term_type(term) : NULL;
    return type ? of_value(value_type(type, expr->location)) : NOTHING;
  }
  if (base.kind == OPERAND_VALUE)
    problem(expr->location, "value-type", "%s cannot be indexed", value_kind_text(base.value));
  else
    problem(expr->location, "value-type", "`%s` cannot be indexed here", expr_text(expr->left));
  return NOTHING;
}

// ---- Values ------------------------------------------------------------------------------------------------

static Value *quantity_literal(Expr *expr) {
  const UnitOfMeasure *unit = unit_find(expr->unit);
  int64_t num, den;
  if (number_exact(expr->text, strlen(expr->text), &num, &den) &&
      rational_multiply(num, den, unit->num, unit->den, &num, &den))
    return value_quantity(unit->dimension, num, den, expr->location);
  problem(expr->location, "overflow", "%s %s is too large or too precise", expr->text, expr->unit);
  return NULL;
}

static Operand logical(Scope *scope, Expr *expr) {
  bool left, right;
  if (!evaluate_bool(scope, expr->left, &left)) return NOTHING;
  if (left == (expr->op == OP_OR)) return of_value(value_bool(left, expr->location));
  if (!evaluate_bool(scope, expr->right, &right)) return NOTHING;
  return of_value(value_bool(right, expr->location));
}

static Operand resolve_inside(Scope *scope, Expr *expr) {
  if (expr->constant) return of_value(expr->constant);
  bool truth;
  switch (expr->kind) {
  case EXPR_INT: return of_value(expr->constant = value_int(expr->integer, expr->location));
  case EXPR_FLOAT: return of_value(expr->constant = value_float(expr->real, expr->location));
  case EXPR_BOOL: return of_value(expr->constant = value_bool(expr->integer, expr->location));
  case EXPR_STRING: return of_value(expr->constant = value_string(expr->text, expr->location));
  case EXPR_QUANTITY: return of_value(expr->constant = quantity_literal(expr));
  case EXPR_NAME: return name_operand(scope, expr);
  case EXPR_FIELD: return field_operand(scope, expr);
  case EXPR_INDEX: return index_operand(scope, expr);
  case EXPR_CALL: return evaluate_call(scope, expr);
  case EXPR_UNARY: return of_value(operator_unary(expr->op, evaluate(scope, expr->left), expr->location));
  case EXPR_BINARY: {
    if (expr->op == OP_OR || expr->op == OP_AND) return logical(scope, expr);
    Value *left = evaluate(scope, expr->left);
    Value *right = evaluate(scope, expr->right);
    return of_value(operator_binary(expr->op, left, right, expr->location));
  }
  case EXPR_CONDITIONAL:
    if (!evaluate_bool(scope, expr->left, &truth)) return NOTHING;
    return resolve(scope, truth ? expr->right : expr->third);
  case EXPR_LIST:
  case EXPR_RECORD: {
    Value *value = expr->kind == EXPR_LIST ? value_list(expr->location) : value_record(expr->location);
    bool fine = true;
    for (guint i = 0; i < expr->items->len; i++) {
      Value *item = evaluate(scope, expr->items->pdata[i]);
      if (!item) fine = false;
      g_ptr_array_add(value->items, item);
      if (expr->kind != EXPR_RECORD) continue;
      const char *name = expr->names->pdata[i];
      for (guint k = 0; k < i; k++) {
        if (strcmp(expr->names->pdata[k], name) != 0) continue;
        problem(*(Location *)expr->places->pdata[i], "duplicate-name", "the field `%s` is given twice", name);
        fine = false;
      }
      g_ptr_array_add(value->names, (gpointer)name);
    }
    return fine && value_close(value, expr->location) ? of_value(value) : NOTHING;
  }
  case EXPR_CODE: return of_value(evaluate_code(scope, expr));
  case EXPR_TYPE_VARIABLE:
    problem(expr->location, "value-type", "the type '%s is inferred after all bodies have run, so it has no value here",
            expr->text);
    return NOTHING;
  case EXPR_INDEX_ALL: problem(expr->location, "value-type", "[*] is allowed only in connections"); return NOTHING;
  case EXPR_INDEX_RANGE:
    problem(expr->location, "value-type", "a range of lanes is allowed only in the signals of handlers");
    return NOTHING;
  case EXPR_LIST_TYPE:
    problem(expr->location, "value-type", "`%s` is allowed only as the type of a parameter", expr_text(expr));
    return NOTHING;
  }
  return NOTHING;
}

Operand resolve(Scope *scope, Expr *expr) {
  if (!charge(1, expr->location) || !enter(expr->location)) return NOTHING;
  Operand operand = resolve_inside(scope, expr);
  leave();
  return operand;
}

// The type that is called like a port, which has no value itself; NULL when there is none.
static Value *hidden_type(Scope *scope, Expr *expr) {
  Symbol *meant = expr->kind == EXPR_NAME ? scope_find_type(scope, expr->text) : NULL;
  if (!meant || meant->kind != SYMBOL_DECLARATION || meant->node->kind == NODE_BUNDLE) return NULL;
  Type *type = declared_type(meant, NULL, expr->location);
  return type ? value_type(type, expr->location) : NULL;
}

// What is denoted here, and has no value.
static void report_no_value(const Operand *operand, Expr *expr) {
  switch (operand->kind) {
  case OPERAND_NONE:
  case OPERAND_VALUE: break;
  case OPERAND_RUNTIME:
    problem(expr->location, "runtime-parameter", "the runtime parameter `%s` has no value while the machine is built",
            operand->symbol->name);
    diag_note(operand->symbol->place, "declared here");
    break;
  case OPERAND_INSTANCE:
  case OPERAND_INSTANCES:
    problem(expr->location, "value-type", "`%s` is an instance, not a value", expr_text(expr));
    break;
  case OPERAND_PORT:
    if (operand->own) {
      problem(expr->location, "value-type", "`%s` is a port, not a value; its number of lanes is `%s.width`",
              expr_text(expr), expr_text(expr));
    } else if (operand->member || !report_no_constant(operand->inst, operand->port, expr)) {
      problem(expr->location, "unknown-name", "`%s` is not known here: the parent can read only what it set itself",
              expr_text(expr));
    }
    break;
  case OPERAND_USERPOINT:
    problem(expr->location, "value-type", "`%s` is a userpoint, not a value; `%s.replaced` says whether it was given",
            expr_text(expr), expr_text(expr));
    break;
  case OPERAND_LOCAL:
    problem(expr->location, "value-type",
            "`%s` is a local of the simulation and has no value while the machine is built", expr_text(expr));
    break;
  }
}

Value *evaluate(Scope *scope, Expr *expr) {
  Operand operand = resolve(scope, expr);
  if (operand.kind == OPERAND_VALUE) return operand.value;
  Value *hidden = operand.kind == OPERAND_PORT      ? hidden_type(scope, expr)
                  : operand.kind == OPERAND_RUNTIME ? module_called(operand.symbol->name, expr->location)
                                                    : NULL;
  if (!hidden) report_no_value(&operand, expr);
  return hidden;
}

Expr *expr_of_value(Value *value) {
  Expr *expr = expr_new(EXPR_INT, value->location);
  expr->constant = value;
  return expr;
}

bool evaluate_bool(Scope *scope, Expr *expr, bool *truth) {
  Value *value = evaluate(scope, expr);
  if (!value) return false;
  if (value->kind != VALUE_BOOL) {
    problem(expr->location, "value-type", "a condition is expected here, not %s", value_kind_text(value));
    return false;
  }
  *truth = value->integer;
  return true;
}

bool evaluate_int(Scope *scope, Expr *expr, const char *what, int64_t least, int64_t most, int64_t *result) {
  Value *value = evaluate(scope, expr);
  if (!value) return false;
  int64_t n;
  if (value->kind == VALUE_INT) {
    n = value->integer;
  } else if (value->kind == VALUE_QUANTITY && value->dimension == DIM_SIZE && value_base_count(value, true, &n)) {
    // A size counts bytes: `uint8 bytes[16 KiB]`.
  } else {
    problem(expr->location, "value-type", "%s is an integer, not %s", what, value_kind_text(value));
    return false;
  }
  if (n < least || n > most) {
    if (most < least)
      problem(expr->location, "index-range", "%s is %" G_GINT64_FORMAT ", but there is nothing to index", what, n);
    else
      problem(expr->location, "index-range",
              "%s is %" G_GINT64_FORMAT ", outside %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, what, n, least, most);
    return false;
  }
  *result = n;
  return true;
}
