// Instrumentation: collectors and debug views, matched to the instances, connections and state that they name.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"
#include "lss/runtime/text/number.h"
#include "lss/runtime/text/pattern.h"

#include <stdio.h>
#include <string.h>

// ---- Collectors --------------------------------------------------------------------------------------------

const char *const connection_events[CONNECTION_EVENTS] = {"transferred", "stalled", "cancelled", "idle"};

bool is_connection_event(const char *event) {
  for (guint i = 0; i < G_N_ELEMENTS(connection_events); i++)
    if (!strcmp(connection_events[i], event)) return true;
  return false;
}

Event *find_event(const Instance *instance, const char *name) {
  for (guint i = 0; i < instance->events->len; i++) {
    Event *event = instance->events->pdata[i];
    if (!strcmp(event->name, name)) return event;
  }
  return NULL;
}

static const char *relative(const Attached *attached, const char *pattern) {
  return *attached->inst->instance->path ? arena_printf("%s.%s", attached->inst->instance->path, pattern) : pattern;
}

bool connection_matches(const char *pattern, const Connection *connection) {
  const Port *ports[] = {connection->from, connection->to};
  const int lanes[] = {connection->from_lane, connection->to_lane};
  for (int side = 0; side < 2; side++) {
    g_autofree char *name = port_lane_text(ports[side], lanes[side]);
    g_autofree char *end = g_strdup_printf("%s.%s", ports[side]->instance->path, name);
    if (spinach_port_matches(pattern, end, lanes[side])) return true;
  }
  for (guint i = 0; i < connection->passages->len; i++) {
    const Passage *passage = connection->passages->pdata[i];
    if (spinach_port_matches(pattern, passage->text, passage->lane)) return true;
  }
  return false;
}

void attach_to_connections(Collector *collector) {
  GPtrArray *connections = compile->netlist->connections;
  for (guint i = 0; i < connections->len; i++)
    if (connection_matches(collector->pattern, connections->pdata[i]))
      g_ptr_array_add(collector->connections, connections->pdata[i]);
}

static int depth_of(const Instance *instance) {
  int depth = 0;
  for (; instance->parent; instance = instance->parent) depth++;
  return depth;
}

// Patterns are relative: what they match is below the instance, whose own subtree follows it in the list.
void attach_to_instances(Collector *collector, const Instance *from, GPtrArray *events, bool *any) {
  const GPtrArray *instances = compile->netlist->instances;
  const int depth = depth_of(from);
  for (guint i = (guint)from->id; i < instances->len; i++) {
    Instance *leaf = instances->pdata[i];
    if (leaf != from && depth_of(leaf) <= depth) break;
    if (!leaf->leaf) continue;
    if (!spinach_path_matches(collector->pattern, leaf->path)) continue;
    *any = true;
    for (guint e = 0; e < leaf->events->len; e++)
      g_ptr_array_add(events, (gpointer)((Event *)leaf->events->pdata[e])->name);
    if (find_event(leaf, collector->event)) g_ptr_array_add(collector->instances, leaf);
  }
}

// What C calls the collector: a path is made an identifier, with a number since two may become the same.
static const char *c_name_of(const char *name) {
  if (!strpbrk(name, ".[")) return name;
  char *c_name = arena_printf("%s_%u", name, compile->netlist->collectors->len);
  for (char *c = c_name; *c; c++)
    if (!g_ascii_isalnum(*c)) *c = '_';
  return c_name;
}

// `record on PATTERN event NAME`: another event, recorded in the same state.
static Collector *add_event(const Attached *attached, const Collector *collector, const Node *section) {
  Collector *other = arena_new(Collector);
  *other = (Collector){.name = collector->name,
                       .c_name = collector->c_name,
                       .owner = collector->owner,
                       .pattern = relative(attached, section->text),
                       .event = section->type_name,
                       .shared = true,
                       .on_connections = is_connection_event(section->type_name),
                       .of = collector,
                       .record = evaluate(attached->scope, section->value),
                       .instances = arena_array(),
                       .connections = arena_array(),
                       .location = section->location};
  return other;
}

static void read_sections(const Attached *attached, Collector *collector) {
  for (guint i = 0; i < attached->node->body->len; i++) {
    Node *section = attached->node->body->pdata[i];
    if (section->text) continue; // of another event, which comes after what it shares
    struct {
      const char *name;
      Value **slot;
    } known[] = {{"include", &collector->include},
                 {"declare", &collector->declare},
                 {"init", &collector->init},
                 {"record", &collector->record},
                 {"report", &collector->report}};
    Value **slot = NULL;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint k = 0; k < G_N_ELEMENTS(known); k++) {
      g_ptr_array_add(names, (gpointer)known[k].name);
      if (!strcmp(known[k].name, section->name)) slot = known[k].slot;
    }
    if (!slot) {
      problem(section->place, "unknown-name",
              "a collector has no section `%s`, only include, declare, init, record and report%s", section->name,
              did_you_mean(diag_suggestion(section->name, names)));
    } else if (*slot) {
      problem(section->place, "duplicate-name", "the section `%s` is given twice", section->name);
    } else {
      *slot = evaluate(attached->scope, section->value);
    }
  }
}

// What the pattern of a collector, or of a section of it, names.
static void attach_matching(const Attached *attached, const Node *node, Collector *collector) {
  if (collector->on_connections) {
    attach_to_connections(collector);
    if (collector->connections->len == 0)
      problem(node->location, "no-match", "no connection matches \"%s\"", node->text);
  } else {
    g_autoptr(GPtrArray) events = g_ptr_array_new();
    bool any = false;
    attach_to_instances(collector, attached->inst->instance, events, &any);
    if (collector->instances->len == 0 && any)
      problem(node->location, "unknown-name", "no instance that matches \"%s\" has an event `%s`%s", node->text,
              node->type_name, did_you_mean(diag_suggestion(node->type_name, events)));
    else if (!any)
      problem(node->location, "no-match", "no instance with behaviour matches \"%s\"", node->text);
  }
  g_ptr_array_add(compile->netlist->collectors, collector);
}

static void attach_collector(const Attached *attached) {
  Node *node = attached->node;
  const char *name = inst_path_of(attached->inst, node->name);
  const Collector *other = g_hash_table_lookup(compile->collector_names, name);
  if (other) {
    problem(node->place, "duplicate-name", "the collector `%s` is declared twice", node->name);
    diag_note(other->location, "first declared here");
    return;
  }
  Collector *collector = arena_new(Collector);
  *collector = (Collector){.name = name,
                           .c_name = c_name_of(name),
                           .owner = attached->inst->instance,
                           .pattern = relative(attached, node->text),
                           .event = node->type_name,
                           .shared = node->shared,
                           .on_connections = is_connection_event(node->type_name),
                           .instances = arena_array(),
                           .connections = arena_array(),
                           .location = node->location};
  g_hash_table_insert(compile->collector_names, (gpointer)name, collector);
  int errors = diag_error_count();
  read_sections(attached, collector);
  bool sections_known = diag_error_count() == errors;
  attach_matching(attached, node, collector);
  if (sections_known && !collector->record && !collector->report)
    problem(node->location, "no-match", "the collector `%s` has neither record nor report", node->name);
  for (guint i = 0; i < node->body->len; i++) {
    const Node *section = node->body->pdata[i];
    if (!section->text) continue;
    if (!collector->shared)
      problem(section->place, "misplaced", "only a shared collector records several events");
    else
      attach_matching(attached, section, add_event(attached, collector, section));
  }
}

// ---- Debug views -------------------------------------------------------------------------------------------

Instance *find_instance(Instance *from, const char *path) {
  g_auto(GStrv) parts = g_strsplit(path, ".", -1);
  for (int i = 0; parts[i] && from; i++) {
    Instance *next = NULL;
    if (!*parts[i]) continue;
    for (guint c = 0; c < from->children->len && !next; c++)
      if (!strcmp(((Instance *)from->children->pdata[c])->name, parts[i])) next = from->children->pdata[c];
    from = next;
  }
  return from;
}

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

static void attach_debug(const Attached *attached) {
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

// ---- Watches -----------------------------------------------------------------------------------------------

static Value *watch_code(Location location, const char *text) {
  Value *code = value_new(VALUE_CODE, location);
  code->string = text;
  return code;
}

// What is watched: PATH.EVENT, PATH.EVENT(ARGUMENT == N), or marker(N), which is the event `marker` of whatever
// instance with that number.
typedef struct {
  const char *pattern, *event;
  const char *argument, *relation; // NULL: none is compared
  gint64 number;
  const char *name; // as conditions of runs call it, which have the number in decimal
} Watch;

static bool read_watch(const char *text, Watch *watch) {
  g_autoptr(GRegex) form =
      g_regex_new("^([^()]*)\\.([^.()]+)(?:\\((\\w+) (==|!=|<=|>=|<|>) (-?\\w+)\\))?$", 0, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  const char *marker = text + strlen("marker(");
  uint64_t number;
  *watch = (Watch){0};
  if (g_str_has_prefix(text, "marker(") && number_take_count(&marker, UINT32_MAX, &number) && !strcmp(marker, ")")) {
    *watch = (Watch){"**", "marker", "number", "==", (gint64)number, arena_printf("marker(%u)", (unsigned)number)};
    return true;
  }
  if (!g_regex_match(form, text, 0, &match)) return false;
  g_auto(GStrv) parts = g_match_info_fetch_all(match);
  watch->pattern = arena_strdup(parts[1]);
  watch->event = arena_strdup(parts[2]);
  watch->name = arena_strdup(text);
  if (g_strv_length(parts) < 6 || !*parts[3]) return true;
  watch->argument = arena_strdup(parts[3]);
  watch->relation = arena_strdup(parts[4]);
  const char *error;
  if (!number_read_integer(parts[5], &watch->number, &error)) return false;
  watch->name = arena_printf("%s.%s(%s %s %" G_GINT64_FORMAT ")", watch->pattern, watch->event, watch->argument,
                             watch->relation, watch->number);
  return true;
}

static bool has_number(const Event *event, const char *argument) {
  for (guint i = 0; i < event->arguments->len; i++) {
    const Field *field = event->arguments->pdata[i];
    if (!strcmp(field->name, argument)) return type_is_whole_number(field->type);
  }
  return false;
}

// Leaves those whose event has the argument that is compared; reports when there are none.
static void keep_comparable(Collector *collector, const Watch *watch) {
  if (!watch->argument || !(collector->instances->len + collector->connections->len)) return;
  g_ptr_array_set_size(collector->connections, 0); // whose events have no arguments
  for (guint i = collector->instances->len; i-- > 0;)
    if (!has_number(find_event(collector->instances->pdata[i], watch->event), watch->argument))
      g_ptr_array_remove_index(collector->instances, i);
  if (!collector->instances->len)
    problem(collector->location, "no-match", "no event `%s` there has an argument `%s` that is a number", watch->event,
            watch->argument);
}

// A counter that a condition of the simulator's command line waits for.  When it gets to the goal, the run pauses.
static void attach_watch(const char *text) {
  const guint number = compile->netlist->watches->len;
  const char *file = g_intern_string("--watch");
  diag_register_text(file, text);
  const Location location = {file, 1, 1, 1, (int)strlen(text) + 1};
  Watch watch;
  if (!read_watch(text, &watch)) {
    problem(location, "no-match", "an event to watch is written PATH.EVENT, PATH.EVENT(ARGUMENT == N) or marker(N)");
    return;
  }
  g_ptr_array_add(compile->netlist->watches, (gpointer)watch.name);
  const char *counts = "++self->n";
  if (watch.argument)
    counts = arena_printf("(int64_t)%s %s %" G_GINT64_FORMAT "LL && ++self->n", watch.argument, watch.relation,
                          watch.number);
  Collector *collector = arena_new(Collector);
  *collector =
      (Collector){.name = arena_printf("spinach_watch_%u", number),
                  .c_name = arena_printf("spinach_watch_%u", number),
                  .owner = compile->netlist->instances->pdata[0],
                  .pattern = watch.pattern,
                  .event = watch.event,
                  .shared = true,
                  .declare = watch_code(location, "uint64_t n;"),
                  .init = watch_code(location, arena_printf("spinach_watches[%u].count = &self->n;", number)),
                  .record = watch_code(
                      location, arena_printf("if (%s >= spinach_watches[%u].goal) spinach_stopping |= SPINACH_PAUSE;",
                                             counts, number)),
                  .on_connections = is_connection_event(watch.event),
                  .instances = arena_array(),
                  .connections = arena_array(),
                  .location = location};
  g_autoptr(GPtrArray) events = g_ptr_array_new();
  bool any = false;
  if (collector->on_connections)
    attach_to_connections(collector);
  else
    attach_to_instances(collector, compile->netlist->instances->pdata[0], events, &any);
  if (collector->connections->len + collector->instances->len == 0)
    problem(location, "no-match", "nothing that matches \"%s\" has an event `%s`%s", watch.pattern, watch.event,
            did_you_mean(diag_suggestion(watch.event, events)));
  keep_comparable(collector, &watch);
  g_ptr_array_add(compile->netlist->collectors, collector);
}

void attach_instrumentation(void) {
  for (guint i = 0; i < compile->collectors->len; i++) {
    Attached *attached = compile->collectors->pdata[i];
    compile->running = attached->inst;
    attach_collector(attached);
  }
  compile->running = NULL;
  const GPtrArray *watches = compile->options->watches;
  for (guint i = 0; watches && i < watches->len; i++) attach_watch(watches->pdata[i]);
  const GPtrArray *records = compile->options->records;
  for (guint i = 0; records && i < records->len; i++) attach_record(records->pdata[i]);
  const GPtrArray *waves = compile->options->waves;
  for (guint i = 0; waves && i < waves->len; i++) attach_wave(waves->pdata[i]);
  for (guint i = 0; i < compile->debugs->len; i++) {
    Attached *attached = compile->debugs->pdata[i];
    compile->running = attached->inst;
    attach_debug(attached);
  }
  for (guint i = 0; i < compile->derived->len; i++) {
    const Attached *attached = compile->derived->pdata[i];
    compile->running = attached->inst;
    attach_derived(attached);
  }
  compile->running = NULL;
  attach_balances();
}
