// Statements: control flow, variables, assignments, punt and warn.  Declarations and connections are passed on.
#include "lss/base/diagnostics.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"

#include <string.h>

// The list of a variable, as one that the variable alone holds: others that hold it do not change.  NULL after an
// error.
static Value *own_list(Symbol *symbol, Location where) {
  Value *list = symbol->value;
  if (list->owner == symbol) return charge(1, where) ? list : NULL;
  if (!charge((int)list->items->len, where)) return NULL;
  Value *copy = value_list(where);
  for (guint i = 0; i < list->items->len; i++) g_ptr_array_add(copy->items, list->items->pdata[i]);
  if (!value_close(copy, where)) return NULL;
  copy->owner = symbol;
  return copy;
}

static void assign_element(Scope *scope, Node *node, Symbol *symbol) {
  Expr *target = node->target;
  Value *list = symbol->value;
  int64_t n;
  if (!list) return;
  if (list->kind != VALUE_LIST) {
    problem(target->location, "value-type", "%s cannot be indexed", value_kind_text(list));
    return;
  }
  Value *value = evaluate(scope, node->value);
  if (!evaluate_int(scope, target->right, "the index", 0, (int64_t)list->items->len - 1, &n) || !value) return;
  Value *own = own_list(symbol, node->location);
  if (own && value_replace(own, (guint)n, value, node->location)) symbol->value = own;
}

// `list = append(list, item);`, which takes as long as the item and not as the list.
static bool assign_appended(Scope *scope, Node *node, Symbol *symbol) {
  const Expr *call = node->value;
  if (call->kind != EXPR_CALL || call->names || call->left->kind != EXPR_NAME || strcmp(call->left->text, "append") ||
      call->items->len != 2 || !symbol->value || symbol->value->kind != VALUE_LIST || scope_find(scope, "append"))
    return false;
  const Expr *list = call->items->pdata[0];
  if (list->kind != EXPR_NAME || strcmp(list->text, node->target->text) != 0) return false;
  Value *item = evaluate(scope, call->items->pdata[1]), *own = item ? own_list(symbol, node->location) : NULL;
  symbol->value = own && value_add(own, item, node->location) ? own : NULL;
  return true;
}

static Symbol *assignable(Scope *scope, Expr *name) {
  Symbol *symbol = scope_find(scope, name->text);
  if (!symbol) {
    problem(name->location, "unknown-name", "there is no variable `%s`, which `var %s = ...;` would declare%s",
            name->text, name->text, did_you_mean(scope_suggestion(scope, name->text)));
  } else if (symbol->kind != SYMBOL_VALUE || !symbol->assignable) {
    problem(name->location, "not-assignable", "`%s` is not a variable; it cannot be assigned", name->text);
    diag_note(symbol->place, "declared here");
    symbol = NULL;
  }
  return symbol;
}

static void assign(Scope *scope, Node *node) {
  Expr *target = node->target;
  if (target->kind == EXPR_NAME) {
    Symbol *symbol = assignable(scope, target);
    if (symbol && assign_appended(scope, node, symbol)) return;
    Value *value = evaluate(scope, node->value);
    if (symbol) symbol->value = value;
    return;
  }
  if (target->kind == EXPR_INDEX && target->left->kind == EXPR_NAME) {
    Symbol *symbol = assignable(scope, target->left);
    if (symbol) assign_element(scope, node, symbol);
    return;
  }
  if (target->kind != EXPR_FIELD) {
    problem(target->location, "not-assignable", "`%s` cannot be assigned", expr_text(target));
    return;
  }
  if (target->left->kind == EXPR_INDEX_ALL) { // cpu[*].id = 7: every instance of the array
    Operand all = resolve(scope, target->left->left);
    if (all.kind == OPERAND_INSTANCES)
      for (guint i = 0; i < all.insts->len; i++)
        set_parameter(scope, all.insts->pdata[i], target->text, target->place, node->value, true);
    else if (all.kind != OPERAND_NONE)
      problem(target->left->location, "value-type", "`%s` is not an array of instances", expr_text(target->left->left));
    return;
  }
  Operand base = resolve(scope, target->left);
  if (base.kind == OPERAND_NONE) return;
  if (base.kind != OPERAND_INSTANCE) {
    problem(target->location, "not-assignable",
            "`%s` is not an instance; only parameters of instances are set with a dot", expr_text(target->left));
    return;
  }
  set_parameter(scope, base.inst, target->text, target->place, node->value, false);
}

static Flow call(Scope *scope, Node *node) {
  Expr *expr = node->target;
  if (expr->kind != EXPR_CALL) {
    problem(expr->location, "syntax",
            "`%s` alone does nothing; a statement is a call, an assignment with = or a connection with ->",
            expr_text(expr));
    return FLOW_NEXT;
  }
  const char *name = expr->left->kind == EXPR_NAME ? expr->left->text : "";
  bool punt = !strcmp(name, "punt");
  if (punt || !strcmp(name, "warn")) {
    Value *text = expr->items->len == 1 ? evaluate(scope, expr->items->pdata[0]) : NULL;
    if (expr->items->len != 1) {
      problem(expr->location, "arguments", "%s() takes 1 argument, not %u", name, expr->items->len);
    } else if (text && text->kind != VALUE_STRING) {
      problem(expr->location, "value-type", "%s() takes a string, not %s", name, value_kind_text(text));
    } else if (text) {
      Inst *inst = compile->running;
      Location place = inst ? inst->instance->location : node->location;
      if (punt)
        problem(place.line ? place : node->location, "punt", "%s", text->string);
      else
        diag_warning(place.line ? place : node->location, "warn", "%s", text->string);
      if (place.line) diag_note(node->location, "%s called here", name);
      if (inst && !punt) diag_instance(inst->instance->path);
    }
    if (punt && compile->running) compile->running->punted = true;
    return punt ? FLOW_STOP : FLOW_NEXT;
  }
  if (!strcmp(name, "check_keys") && !scope_find(scope, name)) {
    execute_check_keys(scope, expr);
    return FLOW_NEXT;
  }
  Symbol *symbol = scope_find(scope, name);
  if (symbol && symbol->kind == SYMBOL_DECLARATION && symbol->node->kind == NODE_FUNCTION) {
    // Called for its warnings and punts; a result is not needed.
    call_function(scope, symbol, expr, false);
    return FLOW_NEXT;
  }
  int least, most;
  if (builtin_find(name, &least, &most) && evaluate(scope, expr))
    problem(expr->location, "value-type", "the result of %s() is not used", name);
  else if (!builtin_find(name, &least, &most))
    evaluate(scope, expr);
  return FLOW_NEXT;
}

static Flow body(Scope *scope, GPtrArray *nodes) {
  Scope *inner = scope_new(scope, NULL);
  Flow flow = execute_all(inner, nodes);
  scope_end(inner);
  return flow;
}

static Flow loop_body(Scope *scope, GPtrArray *nodes) {
  compile->loop_depth++;
  Flow flow = body(scope, nodes);
  compile->loop_depth--;
  return flow;
}

// Statements that are not executed, as what decides about them has no value.
static Flow leave_out(void) {
  if (compile->running) compile->running->incomplete = true;
  return FLOW_NEXT;
}

static Flow loop_while(Scope *scope, Node *node, Node *step) {
  while (!compile->halted) {
    bool more = true;
    if (node->value && !evaluate_bool(scope, node->value, &more)) return leave_out();
    if (!more || !charge(1, node->location)) return FLOW_NEXT;
    int errors = diag_error_count();
    Flow flow = loop_body(scope, node->body);
    if (flow == FLOW_BREAK) return FLOW_NEXT;
    if (flow == FLOW_RETURN || flow == FLOW_STOP) return flow;
    // A loop whose body fails would fail again, or never end.
    if (diag_error_count() > errors && node->kind == NODE_WHILE) return FLOW_NEXT;
    if (step && execute(scope, step) == FLOW_STOP) return FLOW_STOP;
    if (diag_error_count() > errors + 5) return FLOW_NEXT;
  }
  return FLOW_STOP;
}

static Flow loop_for(Scope *scope, Node *node) {
  Scope *inner = scope_new(scope, NULL);
  Node *first = node->first;
  // `for (i = 0; …)` declares its variable, unless one of that name is in sight.
  bool declares = first->kind == NODE_VAR;
  if (first->kind == NODE_ASSIGN && first->target->kind == EXPR_NAME) {
    Symbol *known = scope_find(scope, first->target->text);
    declares = !known || known->kind != SYMBOL_VALUE || !known->assignable;
  }
  if (!declares) {
    if (execute(inner, first) == FLOW_STOP) return FLOW_STOP;
  } else {
    const char *name = first->kind == NODE_VAR ? first->name : first->target->text;
    Value *value = evaluate(scope, first->value);
    if (!value) return leave_out();
    Symbol *symbol = scope_declare(inner, SYMBOL_VALUE, name, first->location);
    symbol->assignable = true;
    symbol->value = value;
  }
  Flow flow = loop_while(inner, node, node->step);
  scope_end(inner);
  return flow;
}

static Flow loop_list(Scope *scope, Node *node) {
  Value *list = evaluate(scope, node->value);
  if (!list) return leave_out();
  if (list->kind != VALUE_LIST) {
    problem(node->value->location, "value-type", "`for (%s in ...)` goes over a list, not %s", node->name,
            value_kind_text(list));
    return FLOW_NEXT;
  }
  int errors = diag_error_count();
  for (guint i = 0; i < list->items->len; i++) {
    if (!charge(1, node->location)) return FLOW_STOP;
    Scope *inner = scope_new(scope, NULL);
    Symbol *symbol = scope_declare(inner, SYMBOL_VALUE, node->name, node->place);
    symbol->value = list->items->pdata[i];
    Flow flow = loop_body(inner, node->body);
    scope_end(inner);
    if (flow == FLOW_BREAK) break;
    if (flow == FLOW_RETURN || flow == FLOW_STOP) return flow;
    if (diag_error_count() > errors + 5) break;
  }
  return FLOW_NEXT;
}

// Structure is built in module bodies only.
static bool in_function(Scope *scope, Node *node) {
  if (!scope->function) return false;
  problem(node->location, "misplaced", "%s %s is not allowed in a function; functions compute values",
          strchr("aeiou", *node_kind_name(node->kind)) ? "an" : "a", node_kind_name(node->kind));
  return true;
}

static void at_top_of_file(Scope *scope, Node *node) {
  // The declarations of a file were read when it was loaded; inside a body they are out of place.
  bool top = compile->running && compile->running == compile->insts->pdata[0] && scope->owner == compile->running;
  if (!top || !g_ptr_array_find(compile->running->body, node, NULL))
    problem(node->location, "misplaced", "a %s is declared at the top of a file", node_kind_name(node->kind));
}

// What is allowed only in the body of a module.
static void execute_in_module(Scope *scope, Node *node) {
  Inst *inst = compile->running;
  switch (node->kind) {
  case NODE_PARAMETER: declare_parameter(scope, node); break;
  case NODE_USERPOINT: declare_userpoint(scope, node); break;
  case NODE_PORT: declare_port(scope, node); break;
  case NODE_STATE: declare_state(scope, node); break;
  case NODE_STAT: declare_stat(scope, node); break;
  case NODE_DERIVED: declare_derived(scope, node); break;
  case NODE_CONSERVATION:
  case NODE_IDENTITY: declare_attached(compile->balances, scope, node); break;
  case NODE_CUT: declare_cut(scope, node); break;
  case NODE_LOCAL: declare_local(scope, node); break;
  case NODE_EVENT: declare_event(scope, node); break;
  case NODE_CLOCK: declare_clock(scope, node); break;
  case NODE_BEHAVIOUR: declare_behaviour(scope, node); break;
  case NODE_INSTANCE:
    if (!inst->structure) inst->structure = node;
    execute_instance(scope, node);
    break;
  case NODE_WRAPS:
    if (!inst->structure) inst->structure = node;
    execute_wraps(scope, node);
    break;
  case NODE_EXTENDS: problem(node->location, "misplaced", "`extends` stands at the top of a machine file"); break;
  case NODE_CONNECT:
    if (!inst->structure) inst->structure = node;
    execute_connection(scope, node);
    break;
  case NODE_COLLECTOR: declare_attached(compile->collectors, scope, node); break;
  case NODE_DEBUG: declare_attached(compile->debugs, scope, node); break;
  default: break;
  }
}

static Flow execute_inside(Scope *scope, Node *node) {
  bool truth;
  switch (node->kind) {
  case NODE_CONST:
    if (compile->running && compile->running->module && !in_function(scope, node))
      declare_constant(scope, node);
    else if (!scope->function)
      at_top_of_file(scope, node);
    return FLOW_NEXT;
  case NODE_VAR: {
    Value *value = evaluate(scope, node->value);
    Symbol *symbol = scope_declare(scope, SYMBOL_VALUE, node->name, node->place);
    if (!symbol) return FLOW_NEXT;
    symbol->assignable = true;
    symbol->value = value;
    return FLOW_NEXT;
  }
  case NODE_ASSIGN: assign(scope, node); return FLOW_NEXT;
  case NODE_CALL: return call(scope, node);
  case NODE_IF:
    check_guard(scope, node);
    if (!evaluate_bool(scope, node->value, &truth)) return leave_out();
    return truth ? body(scope, node->body) : node->other ? body(scope, node->other) : FLOW_NEXT;
  case NODE_FOR: check_guard(scope, node); return loop_for(scope, node);
  case NODE_FOR_IN: return loop_list(scope, node);
  case NODE_WHILE: return loop_while(scope, node, NULL);
  case NODE_BREAK:
  case NODE_CONTINUE:
    if (compile->loop_depth == 0) {
      problem(node->location, "misplaced", "`%s` is allowed only in a loop", node_kind_name(node->kind));
      return FLOW_STOP;
    }
    return node->kind == NODE_BREAK ? FLOW_BREAK : FLOW_CONTINUE;
  case NODE_RETURN:
    if (!scope->function) {
      problem(node->location, "misplaced", "`return` is allowed only in a function");
      return FLOW_STOP;
    }
    compile->result = node->value ? evaluate(scope, node->value) : NULL;
    return FLOW_RETURN;
  default: break;
  }
  if (node_is_global(node)) {
    at_top_of_file(scope, node);
    return FLOW_NEXT;
  }
  if (!in_function(scope, node)) execute_in_module(scope, node);
  return FLOW_NEXT;
}

Flow execute(Scope *scope, Node *node) {
  if (!charge(1, node->location) || !enter(node->location)) return FLOW_STOP;
  Flow flow = execute_inside(scope, node);
  leave();
  return flow;
}

Flow execute_all(Scope *scope, GPtrArray *nodes) {
  for (guint i = 0; i < nodes->len; i++) {
    Flow flow = execute(scope, nodes->pdata[i]);
    if (flow != FLOW_NEXT) return flow;
    if (compile->halted || (compile->running && compile->running->punted)) return FLOW_STOP;
  }
  return FLOW_NEXT;
}
