// Type inference: what connections join has one type.  Terms are unified over all connections; what is then still open
// is ambiguous.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/base/library.h"
#include "lss/elab/bounds.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"

#include <string.h>

// Whether there is nothing to find out about a type, and nothing to say.
static bool is_resolved(const Type *type, bool travels, const StateField *state) {
  if (!type) return false;
  if (!state) return !travels || type_can_travel(type);
  return !state->initial && type->kind != TYPE_STRING && type->kind != TYPE_STREAM;
}

void pending_type(Term *term, Type **slot, Location place, const char *what, bool travels, StateField *state) {
  Type *known = term_type(term);
  if (is_resolved(known, travels, state)) {
    *slot = known;
    return;
  }
  Pending *pending = arena_new(Pending);
  *pending = (Pending){.term = term,
                       .slot = slot,
                       .place = place,
                       .what = what,
                       .inst = compile->running,
                       .state = state,
                       .travels = travels};
  g_ptr_array_add(compile->pending, pending);
}

// "mem_request(64)" and "mem_request(32)", uint8 and uint16, packed words of one family: the same kind of thing in two
// widths.
static bool same_family(Type *a, Type *b) {
  bool bits_a = a->kind == TYPE_UINT || a->kind == TYPE_BITS, bits_b = b->kind == TYPE_UINT || b->kind == TYPE_BITS;
  if (bits_a && bits_b) return true;
  if (a->kind != b->kind) return false;
  if (a->kind == TYPE_INT || a->kind == TYPE_FLOAT) return true;
  if (a->kind == TYPE_ARRAY) return a->element == b->element || same_family(a->element, b->element);
  if (a->kind != TYPE_STRUCT && a->kind != TYPE_PACKED) return false;
  gsize n = strcspn(a->name, "(");
  return a->name[n] && strcspn(b->name, "(") == n && !strncmp(a->name, b->name, n);
}

// The module that joins ports of different widths, when the types come with one: `X_width` to `X_types.lss`.
static void suggest_converter(const Type *type) {
  const Symbol *family = scope_find(compile->globals, arena_strndup(type->name, strcspn(type->name, "(")));
  if (!family || !family->file) return;
  g_autofree char *base = g_path_get_basename(family->file->path);
  if (!g_str_has_suffix(base, "_types.lss")) return;
  const char *name = arena_printf("%.*s_width", (int)(strlen(base) - strlen("_types.lss")), base);
  g_autoptr(GPtrArray) folders = library_folders(compile->options, family->file->path);
  g_autofree char *path = library_find(folders, name);
  if (path) diag_note(NOWHERE, "`%s` between them joins ports of different widths", name);
}

static void report_clash(const Pair *pair, Term *left, Term *right, const char *left_name, const char *right_name) {
  pair->link->clashed = true; // the members of bundles differ alike
  Type *a = term_type(left), *b = term_type(right);
  bool width = a && b && same_family(a, b);
  problem(pair->link->location, width ? "width-clash" : "type-clash", "%s is %s, but %s is %s", left_name,
          term_text(left), right_name, term_text(right));
}

static const char *port_title(const PortMember *member) {
  const Inst *inst = member->decl->inst;
  return arena_printf("`%s`", inst_path_of(inst, member->port->name));
}

static void join_types(const Pair *pair) {
  if (!pair->from->term || !pair->to->term) return;
  compile->running = pair->link->level;
  if (pair->link->clashed) return;
  Term *annotation = pair->link->annotation;
  if (annotation && !unify(pair->from->term, annotation)) {
    report_clash(pair, pair->from->term, annotation, port_title(pair->from), "the connection's annotation");
    diag_note(pair->from->port->location, "declared here");
    return;
  }
  if (unify(pair->from->term, pair->to->term)) return;
  report_clash(pair, pair->from->term, pair->to->term, port_title(pair->from), port_title(pair->to));
  diag_note(pair->from->port->location, "%s is declared here", port_title(pair->from));
  diag_note(pair->to->port->location, "%s is declared here", port_title(pair->to));
  const Type *type = term_type(pair->from->term);
  if (type && type->kind == TYPE_STRUCT) suggest_converter(type);
}

static bool is_unconnected(const Inst *inst, Type **slot) {
  for (guint i = 0; i < inst->port_list->len; i++) {
    PortDecl *decl = inst->port_list->pdata[i];
    for (guint m = 0; m < decl->members->len; m++) {
      PortMember *member = decl->members->pdata[m];
      if (&member->port->type == slot) return member->outer->len == 0;
    }
  }
  return false;
}

// The port that carries items of a type, one that is connected if there is any; NULL: none does.
static const PortMember *carrier(const Inst *inst, Term *term) {
  const PortMember *found = NULL;
  for (guint i = 0; i < inst->port_list->len; i++) {
    const PortDecl *decl = inst->port_list->pdata[i];
    for (guint m = 0; m < decl->members->len; m++) {
      const PortMember *member = decl->members->pdata[m];
      Term *carried = term_find(member->term);
      while (carried->kind == TERM_ARRAY) carried = term_find(carried->element);
      if (carried == term && (!found || found->outer->len == 0)) found = member;
    }
  }
  return found;
}

// Where a port is connected first from outside; NULL: nowhere.
static const Location *connection_of(const PortMember *member) {
  for (guint i = 0; i < member->outer->len; i++) {
    const Joint *joint = member->outer->pdata[i];
    if (joint) return &joint->link->location;
  }
  return NULL;
}

static void ambiguous(const Pending *pending, Term *term) {
  compile->running = pending->inst;
  while (term->kind == TERM_ARRAY) term = term_find(term->element);
  if (term->reported) return;
  term->reported = true;
  const PortMember *member = carrier(pending->inst, term);
  const Location *connection = member && !term->alternatives ? connection_of(member) : NULL;
  if (connection) {
    problem(*connection, "ambiguous-type", "nothing determines the type of `%s.%s`", pending->inst->instance->path,
            member->port->name);
    diag_note(member->port->location, "`%s` is declared here", member->port->name);
  } else if (term->alternatives)
    problem(pending->place, "ambiguous-type", "the type of `%s` could be %s", pending->what, term_text(term));
  else
    problem(pending->place, "ambiguous-type", "nothing determines the type %s", term_text(term));
  if (!connection && pending->inst->instance->location.line)
    diag_note(pending->inst->instance->location, "for the instance created here");
  if (member)
    diag_note(NOWHERE, "an annotation on a connection, `a.out -> b.in : uint32;`, fixes it");
  else
    diag_note(NOWHERE, "no port of the module has this type, so it cannot be inferred");
}

static void resolve_pending(Pending *pending, bool report) {
  Term *term = term_find(pending->term);
  Type *type = term_type(term);
  if (!type) {
    if (report) ambiguous(pending, term);
    return;
  }
  *pending->slot = type;
  compile->running = pending->inst;
  if (pending->travels && !type_can_travel(type))
    problem(pending->place, "value-type", "`%s` cannot be of type %s, which cannot be sent over a connection",
            pending->what, type->name);
  StateField *state = pending->state;
  if (!state) return;
  if (type->kind == TYPE_STRING)
    problem(pending->place, "value-type", "state cannot be a string; an array of uint8 holds text");
  if (type->kind == TYPE_STREAM && state->kind != STATE_BEHAVIOUR)
    problem(pending->place, "value-type",
            state->statistic ? "a statistic is a number, not a stream" : "a stream is behaviour, of no other kind");
  if (!state->initial) return;
  // An initial value fills every element of an array that it does not list.
  if (state->dimensions->len == 0) {
    state->initial = coerce_to_type(state->initial, type, state->initial->location, state->name);
  } else if (state->initial->kind == VALUE_LIST && state->dimensions->len == 1) {
    int length = g_array_index(state->dimensions, int, 0);
    if ((int)state->initial->items->len > length) {
      problem(state->initial->location, "index-range", "`%s` has %d elements, and %u initial values", state->name,
              length, state->initial->items->len);
      return;
    }
    Value *list = value_list(state->initial->location);
    for (guint i = 0; i < state->initial->items->len; i++) {
      Value *item = state->initial->items->pdata[i];
      g_ptr_array_add(list->items, coerce_to_type(item, type, item->location, state->name));
    }
    state->initial = list;
  } else {
    problem(state->initial->location, "value-type", "the initial value of an array is a list of one dimension, not %s",
            value_kind_text(state->initial));
  }
}

static gint by_name(gconstpointer a, gconstpointer b) {
  return strcmp((*(Term *const *)a)->name, (*(Term *const *)b)->name);
}

void infer_types(bool complete) {
  int errors = diag_error_count();
  for (guint i = 0; i < compile->pairs->len; i++) join_types(compile->pairs->pdata[i]);
  // What is missing because of other errors is not ambiguous.
  bool clean = complete && diag_error_count() == errors;
  // What only unconnected optional ports would know is of no consequence: bool.
  Term *none = term_of(type_simple(TYPE_BOOL, 1));
  for (guint i = 0; i < compile->pending->len; i++) {
    Pending *pending = compile->pending->pdata[i];
    Term *term = term_find(pending->term);
    if (term_type(term) || !is_unconnected(pending->inst, pending->slot)) continue;
    while (term->kind == TERM_ARRAY) term = term_find(term->element);
    unify(term, term->alternatives ? term_of(term->alternatives->pdata[0]) : none);
  }
  for (guint i = 0; i < compile->pending->len; i++) resolve_pending(compile->pending->pdata[i], clean);
  for (guint i = 0; i < compile->insts->len; i++) {
    Inst *inst = compile->insts->pdata[i];
    compile->running = inst;
    for (guint k = 0; k < inst->instance->state->len; k++) bounds_check(inst->instance->state->pdata[k]);
    if (!inst->variables) continue;
    g_ptr_array_sort(inst->variables, by_name);
    for (guint k = 0; k < inst->variables->len; k++) {
      Term *variable = inst->variables->pdata[k];
      Type *type = term_type(variable);
      if (!type) continue;
      Field *field = arena_new(Field);
      *field = (Field){.name = variable->name, .type = type};
      g_ptr_array_add(inst->instance->type_variables, field);
    }
  }
  compile->running = NULL;
}
