// Keys of lanes: a lane that was connected as `port["name"]` is known by that name, inside the module and in its C,
// whatever the order of the connections.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"

#include <string.h>

enum { LONGEST_KEY = 64 };

static bool valid(const char *key) {
  if (!g_ascii_isalpha(*key) && *key != '_') return false;
  gsize n = 1;
  while (g_ascii_isalnum(key[n]) || key[n] == '_') n++;
  return key[n] == '\0' && n <= LONGEST_KEY;
}

bool evaluate_lane(Scope *scope, Expr *expr, int64_t least, int64_t most, const char **key, int64_t *lane) {
  *key = NULL;
  const Value *value = evaluate(scope, expr);
  if (!value) return false;
  if (value->kind != VALUE_STRING) return evaluate_int(scope, expr, "the lane", least, most, lane);
  *key = value->string;
  if (valid(*key)) return true;
  problem(expr->location, "key-name",
          "\"%s\" cannot be the key of a lane: a key is a C identifier of at most %d characters", *key, LONGEST_KEY);
  return false;
}

void use_add_key(Use *use, const char *key, Location place) {
  if (!use->lanes) use->lanes = arena_array();
  KeyedLane *lane = arena_new(KeyedLane);
  *lane = (KeyedLane){key, place};
  g_ptr_array_add(use->lanes, lane);
  const int number = arena_lookup(use->by_key, key) ? -1 : (int)use->lanes->len;
  arena_insert(&use->by_key, key, GINT_TO_POINTER(number));
}

// Whether one path of bundle members is within the other; NULL is the whole port.
static bool overlaps(const char *a, const char *b) {
  if (!a || !b) return true;
  const gsize n = MIN(strlen(a), strlen(b));
  const char *rest = strlen(a) > n ? a + n : b + n;
  return !strncmp(a, b, n) && (*rest == '\0' || *rest == '.');
}

// The connections from outside that give lanes of a port their keys; NULL when none does.
static Use *keyed_use(const Inst *inst, const char *port, const char *member) {
  for (guint i = 0; inst->outer && i < inst->outer->len; i++) {
    Use *use = inst->outer->pdata[i];
    if (use->lanes && !strcmp(use->port, port) && overlaps(use->member, member)) return use;
  }
  return NULL;
}

static const char *key_in(const Use *use, int lane) {
  return use && lane < (int)use->lanes->len ? ((KeyedLane *)use->lanes->pdata[lane])->key : NULL;
}

const char *lane_key(Inst *inst, const char *port, const char *member, int lane) {
  return key_in(keyed_use(inst, port, member), lane);
}

static const char *suggestion(const Use *use, const char *key) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; use && i < use->lanes->len; i++)
    g_ptr_array_add(names, (gpointer)((KeyedLane *)use->lanes->pdata[i])->key);
  return did_you_mean(diag_suggestion(key, names));
}

int lane_with_key(Inst *inst, const char *port, const char *member, const char *key, Location where) {
  const Use *use = keyed_use(inst, port, member);
  const int found = use ? GPOINTER_TO_INT(arena_lookup(use->by_key, key)) : 0;
  if (found > 0) return found - 1;
  const PortDecl *decl = find_declared_port(inst, port);
  if (found < 0) {
    problem(where, "ambiguous-key",
            "several lanes of `%s` have the key \"%s\"; name one by its number, or all with [*]", port, key);
  } else {
    problem(where, "unknown-key", "no lane of `%s` has the key \"%s\"%s", port, key, suggestion(use, key));
  }
  if (decl) diag_note(decl->node->location, "declared here");
  return -1;
}

Value *port_keys(Inst *inst, const char *port, const char *member, Location where) {
  const int width = port_width(inst, true, port, member, where);
  if (!charge(width, where)) return NULL;
  const Use *use = keyed_use(inst, port, member);
  const PortDecl *decl = find_declared_port(inst, port);
  Value *list = value_list(where);
  for (int lane = 0; lane < width; lane++) {
    const char *key = key_in(use, lane);
    if (!key && decl && decl->node->keyed) return NULL; // check_port_keys() reports it
    g_ptr_array_add(list->items, value_string(key ? key : "", where));
  }
  return value_close(list, where) ? list : NULL;
}

// ---- What a declaration asks of the keys --------------------------------------------------------------------

static void check_duplicates(const PortDecl *decl, const Use *use) {
  g_autoptr(GHashTable) first = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < use->lanes->len; i++) {
    KeyedLane *lane = use->lanes->pdata[i];
    const KeyedLane *other = g_hash_table_lookup(first, lane->key);
    if (!other) {
      g_hash_table_insert(first, (gpointer)lane->key, lane);
      continue;
    }
    problem(lane->place, "duplicate-key", "a lane of `%s` has the key \"%s\" already", decl->name, lane->key);
    diag_note(other->place, "the other connection is here");
    diag_note(decl->node->location, "declared here; `keyed repeated` would allow it");
  }
}

// Members of a bundle may be connected one by one; lane for lane they must have the same keys.
static void check_members(const PortDecl *decl) {
  const PortMember *first = decl->members->pdata[0];
  const Use *expected = keyed_use(decl->inst, decl->name, first->path);
  for (guint i = 1; i < decl->members->len; i++) {
    const PortMember *member = decl->members->pdata[i];
    const Use *use = keyed_use(decl->inst, decl->name, member->path);
    if (use == expected) continue;
    const guint lanes = MAX(use ? use->lanes->len : 0, expected ? expected->lanes->len : 0);
    for (guint lane = 0; lane < lanes; lane++) {
      const char *a = key_in(expected, (int)lane), *b = key_in(use, (int)lane);
      if (!g_strcmp0(a, b)) continue;
      const Use *at = b ? use : expected;
      problem(((KeyedLane *)at->lanes->pdata[lane])->place, "member-keys",
              "lane %u of `%s` has %s%s%s, of `%s` %s%s%s; all members of a port have the same keys", lane,
              first->port->name, a ? "the key \"" : "no key", a ? a : "", a ? "\"" : "", member->port->name,
              b ? "the key \"" : "none", b ? b : "", b ? "\"" : "");
      diag_note(decl->node->location, "declared here");
      return;
    }
  }
}

// What the stages after elaboration know of the keys.
static void store_in_netlist(const PortDecl *decl) {
  for (guint i = 0; i < decl->members->len; i++) {
    const PortMember *member = decl->members->pdata[i];
    const Use *use = keyed_use(decl->inst, decl->name, member->path);
    if (!use) continue;
    member->port->keys = arena_array();
    for (guint lane = 0; lane < use->lanes->len; lane++)
      g_ptr_array_add(member->port->keys, (gpointer)key_in(use, (int)lane));
  }
}

void check_port_keys(PortDecl *decl) {
  for (guint i = 0; decl->inst->outer && i < decl->inst->outer->len; i++) {
    const Use *use = decl->inst->outer->pdata[i];
    if (strcmp(use->port, decl->name) != 0 || use->mode == LANES_UNUSED) continue;
    if (use->lanes && !decl->node->repeated) check_duplicates(decl, use);
    if (use->lanes || !decl->node->keyed) continue;
    problem(use->first, "key-missing", "the lanes of `%s` are named by keys: `%s[\"…\"]`", decl->name, decl->name);
    diag_note(decl->node->location, "declared here as keyed");
  }
  if (decl->members->len == 0) return;
  check_members(decl);
  store_in_netlist(decl);
}

// ---- check_keys(port, names, what[, all]) -------------------------------------------------------------------

// The arguments behind the port; false after errors.
static bool read_arguments(Scope *scope, const Expr *call, GPtrArray *names, const char **what, bool *all) {
  const Value *list = evaluate(scope, call->items->pdata[1]), *word = evaluate(scope, call->items->pdata[2]);
  if (!list || !word) return false;
  bool fine = list->kind == VALUE_LIST;
  for (guint i = 0; fine && i < list->items->len; i++) {
    const Value *name = list->items->pdata[i];
    fine = name->kind == VALUE_STRING;
    if (fine) g_ptr_array_add(names, (gpointer)name->string);
  }
  if (!fine || word->kind != VALUE_STRING) {
    problem(call->location, "value-type",
            "check_keys() takes an own port, a list of strings, and a string that says what they name");
    return false;
  }
  *what = word->string;
  return call->items->len < 4 || evaluate_bool(scope, call->items->pdata[3], all);
}

static void report_missing(const PortDecl *decl, const Use *use, const GPtrArray *names, const char *what) {
  const Instance *instance = decl->inst->instance;
  for (guint i = 0; i < names->len; i++) {
    const char *name = names->pdata[i];
    if (use && arena_lookup(use->by_key, name)) continue;
    problem(instance->location, "key-missing", "`%s` of `%s` has no lane for the %s `%s`", decl->name, instance->path,
            what, name);
    diag_note(decl->node->location, "declared here");
  }
}

// The end of a message on a name that is none of these: the one that may be meant, or all of them if they are few.
static const char *known_names(const char *name, const GPtrArray *names) {
  enum { FEW = 8 };
  const char *near = diag_suggestion(name, names);
  if (near || !names->len || names->len > FEW) return did_you_mean(near);
  const char *text = arena_printf("; there %s `%s`", names->len > 1 ? "are" : "is", (char *)names->pdata[0]);
  for (guint i = 1, first; i < names->len; i++) { // a name may be that of several lanes
    g_ptr_array_find_with_equal_func((GPtrArray *)names, names->pdata[i], g_str_equal, &first);
    if (first == i) text = arena_printf("%s, `%s`", text, (char *)names->pdata[i]);
  }
  return text;
}

void execute_check_keys(Scope *scope, Expr *call) {
  if (call->items->len < 3 || call->items->len > 4) {
    problem(call->location, "arguments", "check_keys() takes 3 or 4 arguments, not %u", call->items->len);
    return;
  }
  const Operand port = resolve(scope, call->items->pdata[0]);
  const PortDecl *decl =
      port.kind == OPERAND_PORT && port.own && !port.member ? find_declared_port(port.inst, port.port) : NULL;
  if (!decl) {
    if (port.kind != OPERAND_NONE)
      problem(((Expr *)call->items->pdata[0])->location, "value-type",
              "check_keys() takes a port of the module itself");
    return;
  }
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  const char *what;
  bool all = false;
  if (!read_arguments(scope, call, names, &what, &all)) return;
  port_width(port.inst, true, port.port, NULL, call->location); // no lane may be made after this
  g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < names->len; i++) g_hash_table_add(known, names->pdata[i]);
  const Use *use = keyed_use(decl->inst, decl->name, NULL);
  for (guint i = 0; use && i < use->lanes->len && charge(1, call->location); i++) {
    const KeyedLane *lane = use->lanes->pdata[i];
    if (g_hash_table_contains(known, lane->key)) continue;
    problem(lane->place, "unknown-key", "`%s` has no %s `%s`%s", decl->inst->instance->path, what, lane->key,
            known_names(lane->key, names));
    diag_note(decl->node->location, "`%s` is declared here", decl->name);
    decl->inst->punted = true; // what the body does with the key would only be reported once more
  }
  if (all) report_missing(decl, use, names, what);
}
