// Windows and series of statistics; see measure.h.
#include "lss/runtime/observe/measure.h"

#include "lss/runtime/observe/derived.h"
#include "lss/runtime/observe/idle_check.h"
#include "lss/runtime/observe/statistics.h"

static const spinach_machine *const machine = &spinach_machine_table;

// A condition that is waited for.
typedef struct {
  const spinach_condition *condition;
  int watch;     // which of the events that are counted; -1: none
  uint64_t goal; // femtoseconds, cycles, times or value with which it comes true next
  bool waiting;
  bool repeats, held; // held: it was true at the last look
} Trigger;

typedef struct {
  uint64_t time_fs;
  uint64_t *cycles;    // per clock
  GArray *events;      // uint64_t, for each that is counted
  GArray *values;      // spinach_value
  GArray *connections; // uint64_t, four for each that is counted
  GArray *operands;    // double, of derived statistics
} Snapshot;

static Trigger until, from, to, sample;
static Trigger *const all[] = {&until, &from, &to, &sample};
static Snapshot *window[2];
static GPtrArray *samples; // Snapshot*

// ---- Events

static int find_watch(const char *text) {
  for (int i = 0; text && machine->watches[i]; i++)
    if (!strcmp(machine->watches[i], text)) return i;
  return -1;
}

void spinach_measure_add_words(const spinach_options *options, GPtrArray *words) {
  const spinach_condition *const conditions[] = {&options->until, &options->measure_from, &options->measure_to,
                                                 &options->sample};
  for (guint i = 0; i < G_N_ELEMENTS(conditions); i++) {
    char *watch = conditions[i]->watch;
    if (!watch || find_watch(watch) >= 0 || g_ptr_array_find_with_equal_func(words, watch, g_str_equal, NULL)) continue;
    g_ptr_array_add(words, "--watch");
    g_ptr_array_add(words, watch);
  }
}

static uint64_t count_of(int watch) {
  return spinach_watches[watch].count ? *spinach_watches[watch].count : 0;
}

// ---- Triggers

// States that only grow: those that are counted come true again with each multiple of the number.
static bool counts(const spinach_condition *condition) {
  return condition->kind != SPINACH_AT_STATE ||
         (condition->place.field->statistic && !strcmp(condition->relation, ">=") && condition->number > 0);
}

static void trigger_start(Trigger *trigger, const spinach_condition *condition, bool repeats) {
  *trigger = (Trigger){.condition = condition, .waiting = condition->kind != SPINACH_NO_CONDITION, .repeats = repeats};
  trigger->watch = find_watch(condition->watch);
  trigger->goal = condition->kind == SPINACH_AT_STATE ? (uint64_t)condition->number : condition->count;
}

static bool holds(const Trigger *trigger) {
  const spinach_condition *condition = trigger->condition;
  switch (condition->kind) {
  case SPINACH_AT_TIME:
  case SPINACH_AT_CYCLES: return spinach_time.now >= spinach_condition_tick(condition, trigger->goal);
  case SPINACH_AT_STATE:
    if (!trigger->repeats || !counts(condition)) return spinach_condition_compares(condition);
    return spinach_condition_value(condition) >= (int64_t)trigger->goal;
  case SPINACH_AT_EVENT:
  case SPINACH_AT_MARKER: return count_of(trigger->watch) >= trigger->goal;
  default: return false;
  }
}

// The next multiple that was not reached yet.
static void set_next_goal(Trigger *trigger) {
  const spinach_condition *condition = trigger->condition;
  uint64_t step = condition->kind == SPINACH_AT_STATE ? (uint64_t)condition->number : condition->count;
  trigger->goal += step;
  if (condition->kind == SPINACH_AT_STATE)
    trigger->goal = ((uint64_t)spinach_condition_value(condition) / step + 1) * step;
  else if (trigger->watch >= 0)
    trigger->goal = (count_of(trigger->watch) / step + 1) * step;
}

// Whether the condition has come true since the last look; also arms it for the next time.
static bool fires(Trigger *trigger) {
  if (!trigger->waiting) return false;
  bool held = trigger->held, now = holds(trigger);
  trigger->held = now;
  if (!trigger->repeats) {
    trigger->waiting = !now;
    return now;
  }
  if (!counts(trigger->condition)) return now && !held;
  if (now) set_next_goal(trigger);
  return now;
}

// The end of a window is waited for once the window has begun.
static bool looked_at(const Trigger *trigger) {
  return trigger->waiting && !(trigger == &to && from.waiting);
}

static uint64_t next_tick(uint64_t tick) {
  for (guint i = 0; i < G_N_ELEMENTS(all); i++)
    if (looked_at(all[i])) tick = MIN(tick, spinach_condition_tick(all[i]->condition, all[i]->goal));
  return tick;
}

// When generated code lets the run pause.
static void set_watches(void) {
  for (int i = 0; machine->watches[i]; i++) {
    uint64_t goal = UINT64_MAX;
    for (guint k = 0; k < G_N_ELEMENTS(all); k++)
      if (looked_at(all[k]) && all[k]->watch == i) goal = MIN(goal, all[k]->goal);
    spinach_watches[i].goal = goal;
  }
}

static bool looks_at_state(void) {
  for (guint i = 0; i < G_N_ELEMENTS(all); i++)
    if (looked_at(all[i]) && all[i]->condition->kind == SPINACH_AT_STATE) return true;
  return false;
}

// ---- Snapshots

static Snapshot *snapshot_new(uint64_t time_fs, bool over) {
  if (!over) spinach_update_statistics();
  Snapshot *snapshot = g_new0(Snapshot, 1);
  snapshot->time_fs = time_fs;
  snapshot->cycles = g_new(uint64_t, machine->clock_count + 1);
  for (uint32_t i = 0; i < machine->clock_count; i++) snapshot->cycles[i] = spinach_cycles((int32_t)i);
  snapshot->events = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  for (int i = 0; machine->watches[i]; i++) {
    uint64_t count = count_of(i);
    g_array_append_val(snapshot->events, count);
  }
  snapshot->values = g_array_new(FALSE, FALSE, sizeof(spinach_value));
  spinach_statistics_values(snapshot->values);
  snapshot->operands = g_array_new(FALSE, FALSE, sizeof(double));
  spinach_derived_operands(snapshot->operands);
  snapshot->connections = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  for (uint32_t i = 0; i < machine->connection_count; i++)
    if (spinach_connection_counts(i)) g_array_append_vals(snapshot->connections, spinach_connection_counts(i), 4);
  return snapshot;
}

static Snapshot *take(const Trigger *trigger, uint64_t goal) {
  if (trigger->condition->kind == SPINACH_AT_TIME) return snapshot_new(goal, false);
  return snapshot_new((uint64_t)((unsigned __int128)spinach_time.now * 1000000000000000u / machine->ticks_per_second),
                      trigger->condition->kind == SPINACH_AT_END);
}

// Collectors may say more or less at one time than at another; those of the end say which values there are.
static void write_values(Json *json, const GArray *values) {
  g_autoptr(GArray) final = g_array_new(FALSE, FALSE, sizeof(spinach_value));
  spinach_statistics_values(final);
  json_key(json, "values");
  json_open_row(json);
  for (guint i = 0; i < final->len; i++) {
    const char *reported = g_array_index(final, spinach_value, i).reported;
    guint at = i;
    if (at >= values->len || g_array_index(values, spinach_value, at).reported != reported)
      for (at = 0; at < values->len && g_array_index(values, spinach_value, at).reported != reported;) at++;
    if (at < values->len)
      spinach_value_write(json, &g_array_index(values, spinach_value, at));
    else
      json_string(json, NULL);
  }
  json_close(json, ']');
}

// `before` is the snapshot before it in its series; NULL: the beginning of the run.
static void snapshot_write(Json *json, const Snapshot *snapshot, const Snapshot *before) {
  if (!snapshot) {
    json_string(json, NULL);
    return;
  }
  json_open(json, '{');
  json_key(json, "time_fs");
  json_uint(json, snapshot->time_fs);
  json_open_member(json, "cycles", '{');
  for (uint32_t i = 0; i < machine->clock_count; i++) {
    json_key(json, machine->clocks[i].name);
    json_uint(json, snapshot->cycles[i]);
  }
  json_close(json, '}');
  json_open_member(json, "events", '{');
  for (guint i = 0; i < snapshot->events->len; i++) {
    json_key(json, machine->watches[i]);
    json_uint(json, g_array_index(snapshot->events, uint64_t, i));
  }
  json_close(json, '}');
  write_values(json, snapshot->values);
  spinach_derived_write(json, before ? before->operands : NULL, snapshot->operands);
  if (snapshot->connections->len) json_open_member(json, "connections", '[');
  for (guint i = 0; i < snapshot->connections->len; i++) {
    if (i % 4 == 0) json_open_row(json);
    json_uint(json, g_array_index(snapshot->connections, uint64_t, i));
    if (i % 4 == 3) json_close(json, ']');
  }
  if (snapshot->connections->len) json_close(json, ']');
  json_close(json, '}');
}

// ---- The run

bool spinach_measure_begin(const spinach_options *options) {
  static const spinach_condition start = {.kind = SPINACH_AT_TIME, .text = "0 s"};
  static const spinach_condition end = {.kind = SPINACH_AT_END, .text = "end"};
  const spinach_condition *first = &options->measure_from, *last = &options->measure_to;
  samples = g_ptr_array_new();
  trigger_start(&until, &options->until, false);
  trigger_start(&sample, &options->sample, true);
  if (first->kind || last->kind) {
    trigger_start(&from, first->kind ? first : &start, false);
    trigger_start(&to, last->kind ? last : &end, false);
  }
  if (first->kind == SPINACH_AT_END)
    return spinach_report_error("--measure-from: no window begins at the end of the run");
  if (from.waiting && first->kind == SPINACH_AT_TIME && last->kind == SPINACH_AT_TIME && last->count <= first->count)
    return spinach_report_error("--measure-to %s is not after --measure-from %s", last->text, first->text);
  if (sample.waiting && sample.goal == 0 && counts(sample.condition) && sample.condition->kind != SPINACH_AT_END)
    return spinach_report_error("--sample \"%s\": what repeats needs a distance of more than 0",
                                sample.condition->text);
  return true;
}

static const char *look(void) {
  if (from.waiting) {
    if (fires(&from)) {
      window[0] = take(&from, from.goal);
      if (to.condition->kind == SPINACH_AT_MARKER) to.goal = count_of(to.watch) + 1; // the next one
      if (fires(&to)) return "the window to measure was over before it began";
    }
  } else if (fires(&to)) {
    window[1] = take(&to, to.goal);
  }
  for (uint64_t goal = sample.goal; fires(&sample); goal = sample.goal) g_ptr_array_add(samples, take(&sample, goal));
  return fires(&until) ? "the condition of --until holds" : NULL;
}

const char *spinach_measure_look(void) {
  spinach_stopping &= ~SPINACH_PAUSE;
  const char *ended = look();
  set_watches();
  return ended;
}

// Nothing is waited for that will come whatever the machine does.
static bool is_endless(const spinach_options *options) {
  if (options->cycles != UINT64_MAX || options->until_tick != UINT64_MAX) return false;
  for (guint i = 0; i < G_N_ELEMENTS(all); i++) {
    const Trigger *trigger = all[i];
    if (trigger == &sample || !trigger->waiting) continue;
    if (trigger->condition->kind == SPINACH_AT_TIME || trigger->condition->kind == SPINACH_AT_CYCLES) return false;
  }
  return true;
}

bool spinach_measure_advance(const spinach_options *options, uint64_t slice) {
  const bool endless = is_endless(options);
  if (looks_at_state() || spinach_idle_check_active()) return spinach_step(endless);
  return spinach_advance(options->clock, options->cycles, next_tick(options->until_tick), slice, endless);
}

bool spinach_measure_end(void) {
  bool over = from.condition && !from.waiting && !to.waiting && !window[1];
  if (looked_at(&to) && to.condition->kind == SPINACH_AT_END) {
    window[1] = take(&to, 0);
    to.waiting = false;
  }
  if (looked_at(&sample) && sample.condition->kind == SPINACH_AT_END) g_ptr_array_add(samples, take(&sample, 0));
  if (over)
    return spinach_report_error(
        "error: the condition of --measure-to, \"%s\", held already when that of --measure-from, "
        "\"%s\", came true",
        to.condition->text, from.condition->text);
  const Trigger *missing = from.waiting ? &from : to.waiting ? &to : NULL;
  return !missing ||
         spinach_report_error("error: the run ended before the condition of --measure-%s, \"%s\", came true",
                              missing == &from ? "from" : "to", missing->condition->text);
}

void spinach_measure_write(Json *json) {
  if (from.condition) {
    json_open_member(json, "measured", '{');
    json_key(json, "from");
    snapshot_write(json, window[0], NULL);
    json_key(json, "to");
    snapshot_write(json, window[1], window[0]);
    json_close(json, '}');
  }
  if (!sample.condition || !sample.condition->kind) return;
  json_open_member(json, "samples", '[');
  for (guint i = 0; i < samples->len; i++) snapshot_write(json, samples->pdata[i], i ? samples->pdata[i - 1] : NULL);
  json_close(json, ']');
}
