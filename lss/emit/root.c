// What only the unit of the root cluster holds: the scratch of all clusters, the pointers between them, the step of
// each clock, the loop over all clocks, and the table for observers.
#include "lss/emit/emit.h"

static void emit_step_declaration(GString *out, const Kind *kind, const char *name, guint segment) {
  g_string_append_printf(out, "SPINACH_STEP void %s_%s%u(%s_state *, %s_scratch *);\n", kind->name, name, segment,
                         kind->name, kind->name);
}

void emit_foreign(const Emitter *emitter, GString *out, GHashTable *already) {
  g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
  const bool shared = emitter->plan->shares_scratch;
  for (guint i = 0; i < emitter->plan->schedule->clusters->len; i++) {
    const Cluster *cluster = emitter->plan->schedule->clusters->pdata[i];
    Kind *kind = emitter->kind_of[i];
    if (!cluster->instance) continue;
    if (g_hash_table_add(seen, kind)) {
      emit_types(out, emitter->plan->netlist, kind->types, already);
      g_string_append_printf(out, "%stypedef struct %s_state_ %s_state;\n", kind->scratch, kind->name, kind->name);
      if (plan_of(emitter->plan, cluster)->sleeps)
        g_string_append_printf(out,
                               "bool %s_rests(spinach_gate *, const void *state);\n"
                               "uint64_t %s_first_event(const %s_state *, uint64_t length);\n",
                               kind->name, kind->name, kind->name);
      for (guint c = 0; emitter->plan->leaps && c < plan_of(emitter->plan, cluster)->clocks->len; c++)
        g_string_append_printf(out, "bool %s_stays%u(void *kept, const void *state);\n", kind->name, c);
      if (!plan_of(emitter->plan, cluster)->obstacle)
        g_string_append_printf(out, "extern const spinach_replay_kind %s_replay;\n", kind->name);
      for (guint k = 0; k < kind->cluster->segments->len; k++) {
        emit_step_declaration(out, kind, "seg", k);
        if (!plan_of(emitter->plan, cluster)->obstacle) emit_step_declaration(out, kind, "record", k);
      }
    }
    g_string_append_printf(out, "%s %s_scratch spinach_scratch_%u;\n",
                           shared ? "extern" : "__attribute__((unused)) static", kind->name, i);
  }
}

// What only the unit that runs the machine holds.
static void emit_variables(const Emitter *emitter, GString *out) {
  const bool shared = emitter->plan->shares_scratch;
  for (guint i = 0; i < emitter->plan->schedule->clusters->len; i++) {
    Cluster *cluster = emitter->plan->schedule->clusters->pdata[i];
    const char *name = cluster->instance ? emitter->kind_of[i]->name : "@K@";
    if (shared) g_string_append_printf(out, "%s_scratch spinach_scratch_%u;\n", name, i);
    if (cluster->instance && plan_of(emitter->plan, cluster)->sleeps) emit_gate_variables(emitter, out, cluster);
  }
}

static void emit_pointers(const Emitter *emitter, GString *out) {
  g_string_append(out, "void spinach_join(void) {\n");
  for (guint i = 0; i < emitter->plan->schedule->wires->len; i++) {
    const Wire *wire = emitter->plan->schedule->wires->pdata[i];
    if (!wire->writer) continue;
    Cluster *owner = emitter->plan->wires[i].owner;
    for (guint k = 0; k < wire->readers->len; k++) {
      Cluster *user = ((Vertex *)wire->readers->pdata[k])->cluster;
      if (plan_place(emitter->plan, wire, user) != PLACE_POINTER) continue;
      char theirs[256], own[256];
      plan_wire_name(emitter->plan, owner, wire, "", theirs, sizeof theirs);
      plan_wire_name(emitter->plan, user, wire, "", own, sizeof own);
      const char *const suffixes[] = {"", wire->kind == SIGNAL_DATA ? "_some" : NULL, wire->flagged ? "_known" : NULL};
      for (int s = 0; s < 3; s++)
        if (suffixes[s])
          g_string_append_printf(out, "  spinach_scratch_%d.p_%s%s = &spinach_scratch_%d.%s%s;\n", user->id, own,
                                 suffixes[s], owner->id, theirs, suffixes[s]);
    }
  }
  g_string_append(out, "}\n");
}

static bool is_first_of_cycle(const GPtrArray *step, guint at) {
  for (guint i = 0; i < at; i++)
    if (((Segment *)step->pdata[i])->cluster == ((Segment *)step->pdata[at])->cluster) return false;
  return true;
}

// Whether what a cluster without a gate transfers in this cycle is noted.
static void emit_watch(GString *out, const Cluster *cluster) {
  g_string_append_printf(
      out, "  spinach_scratch_%d.watches = spinach_leaping.watches;\n  spinach_scratch_%d.moved = false;\n",
      cluster->id, cluster->id);
}

// One instant of each clock; `tracked` for a loop: then the root is stepped by a second version of it, which notices
// what depends on the time and what is no state; other clusters are looked up or sleep, or there is no loop.
static void emit_steps(const Emitter *emitter, GString *out, bool tracked) {
  const char *tick = tracked ? "tracked" : "tick";
  const Schedule *schedule = emitter->plan->schedule;
  int root = (int)schedule->clusters->len - 1;
  for (guint c = 0; c < emitter->plan->netlist->clocks->len; c++) {
    g_string_append_printf(out, "SPINACH_INLINE void spinach_%s%u(@K@_state s[static restrict 1]) {\n", tick, c);
    if (emitter->plan->leaps) // what is tracked does not say what it does
      g_string_append_printf(out,
                             tracked ? "  spinach_leaping.watches = false;\n  spinach_leaping.moved = 0;\n"
                                     : "  spinach_leaping.moved &= ~(UINT64_C(1) << %u);\n",
                             c);
    for (guint i = 0; i < schedule->steps[c]->len; i++) {
      const Segment *segment = schedule->steps[c]->pdata[i];
      if (!segment->cluster->instance)
        g_string_append_printf(out, "  @K@_%s%d(s, &spinach_scratch_%d);\n", tracked ? "record" : "seg", segment->index,
                               root);
      else {
        const bool gated = plan_of(emitter->plan, segment->cluster)->sleeps,
                   replays = !plan_of(emitter->plan, segment->cluster)->obstacle,
                   first = is_first_of_cycle(schedule->steps[c], i);
        if (replays) emit_replay_open(out, segment);
        if (gated)
          emit_gate_open(emitter, out, segment, first);
        else if (first && emit_notes_transfers(emitter, segment->cluster))
          emit_watch(out, segment->cluster);
        if (tracked) g_string_append(out, "  spinach_effects++;\n");
        g_string_append_printf(out, "  %s_seg%d(spinach_cluster_state[%d], &spinach_scratch_%d);\n",
                               emitter->kind_of[segment->cluster->id]->name, segment->index, segment->cluster->id,
                               segment->cluster->id);
        if (replays) emit_replay_stepped(out, segment);
        if (gated) emit_gate_close(emitter, out, segment);
        if (replays) emit_replay_close(out);
      }
    }
    if (!tracked) emit_end_of_cycle(emitter, out, emitter->plan->netlist->clocks->pdata[c]);
    if (emit_tallies(emitter, emitter->plan->netlist->clocks->pdata[c]))
      g_string_append_printf(out, "  spinach_tally(%u);\n", c);
    g_string_append(out, "}\n");
  }
}

static const Clock *clock_at(const Emitter *emitter, guint number) {
  return emitter->plan->netlist->clocks->pdata[number];
}

static bool has_rounded(const Emitter *emitter) {
  for (guint c = 0; c < emitter->plan->netlist->clocks->len; c++)
    if (clock_at(emitter, c)->rounded) return true;
  return false;
}

// Of a rounded clock: what is left of a tick when its next cycle begins, as a fraction by its frequency.
static void emit_rests(const Emitter *emitter, GString *out) {
  for (guint c = 0; c < emitter->plan->netlist->clocks->len; c++) {
    const Clock *clock = clock_at(emitter, c);
    if (!clock->rounded) continue;
    const unsigned __int128 ticks = (unsigned __int128)emitter->plan->netlist->ticks_per_second * (guint64)clock->den;
    g_string_append_printf(out,
                           "  const uint64_t l%u = %" G_GUINT64_FORMAT "u, m%u = %" G_GUINT64_FORMAT
                           "u, n%u = %" G_GINT64_FORMAT "u;\n"
                           "  uint64_t r%u = (uint64_t)((unsigned __int128)c%u * m%u %% n%u);\n",
                           c, (guint64)(ticks / (guint64)clock->num), c, (guint64)(ticks % (guint64)clock->num), c,
                           clock->num, c, c, c, c);
  }
}

// The counts that live in registers while time passes: to where others read them, or back.
static void emit_counts(const Emitter *emitter, GString *out, bool back) {
  for (guint c = 0; c < emitter->plan->netlist->clocks->len; c++) {
    g_string_append_printf(
        out, back ? "  c%u = cycles[%u];\n  d%u = due[%u];\n" : "  cycles[%u] = c%u;\n  due[%u] = d%u;\n", c, c, c, c);
    if (back && clock_at(emitter, c)->rounded)
      g_string_append_printf(out, "  r%u = (uint64_t)((unsigned __int128)c%u * m%u %% n%u);\n", c, c, c, c);
  }
}

// The step of a clock that is due.
static void emit_due_step(const Emitter *emitter, GString *out, guint c, const char *tick) {
  g_string_append_printf(
      out, "    if (d%u == now) {\n      spinach_time.cycle = c%u;\n      spinach_time.period = p%u;\n", c, c, c);
  if (clock_at(emitter, c)->rounded)
    g_string_append_printf(out,
                           "      const bool more = n%u - r%u <= m%u;\n      r%u += more ? m%u - n%u : m%u;\n"
                           "      spinach_cycle_length = l%u + more;\n      d%u += spinach_cycle_length;\n"
                           "      spinach_%s%u(s);\n",
                           c, c, c, c, c, c, c, c, c, tick, c);
  else
    g_string_append_printf(out, "      spinach_%s%u(s);\n", tick, c);
  g_string_append_printf(out, "      c%u++;\n", c);
  if (!clock_at(emitter, c)->rounded) g_string_append_printf(out, "      d%u += p%u;\n", c, c);
  g_string_append_printf(out, "      left -= clock == %u;\n    }\n", c);
}

// Whether a run asks after its cycles if everything waits.
static bool leaps_over(const Emitter *emitter, bool tracked) {
  return emitter->plan->leaps && !tracked;
}

static const Clock *fastest_clock(const Emitter *emitter) {
  const Clock *fastest = clock_at(emitter, 0);
  for (guint c = 1; c < emitter->plan->netlist->clocks->len; c++) {
    const Clock *clock = clock_at(emitter, c);
    if ((__int128)clock->num * fastest->den > (__int128)fastest->num * clock->den) fastest = clock;
  }
  return fastest;
}

// Leaves out the cycles before the next in which anything happens.  What is busy mostly shows at the top, so that is
// asked first, in place; only when it waits the engine asks the others.
static void emit_leap(const Emitter *emitter, GString *out) {
  const Clock *clock = fastest_clock(emitter);
  const GPtrArray *clusters = emitter->plan->schedule->clusters;
  GPtrArray *clocks = plan_of(emitter->plan, clusters->pdata[clusters->len - 1])->clocks;
  const int fastest = clock->id;
  guint place;
  g_autofree char *name =
      g_ptr_array_find(clocks, clock, &place) ? g_strdup_printf("@K@_next_event%u", place) : g_strdup("NULL");
  g_string_append_printf(out,
                         "      spinach_time.cycle = cycles[%d], spinach_time.now = due[%d];\n"
                         "      spinach_time.period = period[%d];\n"
                         "      spinach_leaping.waits = false;\n"
                         "      const uint64_t first = spinach_leaping.moved >> %d & 1 ? 0 : @K@_says(s);\n"
                         "      if (first <= spinach_time.cycle)\n        spinach_leap_refused();\n"
                         "      else\n        spinach_leap((spinach_said){%s, first}, clock, end, until);\n",
                         fastest, fastest, fastest, fastest, name);
}

// With one clock, time is counted where modules read it.
static void emit_run_one(const Emitter *emitter, GString *out, const char *tick, bool leaps) {
  g_string_append_printf(
      out,
      "  const uint64_t step = period[0];\n"
      "  while (cycles[0] < end && due[0] < until && !spinach_stopping) {\n"
      "    const uint64_t left = end - cycles[0], room = (until - due[0] - 1) / step + 1;\n"
      "    uint64_t most = left < room ? left : room;\n%s"
      "    spinach_time.now = due[0] - step;\n    spinach_time.cycle = cycles[0] - 1;\n"
      "    spinach_time.period = step;\n    uint64_t rest = most;\n"
      "    do {\n      spinach_time.now += step;\n      spinach_time.cycle++;\n      spinach_%s0(s);\n"
      "    } while (--rest && !__builtin_expect(spinach_stopping, 0));\n"
      "    cycles[0] += most - rest;\n    due[0] += (most - rest) * step;\n",
      leaps ? "    if (spinach_leaping.pause < most) most = spinach_leaping.pause;\n" : "", tick);
  if (leaps) {
    g_string_append(out, "    if (!(spinach_leaping.pause -= most - rest)) {\n");
    emit_leap(emitter, out);
    g_string_append(out, "    }\n");
  }
  g_string_append(out, "  }\n}\n");
}

// All clocks together: at each instant those that are due do one step, until `clock` has done `end` cycles, the instant
// `until` is reached, or somebody asks to stop.  The counts live in registers meanwhile.
static void emit_run(const Emitter *emitter, GString *out, bool tracked) {
  const char *tick = tracked ? "tracked" : "tick";
  guint clocks = emitter->plan->netlist->clocks->len;
  int root = (int)emitter->plan->schedule->clusters->len - 1;
  g_string_append_printf(out,
                         "void spinach_%s(uint64_t *cycles, uint64_t *due, const uint64_t *period, int clock, "
                         "uint64_t end, uint64_t until) {\n"
                         "  @K@_state *s = spinach_cluster_state[%d];\n",
                         tracked ? "run_tracked" : "run", root);
  const bool leaps = leaps_over(emitter, tracked);
  if (clocks == 1 && !has_rounded(emitter)) {
    emit_run_one(emitter, out, tick, leaps);
    return;
  }
  g_string_append(out, "  uint64_t left = end - cycles[clock];\n");
  for (guint c = 0; c < clocks; c++)
    g_string_append_printf(out, "  uint64_t c%u = cycles[%u], d%u = due[%u];\n  const uint64_t p%u = period[%u];\n", c,
                           c, c, c, c, c);
  emit_rests(emitter, out);
  g_string_append(out, "  while (left && !__builtin_expect(spinach_stopping, 0)) {\n    uint64_t now = d0;\n");
  for (guint c = 1; c < clocks; c++) g_string_append_printf(out, "    now = d%u < now ? d%u : now;\n", c, c);
  g_string_append(out, "    if (now >= until) break;\n    spinach_time.now = now;\n");
  for (guint c = 0; c < clocks; c++) emit_due_step(emitter, out, c, tick);
  if (leaps) {
    g_string_append(out, "    if (!--spinach_leaping.pause) {\n");
    emit_counts(emitter, out, false);
    emit_leap(emitter, out);
    emit_counts(emitter, out, true);
    g_string_append(out, "      left = end - cycles[clock];\n    }\n");
  }
  g_string_append(out, "  }\n");
  emit_counts(emitter, out, false);
  g_string_append(out, "}\n");
}

// Where the signals of a connection are.
static void emit_signals(const Emitter *emitter, GString *out, const Connection *connection) {
  for (int kind = SIGNAL_DATA; kind <= SIGNAL_ACK; kind++) {
    Wire *wire = schedule_port_wire(emitter->plan->schedule, connection->to, (SignalKind)kind, connection->to_lane);
    if (wire && wire->always) {
      g_string_append(out, "&always, ");
      continue;
    }
    if (!wire || !wire->writer) {
      g_string_append(out, kind == SIGNAL_DATA ? "NULL, NULL, " : "NULL, ");
      continue;
    }
    Cluster *owner = emitter->plan->wires[wire->id].owner;
    char name[256];
    plan_wire_name(emitter->plan, owner, wire, "", name, sizeof name);
    g_string_append_printf(out, "&spinach_scratch_%d.%s, ", owner->id, name);
    if (kind != SIGNAL_DATA) continue;
    plan_wire_name(emitter->plan, owner, wire, "_some", name, sizeof name);
    g_string_append_printf(out, "&spinach_scratch_%d.%s, ", owner->id, name);
  }
}

// Which of them their module decides from its state.
static void emit_deciders(const Emitter *emitter, GString *out, const Connection *connection) {
  g_string_append(out, "{");
  for (int kind = SIGNAL_DATA; kind <= SIGNAL_ACK; kind++) {
    const Wire *wire =
        schedule_port_wire(emitter->plan->schedule, connection->to, (SignalKind)kind, connection->to_lane);
    const Vertex *writer = wire ? wire->writer : NULL; // the receiver's, of the default enable
    const Instance *decides = (kind == SIGNAL_ACK ? connection->to : connection->from)->instance;
    const bool from_state = writer && writer->instance == decides && writer->reads->len == 0;
    g_string_append(out, from_state ? "true, " : "false, ");
  }
  g_string_append(out, "}");
}

// Where signals are, for debuggers, traces and waves; debug builds keep all of them in memory, others what is visible.
static void emit_observation(const Emitter *emitter, GString *out) {
  const GPtrArray *connections = emitter->plan->netlist->connections;
  if (!emit_observed(emitter)) return;
  g_string_append(out, "static const bool always = true;\n");
  g_string_append_printf(out, "const spinach_observed spinach_observations[%u + 1] = {\n", connections->len);
  for (guint i = 0; i < connections->len; i++) {
    const Connection *connection = connections->pdata[i];
    g_string_append(out, "  {");
    if (emitter->plan->debug || connection->visible) {
      emit_signals(emitter, out, connection);
      emit_deciders(emitter, out, connection);
      const Wire *ack = schedule_port_wire(emitter->plan->schedule, connection->to, SIGNAL_ACK, connection->to_lane);
      g_string_append(out, ack && !ack->always ? ", true" : ", false");
    } else {
      g_string_append(out, "0");
    }
    g_string_append(out, "},\n");
  }
  g_string_append(out, "};\n");
}

// When the state was changed from outside, nobody goes on sleeping because of what was before.
static void emit_wake(const Emitter *emitter, GString *out) {
  g_string_append(out, "void spinach_wake(void) {\n  spinach_replay_forget();\n  spinach_leap_reset();\n");
  for (guint i = 0; i < emitter->plan->schedule->clusters->len; i++) {
    const Cluster *cluster = emitter->plan->schedule->clusters->pdata[i];
    if (cluster->instance && plan_of(emitter->plan, cluster)->sleeps)
      g_string_append_printf(out, "  spinach_gate_reset(&spinach_gate_%u);\n", i);
  }
  g_string_append(out, "}\n");
}

bool emit_observed(const Emitter *emitter) {
  return emitter->plan->debug || emitter->plan->netlist->waves->len;
}

void emit_root(const Emitter *emitter, GString *out, const Kind *root) {
  emit_variables(emitter, out);
  if (has_rounded(emitter))
    g_string_append(out, "static uint64_t spinach_cycle_length; // ticks of the present cycle\n");
  emit_pointers(emitter, out);
  emit_wake(emitter, out);
  emit_replay_variables(emitter, out);
  emit_steps(emitter, out, false);
  if (leaps_over(emitter, false)) emit_top_says(out, root, fastest_clock(emitter));
  emit_run(emitter, out, false);
  emit_sleeping_table(emitter, out);
  if (emitter->plan->counts_loops) {
    for (guint i = 0; i < emitter->plan->schedule->clusters->len; i++) {
      const Cluster *cluster = emitter->plan->schedule->clusters->pdata[i];
      for (guint k = 0; !cluster->instance && k < cluster->segments->len; k++)
        g_string_append_printf(out, "SPINACH_STEP void @K@_record%u(@K@_state *, @K@_scratch *);\n", k);
    }
    emit_steps(emitter, out, true);
    emit_run(emitter, out, true);
  }
  emit_observation(emitter, out);
}
