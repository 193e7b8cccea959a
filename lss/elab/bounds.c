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

// "ring.head", "age % 4": what a range is of.
static const char *name_of(const StateField *field, const StateRange *range) {
  const char *name = *range->member ? arena_printf("%s.%s", field->name, range->member) : field->name;
  return range->modulus ? arena_printf("%s %% %" G_GINT64_FORMAT, name, range->modulus) : name;
}

static void add_range(Scope *scope, const Expr *within, StateRange range, StateField *field) {
  const char *name = name_of(field, &range);
  if (!evaluate_bounds(scope, within, &range.bounds) || !has_elements(field) ||
      is_empty(&range.bounds, name, within->location))
    return;
  if (!field->ranges) field->ranges = arena_garray(sizeof(StateRange));
  for (guint i = 0; i < field->ranges->len; i++) {
    const StateRange *other = &g_array_index(field->ranges, StateRange, i);
    if (strcmp(other->member, range.member) != 0 || !other->modulus != !range.modulus) continue;
    problem(within->location, "duplicate-name", "`%s` has a range already", name);
    diag_note(other->location, "declared here");
    return;
  }
  g_array_append_val(field->ranges, range);
}

void bounds_of_state(Scope *scope, const Expr *within, StateField *field) {
  add_range(scope, within, (StateRange){.member = "", .location = within->location}, field);
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
  StateRange range = {.member = "", .location = node->within->location};
  if (name != node->target) range.member = expr_text(node->target) + strlen(name->text) + 1;
  if (node->value && !evaluate_int(scope, node->value, "the modulus of a range", 1, G_MAXINT64, &range.modulus)) return;
  if (field)
    add_range(scope, node->within, range, field);
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

// Whether a remainder can be in the range; numbers below 0 have none that C and mathematics agree on.
static bool fits_remainder(const Type *type, const StateRange *range, const char *name) {
  if (element_of(type)->kind == TYPE_INT) {
    problem(range->location, "value-type", "a remainder needs an unsigned number: `%s` is of %s", name,
            element_of(type)->name);
    return false;
  }
  const Bounds all = {0, range->modulus - 1};
  const bool below = range->bounds.least < 0 && range->bounds.least != G_MININT64,
             above = range->bounds.most > all.most && range->bounds.most != G_MAXINT64;
  if (!below && !above) return true;
  problem(range->location, "state-range", "the range of `%s`, %s, goes beyond its remainders, %s", name,
          bounds_text(&range->bounds), bounds_text(&all));
  return false;
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
    int64_t number = value && value->kind == VALUE_INT ? value->integer : 0;
    if (range->modulus) number = (int64_t)((uint64_t)number % (uint64_t)range->modulus);
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
    const char *name = name_of(field, range);
    const Bounds *remains = range->modulus ? &(Bounds){0, 0} : &range->bounds; // any number has a remainder
    if (type && fits(type, remains, name, range->location) && (!range->modulus || fits_remainder(type, range, name)))
      check_initial(field, range, name);
  }
}
