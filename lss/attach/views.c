// Debug views, matched to the instances and the state that they name.
#include "lss/attach/instrument.h"
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/value.h"
#include "lss/runtime/text/number.h"

#include <string.h>

// How many elements a dimension and all behind it have together.
static guint64 elements_from(const StateField *field, guint dimension) {
  guint64 count = 1;
  for (guint d = dimension; d < field->dimensions->len; d++) count *= (guint64)g_array_index(field->dimensions, int, d);
  return count;
}

// "[2]", "[0..7]" behind a field: which of its elements are meant.  With fewer indices than dimensions all below.
static bool select_elements(Location place, const char *user, const char *indices, DebugState *found) {
  found->first = 0;
  found->count = elements_from(found->field, 0);
  for (guint d = 0; *indices; d++) {
    const char *end = indices + 1;
    uint64_t first = 0, last = 0;
    bool fine = *indices == '[' && number_take_count(&end, UINT64_MAX, &first);
    last = first;
    if (fine && g_str_has_prefix(end, "..")) {
      end += 2;
      fine = number_take_count(&end, UINT64_MAX, &last);
    }
    const char *field = found->field->name;
    if (!fine || *end != ']' || d >= found->field->dimensions->len) {
      problem(place, "value-type", "the %s has one index or range for each of the %u dimensions of `%s` at most", user,
              found->field->dimensions->len, field);
      return false;
    }
    const guint64 length = (guint64)g_array_index(found->field->dimensions, int, d);
    if (last >= length) {
      problem(place, "value-type", "the %s names element %llu of `%s`, which has 0 to %llu", user,
              (unsigned long long)last, field, (unsigned long long)length - 1);
      return false;
    }
    if (first > last || (first < last && end[1])) {
      problem(place, "value-type", "a range in the %s rises, and is that of the last index", user);
      return false;
    }
    found->first += first * elements_from(found->field, d + 1);
    found->count = (last - first + 1) * elements_from(found->field, d + 1);
    indices = end + 1;
  }
  return true;
}

// The last dot that is in no brackets.
static const char *last_dot(const char *path) {
  const char *dot = NULL;
  for (const char *at = path; *at; at++) {
    if (*at == '[') at += strcspn(at, "]");
    if (!*at) break;
    if (*at == '.') dot = at;
  }
  return dot;
}

// "fetch.pc", "list.pc[1]", "../sram.bytes": a state field, seen from an instance, or elements of it; `place` is where
// that is said, `user` what for.
static bool find_state(const Attached *attached, Location place, const char *user, const char *path,
                       DebugState *found) {
  Instance *from = attached->inst->instance;
  const char *rest = path;
  while (g_str_has_prefix(rest, "../")) {
    rest += 3;
    from = from ? from->parent : NULL;
  }
  const char *dot = last_dot(rest);
  g_autofree char *instance = dot ? g_strndup(rest, (gsize)(dot - rest)) : g_strdup("");
  const char *last = dot ? dot + 1 : rest;
  g_autofree char *field = g_strndup(last, strcspn(last, "["));
  Instance *holder = from ? find_instance(from, instance) : NULL;
  if (!holder) {
    problem(place, "unknown-name", "there is no instance `%s` for the %s", instance, user);
    return false;
  }
  found->instance = holder;
  found->field = instance_find_state(holder, field);
  if (found->field) return select_elements(place, user, last + strlen(field), found);
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; holder->leaf && i < holder->state->len; i++)
    g_ptr_array_add(names, (gpointer)((StateField *)holder->state->pdata[i])->name);
  problem(place, "unknown-name", "`%s` has no state `%s`%s", *holder->path ? holder->path : "the top", field,
          did_you_mean(diag_suggestion(field, names)));
  return false;
}

// A role's path as text: a string as it is, a reference with its indices computed.
static const char *role_path(const Attached *attached, Expr *expr) {
  int64_t n, last;
  const char *left;
  switch (expr->kind) {
  case EXPR_STRING:
  case EXPR_NAME: return expr->text;
  case EXPR_FIELD: left = role_path(attached, expr->left); return left ? arena_printf("%s.%s", left, expr->text) : NULL;
  case EXPR_INDEX:
    left = role_path(attached, expr->left);
    if (!left || !evaluate_int(attached->scope, expr->right, "the index", 0, G_MAXINT32, &n)) return NULL;
    return arena_printf("%s[%d]", left, (int)n);
  case EXPR_INDEX_RANGE:
    left = role_path(attached, expr->left);
    if (!left) return NULL;
    if (!expr->right || !expr->third) {
      problem(expr->location, "value-type", "a range of elements that a role names has two ends");
      return NULL;
    }
    if (!evaluate_int(attached->scope, expr->right, "the first index", 0, G_MAXINT32, &n) ||
        !evaluate_int(attached->scope, expr->third, "the last index", n, G_MAXINT32, &last))
      return NULL;
    return arena_printf("%s[%d..%d]", left, (int)n, (int)last);
  default: break;
  }
  problem(expr->location, "value-type", "a role names a state field, as in fetch.pc, list.pc[1] or \"../sram.bytes\"");
  return NULL;
}

// Whether what a path names are elements of a list.
static bool is_list(const DebugState *state) {
  return state->field->dimensions->len == 1 || (state->field->dimensions->len > 1 && state->count > 1);
}

// The map of a role: integers that say where in its field the values are.
static bool find_map(const Attached *attached, Node *node, DebugRole *role) {
  const char *path = role_path(attached, node->target), *user = arena_printf("map of the role `%s`", node->name);
  if (!path || !find_state(attached, node->target->location, user, path, &role->map)) return false;
  if (!is_list(&role->map) || role->map.field->type->kind != TYPE_UINT) {
    problem(node->target->location, "value-type", "the %s is a list of unsigned integers", user);
    return false;
  }
  if (is_list(&role->state)) return true;
  problem(node->value->location, "value-type", "what the role `%s` finds through a map is a list", node->name);
  return false;
}

static void add_role(const Attached *attached, Node *node, DebugView *view) {
  const char *path = role_path(attached, node->value), *user = arena_printf("role `%s`", node->name);
  DebugRole *found = arena_new(DebugRole);
  *found = (DebugRole){.role = node->name};
  if (!path || !find_state(attached, node->value->location, user, path, &found->state)) return;
  if (!node->target || find_map(attached, node, found)) g_ptr_array_add(view->roles, found);
}

static void add_property(const Attached *attached, Node *node, DebugView *view) {
  const Value *value = evaluate(attached->scope, node->value);
  if (!value) return;
  if (value->kind != VALUE_STRING && value->kind != VALUE_BOOL && value->kind != VALUE_INT) {
    problem(node->value->location, "value-type", "a property is a string, a number or a truth value, not %s",
            value_kind_text(value));
    return;
  }
  const DebugProperty property = {node->name, value->kind == VALUE_STRING ? value->string : value_text(value)};
  g_array_append_val(view->properties, property);
}

// Names of bits, of which none has two.
static bool read_bits(Expr *expr, const Value *list, DebugName *word) {
  int64_t named = 0;
  for (guint i = 0; list && i < (list->kind == VALUE_LIST ? list->items->len : 1); i++) {
    const Value *item = list->kind == VALUE_LIST ? list->items->pdata[i] : NULL, *name = NULL, *mask = NULL;
    if (item && item->kind == VALUE_RECORD) name = value_field(item, "name"), mask = value_field(item, "mask");
    if (!name || name->kind != VALUE_STRING || !mask || mask->kind != VALUE_INT) {
      problem(expr->location, "value-type", "the fields of `%s` are a list of records with `name` and `mask`",
              word->name);
      return false;
    }
    const int64_t bits = mask->integer, lowest = bits & -bits;
    if (bits < 1 || bits > G_MAXUINT32 || (bits + lowest) & bits) {
      problem(expr->location, "value-type",
              "the mask of `%s` in `%s` has 1 to 32 bits that follow one another, and is not %s", name->string,
              word->name, value_text(mask));
      return false;
    }
    for (guint k = 0; k < i; k++) {
      const DebugBits *other = &g_array_index(word->bits, DebugBits, k);
      if (!(bits & named & other->mask) && strcmp(other->name, name->string) != 0) continue;
      problem(expr->location, "value-type", "`%s` in `%s` %s", name->string, word->name,
              strcmp(other->name, name->string) ? arena_printf("has bits of `%s`", other->name) : "is named twice");
      return false;
    }
    named |= bits;
    const DebugBits one = {name->string, bits};
    g_array_append_val(word->bits, one);
  }
  return true;
}

// The names of words of a region: a list of records with `name` and `offset`, and `fields` where bits have names.
static bool read_names(const Attached *attached, Expr *expr, DebugRegion *region) {
  const Value *list = evaluate(attached->scope, expr);
  if (!list) return false;
  bool fine = list->kind == VALUE_LIST;
  for (guint i = 0; fine && i < list->items->len; i++) {
    const Value *item = list->items->pdata[i], *name = NULL, *offset = NULL;
    if (item->kind == VALUE_RECORD) name = value_field(item, "name"), offset = value_field(item, "offset");
    fine = name && name->kind == VALUE_STRING && offset && offset->kind == VALUE_INT;
    if (!fine) break;
    DebugName word = {name->string, offset->integer, arena_garray(sizeof(DebugBits))};
    if (!read_bits(expr, value_field(item, "fields"), &word)) return false;
    g_array_append_val(region->names, word);
  }
  if (!fine)
    problem(expr->location, "value-type", "the names of a region are a list of records with `name` and `offset`");
  return fine;
}

static void add_region(const Attached *attached, Node *node, DebugView *view) {
  DebugRegion *region = arena_new(DebugRegion);
  region->names = arena_garray(sizeof(DebugName));
  const char *path = role_path(attached, node->value);
  if (!evaluate_int(attached->scope, node->range->right, "an address", 0, G_MAXUINT32, &region->first) ||
      !evaluate_int(attached->scope, node->range->third, "the last address", region->first, G_MAXUINT32,
                    &region->last) ||
      !path || !find_state(attached, node->value->location, "region", path, &region->state))
    return;
  const Type *type = region->state.field->type;
  if (type->kind != TYPE_INT && type->kind != TYPE_UINT) {
    problem(node->value->location, "value-type", "the words of a region are integers, not %s", type->name);
    return;
  }
  if (node->type && !read_names(attached, node->type, region)) return;
  g_ptr_array_add(view->regions, region);
}

void attach_debug(const Attached *attached) {
  Node *node = attached->node;
  DebugView *view = arena_new(DebugView);
  *view = (DebugView){.name = node->name,
                      .instance = attached->inst->instance,
                      .roles = arena_array(),
                      .properties = arena_garray(sizeof(DebugProperty)),
                      .regions = arena_array(),
                      .location = node->location};
  for (guint i = 0; i < node->body->len; i++) {
    Node *item = node->body->pdata[i];
    if (item->kind == NODE_ROLE) add_role(attached, item, view);
    if (item->kind == NODE_PROPERTY) add_property(attached, item, view);
    if (item->kind == NODE_REGION) add_region(attached, item, view);
  }
  g_ptr_array_add(compile->netlist->debug_views, view);
}
