// The halves of a crossing that can be cut.  Its ends may be compiled apart, into the simulators of different parts of
// a network, and then nothing but a flight leads from one to the other.
//
// A function that names signals of a port belongs to the end that the port is, and so does all that it calls.  What is
// not known to belong to one end belongs to both: what a macro uses, and a function that nothing is seen to call.  The
// functions that belong to no port go with the state that they use: `init` and resets run in each half that has some of
// it, on a copy of its own; the others must be about one end.
#include "lss/plan/halves.h"

#include "lss/base/diagnostics.h"

#include <string.h>

struct Halves {
  const Instance *crossing;
  const ModuleSource *source;
  const char *ports[END_BOTH + 1]; // by end
  GHashTable *called[END_BOTH];    // by end: what runs there, as `where` has it
  GHashTable *fields;              // name -> Ends
  GHashTable *events;              // name -> Ends
  GHashTable *hooks;               // where -> Ends, of functions that belong to no port
  bool fine;
};

static const Ends ends[] = {END_IN, END_OUT};

// How a declared function is called in the C.
static const char *where_of(const Function *function) {
  static const char *const words[] = {[FUNCTION_INIT] = "init",
                                      [FUNCTION_PHASE_START] = "phase_start",
                                      [FUNCTION_HANDLER] = "handler",
                                      [FUNCTION_PHASE_END] = "phase_end",
                                      [FUNCTION_NEXT_EVENT] = "next_event",
                                      [FUNCTION_FINISH] = "finish",
                                      [FUNCTION_RESET] = "handler",
                                      [FUNCTION_ALWAYS] = ""};
  const char *word = words[function->kind];
  if (function->kind == FUNCTION_RESET) return module_source_where(word, "reset", function->parameter->name);
  if (function->kind == FUNCTION_HANDLER) return module_source_where(word, function->name, "");
  return module_source_where(word, strlen(function->name) > strlen(word) ? function->name + strlen(word) + 1 : "", "");
}

static Ends end_of_port(const Port *port) {
  return port->output ? END_OUT : END_IN;
}

// The end that a function names, which is one (lss/attach/cuts.c); END_NONE: it names no port.
static Ends end_of(const Function *function) {
  const GArray *lists[] = {function->reads, function->writes, function->bare_reads, function->bare_writes};
  if (function->domain_port) return end_of_port(function->domain_port);
  for (gsize l = 0; l < G_N_ELEMENTS(lists); l++)
    for (guint i = 0; i < lists[l]->len; i++)
      if (g_array_index(lists[l], Signal, i).port) return end_of_port(g_array_index(lists[l], Signal, i).port);
  return END_NONE;
}

static void add_called(const ModuleSource *source, GHashTable *functions) {
  for (bool more = true; more;) {
    more = false;
    for (guint i = 0; i < source->calls->len; i++) {
      const NameUse *call = source->calls->pdata[i];
      if (g_hash_table_contains(functions, call->where)) more |= g_hash_table_add(functions, call->name);
    }
  }
}

static GHashTable *called_by(const ModuleSource *source, const char *where) {
  GHashTable *functions = g_hash_table_new(g_str_hash, g_str_equal);
  g_hash_table_add(functions, (gpointer)where);
  add_called(source, functions);
  return functions;
}

// What each end runs; macros, and what nothing is seen to call, may run at both.
static void find_called(Halves *halves) {
  static const char *const common[] = {"init", "finish", "statistics", "skip", "awaits", "check_state"};
  const ModuleSource *source = halves->source;
  g_autoptr(GHashTable) known = called_by(source, "");
  for (gsize i = 0; i < G_N_ELEMENTS(common); i++) g_hash_table_add(known, (gpointer)common[i]);
  for (guint i = 0; i < source->hooks->len; i++) {
    const Hook *hook = source->hooks->pdata[i];
    g_hash_table_add(known, (gpointer)module_source_where(hook->word, hook->argument, hook->second));
  }
  add_called(source, known);
  for (gsize e = 0; e < G_N_ELEMENTS(ends); e++) {
    GHashTable *functions = halves->called[ends[e]] = called_by(source, "");
    for (guint i = 0; i < halves->crossing->functions->len; i++) {
      const Function *function = halves->crossing->functions->pdata[i];
      if (end_of(function) == ends[e]) g_hash_table_add(functions, (gpointer)where_of(function));
    }
    for (guint i = 0; i < source->helpers->len; i++)
      if (!g_hash_table_contains(known, source->helpers->pdata[i]))
        g_hash_table_add(functions, source->helpers->pdata[i]);
    add_called(source, functions);
  }
}

static bool in_macro(const ModuleSource *source, const char *field) {
  return g_ptr_array_find_with_equal_func(source->in_macros, field, g_str_equal, NULL);
}

// The first use of a field at an end; NULL when there is none.
static const FieldUse *use_at(const Halves *halves, const char *field, Ends end) {
  for (guint i = 0; i < halves->source->uses->len; i++) {
    const FieldUse *use = halves->source->uses->pdata[i];
    if (!strcmp(use->field, field) && g_hash_table_contains(halves->called[end], use->where)) return use;
  }
  return NULL;
}

static Location place_of(const Halves *halves, const FieldUse *use) {
  return (Location){g_intern_string(halves->source->file), use->line, use->column, use->line, use->end_column};
}

static const char *kind_of(const StateField *field) {
  return field->statistic ? "statistic" : "state";
}

static void report_shared(Halves *halves, const StateField *field, const FieldUse *in, const FieldUse *out) {
  const FieldUse *use = out ? out : in;
  halves->fine = false;
  if (in && out)
    diag_error(place_of(halves, out), "cut-state",
               "both ends of the crossing use the %s `%s`: `%s` does so in %s, and `%s` in %s", kind_of(field),
               field->name, halves->ports[END_IN], in->where, halves->ports[END_OUT], out->where);
  else
    diag_error(use ? place_of(halves, use) : field->location, "cut-state",
               "a macro uses the %s `%s`, and may be used at both ends of the crossing: write a function, or self->%s",
               kind_of(field), field->name, field->name);
  if (in && out) diag_note(place_of(halves, in), "used here at the end `%s`", halves->ports[END_IN]);
  diag_note(field->location, "only a flight leads from one end to the other; give each end another field");
  diag_note(halves->crossing->cut_place, "the two ends may be in different parts of a network");
}

// Items enter a flight at the end `in` and leave it at the end `out`.
static void check_flight(Halves *halves, const StateField *flight) {
  for (guint i = 0; i < halves->source->uses->len; i++) {
    const FieldUse *use = halves->source->uses->pdata[i];
    const Ends right = !strcmp(use->word, "flight_send") ? END_IN : END_OUT;
    if (strcmp(use->field, flight->name) || !g_hash_table_contains(halves->called[END_BOTH - right], use->where))
      continue;
    halves->fine = false;
    diag_error(place_of(halves, use), "cut-state", "%s belongs to the end `%s` of the crossing; %s belongs to `%s`",
               use->word, halves->ports[right], use->where, halves->ports[END_BOTH - right]);
    diag_note(halves->crossing->cut_place, "the two ends may be in different parts of a network");
    return;
  }
  if (!in_macro(halves->source, flight->name)) return;
  report_shared(halves, flight, NULL, NULL);
}

static void find_fields(Halves *halves) {
  for (guint i = 0; i < halves->crossing->state->len; i++) {
    const StateField *field = halves->crossing->state->pdata[i];
    if (field->flight) continue;
    if (field->kind == STATE_FLIGHT) {
      check_flight(halves, field);
      g_hash_table_insert(halves->fields, (gpointer)field->name, GINT_TO_POINTER(END_OUT));
      continue;
    }
    const FieldUse *in = use_at(halves, field->name, END_IN), *out = use_at(halves, field->name, END_OUT);
    if ((in && out) || in_macro(halves->source, field->name)) report_shared(halves, field, in, out);
    const Ends used = (in ? END_IN : END_NONE) | (out ? END_OUT : END_NONE);
    g_hash_table_insert(halves->fields, (gpointer)field->name, GINT_TO_POINTER(used));
  }
}

static void check_events(Halves *halves) {
  for (guint i = 0; i < halves->crossing->events->len; i++) {
    const Event *event = halves->crossing->events->pdata[i];
    const NameUse *uses[END_BOTH] = {NULL, NULL, NULL};
    for (guint k = 0; k < halves->source->events->len; k++) {
      const NameUse *use = halves->source->events->pdata[k];
      for (gsize e = 0; e < G_N_ELEMENTS(ends); e++)
        if (!strcmp(use->name, event->name) && g_hash_table_contains(halves->called[ends[e]], use->where))
          uses[ends[e]] = use;
    }
    g_hash_table_insert(halves->events, (gpointer)event->name, GINT_TO_POINTER(uses[END_OUT] ? END_OUT : END_IN));
    if (!uses[END_IN] || !uses[END_OUT]) continue;
    halves->fine = false;
    diag_error(event->location, "cut-state", "both ends of the crossing emit `%s`: `%s` does so in %s, and `%s` in %s",
               event->name, halves->ports[END_IN], uses[END_IN]->where, halves->ports[END_OUT], uses[END_OUT]->where);
    diag_note(halves->crossing->cut_place, "the two ends may be in different parts of a network");
  }
}

// ---- Functions that belong to no port ------------------------------------------------------------------------------

static bool holds_stream(const Type *type) {
  for (guint i = 0; type->fields && i < type->fields->len; i++)
    if (holds_stream(((Field *)type->fields->pdata[i])->type)) return true;
  return type->kind == TYPE_STREAM || (type->element && holds_stream(type->element));
}

static void report_common(Halves *halves, const FieldUse *one, const FieldUse *other, const char *why) {
  halves->fine = false;
  diag_error(place_of(halves, other), "cut-state", "%s uses state of both ends of the crossing, `%s` and `%s`%s",
             one->where, one->field, other->field, why);
  diag_note(halves->crossing->cut_place, "the two ends may be in different parts of a network");
}

// To which end a function goes: that whose state it uses.  `copies`: it may run at both, each with its own state.
static Ends find_common(Halves *halves, const char *where, bool copies) {
  g_autoptr(GHashTable) functions = called_by(halves->source, where);
  const FieldUse *uses[END_BOTH] = {NULL, NULL, NULL}, *file = NULL;
  for (guint i = 0; i < halves->source->uses->len; i++) {
    const FieldUse *use = halves->source->uses->pdata[i];
    if (!g_hash_table_contains(functions, use->where)) continue;
    const StateField *field = instance_find_state(halves->crossing, use->field);
    const Ends of = (Ends)GPOINTER_TO_INT(g_hash_table_lookup(halves->fields, use->field));
    if (of == END_IN || of == END_OUT) uses[of] = use;
    if (field && field->type && holds_stream(field->type)) file = use;
  }
  if (uses[END_IN] && uses[END_OUT] && !copies) report_common(halves, uses[END_IN], uses[END_OUT], "");
  if (uses[END_IN] && uses[END_OUT] && copies && file)
    report_common(halves, uses[END_IN], uses[END_OUT],
                  ", and would open its file at each: move that to a function of one end");
  Ends found = (uses[END_IN] ? END_IN : END_NONE) | (uses[END_OUT] ? END_OUT : END_NONE);
  if (found == END_NONE) found = copies && !file ? END_BOTH : END_IN;
  for (guint i = 0; i < halves->source->uses->len; i++) { // what no end uses is where it is set
    const FieldUse *use = halves->source->uses->pdata[i];
    if (g_hash_table_contains(functions, use->where) && !g_hash_table_lookup(halves->fields, use->field))
      g_hash_table_insert(halves->fields, use->field, GINT_TO_POINTER(found == END_OUT ? END_OUT : END_IN));
  }
  return found;
}

static void find_hooks(Halves *halves) {
  for (guint i = 0; i < halves->source->hooks->len; i++) {
    const Hook *hook = halves->source->hooks->pdata[i];
    const char *where = module_source_where(hook->word, hook->argument, hook->second);
    const bool resets = !strcmp(hook->word, "handler") && !strcmp(hook->argument, "reset");
    static const char *const common[] = {"init", "finish", "statistics", "skip", "awaits", "check_state", NULL};
    if (!resets && !g_strv_contains(common, hook->word)) continue;
    const Ends found = find_common(halves, where, resets || !strcmp(hook->word, "init"));
    g_hash_table_insert(halves->hooks, (gpointer)where, GINT_TO_POINTER(found));
  }
}

// ---- All of it -----------------------------------------------------------------------------------------------------

static void check_pointers(Halves *halves) {
  for (guint i = 0; i < halves->source->renamed->len; i++) {
    halves->fine = false;
    diag_error(
        halves->crossing->cut_place, "cut-state",
        "%s calls the state `%s`: call it `self`, so that it is known which end of the crossing uses which field",
        halves->source->file, (const char *)halves->source->renamed->pdata[i]);
  }
}

Halves *halves_find(const Instance *crossing, const ModuleSource *source) {
  Halves *halves = g_new0(Halves, 1);
  *halves = (Halves){.crossing = crossing,
                     .source = source,
                     .fields = g_hash_table_new(g_str_hash, g_str_equal),
                     .events = g_hash_table_new(g_str_hash, g_str_equal),
                     .hooks = g_hash_table_new(g_str_hash, g_str_equal),
                     .fine = true};
  for (guint i = 0; i < crossing->ports->len; i++) {
    const Port *port = crossing->ports->pdata[i];
    halves->ports[end_of_port(port)] = port->name;
  }
  find_called(halves);
  check_pointers(halves);
  find_fields(halves);
  check_events(halves);
  find_hooks(halves);
  return halves;
}

void halves_free(Halves *halves) {
  for (gsize e = 0; e < G_N_ELEMENTS(ends); e++) g_hash_table_destroy(halves->called[ends[e]]);
  g_hash_table_destroy(halves->fields);
  g_hash_table_destroy(halves->events);
  g_hash_table_destroy(halves->hooks);
  g_free(halves);
}

bool halves_fine(const Halves *halves) {
  return halves->fine;
}

Ends halves_of_field(const Halves *halves, const StateField *field) {
  if (field->flight) field = field->flight;
  const Ends of = (Ends)GPOINTER_TO_INT(g_hash_table_lookup(halves->fields, field->name));
  return of == END_NONE ? END_IN : of;
}

Ends halves_of_event(const Halves *halves, const char *event) {
  return (Ends)GPOINTER_TO_INT(g_hash_table_lookup(halves->events, event));
}

Ends halves_of_function(const Halves *halves, const Function *function) {
  const Ends end = end_of(function);
  return end == END_NONE ? (Ends)GPOINTER_TO_INT(g_hash_table_lookup(halves->hooks, where_of(function))) : end;
}

Ends halves_of_hook(const Halves *halves, const char *word) {
  return (Ends)GPOINTER_TO_INT(g_hash_table_lookup(halves->hooks, word));
}
