// What a cluster does when it is not stepped: its start and its finish, what is worked out and reported whenever
// statistics are looked at, what its instances say they wait for, and what they say of their state.
#include "lss/emit/emit.h"

typedef enum { START, FINISH, STATISTICS, REPORT, AWAITS, CHECK } Occasion;

enum { LEAVES_PIECE = 500 };

// What an instance does on one of the occasions on which it is not stepped.
static void emit_leaf_once(GString *out, const Kind *kind, guint i, Occasion occasion) {
  const Instance *leaf = kind->cluster->leaves->pdata[i];
  const int n = kind->spec_of[i];
  const Spec *spec = kind->specs->pdata[n];
  const gsize before = out->len;
  const char *state = kind->names[i];
  g_string_append_printf(out, "  spinach_enter(s->%s.spinach_id);\n", state);
  const gsize entered = out->len;
  if (occasion == START) g_string_append_printf(out, "  @K@_S%d_start(&s->%s);\n", n, state);
  for (guint k = 0; (occasion == START || occasion == REPORT) && k < spec->collectors->len; k++) {
    const Collector *collector = spec->collectors->pdata[k];
    if (!collector->shared && !collector->of)
      g_string_append_printf(out,
                             "  @K@_S%d_collector_%s_%u(&s->%s.collector_%u, s->%s.spinach_id, "
                             "spinach_path(s->%s.spinach_id));\n",
                             n, occasion == START ? "init" : "report", k, state, k, state, state);
  }
  for (guint f = 0; (occasion == START || occasion == FINISH) && f < leaf->functions->len; f++) {
    const Function *function = leaf->functions->pdata[f];
    if (function->kind == (occasion == START ? FUNCTION_INIT : FUNCTION_FINISH))
      g_string_append_printf(out, "  %s@K@_S%d_%s(&s->%s);\n", occasion == START ? "" : "if (!setjmp(spinach_escape)) ",
                             n, function->name, state);
  }
  if (occasion == STATISTICS && plan_has_hook(leaf, spec->source, "statistics"))
    g_string_append_printf(out, "  @K@_S%d_statistics(&s->%s);\n", n, state);
  if (occasion == AWAITS && plan_has_hook(leaf, spec->source, "awaits"))
    g_string_append_printf(out, "  if (!setjmp(spinach_escape)) @K@_S%d_awaits(&s->%s);\n", n, state);
  if (occasion == CHECK && plan_has_hook(leaf, spec->source, "check_state"))
    g_string_append_printf(out, "  if (!setjmp(spinach_escape)) @K@_S%d_check_state(&s->%s);\n", n, state);
  if (out->len == entered) g_string_truncate(out, before); // it does nothing
}

static void emit_probe_once(const Emitter *emitter, GString *out, const Kind *kind, guint i, Occasion occasion) {
  for (guint k = 0; k < emitter->plan->netlist->collectors->len; k++) {
    const Collector *c = emitter->plan->netlist->collectors->pdata[k];
    if (c->on_connections && !c->shared && plan_collects(emitter->plan, c, kind->cluster->probes->pdata[i]))
      g_string_append_printf(out,
                             "  @K@_%s_%u_%u(&s->probe%u.%s, SPINACH_CONNECTION_ID | s->probe%u.connection, "
                             "spinach_connection_path(s->probe%u.connection), 0, 0);\n",
                             occasion == START ? "init" : "report", i, k, i, c->c_name, i, i);
  }
}

// What instances do when a parameter of theirs, by its place in the state, was set after a restore.
static void emit_resets(GString *out, const Kind *kind) {
  g_string_append(out, "void @K@_reset(void *state, int32_t instance, uint64_t parameter) {\n"
                       "  @K@_state *s = state;\n  (void)s, (void)instance, (void)parameter;\n");
  g_autoptr(GPtrArray) pieces = emit_rolled_new();
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; i < kind->cluster->leaves->len; i++) {
    const Instance *leaf = kind->cluster->leaves->pdata[i];
    const char *state = kind->names[i];
    for (guint f = 0; f < leaf->functions->len; f++) {
      const Function *function = leaf->functions->pdata[f];
      if (function->kind != FUNCTION_RESET) continue;
      const int n = kind->spec_of[i];
      g_string_append_printf(
          text,
          "  if ((int32_t)s->%s.spinach_id == instance && offsetof(@K@_S%d_state, rt_%s) == parameter) {\n"
          "    spinach_enter(s->%s.spinach_id);\n    @K@_S%d_%s(&s->%s);\n  }\n",
          state, n, function->parameter->name, state, n, function->name, state);
    }
    emit_rolled_add(pieces, text);
  }
  emit_rolled(out, kind, pieces);
  g_string_append(out, "}\n");
}

// What all instances of a kind do, in functions of a bounded number of instances: clang's time for a function grows
// faster than its length.
static void emit_occasion(const Emitter *emitter, GString *out, const Kind *kind, Occasion occasion, const char *word) {
  g_autoptr(GString) calls = g_string_new(NULL), piece = g_string_new(NULL);
  const guint leaves = kind->cluster->leaves->len;
  for (guint first = 0; first < leaves; first += LEAVES_PIECE) {
    g_string_truncate(piece, 0);
    g_autoptr(GPtrArray) pieces = emit_rolled_new();
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = first; i < leaves && i < first + LEAVES_PIECE; i++) {
      emit_leaf_once(text, kind, i, occasion);
      emit_rolled_add(pieces, text);
    }
    emit_rolled(piece, kind, pieces);
    if (!piece->len) continue;
    if (leaves <= LEAVES_PIECE) {
      g_string_append(calls, piece->str);
      continue;
    }
    g_string_append_printf(out, "static __attribute__((noinline)) void @K@_%s_%u(@K@_state *s) {\n%s}\n", word, first,
                           piece->str);
    g_string_append_printf(calls, "  @K@_%s_%u(s);\n", word, first);
  }
  g_string_append_printf(out, "void @K@_%s(void *state) {\n  @K@_state *s = state;\n  (void)s;\n%s", word, calls->str);
  for (guint i = 0; (occasion == START || occasion == REPORT) && i < kind->cluster->probes->len; i++)
    emit_probe_once(emitter, out, kind, i, occasion);
  g_string_append(out, "}\n");
}

void emit_once(const Emitter *emitter, GString *out, const Kind *kind) {
  static const char *const words[] = {[START] = "start",   [FINISH] = "finish", [STATISTICS] = "statistics",
                                      [REPORT] = "report", [AWAITS] = "awaits", [CHECK] = "check_state"};
  for (int occasion = START; occasion <= CHECK; occasion++)
    emit_occasion(emitter, out, kind, (Occasion)occasion, words[occasion]);
  emit_resets(out, kind);
}
