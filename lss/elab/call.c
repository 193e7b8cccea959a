// Calls: functions of the language, built-in functions, and types with arguments, which look the same.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"

#include <string.h>

enum { MAX_CALL_DEPTH = 200 };

#define NOTHING ((Operand){.kind = OPERAND_NONE})

static Operand of_value(Value *value) {
  return value ? (Operand){.kind = OPERAND_VALUE, .value = value} : NOTHING;
}

Value *call_function(Scope *scope, Symbol *function, Expr *call, bool needs_result) {
  Node *node = function->node;
  if (call->items->len != node->arguments->len) {
    problem(call->location, "arguments", "`%s` takes %u argument%s, not %u", node->name, node->arguments->len,
            node->arguments->len == 1 ? "" : "s", call->items->len);
    diag_note(node->place, "declared here");
    return NULL;
  }
  Scope *around = file_scope(function->file), *inner = scope_new(around, NULL);
  inner->function = true;
  for (guint i = 0; i < node->arguments->len; i++) {
    Node *argument = node->arguments->pdata[i];
    Value *value = evaluate(scope, call->items->pdata[i]);
    if (value && argument->type)
      value =
          coerce_to_parameter(around, value, argument->type, ((Expr *)call->items->pdata[i])->location, argument->name);
    if (!value) return NULL;
    Symbol *symbol = scope_declare(inner, SYMBOL_VALUE, argument->name, argument->place);
    if (!symbol) return NULL;
    symbol->assignable = true;
    symbol->value = value;
  }
  if (compile->call_depth >= MAX_CALL_DEPTH) {
    problem(call->location, "runaway", "functions call each other more than %d deep", MAX_CALL_DEPTH);
    compile->halted = true;
    return NULL;
  }
  int errors = diag_error_count();
  int loops = compile->loop_depth;
  compile->loop_depth = 0;
  compile->call_depth++;
  compile->result = NULL;
  Flow flow = execute_all(inner, node->body);
  scope_end(inner);
  compile->call_depth--;
  compile->loop_depth = loops;
  Value *result = compile->result;
  compile->result = NULL;
  if (flow == FLOW_STOP || diag_error_count() > errors) return NULL;
  if (flow != FLOW_RETURN || !result) {
    if (!needs_result) return NULL;
    problem(call->location, "no-result", "`%s` ends without returning a value", node->name);
    diag_note(node->place, "declared here");
    return NULL;
  }
  if (node->type)
    result = coerce_to_parameter(around, result, node->type, call->location, arena_printf("%s()", node->name));
  return result;
}

// has(INSTANCE.PORT): whether the module of an instance declares such a port, or passes it on.
static Value *has_value(Scope *scope, Expr *expr) {
  Expr *port = expr->items->len == 1 ? expr->items->pdata[0] : NULL;
  if (!port) {
    problem(expr->location, "arguments", "has() takes 1 argument, not %u", expr->items->len);
    return NULL;
  }
  const Operand of = port->kind == EXPR_FIELD ? resolve(scope, port->left) : NOTHING;
  if (port->kind == EXPR_FIELD && of.kind == OPERAND_NONE) return NULL;
  if (of.kind != OPERAND_INSTANCE) {
    problem(port->location, "value-type", "has() takes a port of an instance, as in has(cpu.written), not `%s`",
            expr_text(port));
    return NULL;
  }
  return value_bool(has_port(of.inst, port->text, port->place), expr->location);
}

Operand evaluate_call(Scope *scope, Expr *expr) {
  if (expr->names) return of_value(module_with_settings(scope, expr));
  if (expr->left->kind != EXPR_NAME) {
    problem(expr->left->location, "value-type", "`%s` cannot be called", expr_text(expr->left));
    return NOTHING;
  }
  const char *name = expr->left->text;
  Symbol *symbol = scope_find(scope, name);
  if (symbol && !check_passed_name(symbol, expr->left->location)) return NOTHING;
  if (symbol && symbol->kind == SYMBOL_DECLARATION && symbol->node->kind == NODE_FUNCTION)
    return of_value(call_function(scope, symbol, expr, true));
  if (!strcmp(name, "bits") || (symbol && symbol->kind == SYMBOL_DECLARATION && node_is_family(symbol->node))) {
    Term *term = evaluate_term(scope, expr);
    Type *type = term ? term_type(term) : NULL;
    return type ? of_value(value_type(type, expr->location)) : NOTHING;
  }
  if (!symbol && !strcmp(name, "has")) return of_value(has_value(scope, expr));
  int least, most;
  Builtin builtin = builtin_find(name, &least, &most);
  if (symbol || !builtin) {
    if (symbol) {
      problem(expr->left->location, "value-type", "`%s` is not a function", name);
      diag_note(symbol->place, "declared here");
    } else if (!strcmp(name, "punt") || !strcmp(name, "warn") || !strcmp(name, "check_keys")) {
      problem(expr->location, "value-type", "%s() is a statement; it has no value", name);
    } else if (!report_private(name, expr->left->location)) {
      problem(expr->left->location, "unknown-name", "there is no function `%s`%s", name,
              unknown_name_cure(name, expr->location.file, scope_suggestion(scope, name)));
    }
    return NOTHING;
  }
  int count = (int)expr->items->len;
  if (count < least || count > most) {
    problem(expr->location, "arguments", "%s() takes %d argument%s, not %d", name, least, least == 1 ? "" : "s", count);
    return NOTHING;
  }
  GPtrArray *arguments = arena_array();
  for (int i = 0; i < count; i++) {
    Value *value = evaluate(scope, expr->items->pdata[i]);
    if (!value) return NOTHING;
    g_ptr_array_add(arguments, value);
  }
  return of_value(builtin(arguments, expr->location));
}
