// Jumping over idle time: when the first thing happens in a cluster by itself, and the account of cycles skipped.
#include "lss/emit/emit.h"

#include <string.h>

guint emit_silents(const Emitter *emitter, GString *out) {
  guint count = 0;
  g_string_append(out, "static const spinach_silent spinach_table_silents[] = {\n");
  for (guint i = 0; i < emitter->plan->netlist->leaves->len; i++) {
    const Instance *leaf = emitter->plan->netlist->leaves->pdata[i];
    const ModuleSource *source = g_hash_table_lookup(emitter->plan->sources, leaf->leaf->c_file);
    if (plan_may_skip(leaf)) continue;
    const bool timed = !source || source->timed || source->waits || emitter->plan->leaves[leaf->id].timed_by_user;
    g_string_append_printf(out, "  {%d, %s},\n", leaf->id, timed ? "true" : "false");
    count++;
  }
  g_string_append(out, "  {0}\n};\n");
  return count;
}

// For --check-idle, which asks each instance by itself.
void emit_sleeper_functions(const Emitter *emitter, GString *out, const Kind *kind) {
  for (guint i = 0; i < kind->specs->len; i++) {
    const Spec *spec = kind->specs->pdata[i];
    const Instance *leaf = spec->example;
    for (guint k = 0; k < leaf->functions->len; k++) {
      const Function *f = leaf->functions->pdata[k];
      if (f->kind == FUNCTION_NEXT_EVENT)
        g_string_append_printf(
            out,
            "uint64_t @K@_S%u_says_%s(const void *self) { return @K@_S%u_%s(self, &spinach_next_event_context); }\n", i,
            f->name, i, f->name);
    }
    if (plan_find_function(leaf, FUNCTION_NEXT_EVENT) && emitter->plan->leaves[leaf->id].counts)
      g_string_append_printf(out, "void @K@_S%u_skips(void *self, uint64_t n) { @K@_S%u_skip(self, n); }\n", i, i);
  }
}

guint emit_sleepers(const Emitter *emitter, GString *out) {
  GString *table = g_string_new("static const spinach_sleeper spinach_table_sleepers[] = {\n");
  guint count = 0;
  for (guint i = 0; emitter->plan->debug && i < emitter->plan->netlist->leaves->len; i++) {
    const Instance *leaf = emitter->plan->netlist->leaves->pdata[i];
    g_autofree char *spec = emit_spec_name(emitter, leaf), *skip = g_strdup("NULL");
    if (plan_find_function(leaf, FUNCTION_NEXT_EVENT) && emitter->plan->leaves[leaf->id].counts) {
      g_free(skip);
      skip = g_strdup_printf("%s_skips", spec);
      g_string_append_printf(out, "void %s(void *, uint64_t);\n", skip);
    }
    for (guint k = 0; k < leaf->functions->len; k++) {
      const Function *f = leaf->functions->pdata[k];
      if (f->kind != FUNCTION_NEXT_EVENT) continue;
      g_string_append_printf(out, "uint64_t %s_says_%s(const void *);\n", spec, f->name);
      const ModuleSource *source = g_hash_table_lookup(emitter->plan->sources, leaf->leaf->c_file);
      g_string_append_printf(table, "  {%d, %d, %s_says_%s, %s, %s},\n", leaf->id,
                             (f->clock ? f->clock : leaf->clock)->id, spec, f->name, skip,
                             source->repeats ? "true" : "false");
      count++;
    }
  }
  g_string_append_printf(out, "%s  {0}\n};\n", table->str);
  g_string_free(table, TRUE);
  return count;
}

enum {
  LEAVES_WHOLE = 1000, // leaves of a cluster that one function still asks
  LEAVES_PIECE = 250,  // those of one of several
};

static guint piece_length(const Cluster *cluster) {
  return cluster->leaves->len > LEAVES_WHOLE ? LEAVES_PIECE : MAX(cluster->leaves->len, 1);
}

static bool is_on_clock(const Instance *leaf, const Function *function, const Clock *clock) {
  return function->kind == FUNCTION_NEXT_EVENT && (function->clock ? function->clock : leaf->clock) == clock;
}

static void emit_next_events(GString *out, const Kind *kind, const Clock *clock, guint from) {
  const Cluster *cluster = kind->cluster;
  g_autoptr(GPtrArray) pieces = emit_rolled_new();
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = from; i < MIN(from + piece_length(cluster), cluster->leaves->len); i++) {
    const Instance *leaf = cluster->leaves->pdata[i];
    for (guint k = 0; k < leaf->functions->len; k++) {
      const Function *f = leaf->functions->pdata[k];
      if (!is_on_clock(leaf, f, clock)) continue;
      g_string_append_printf(
          text,
          "  one = @K@_S%d_%s(&s->%s, &spinach_next_event_context);\n  if (one <= spinach_time.cycle) return "
          "spinach_time.cycle;\n  if (one < first) first = one;\n",
          kind->spec_of[i], f->name, kind->names[i]);
    }
    emit_rolled_add(pieces, text);
  }
  emit_rolled(out, kind, pieces);
}

static void emit_skips_of(const Emitter *emitter, GString *out, const Kind *kind, const Clock *clock, guint from) {
  const Cluster *cluster = kind->cluster;
  g_autoptr(GPtrArray) pieces = emit_rolled_new();
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = from; i < MIN(from + piece_length(cluster), cluster->leaves->len); i++) {
    const Instance *leaf = cluster->leaves->pdata[i];
    if (leaf->clock == clock && emitter->plan->leaves[leaf->id].counts)
      g_string_append_printf(text, "  @K@_S%d_skip(&s->%s, n);\n", kind->spec_of[i], kind->names[i]);
    emit_rolled_add(pieces, text);
  }
  emit_rolled(out, kind, pieces);
}

// Whether this next_event of all leaves of a row is on the clock.
static bool is_row_on_clock(const Kind *kind, int spec, guint function, const Clock *clock) {
  const GPtrArray *leaves = kind->cluster->leaves;
  for (guint i = 0; i < leaves->len; i++) {
    const Instance *leaf = leaves->pdata[i];
    if (kind->spec_of[i] == spec && !is_on_clock(leaf, leaf->functions->pdata[function], clock)) return false;
  }
  return kind->row[spec] > 0;
}

// The case in which what has the number is asked first, or any of a row from the number on.
static void emit_case(GString *out, const Kind *kind, guint leaf, const char *function, guint number, guint row) {
  const int spec = kind->spec_of[leaf];
  if (row)
    g_string_append_printf(out,
                           "  case %u ... %u:\n"
                           "    one = @K@_S%d_%s(&s->r%d[spinach_leaping.busy - %u], &spinach_next_event_context);\n"
                           "    break;\n",
                           number, number + row - 1, spec, function, spec, number);
  else
    g_string_append_printf(out, "  case %u: one = @K@_S%d_%s(&s->%s, &spinach_next_event_context); break;\n", number,
                           spec, function, kind->names[leaf]);
}

enum { MOST_FUNCTIONS = 64 }; // of a leaf that the numbers of a row distinguish

// What the top says on a clock, for a run that leaps.  What was busy when it was asked last is asked
// first, and its answer, that it acts now, mostly the only one.
void emit_top_says(GString *out, const Kind *kind, const Clock *clock) {
  const Cluster *cluster = kind->cluster;
  g_autoptr(GString) cases = g_string_new(NULL), all = g_string_new(NULL), text = g_string_new(NULL);
  g_autoptr(GPtrArray) pieces = emit_rolled_new();
  g_autofree guint *numbers = g_new0(guint, kind->specs->len * MOST_FUNCTIONS + 1); // of rows, counted from 1
  for (guint i = 0, next = 0; i < cluster->leaves->len; i++) {
    const Instance *leaf = cluster->leaves->pdata[i];
    const int spec = kind->spec_of[i];
    for (guint k = 0; k < leaf->functions->len; k++) {
      const Function *f = leaf->functions->pdata[k];
      if (!is_on_clock(leaf, f, clock)) continue;
      guint *of_row = k < MOST_FUNCTIONS ? &numbers[(guint)spec * MOST_FUNCTIONS + k] : NULL, number = next;
      if (of_row && *of_row && kind->element[i] > 0) {
        number = *of_row - 1 + kind->element[i];
      } else {
        const guint row = of_row && !kind->element[i] && is_row_on_clock(kind, spec, k, clock) ? kind->row[spec] : 0;
        emit_case(cases, kind, i, f->name, number, row);
        if (row) *of_row = number + 1;
        next += MAX(row, 1);
      }
      g_string_append_printf(text,
                             "  one = @K@_S%d_%s(&s->%s, &spinach_next_event_context);\n"
                             "  if (one <= spinach_time.cycle) {\n    spinach_leaping.busy = %u;\n"
                             "    return one;\n  }\n  if (one < first) first = one;\n",
                             spec, f->name, kind->names[i], number);
      emit_rolled_add(pieces, text);
    }
  }
  emit_rolled(all, kind, pieces);
  g_string_append_printf(out,
                         "static __attribute__((noinline)) uint64_t @K@_says(const @K@_state *s) {\n"
                         "  uint64_t first = UINT64_MAX, one;\n  switch (spinach_leaping.busy) {\n%s"
                         "  default: one = UINT64_MAX;\n  }\n  if (one <= spinach_time.cycle) return one;\n%s"
                         "  (void)s;\n  return first;\n}\n",
                         cases->str, all->str);
}

static bool is_compared(const Emitter *emitter, const Instance *leaf, const Clock *clock) {
  return emitter->plan->leaves[leaf->id].compared && leaf->clock == clock;
}

bool emit_is_compared(const Emitter *emitter, const Cluster *cluster, const Clock *clock) {
  for (guint i = 0; i < cluster->leaves->len; i++)
    if (is_compared(emitter, cluster->leaves->pdata[i], clock)) return true;
  return false;
}

// Whether the states of instances that do not say more are what they were when they were kept.
static void emit_stays(const Emitter *emitter, GString *out, const Kind *kind, const Clock *clock, guint c) {
  if (!emitter->plan->leaps) return;
  g_string_append_printf(out,
                         "bool @K@_stays%u(void *kept, const void *state) {\n  @K@_state *k = kept;\n"
                         "  const @K@_state *s = state;\n  bool stays = true;\n  (void)k, (void)s;\n",
                         c);
  g_autoptr(GPtrArray) pieces = emit_rolled_new();
  for (guint i = 0; i < kind->cluster->leaves->len; i++)
    if (is_compared(emitter, kind->cluster->leaves->pdata[i], clock))
      g_ptr_array_add(pieces, g_strdup_printf("  stays &= spinach_stays(&k->%s, &s->%s, sizeof s->%s);\n",
                                              kind->names[i], kind->names[i], kind->names[i]));
  emit_rolled(out, kind, pieces);
  g_string_append(out, "  return stays;\n}\n");
}

// A function for some of the leaves: clang takes time that grows with the square of what it inlines into one.
static void emit_leaf_pieces(const Emitter *emitter, GString *out, const Kind *kind, const Clock *clock, guint c) {
  for (guint from = 0; from < kind->cluster->leaves->len; from += piece_length(kind->cluster)) {
    g_string_append_printf(out,
                           "static __attribute__((noinline)) uint64_t @K@_next_event%u_%u(const @K@_state *s, "
                           "uint64_t first) {\n  uint64_t one;\n  (void)s, (void)one;\n",
                           c, from);
    emit_next_events(out, kind, clock, from);
    g_string_append_printf(out,
                           "  return first;\n}\nstatic __attribute__((noinline)) void @K@_skip%u_%u(@K@_state *s, "
                           "uint64_t n) {\n  (void)s, (void)n;\n",
                           c, from);
    emit_skips_of(emitter, out, kind, clock, from);
    g_string_append(out, "}\n");
  }
}

// The first cycle at which anything in the cluster might happen by itself, and the account of cycles skipped.  Clocks
// are distinguished by their order of appearance in the cluster, so that copies on other clocks have the same text.
void emit_skipping(const Emitter *emitter, GString *out, const Kind *kind) {
  const Cluster *cluster = kind->cluster;
  const guint leaves = cluster->leaves->len, length = piece_length(cluster);
  const bool whole = length >= leaves;
  const GPtrArray *clocks = plan_of(emitter->plan, cluster)->clocks;
  for (guint c = 0; c < clocks->len; c++) {
    const Clock *clock = clocks->pdata[c];
    if (!whole) emit_leaf_pieces(emitter, out, kind, clock, c);
    g_string_append_printf(out,
                           "uint64_t @K@_next_event%u(const void *state) {\n  const @K@_state *s = state;\n"
                           "  (void)s;\n  uint64_t first = UINT64_MAX%s;\n",
                           c, whole ? ", one" : "");
    if (whole) emit_next_events(out, kind, clock, 0);
    for (guint from = 0; !whole && from < leaves; from += length)
      g_string_append_printf(out,
                             "  first = @K@_next_event%u_%u(s, first);\n  if (first <= spinach_time.cycle) return "
                             "spinach_time.cycle;\n",
                             c, from);
    g_string_append_printf(out,
                           "  return first;\n}\nvoid @K@_skip%u(void *state, uint64_t n) {\n"
                           "  @K@_state *s = state;\n  (void)s, (void)n;\n",
                           c);
    if (whole) emit_skips_of(emitter, out, kind, clock, 0);
    for (guint from = 0; !whole && from < leaves; from += length)
      g_string_append_printf(out, "  @K@_skip%u_%u(s, n);\n", c, from);
    g_string_append(out, "}\n");
    emit_stays(emitter, out, kind, clock, c);
  }
}
