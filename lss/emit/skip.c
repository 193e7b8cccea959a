// Jumping over idle time: when the first thing happens in a cluster by itself, and the account of cycles skipped.
#include "lss/emit/emit.h"

#include <string.h>

// Leaves that prevent skipping: they have state or act by themselves, and do not say when.
static bool may_skip(const Instance *leaf) {
  return emit_find_function(leaf, FUNCTION_NEXT_EVENT) ||
         (leaf->state->len == 0 && !emit_find_function(leaf, FUNCTION_PHASE_END));
}

bool emit_skips(const Netlist *netlist) {
  for (guint i = 0; i < netlist->leaves->len; i++)
    if (!may_skip(netlist->leaves->pdata[i])) return false;
  return true;
}

guint emit_silents(const Emitter *emitter, GString *out) {
  guint count = 0;
  g_string_append(out, "static const spinach_silent spinach_table_silents[] = {\n");
  for (guint i = 0; i < emitter->netlist->leaves->len; i++) {
    const Instance *leaf = emitter->netlist->leaves->pdata[i];
    const ModuleSource *source = g_hash_table_lookup(emitter->sources, leaf->leaf->c_file);
    if (may_skip(leaf)) continue;
    const bool timed = !source || source->timed || source->waits || emit_is_timed_by_user(leaf);
    g_string_append_printf(out, "  {%d, %s},\n", leaf->id, timed ? "true" : "false");
    count++;
  }
  g_string_append(out, "  {0}\n};\n");
  return count;
}

// What happens on a connection is collected in every cycle, idle ones too; modules' events come in cycles that happen.
bool emit_jumps(const Emitter *emitter) {
  if (emitter->collect_connections) return false;
  for (guint i = 0; i < emitter->netlist->collectors->len; i++)
    if (((Collector *)emitter->netlist->collectors->pdata[i])->on_connections) return false;
  return emitter->skips;
}

static bool accounts_for_idle_cycles(const ModuleSource *source) {
  for (guint i = 0; i < source->hooks->len; i++)
    if (!strcmp(((Hook *)source->hooks->pdata[i])->word, "skip")) return true;
  return false;
}

// For --check-idle, which asks each instance by itself.
void emit_sleeper_functions(GString *out, const Kind *kind) {
  for (guint i = 0; i < kind->specs->len; i++) {
    const Spec *spec = kind->specs->pdata[i];
    const Instance *leaf = spec->example;
    for (guint k = 0; k < leaf->functions->len; k++) {
      const Function *f = leaf->functions->pdata[k];
      if (f->kind == FUNCTION_NEXT_EVENT)
        g_string_append_printf(out, "uint64_t @K@_S%u_says_%s(const void *self) { return @K@_S%u_%s(self); }\n", i,
                               f->name, i, f->name);
    }
    if (emit_find_function(leaf, FUNCTION_NEXT_EVENT) && accounts_for_idle_cycles(spec->source))
      g_string_append_printf(out, "void @K@_S%u_skips(void *self, uint64_t n) { @K@_S%u_skip(self, n); }\n", i, i);
  }
}

guint emit_sleepers(const Emitter *emitter, GString *out) {
  GString *table = g_string_new("static const spinach_sleeper spinach_table_sleepers[] = {\n");
  guint count = 0;
  for (guint i = 0; emitter->debug && i < emitter->netlist->leaves->len; i++) {
    const Instance *leaf = emitter->netlist->leaves->pdata[i];
    g_autofree char *spec = emit_spec_name(emitter, leaf), *skip = g_strdup("NULL");
    if (emit_find_function(leaf, FUNCTION_NEXT_EVENT) &&
        accounts_for_idle_cycles(g_hash_table_lookup(emitter->sources, leaf->leaf->c_file))) {
      g_free(skip);
      skip = g_strdup_printf("%s_skips", spec);
      g_string_append_printf(out, "void %s(void *, uint64_t);\n", skip);
    }
    for (guint k = 0; k < leaf->functions->len; k++) {
      const Function *f = leaf->functions->pdata[k];
      if (f->kind != FUNCTION_NEXT_EVENT) continue;
      g_string_append_printf(out, "uint64_t %s_says_%s(const void *);\n", spec, f->name);
      g_string_append_printf(table, "  {%d, %d, %s_says_%s, %s},\n", leaf->id, (f->clock ? f->clock : leaf->clock)->id,
                             spec, f->name, skip);
      count++;
    }
  }
  g_string_append_printf(out, "%s  {0}\n};\n", table->str);
  g_string_free(table, TRUE);
  return count;
}

GPtrArray *emit_cluster_clocks(const Cluster *cluster) {
  GPtrArray *clocks = g_ptr_array_new();
  for (guint i = 0; i < cluster->leaves->len; i++) {
    const Instance *leaf = cluster->leaves->pdata[i];
    for (guint k = 0; k < leaf->functions->len; k++) {
      const Function *f = leaf->functions->pdata[k];
      Clock *clock = f->clock ? f->clock : leaf->clock;
      if (f->kind != FUNCTION_ALWAYS && clock && !g_ptr_array_find(clocks, clock, NULL)) g_ptr_array_add(clocks, clock);
    }
  }
  return clocks;
}

// The first cycle at which anything in the cluster might happen by itself, and the account of cycles skipped.  Clocks
// are distinguished by their order of appearance in the cluster, so that copies on other clocks have the same text.
void emit_skipping(GString *out, Kind *kind) {
  Cluster *cluster = kind->cluster;
  g_autoptr(GPtrArray) clocks = emit_cluster_clocks(cluster);
  for (guint c = 0; c < clocks->len; c++) {
    g_string_append_printf(out,
                           "uint64_t @K@_next_event%u(const void *state) {\n  const @K@_state *s = state;\n"
                           "  (void)s;\n  uint64_t first = UINT64_MAX, one;\n",
                           c);
    for (guint i = 0; i < cluster->leaves->len; i++) {
      Instance *leaf = cluster->leaves->pdata[i];
      for (guint k = 0; k < leaf->functions->len; k++) {
        const Function *f = leaf->functions->pdata[k];
        if (f->kind != FUNCTION_NEXT_EVENT || (f->clock ? f->clock : leaf->clock) != clocks->pdata[c]) continue;
        g_string_append_printf(out,
                               "  one = @K@_S%d_%s(&s->i%u);\n  if (one <= spinach_time.cycle) return "
                               "spinach_time.cycle;\n  if (one < first) first = one;\n",
                               kind->spec_of[i], f->name, i);
      }
    }
    g_string_append_printf(out,
                           "  return first;\n}\nvoid @K@_skip%u(void *state, uint64_t n) {\n"
                           "  @K@_state *s = state;\n  (void)s, (void)n;\n",
                           c);
    for (guint i = 0; i < cluster->leaves->len; i++) {
      Instance *leaf = cluster->leaves->pdata[i];
      const Spec *spec = kind->specs->pdata[kind->spec_of[i]];
      if (leaf->clock != clocks->pdata[c]) continue;
      if (accounts_for_idle_cycles(spec->source))
        g_string_append_printf(out, "  @K@_S%d_skip(&s->i%u, n);\n", kind->spec_of[i], i);
    }
    g_string_append(out, "}\n");
  }
}
