// One specialisation of a leaf module: its state, the contexts through which its functions see signals, the vocabulary
// bound to its ports and parameters, its userpoints, and its behaviour file.
//
// A function's context has a member for each signal that it declares and none for others, so that touching an
// undeclared signal is an error of the C compiler, which clang_errors.c turns into ours.  Contexts are small structs on
// the stack of the generated step function and disappear when everything is inlined.
#include "lss/emit/emit.h"

#include <string.h>

#define INLINE "SPINACH_INLINE "

// The C name without the specialisation's prefix: handlers live in a name space of their own.
void emit_function_name(GString *out, const Function *function) {
  g_string_append_printf(out, "%s%s", function->kind == FUNCTION_HANDLER ? "handler_" : "", function->name);
}

static const char *const signal_words[] = {"data", "enable", "ack"};

// ---- Structs ---------------------------------------------------------------------------------------------------

static void emit_port_structs(const Emitter *emitter, GString *out, const Port *port, bool flagged) {
  bool apart = plan_lanes_apart((int)port->lanes->len);
  const char *type = emit_c_type(port->type), *star = plan_by_pointer(port->type) ? "*" : "",
             *read_star = plan_read_in_place(emitter->plan, port) ? "*" : "", *open = apart ? "*" : "",
             *close = apart ? "" : "[1]";
  g_autofree char *some = g_strdup_printf("bool %ssome%s;", open, close),
                  *known = flagged ? g_strdup_printf(" bool %sknown%s;", open, close) : g_strdup("");
  const char *partial = flagged ? " bool partial;" : "";
  g_string_append_printf(out, "typedef struct { %s%s %s%sv%s; %s%s } @S@_r_%s_data;\n", *read_star ? "const " : "",
                         type, read_star, open, close, some, known, port->c_name);
  g_string_append_printf(out, "typedef struct { %s %s%sv%s; %s%s%s } @S@_w_%s_data;\n", type, star, open, close, some,
                         known, partial, port->c_name);
  g_string_append_printf(out, "typedef struct { bool %sv%s;%s%s } @S@_%s_flag;\n", open, close, known, partial,
                         port->c_name);
}

static void emit_local_struct(GString *out, const Local *local, bool flagged) {
  bool apart = plan_lanes_apart(local->lanes);
  const char *open = apart ? "*" : "", *close = apart ? "" : "[1]";
  g_string_append_printf(out, "typedef struct { %s %sv%s;", emit_c_type(local->type), open, close);
  if (flagged) g_string_append_printf(out, " bool %sknown%s, partial;", open, close);
  g_string_append_printf(out, " } @S@_local_%s;\n", local->name);
}

static void emit_context(GString *out, const Instance *instance, const Function *function) {
  g_string_append(out, "typedef struct {\n");
  for (guint i = 0; i < instance->ports->len; i++) {
    const Port *port = instance->ports->pdata[i];
    for (int kind = SIGNAL_DATA; kind <= SIGNAL_ACK; kind++) {
      bool data = kind == SIGNAL_DATA;
      const char *word = signal_words[kind];
      if (plan_reads(instance, function, port, (SignalKind)kind))
        g_string_append_printf(out, data ? "  @S@_r_%s_data read_%s_%s;\n" : "  @S@_%s_flag read_%s_%s;\n",
                               port->c_name, port->c_name, word);
      if (plan_writes(instance, function, port, (SignalKind)kind))
        g_string_append_printf(out, data ? "  @S@_w_%s_data write_%s_%s;\n" : "  @S@_%s_flag write_%s_%s;\n",
                               port->c_name, port->c_name, word);
    }
  }
  for (guint i = 0; i < instance->locals->len; i++) {
    const Local *local = instance->locals->pdata[i];
    if (plan_reads_local(instance, function, local))
      g_string_append_printf(out, "  @S@_local_%s read_local_%s;\n", local->name, local->name);
    if (plan_writes_local(instance, function, local))
      g_string_append_printf(out, "  @S@_local_%s write_local_%s;\n", local->name, local->name);
  }
  g_string_append(out, "  char none;\n} @S@_ctx_");
  emit_function_name(out, function);
  g_string_append(out, ";\n");
}

// ---- Userpoints and events -------------------------------------------------------------------------------------

// The arguments of a function, as the rest of a list.  One that is called like a type hides it from those behind it.
static char *argument_list(GString *out, const char *what, const char *name, const GPtrArray *arguments) {
  GString *list = g_string_new(NULL);
  for (guint i = 0; i < arguments->len; i++) {
    const Field *argument = arguments->pdata[i];
    const char *type = emit_c_type(argument->type);
    bool hidden = false;
    for (guint k = 0; k < i; k++) hidden |= !strcmp(((Field *)arguments->pdata[k])->name, type);
    if (hidden) {
      g_string_append_printf(out, "typedef %s @S@_%s_%s_argument_%u;\n", type, what, name, i);
      g_string_append_printf(list, ", @S@_%s_%s_argument_%u %s", what, name, i, argument->name);
    } else {
      g_string_append_printf(list, ", %s %s", type, argument->name);
    }
  }
  return g_string_free(list, FALSE);
}

static void emit_userpoint(GString *out, const Userpoint *userpoint) {
  for (guint i = 0; i < userpoint->arguments->len; i++) {
    const Field *argument = userpoint->arguments->pdata[i];
    g_string_append_printf(out, "#define SP_argument_%s_%u %s\n", userpoint->name, i, emit_c_type(argument->type));
  }
  g_autofree char *list = argument_list(out, "userpoint", userpoint->name, userpoint->arguments);
  g_string_append_printf(out, INLINE "%s @S@_userpoint_%s(const @S@_state *self%s) {",
                         userpoint->result ? emit_c_type(userpoint->result) : "void", userpoint->name, list);
  emit_body(out, userpoint->code);
}

// Whether something reads it.
static bool is_observed(const Spec *spec, const Event *event) {
  for (guint i = 0; i < spec->collectors->len; i++)
    if (strcmp(((Collector *)spec->collectors->pdata[i])->event, event->name) == 0) return true;
  return emit_tallied_event(spec, event);
}

static void emit_event(GString *out, const Spec *spec, const Event *event) {
  const bool observed = is_observed(spec, event);
  g_string_append_printf(out, "#define SP_observed_%s %d\n", event->name, observed);
  if (!observed) { // the arguments are checked, and count as used, but nothing is computed without a reader
    g_string_append_printf(out, "void @S@_event_%s(int", event->name);
    for (guint i = 0; i < event->arguments->len; i++)
      g_string_append_printf(out, ", %s", emit_c_type(((Field *)event->arguments->pdata[i])->type));
    g_string_append_printf(
        out, ");\n#define SP_event_%s(...) ((void)sizeof(@S@_event_%s(0 __VA_OPT__(,) __VA_ARGS__), 0))\n", event->name,
        event->name);
    return;
  }
  g_autofree char *parameters = argument_list(out, "event", event->name, event->arguments);
  g_autoptr(GString) arguments = g_string_new(NULL);
  for (guint i = 0; i < event->arguments->len; i++)
    g_string_append_printf(arguments, ", %s", ((Field *)event->arguments->pdata[i])->name);
  g_autoptr(GString) calls = g_string_new(NULL);
  for (guint i = 0; i < spec->collectors->len; i++) {
    const Collector *collector = spec->collectors->pdata[i];
    if (strcmp(collector->event, event->name) != 0 || !collector->record) continue; // recorded ones have none
    guint owner = i;
    if (collector->of) g_ptr_array_find(spec->collectors, collector->of, &owner);
    g_autofree char *type = collector->shared ? g_strdup_printf("struct spinach_shared_%s", collector->c_name)
                                              : g_strdup_printf("@S@_collector_%u", owner);
    g_string_append_printf(out,
                           "static inline void @S@_record_%s_%u(%s *self%s, uint32_t spinach_id, const char *path, "
                           "uint64_t now, uint64_t cycle) {",
                           event->name, i, type, parameters);
    emit_body(out, collector->record);
    g_autofree char *target = collector->shared ? g_strdup_printf("spinach_shared_%s", collector->c_name)
                                                : g_strdup_printf("&self->collector_%u", owner);
    g_string_append_printf(calls,
                           "  @S@_record_%s_%u(%s%s, self->spinach_id, spinach_path(self->spinach_id), "
                           "spinach_time.now, spinach_time.cycle);\n",
                           event->name, i, target, arguments->str);
  }
  if (emit_records(spec, event)) {
    emit_record_function(out, spec, event, parameters);
    g_string_append_printf(calls, "  @S@_note_%s(self%s);\n", event->name, arguments->str);
  }
  if (emit_tallied_event(spec, event)) emit_event_tallies(calls, event);
  g_string_append_printf(out, "static inline void @S@_event_%s(@S@_state *self%s) {\n%s}\n", event->name, parameters,
                         calls->str);
  g_string_append_printf(out, "#define SP_event_%s(...) @S@_event_%s(self __VA_OPT__(,) __VA_ARGS__)\n", event->name,
                         event->name);
}

// ---- Functions -------------------------------------------------------------------------------------------------

typedef struct {
  const char *word, *result, *self, *extra;
} HookShape;

static const HookShape shapes[] = {
    [FUNCTION_INIT] = {"init", "void", "", ""},
    [FUNCTION_PHASE_START] = {"phase_start", "void", "const ", ""},
    [FUNCTION_HANDLER] = {"handler", "void", "const ", ""},
    [FUNCTION_PHASE_END] = {"phase_end", "void", "", ""},
    [FUNCTION_NEXT_EVENT] = {"next_event", "uint64_t", "const ", ""},
    [FUNCTION_FINISH] = {"finish", "void", "", ""},
    [FUNCTION_RESET] = {"reset", "void", "", ""},
};

// What `unchanged` means in next_event (lss/runtime/engine/leap.h).
#define SAYING ", __attribute__((unused)) const spinach_saying *ctx"

// What follows the vocabulary word in the macro that makes it a function definition.
static const char *hook_argument(const Function *function) {
  const char *word = shapes[function->kind].word;
  if (function->kind == FUNCTION_HANDLER) return function->name;
  return strlen(function->name) > strlen(word) ? function->name + strlen(word) + 1 : "";
}

// Functions that are compiled, against everything, and never called: handlers for which no lane exists here, and what
// belongs to the other half of a crossing.
static void emit_whole_context(GString *out, const Instance *instance, const char *name) {
  g_string_append(out, "typedef struct {\n");
  for (guint j = 0; j < instance->ports->len; j++) {
    const char *p = ((Port *)instance->ports->pdata[j])->c_name;
    for (int kind = SIGNAL_DATA; kind <= SIGNAL_ACK; kind++) {
      const char *word = signal_words[kind];
      const bool data = kind == SIGNAL_DATA;
      g_string_append_printf(out, data ? "  @S@_r_%s_data read_%s_%s;\n" : "  @S@_%s_flag read_%s_%s;\n", p, p, word);
      g_string_append_printf(out, data ? "  @S@_w_%s_data write_%s_%s;\n" : "  @S@_%s_flag write_%s_%s;\n", p, p, word);
    }
  }
  for (guint j = 0; j < instance->locals->len; j++) {
    const char *l = ((Local *)instance->locals->pdata[j])->name;
    g_string_append_printf(out, "  @S@_local_%s read_local_%s, write_local_%s;\n", l, l, l);
  }
  g_string_append_printf(out, "  char none;\n} @S@_ctx_%s;\n", name);
}

static void emit_elsewhere(GString *out, const Instance *instance, const Function *function, GHashTable *seen) {
  if (function->kind == FUNCTION_ALWAYS || function->kind == FUNCTION_HANDLER) return;
  if (!g_hash_table_add(seen, g_strdup(function->name))) return;
  const HookShape *shape = &shapes[function->kind];
  const bool context = function->kind == FUNCTION_PHASE_START || function->kind == FUNCTION_PHASE_END;
  if (context) emit_whole_context(out, instance, function->name);
  g_string_append_printf(out, "#define SP_%s_%s static inline %s @S@_%s(%s@S@_state *restrict self", shape->word,
                         hook_argument(function), shape->result, function->name, shape->self);
  if (context) g_string_append_printf(out, ", @S@_ctx_%s *restrict ctx", function->name);
  if (function->kind == FUNCTION_NEXT_EVENT) g_string_append(out, SAYING);
  g_string_append(out, ")\n");
}

static void emit_functions(GString *out, const Spec *spec) {
  const Instance *instance = spec->example;
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < instance->functions->len; i++) {
    const Function *function = instance->functions->pdata[i];
    if (function->kind == FUNCTION_ALWAYS) continue;
    g_autoptr(GString) name = g_string_new(NULL);
    emit_function_name(name, function);
    if (!g_hash_table_add(seen, g_strdup(name->str))) continue;
    const HookShape *shape = &shapes[function->kind];
    bool context = function->kind == FUNCTION_PHASE_START || function->kind == FUNCTION_HANDLER ||
                   function->kind == FUNCTION_PHASE_END;
    bool inlined = context;
    if (context) emit_context(out, instance, function);
    g_string_append_printf(out, "#define SP_%s_%s%s %s %s @S@_%s(%s@S@_state *restrict self", shape->word,
                           hook_argument(function),
                           function->indexed                    ? "(i)"
                           : function->kind == FUNCTION_HANDLER ? "()"
                                                                : "",
                           inlined ? INLINE : "static", shape->result, name->str, shape->self);
    if (context) g_string_append_printf(out, ", @S@_ctx_%s *restrict ctx", name->str);
    if (function->kind == FUNCTION_NEXT_EVENT) g_string_append(out, SAYING);
    if (function->indexed) g_string_append(out, ", const int i");
    g_string_append(out, ")\n");
  }
  bool resets = plan_find_function(instance, FUNCTION_RESET) != NULL;
  for (guint i = 0; instance->elsewhere && i < instance->elsewhere->len; i++)
    resets |= ((Function *)instance->elsewhere->pdata[i])->kind == FUNCTION_RESET;
  if (resets) g_string_append(out, "#define SP_handler_reset(parameter) SP_reset_##parameter\n");
  for (guint i = 0; i < instance->leaf->handler_names->len; i++) {
    const char *name = instance->leaf->handler_names->pdata[i];
    g_autofree char *full = g_strdup_printf("handler_%s", name);
    if (g_hash_table_contains(seen, full)) continue;
    emit_whole_context(out, instance, full);
    const Hook *hook = module_source_hook(spec->source, "handler", name);
    const bool indexed = hook && *hook->second;
    g_string_append_printf(out,
                           "#define SP_handler_%s(%s) static inline void @S@_%s(const @S@_state *restrict self, "
                           "@S@_ctx_%s *restrict ctx%s)\n",
                           name, indexed ? "i" : "", full, full, indexed ? ", const int i" : "");
  }
  for (guint i = 0; instance->elsewhere && i < instance->elsewhere->len; i++)
    emit_elsewhere(out, instance, instance->elsewhere->pdata[i], seen);
  for (guint i = 0; i < spec->source->hooks->len; i++) { // those that need no declaration
    const Hook *hook = spec->source->hooks->pdata[i];
    if (!strcmp(hook->word, "skip"))
      g_string_append_printf(out, "#define SP_skip static void @S@_skip(@S@_state *restrict self, uint64_t %s)\n",
                             hook->argument);
    else if (!strcmp(hook->word, "statistics"))
      g_string_append(out, "#define SP_statistics static void @S@_statistics(@S@_state *restrict self)\n");
    else if (!strcmp(hook->word, "awaits"))
      g_string_append(out, "#define SP_awaits static void @S@_awaits(const @S@_state *restrict self)\n");
    else if (!strcmp(hook->word, "check_state"))
      g_string_append(out, "#define SP_check_state static void @S@_check_state(const @S@_state *restrict self)\n");
  }
}

static void emit_init(GString *out, const Spec *spec) {
  const Instance *instance = spec->example;
  g_string_append(out, "#line 1 \"generated\"\nstatic void @S@_start(@S@_state *self) {\n");
  for (guint i = 0; i < instance->state->len; i++) emit_initial(out, instance->state->pdata[i]);
  for (guint i = 0; instance->elsewhere_state && i < instance->elsewhere_state->len; i++)
    emit_initial(out, instance->elsewhere_state->pdata[i]);
  g_string_append(out, "}\n");
}

static void emit_collector_code(GString *out, const Spec *spec) {
  for (guint i = 0; i < spec->collectors->len; i++) {
    const Collector *collector = spec->collectors->pdata[i];
    if (collector->shared || collector->of) continue;
    const Value *codes[] = {collector->init, collector->report};
    const char *words[] = {"init", "report"};
    for (int k = 0; k < 2; k++) {
      g_string_append_printf(
          out, "static void @S@_collector_%s_%u(@S@_collector_%u *self, uint32_t spinach_id, const char *path) {",
          words[k], i, i);
      emit_body(out, codes[k]);
    }
  }
}

// Saves or restores macros of these names: a module's own names may be words of the vocabulary, which the modules
// behind it use.
static void emit_macros(GString *out, const GPtrArray *names, const char *what) {
  for (guint i = 0; i < names->len; i++)
    g_string_append_printf(out, "#pragma %s(\"%s\")\n", what, (char *)names->pdata[i]);
}

Spec *emit_spec_new(Emitter *emitter, Instance *instance) {
  Spec *spec = g_new0(Spec, 1);
  spec->example = instance;
  spec->debug = emitter->plan->debug;
  spec->source = g_hash_table_lookup(emitter->plan->sources, instance->leaf->c_file);
  spec->collectors = g_ptr_array_new();
  for (guint i = 0; i < emitter->plan->netlist->collectors->len; i++) {
    Collector *collector = emitter->plan->netlist->collectors->pdata[i];
    if (!collector->on_connections && plan_collects(emitter->plan, collector, instance))
      g_ptr_array_add(spec->collectors, collector);
  }
  bool flagged = plan_flagged(emitter->plan, instance), debug = emitter->plan->debug;
  GString *structs = g_string_new(NULL), *out = g_string_new(NULL);
  emit_state(structs, spec);
  g_string_append_printf(out, "\n// ---- %s ----\n", instance->module_name);
  for (guint i = 0; i < instance->ports->len; i++) emit_port_structs(emitter, out, instance->ports->pdata[i], flagged);
  for (guint i = 0; i < instance->locals->len; i++) emit_local_struct(out, instance->locals->pdata[i], flagged);
  for (guint i = 0; i < instance->parameters->len; i++) emit_parameter(out, instance->parameters->pdata[i]);
  for (guint i = 0; i < instance->ports->len; i++) emit_port(emitter, out, instance->ports->pdata[i], flagged);
  for (guint i = 0; i < instance->locals->len; i++) emit_local(out, instance->locals->pdata[i], flagged, debug);
  for (guint i = 0; i < instance->userpoints->len; i++) emit_userpoint(out, instance->userpoints->pdata[i]);
  for (guint i = 0; i < instance->events->len; i++) emit_event(out, spec, instance->events->pdata[i]);
  emit_traces(out, instance);
  emit_flights(out, instance);
  g_string_append(out, instance->leaf->crossing
                           ? "#define SP_stamp_now spinach_time.now\n#define SP_stamp_unit 1\n"
                           : "#define SP_stamp_now spinach_time.cycle\n#define SP_stamp_unit spinach_time.period\n");
  g_string_append_printf(out, "#define SP_checked %d\n#define SP_cut %" G_GUINT64_FORMAT "u\n", debug,
                         instance_cut(instance, emitter->plan->netlist->ticks_per_second));
  g_string_append(out, "#define self_t @S@_state\n#define SP_call(u) @S@_userpoint_##u\n");
  emit_functions(out, spec);
  emit_macros(out, spec->source->defines, "push_macro");
  emit_macros(out, spec->source->helpers, "push_macro");
  for (guint i = 0; i < spec->source->helpers->len; i++) {
    const char *helper = spec->source->helpers->pdata[i];
    g_string_append_printf(out, "#undef %s\n#define %s(...) @S@_helper_%s(__VA_ARGS__)\n", helper, helper, helper);
  }
  g_string_append_printf(out, "#include \"%s\"\n", instance->leaf->c_file); // a header's name knows no escapes
  emit_closed(out, instance->leaf->c_file, spec->source->lines);
  emit_macros(out, spec->source->helpers, "pop_macro");
  emit_macros(out, spec->source->defines, "pop_macro");
  emit_init(out, spec);
  emit_collector_code(out, spec);
  // Every macro of this specialisation ends with it.
  g_auto(GStrv) lines = g_strsplit(out->str, "\n", -1);
  g_string_append(out, "#undef self_t\n");
  for (char **line = lines; *line; line++) {
    if (!g_str_has_prefix(*line, "#define SP_")) continue;
    const char *name = *line + strlen("#define ");
    g_string_append_printf(out, "#undef %.*s\n", (int)strcspn(name, "( "), name);
  }
  spec->structs = g_string_free(structs, FALSE);
  spec->code = g_string_free(out, FALSE);
  return spec;
}

void emit_spec_free(Spec *spec) {
  g_ptr_array_free(spec->collectors, TRUE);
  g_free(spec->code);
  g_free(spec->structs);
  g_free(spec);
}
