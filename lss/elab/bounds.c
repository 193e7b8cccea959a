// The ranges that fields declare, `uint32 head in 0..depth - 1;`: of state, of structs, of packed words.  They change
// nothing of what runs; a state that comes from outside is compared with them (lss/runtime/observe/ranges.h).
#include "lss/elab/bounds.h"

#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/value.h"

#include <string.h>

const char *bounds_text(const Bounds *bounds) {
  if (bounds->most == G_MAXINT64) return arena_printf("at least %" G_GINT64_FORMAT, bounds->least);
  if (bounds->least == G_MININT64) return arena_printf("at most %" G_GINT64_FORMAT, bounds->most);
  return arena_printf("%" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, bounds->least, bounds->most);
}

static bool evaluate_bounds(Scope *scope, const Expr *within, Bounds *bounds) {
  *bounds = (Bounds){G_MININT64, G_MAXINT64};
  return (!within->right ||
          evaluate_int(scope, within->right, "the end of a range", G_MININT64, G_MAXINT64, &bounds->least)) &&
         (!within->third ||
          evaluate_int(scope, within->third, "the end of a range", G_MININT64, G_MAXINT64, &bounds->most));
}

static bool is_empty(const Bounds *bounds, const char *name, Location where) {
  if (bounds->least <= bounds->most) return false;
  problem(where, "state-range", "nothing is in the range of `%s`, %s", name, bounds_text(bounds));
  return true;
}

static const Type *element_of(const Type *type) {
  while (type->kind == TYPE_ARRAY) type = type->element;
  return type;
}

// Whether a range can be that of a type, an array's of its elements.
static bool fits(const Type *type, const Bounds *bounds, const char *name, Location where) {
  const Type *number = element_of(type);
  const bool whole = number->kind == TYPE_INT || number->kind == TYPE_UINT || number->kind == TYPE_BITS;
  if (!whole || number->bits > 64) {
    problem(where, "value-type", "a range bounds integers of at most 64 bits: `%s` is %s", name, type->name);
    return false;
  }
  const bool negative = number->kind == TYPE_INT;
  const int digits = MIN(number->bits - negative, 63);
  const int64_t most = (int64_t)(G_MAXUINT64 >> (64 - digits));
  const Bounds all = {negative ? -most - 1 : 0, most};
  const bool below = bounds->least < all.least && bounds->least != G_MININT64,
             above = bounds->most > all.most && bounds->most != G_MAXINT64;
  if (!below && !above) return true;
  problem(where, "state-range", "the range of `%s`, %s, goes beyond %s, which holds %s", name, bounds_text(bounds),
          number->name, bounds_text(&all));
  return false;
}

static bool allows(const Bounds *bounds, int64_t number) {
  return number >= bounds->least && number <= bounds->most;
}

bool bounds_of_member(Scope *scope, const Node *node, Field *field) {
  Bounds bounds;
  if (!node->within) return true;
  if (!evaluate_bounds(scope, node->within, &bounds) || is_empty(&bounds, node->name, node->within->location) ||
      !fits(field->type, &bounds, node->name, node->within->location))
    return false;
  if (!allows(&bounds, 0)) {
    problem(node->within->location, "state-range", "the range of `%s`, %s, lacks 0, which a member is where nothing is",
            node->name, bounds_text(&bounds));
    return false;
  }
  Bounds *kept = arena_new(Bounds);
  *kept = bounds;
  field->bounds = kept;
  return true;
}

static bool has_elements(const StateField *field) {
  for (guint i = 0; i < field->dimensions->len; i++)
    if (!g_array_index(field->dimensions, int, i)) return false;
  return true;
}

void bounds_of_state(Scope *scope, const Expr *within, const char *member, StateField *field) {
  const char *name = *member ? arena_printf("%s.%s", field->name, member) : field->name;
  StateRange range = {.member = member, .location = within->location};
  if (!evaluate_bounds(scope, within, &range.bounds) || !has_elements(field) ||
      is_empty(&range.bounds, name, within->location))
    return;
  if (!field->ranges) field->ranges = arena_garray(sizeof(StateRange));
  for (guint i = 0; i < field->ranges->len; i++) {
    const StateRange *other = &g_array_index(field->ranges, StateRange, i);
    if (strcmp(other->member, member) != 0) continue;
    problem(within->location, "duplicate-name", "`%s` has a range already", name);
    diag_note(other->location, "declared here");
    return;
  }
  g_array_append_val(field->ranges, range);
}

static StateField *find_field(const Instance *instance, const char *name) {
  for (guint i = 0; i < instance->state->len; i++) {
    StateField *field = instance->state->pdata[i];
    if (!strcmp(field->name, name)) return field;
  }
  return NULL;
}

void bounds_of_state_member(Scope *scope, const Node *node) {
  Expr *name = node->target;
  while (name->left) name = name->left;
  StateField *field = find_field(compile->running->instance, name->text);
  if (field)
    bounds_of_state(scope, node->within, expr_text(node->target) + strlen(name->text) + 1, field);
  else if (!g_hash_table_contains(compile->state_names, name->text)) // else it has an error of its own
    problem(name->location, "unknown-name", "no state field `%s` is declared before its range", name->text);
}

// ---- When types are known ------------------------------------------------------------------------------------------

static const Field *find_member(const Type *type, const char *name, gsize length) {
  for (guint i = 0; type->fields && i < type->fields->len; i++) {
    const Field *field = type->fields->pdata[i];
    if (!strncmp(field->name, name, length) && !field->name[length]) return field;
  }
  return NULL;
}

// The type of what a range is of; NULL, with an error, where there is none.
static const Type *type_of(const StateField *field, const StateRange *range) {
  const Type *type = field->type;
  for (const char *at = range->member; *at;) {
    const gsize length = strcspn(at, ".");
    const Type *whole = element_of(type);
    const Field *member = find_member(whole, at, length);
    if (!member) {
      problem(range->location, "unknown-name", "`%s.%s`: %s has no member `%.*s`", field->name, range->member,
              whole->name, (int)length, at);
      return NULL;
    }
    type = member->type;
    at += length + (at[length] == '.');
  }
  return type;
}

static const Value *member_value(const Value *value, const char *member) {
  g_auto(GStrv) names = g_strsplit(member, ".", -1);
  for (char **name = names; value && *name; name++)
    value = value->kind == VALUE_RECORD ? value_field(value, *name) : NULL;
  return value;
}

// Each element begins as its initial value, or as zero.
static void check_initial(const StateField *field, const StateRange *range, const char *name) {
  const Value *initial = field->initial;
  const bool list = initial && initial->kind == VALUE_LIST;
  const guint count = list ? initial->items->len : 1;
  const bool rest = list && (int)count < g_array_index(field->dimensions, int, 0); // what is not named is zero
  for (guint i = 0; i < count + rest; i++) {
    const Value *whole = list ? (i < count ? initial->items->pdata[i] : NULL) : initial,
                *value = whole && *range->member ? member_value(whole, range->member) : whole;
    const int64_t number = value && value->kind == VALUE_INT ? value->integer : 0;
    if (allows(&range->bounds, number)) continue;
    problem(whole ? whole->location : range->location, "state-range",
            "`%s` begins as %" G_GINT64_FORMAT ", outside its range, %s", name, number, bounds_text(&range->bounds));
    if (whole) diag_note(range->location, "the range of `%s` is declared here", name);
    return;
  }
}

void bounds_check(const StateField *field) {
  for (guint i = 0; field->type && field->ranges && i < field->ranges->len; i++) {
    const StateRange *range = &g_array_index(field->ranges, StateRange, i);
    const Type *type = type_of(field, range);
    const char *name = *range->member ? arena_printf("%s.%s", field->name, range->member) : field->name;
    if (type && fits(type, &range->bounds, name, range->location)) check_initial(field, range, name);
  }
}
