// Derived statistics: `stat ipc = writeback.instructions / cycles "instructions per cycle";` names a number that is
// worked out of statistics when they are written.  Its expression is checked and put into postfix order here.
#include "lss/attach/instrument.h"
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/value.h"
#include "lss/runtime/text/number.h"

#include <string.h>

// One operand, found: a statistic of an instance below, its own, or the cycles of its clock.
static void add_step(Derived *derived, char kind, double number, Instance *instance, StateField *field, int index) {
  const DerivedStep step = {kind, number, instance, field, index};
  g_array_append_val(derived->steps, step);
}

// "core[*].cache.hits": the path of a reference, with its indices computed.
static const char *path_of(const Attached *attached, Expr *expr) {
  int64_t n;
  const char *left = expr->left && expr->kind != EXPR_NAME ? path_of(attached, expr->left) : "";
  if (!left) return NULL;
  switch (expr->kind) {
  case EXPR_NAME: return expr->text;
  case EXPR_FIELD: return arena_printf("%s.%s", left, expr->text);
  case EXPR_INDEX_ALL: return arena_printf("%s[*]", left);
  case EXPR_INDEX:
    if (!evaluate_int(attached->scope, expr->right, "the index", 0, G_MAXINT32, &n)) return NULL;
    return arena_printf("%s[%d]", left, (int)n);
  default:
    problem(expr->location, "value-type", "a derived statistic is made of statistics, `cycles`, numbers, + - * /");
    return NULL;
  }
}

// Which element of an array with these dimensions "[1][0]" is, and "" of none; -1: no single one.
static int element_index(const GArray *dimensions, const char *indices) {
  int64_t index = 0;
  for (guint d = 0; d < dimensions->len; d++) {
    const int length = MAX(g_array_index(dimensions, int, d), 1);
    uint64_t n;
    if (*indices++ != '[' || !number_take_count(&indices, (uint64_t)length - 1, &n)) return -1;
    index = index * length + (int64_t)n;
    indices++; // the bracket
  }
  return *indices ? -1 : (int)index;
}

// Adds the sum of a statistic over all instances that the path means, the stars in it taken in turn; false: there is
// none.
static bool add_path(Derived *derived, const char *path, bool *any) {
  const char *star = strstr(path, "[*]");
  if (star) {
    for (int i = 0;; i++) {
      const char *one = arena_printf("%.*s[%d]%s", (int)(star - path), path, i, star + 3);
      const bool before = *any;
      bool found = before;
      if (!add_path(derived, one, &found)) return i > 0;
      *any = found;
    }
  }
  const char *dot = strrchr(path, '.'), *last = dot ? dot + 1 : path, *bracket = strchr(last, '[');
  Instance *holder =
      dot ? find_instance(derived->instance, arena_printf("%.*s", (int)(dot - path), path)) : derived->instance;
  const char *name = bracket ? arena_printf("%.*s", (int)(bracket - last), last) : last;
  StateField *field = holder && holder->leaf ? instance_find_state(holder, name) : NULL;
  if (!field || !field->statistic) return false;
  const int index = element_index(field->dimensions, bracket ? bracket : "");
  if (index < 0) return false;
  add_step(derived, 's', 0, holder, field, index);
  if (*any) add_step(derived, '+', 0, NULL, NULL, 0);
  return *any = true;
}

static bool add_expression(const Attached *attached, Derived *derived, Expr *expr) {
  bool any = false;
  switch (expr->kind) {
  case EXPR_INT: add_step(derived, 'n', (double)expr->integer, NULL, NULL, 0); return true;
  case EXPR_FLOAT: add_step(derived, 'n', expr->real, NULL, NULL, 0); return true;
  case EXPR_BINARY:
    if (!strchr("+-*/", expr->op) || expr->op > 127) break;
    if (!add_expression(attached, derived, expr->left) || !add_expression(attached, derived, expr->right)) return false;
    add_step(derived, (char)expr->op, 0, NULL, NULL, 0);
    return true;
  case EXPR_NAME:
    if (!strcmp(expr->text, "cycles") &&
        !(derived->instance->leaf && instance_find_state(derived->instance, "cycles"))) {
      add_step(derived, 'c', 0, derived->instance, NULL, 0);
      return true;
    }
    break;
  default: break;
  }
  const char *path = path_of(attached, expr);
  if (!path) return false;
  if (add_path(derived, path, &any)) return true;
  problem(expr->location, "unknown-name", "%s has no statistic `%s`; of an array, name one element",
          *derived->instance->path ? derived->instance->path : "the machine", path);
  return false;
}

void attach_derived(const Attached *attached) {
  Node *node = attached->node;
  Derived *derived = arena_new(Derived);
  *derived = (Derived){.name = node->name,
                       .doc = node->doc,
                       .unit = node->text,
                       .formula = expr_text(node->value),
                       .instance = attached->inst->instance,
                       .steps = arena_garray(sizeof(DerivedStep)),
                       .location = node->location};
  if (add_expression(attached, derived, node->value)) g_ptr_array_add(compile->netlist->derived, derived);
}
