// --check-replay; see check.h.
#include "lss/runtime/replay/check.h"

#include "lss/runtime/engine/hooks.h"
#include "lss/runtime/engine/machine.h"
#include "lss/runtime/engine/names.h"
#include "lss/runtime/text/pattern.h"

#include <sys/mman.h>

enum {
  MOST_STATE = 1 << 16, // bytes of an instance's state that are compared where time passes
  AT_ONCE = 64,         // cycles of idle time between two comparisons of chosen instances
};

static const spinach_machine *const machine = &spinach_machine_table;
static uint64_t asleep, skipped; // cycles that were stepped all the same
static uint8_t *copy;            // of the arena: what was there before
static bool *chosen;             // per instance: it is compared; NULL: all are
static bool *looked_at;          // per cluster: it holds one of those; NULL: likewise

// Memories are large, and their pages are brought in where they are written.
static bool is_kept(const spinach_instance *instance) {
  return instance->layout && instance->layout->size <= MOST_STATE &&
         (!looked_at || (instance->cluster >= 0 && looked_at[instance->cluster]));
}

static uint8_t *copy_of(const void *state) {
  return copy + ((const uint8_t *)state - spinach_arena);
}

static void keep(uint32_t instance) {
  const void *state = spinach_instance_state((int32_t)instance);
  if (is_kept(&machine->instances[instance])) memcpy(copy_of(state), state, machine->instances[instance].layout->size);
}

// The first element of an instance's state that is another than in the copy; NULL when there is none.
static char *changed(uint32_t instance) {
  uint8_t *state = spinach_instance_state((int32_t)instance);
  return is_kept(&machine->instances[instance]) && (!chosen || chosen[instance])
             ? spinach_first_difference(machine->instances[instance].layout, state, copy_of(state))
             : NULL;
}

static bool is_in(uint32_t instance, uint32_t cluster) {
  return machine->instances[instance].layout && machine->instances[instance].cluster == (int32_t)cluster;
}

// ---- Cycles that are replayed

static _Noreturn void differs(const spinach_replay *r, uint32_t offset, const char *what) {
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const spinach_instance *instance = &machine->instances[i];
    if (!is_in(i, r->of->cluster) || offset - instance->offset >= instance->layout->size) continue;
    for (uint32_t k = 0; k < instance->layout->field_count; k++) {
      const spinach_field *field = &instance->layout->fields[k];
      const uint64_t size = field->type->size * spinach_field_elements(field);
      if (offset - instance->offset - field->offset < size)
        spinach_error(i, "%s %s is not what followed from the same state and inputs before", what, field->name);
    }
  }
  spinach_error(UINT32_MAX, "%s: %s is not what followed from the same state and inputs before", r->of->path, what);
}

// The states differ: in which field.
static _Noreturn void state_differs(spinach_replay *r, const spinach_replay_node *expected) {
  uint8_t *state = spinach_replay_state(r);
  spinach_replay_restore(r, spinach_replay_node_now(r, true), state); // where instants that are past are 0, too
  memcpy(copy_of(state), state, machine->clusters[r->of->cluster].size);
  spinach_replay_restore(r, expected, copy_of(state));
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    if (!is_in(i, r->of->cluster)) continue;
    uint8_t *own = spinach_instance_state((int32_t)i);
    const char *field = spinach_first_difference(machine->instances[i].layout, own, copy_of(own));
    if (field) spinach_error(i, "state %s is not what followed from the same state and inputs before", field);
  }
  spinach_error(UINT32_MAX, "%s: bytes between fields are not what followed before", r->of->path);
}

static void compare_moves(const spinach_replay *r, const spinach_replay_edge *now, const spinach_replay_edge *known) {
  for (uint32_t i = 0; i < MAX(now->moves, known->moves); i++) {
    const spinach_replay_move *one = i < now->moves ? &now->move[i] : &known->move[i],
                              *other = i < known->moves ? &known->move[i] : one;
    const bool same = i < MIN(now->moves, known->moves) && one->counter == other->counter && one->by == other->by &&
                      one->cycles == other->cycles;
    if (!same) differs(r, r->of->kind->counters[MIN(one->counter, other->counter)].offset, "statistic");
  }
}

static void compare_notes(const spinach_replay *r, const spinach_replay_edge *now, const spinach_replay_edge *known) {
  if (now->notes == known->notes && !memcmp(now->note, known->note, now->notes * sizeof *now->note) &&
      !memcmp(now->noted, known->noted, now->notes * SPINACH_REPLAY_NOTE))
    return;
  const spinach_replay_edge *more = now->notes ? now : known;
  differs(r, r->of->kind->traces[more->note[0]].offset, "trace");
}

void spinach_replay_compare(spinach_replay *r, const spinach_replay_node *from, const spinach_replay_edge *edge,
                            bool acts) {
  if (acts) differs(r, UINT32_MAX, "its effects apart from counts");
  spinach_replay_edge *now = spinach_replay_edge_now(r, from);
  const bool last = from->segment + 1 == r->of->segment_count;
  if (spinach_replay_output_now(r, from->segment) != edge->output) differs(r, UINT32_MAX, "what it sends");
  if (last && spinach_replay_node_now(r, false) != edge->to) {
    r->cycle = spinach_time.cycle;
    state_differs(r, edge->to);
  }
  if (last) compare_moves(r, now, edge);
  if (last) compare_notes(r, now, edge);
  g_aligned_free(now);
}

// ---- Cycles of clusters that sleep

void spinach_check_asleep(const spinach_replay_cluster *of, uint32_t segment, uint64_t since) {
  if (looked_at && !looked_at[of->cluster]) return; // it goes on sleeping
  const spinach_replay_segment *s = &of->segments[segment];
  g_autofree uint8_t *before = g_malloc0(s->output_size), *after = g_malloc0(s->output_size);
  for (uint32_t i = 0; i < machine->instance_count; i++)
    if (is_in(i, of->cluster)) keep(i);
  s->output(before);
  const uint64_t effects = spinach_effects;
  spinach_replay_step_alone(of, segment);
  s->output(after);
  asleep += segment == 0;
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    g_autofree char *field = is_in(i, of->cluster) ? changed(i) : NULL;
    if (field) spinach_error(i, "%s changed while %s slept, since cycle %" G_GUINT64_FORMAT, field, of->path, since);
  }
  if (memcmp(before, after, s->output_size) != 0 || effects != spinach_effects)
    spinach_error(UINT32_MAX, "%s did something while it slept, since cycle %" G_GUINT64_FORMAT, of->path, since);
}

// ---- Time that is skipped

static void before_skipped(void) {
  for (uint32_t i = 0; i < machine->instance_count; i++) keep(i);
}

static void after_skipped(const uint64_t *cycles_before) {
  for (uint32_t i = 0; i < machine->skipper_count; i++) {
    const spinach_skipper *s = &machine->skippers[i];
    if (looked_at && !looked_at[s->cluster]) continue;
    const uint64_t n = spinach_cycles(s->clock) - cycles_before[s->clock];
    spinach_time.cycle = cycles_before[s->clock];
    spinach_time.period = machine->clocks[s->clock].period;
    if (n) s->skip(copy_of(spinach_cluster_state[s->cluster]), n);
  }
  const int32_t fastest = spinach_fastest_clock();
  skipped += chosen ? spinach_cycles(fastest) - cycles_before[fastest] : 1;
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    g_autofree char *field = changed(i);
    if (!field) continue;
    spinach_time.cycle = cycles_before[machine->instances[i].clock];
    spinach_error(i, "%s changed %s which nothing was to happen, as next_event says", field,
                  chosen ? "in cycles from here on in" : "in a cycle in");
  }
}

// ---- Before the run, and the report

void spinach_replay_check(void) {
  spinach_replay_checks = true;
  spinach_hooks.before_skipped = before_skipped;
  spinach_hooks.after_skipped = after_skipped;
  copy = mmap(NULL, spinach_arena_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (copy == MAP_FAILED) spinach_fail("no memory for a copy of the state");
}

bool spinach_check_idle_of(const char *patterns) {
  g_auto(GStrv) parts = g_strsplit(patterns, ",", -1);
  chosen = g_new0(bool, machine->instance_count);
  looked_at = g_new0(bool, machine->cluster_count);
  for (char **part = parts; *part; part++) {
    g_autofree char *inside = g_strconcat(*part, ".**", NULL);
    bool any = false;
    for (uint32_t i = 0; i < machine->instance_count; i++) {
      const spinach_instance *instance = &machine->instances[i];
      if (!instance->layout || instance->cluster < 0 || !spinach_path_matches(inside, instance->path)) continue;
      any = chosen[i] = looked_at[instance->cluster] = true;
    }
    if (!any) return spinach_report_error("--check-idle: no instance matches \"%s\"", *part);
  }
  spinach_replay_check();
  spinach_hooks.skipped_after = AT_ONCE - 1;
  return true;
}

void spinach_check_idle_report(FILE *out, const char *patterns) {
  fprintf(out, "%s: checked over %llu cycles that would be skipped, and in %llu cycles of clusters that slept\n",
          patterns, (unsigned long long)skipped, (unsigned long long)asleep);
}

void spinach_replay_check_report(FILE *out) {
  for (spinach_replay *const *r = spinach_replays; *r; r++) {
    const spinach_replay_table *table = (*r)->table;
    fprintf(out, "%s: %llu cycles were replayed and checked\n", (*r)->of->path,
            (unsigned long long)(table ? table->checked : 0));
  }
  fprintf(out, "checked as well: %llu cycles of clusters that slept, %llu instants that were skipped\n",
          (unsigned long long)asleep, (unsigned long long)skipped);
}
