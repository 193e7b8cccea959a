// Sleeping clusters: one that carries nothing over its border, and whose instances all say by next_event that they
// would only repeat themselves, is not stepped; the signals that it drives stay in its scratch as they were.
//
// A cluster is awake (0), drowsy (1) or asleep (2).  Every few cycles (`ask` counts them) next_event is asked; after a
// cycle without items at the border in which it promised quiet the cluster is drowsy.  When the next cycle brings the
// same acknowledgments, that cycle was a repetition, so what the cluster drove in it is what it drives until something
// changes, and it falls asleep.  Before each of its segments the signals that the segment reads from outside are
// compared; a difference, or the promised cycle, wakes it from that segment on, since the segments before it would have
// computed what is in the scratch already.  Debug builds step everything, and so find modules that promise too much.
#include "lss/emit.h"

#include <string.h>

enum { ASK_EVERY = 8 }; // cycles; a busy cluster would only say no

static bool may_sleep(const Instance *leaf) {
  if (leaf->leaf->crossing) return false;
  for (guint i = 0; i < leaf->functions->len; i++)
    if (((Function *)leaf->functions->pdata[i])->partial) return false;
  return emit_find_function(leaf, FUNCTION_NEXT_EVENT) ||
         (leaf->state->len == 0 && !emit_find_function(leaf, FUNCTION_PHASE_END));
}

bool emit_gated(const Emitter *emitter, const Cluster *cluster) {
  if (emitter->debug || !cluster->instance || cluster->probes->len) return false;
  for (guint i = 0; i < cluster->leaves->len; i++) {
    const Instance *leaf = cluster->leaves->pdata[i];
    if (!may_sleep(leaf)) return false;
    for (guint k = 0; k < emitter->netlist->collectors->len; k++) {
      const Collector *collector = emitter->netlist->collectors->pdata[k];
      if (!collector->on_connections && g_ptr_array_find(collector->instances, leaf, NULL)) return false;
    }
  }
  g_autoptr(GPtrArray) clocks = emit_cluster_clocks(cluster);
  return clocks->len == 1;
}

// Wires that cross the border, optionally only those that one segment reads from outside.
static GPtrArray *border(const Emitter *emitter, const Cluster *cluster, const Segment *reader) {
  GPtrArray *wires = g_ptr_array_new();
  const GPtrArray *all = emitter->schedule->wires;
  for (guint i = 0; i < all->len; i++) {
    Wire *wire = all->pdata[i];
    if (!wire->writer || wire->kind == SIGNAL_LOCAL) continue;
    bool ours = wire->writer->cluster == cluster, crosses = false, read = false;
    for (guint k = 0; k < wire->readers->len; k++) {
      const Node *node = wire->readers->pdata[k];
      crosses |= (node->cluster == cluster) != ours;
      for (guint m = 0; reader && !ours && m < reader->items->len; m++)
        read |= g_ptr_array_find(((Item *)reader->items->pdata[m])->nodes, node, NULL);
    }
    if (reader ? read : crosses) g_ptr_array_add(wires, wire);
  }
  return wires;
}

static bool kept(const Wire *wire, const Cluster *cluster) {
  return wire->kind == SIGNAL_ACK && wire->writer->cluster != cluster;
}

void emit_gate_variables(const Emitter *emitter, GString *out, Cluster *cluster) {
  g_autoptr(GPtrArray) wires = border(emitter, cluster, NULL);
  g_string_append(out, "static struct {\n  uint64_t wake;\n  uint8_t mode, ask;\n");
  for (guint i = 0; i < wires->len; i++)
    if (kept(wires->pdata[i], cluster)) g_string_append_printf(out, "  bool w%d;\n", ((Wire *)wires->pdata[i])->id);
  g_string_append_printf(out, "} spinach_gate_%d = {.ask = 1};\n", cluster->id);
}

static void reference(const Emitter *emitter, GString *out, const Wire *wire, const char *suffix) {
  Cluster *root = emitter->schedule->clusters->pdata[emitter->schedule->clusters->len - 1], *owner;
  char base[256];
  emit_place(emitter, wire, root, &owner);
  emit_wire_base(owner, wire, base, sizeof base);
  g_string_append_printf(out, "spinach_scratch_%d.%s%s", owner->id, base, suffix);
}

// "a_some | b_some | (c != kept)": true when something differs from what was kept.
static void differences(const Emitter *emitter, GString *out, const Cluster *cluster, const GPtrArray *wires, bool data,
                        bool acks) {
  const char *join = "";
  for (guint i = 0; i < wires->len; i++) {
    const Wire *wire = wires->pdata[i];
    if (wire->kind == SIGNAL_DATA && data) {
      g_string_append(out, join);
      reference(emitter, out, wire, "_some");
    } else if (kept(wire, cluster) && acks) {
      g_string_append_printf(out, "%s(", join);
      reference(emitter, out, wire, "");
      g_string_append_printf(out, " != spinach_gate_%d.w%d)", cluster->id, wire->id);
    } else {
      continue;
    }
    join = " | ";
  }
  if (!*join) g_string_append(out, "0");
}

void emit_gate_open(const Emitter *emitter, GString *out, const Segment *segment) {
  int id = segment->cluster->id;
  g_autoptr(GPtrArray) wires = border(emitter, segment->cluster, segment);
  g_string_append_printf(out, "  if (spinach_gate_%d.mode != 2 || spinach_time.cycle >= spinach_gate_%d.wake || (", id,
                         id);
  differences(emitter, out, segment->cluster, wires, true, true);
  g_string_append_printf(out, ")) {\n  if (spinach_gate_%d.mode == 2) spinach_gate_%d.mode = 0;\n", id, id);
}

static bool has_skip(const Emitter *emitter, const Cluster *cluster) {
  for (guint i = 0; i < cluster->leaves->len; i++) {
    const CScan *scan = g_hash_table_lookup(emitter->scans, ((Instance *)cluster->leaves->pdata[i])->leaf->c_file);
    for (guint k = 0; k < scan->hooks->len; k++)
      if (!strcmp(((Hook *)scan->hooks->pdata[k])->word, "skip")) return true;
  }
  return false;
}

void emit_gate_close(const Emitter *emitter, GString *out, const Segment *segment) {
  const Cluster *cluster = segment->cluster;
  const GPtrArray *steps = emitter->schedule->steps[segment->clock->id];
  int id = cluster->id;
  g_string_append(out, "  }\n");
  for (guint i = steps->len; i-- > 0;) {
    const Segment *last = steps->pdata[i];
    if (last->cluster != cluster) continue;
    if (last != segment) return; // the cluster's cycle is not over yet
    break;
  }
  const char *name = emitter->kind_of[id]->name;
  g_autoptr(GPtrArray) wires = border(emitter, cluster, NULL);
  if (has_skip(emitter, cluster))
    g_string_append_printf(out, "  if (spinach_gate_%d.mode == 2) %s_skip0(spinach_cluster_state[%d], 1);\n", id, name,
                           id);
  g_string_append_printf(out,
                         "  if (__builtin_expect(!--spinach_gate_%d.ask, 0) && (spinach_gate_%d.ask = %d) && "
                         "spinach_gate_%d.mode != 2) {\n    if (",
                         id, id, ASK_EVERY, id);
  differences(emitter, out, cluster, wires, true, false);
  g_string_append_printf(out,
                         ") spinach_gate_%d.mode = 0;\n    else if (spinach_gate_%d.mode == 1 && spinach_time.cycle + "
                         "1 < spinach_gate_%d.wake && !(",
                         id, id, id);
  differences(emitter, out, cluster, wires, false, true);
  g_string_append_printf(
      out,
      ")) spinach_gate_%d.mode = 2;\n    else {\n      spinach_time.cycle++, spinach_time.now += spinach_time.period;\n"
      "      spinach_gate_%d.wake = %s_next_event0(spinach_cluster_state[%d]);\n      spinach_gate_%d.mode = "
      "spinach_gate_%d.wake > spinach_time.cycle;\n      if (spinach_gate_%d.mode) spinach_gate_%d.ask = 1;\n"
      "      spinach_time.cycle--, spinach_time.now -= spinach_time.period;\n",
      id, id, name, id, id, id, id, id);
  for (guint i = 0; i < wires->len; i++) {
    const Wire *wire = wires->pdata[i];
    if (!kept(wire, cluster)) continue;
    g_string_append_printf(out, "      spinach_gate_%d.w%d = ", id, wire->id);
    reference(emitter, out, wire, "");
    g_string_append(out, ";\n");
  }
  g_string_append(out, "    }\n  }\n");
}
