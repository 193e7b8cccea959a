// Windows and series of statistics; see measure.h.
#include "lss/runtime/observe/measure.h"

#include "lss/runtime/observe/derived.h"
#include "lss/runtime/observe/idle_check.h"
#include "lss/runtime/observe/statistics.h"
#include "lss/runtime/observe/trigger.h"

static const spinach_machine *const machine = &spinach_machine_table;

typedef struct {
  uint64_t time_fs;
  uint64_t *cycles;    // per clock
  GArray *events;      // uint64_t, for each that is counted
  GArray *values;      // spinach_value
  GArray *connections; // uint64_t, four for each that is counted
  GArray *operands;    // double, of derived statistics
} Snapshot;

static spinach_trigger until, from, to, sample;
static Snapshot *window[2];
static GPtrArray *samples; // Snapshot*

// ---- Snapshots

static Snapshot *snapshot_new(uint64_t time_fs, bool over) {
  if (!over) spinach_update_statistics();
  Snapshot *snapshot = g_new0(Snapshot, 1);
  snapshot->time_fs = time_fs;
  snapshot->cycles = g_new(uint64_t, machine->clock_count + 1);
  for (uint32_t i = 0; i < machine->clock_count; i++) snapshot->cycles[i] = spinach_cycles((int32_t)i);
  snapshot->events = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  for (int i = 0; machine->watches[i]; i++) {
    uint64_t count = spinach_watch_count(i);
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

static Snapshot *take(const spinach_trigger *trigger, uint64_t goal) {
  if (trigger->condition->kind == SPINACH_AT_TIME) return snapshot_new(goal, false);
  return snapshot_new(spinach_now_fs(), trigger->condition->kind == SPINACH_AT_END);
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
  const spinach_condition *first = &options->conditions[SPINACH_MEASURE_FROM],
                          *last = &options->conditions[SPINACH_MEASURE_TO];
  samples = g_ptr_array_new();
  spinach_trigger_start(&until, &options->conditions[SPINACH_UNTIL], false);
  spinach_trigger_start(&sample, &options->conditions[SPINACH_SAMPLE], true);
  if (first->kind || last->kind) {
    spinach_trigger_start(&from, first->kind ? first : &start, false);
    spinach_trigger_start(&to, last->kind ? last : &end, false);
    to.after = &from;
  }
  if (first->kind == SPINACH_AT_END)
    return spinach_report_error("--measure-from: no window begins at the end of the run");
  if (from.waiting && first->kind == SPINACH_AT_TIME && last->kind == SPINACH_AT_TIME && last->count <= first->count)
    return spinach_report_error("--measure-to %s is not after --measure-from %s", last->text, first->text);
  if (sample.waiting && sample.goal == 0 && spinach_trigger_counts(sample.condition) &&
      sample.condition->kind != SPINACH_AT_END)
    return spinach_report_error("--sample \"%s\": what repeats needs a distance of more than 0",
                                sample.condition->text);
  return true;
}

bool spinach_measure_resume(void) {
  spinach_trigger *const ends[] = {&from, &to};
  static const char *const names[] = {"from", "to"};
  if (sample.condition) spinach_trigger_resume(&sample);
  for (int i = 0; i < 2; i++)
    if (ends[i]->condition && !spinach_trigger_resume(ends[i]))
      return spinach_report_error("--measure-%s %s: the run goes on at %.15g ns, which is later", names[i],
                                  ends[i]->condition->text, (double)spinach_now_fs() / 1e6);
  return true;
}

static const char *look(void) {
  if (from.waiting) {
    if (spinach_trigger_fires(&from)) {
      window[0] = take(&from, from.goal);
      if (spinach_trigger_fires(&to)) return "the window to measure was over before it began";
    }
  } else if (spinach_trigger_fires(&to)) {
    window[1] = take(&to, to.goal);
  }
  for (uint64_t goal = sample.goal; spinach_trigger_fires(&sample); goal = sample.goal)
    g_ptr_array_add(samples, take(&sample, goal));
  return spinach_trigger_fires(&until) ? "the condition of --until holds" : NULL;
}

const char *spinach_measure_look(void) {
  spinach_stopping &= ~SPINACH_PAUSE;
  const char *ended = look();
  spinach_triggers_arm();
  return ended;
}

// Nothing is waited for that will come whatever the machine does.
static bool is_endless(const spinach_options *options) {
  if (options->cycles != UINT64_MAX || options->until_tick != UINT64_MAX) return false;
  return !spinach_triggers_prolong();
}

void spinach_measure_advance(const spinach_options *options, uint64_t slice) {
  const bool endless = is_endless(options);
  if (spinach_triggers_step() || spinach_idle_check_active())
    spinach_advance_begin_step(endless);
  else
    spinach_advance_begin(options->clock, options->cycles, spinach_triggers_tick(options->until_tick), slice, endless);
}

bool spinach_measure_end(void) {
  bool over = from.condition && !from.waiting && !to.waiting && !window[1];
  if (spinach_trigger_looked_at(&to) && to.condition->kind == SPINACH_AT_END) {
    window[1] = take(&to, 0);
    to.waiting = false;
  }
  if (spinach_trigger_looked_at(&sample) && sample.condition->kind == SPINACH_AT_END)
    g_ptr_array_add(samples, take(&sample, 0));
  if (over)
    return spinach_report_error(
        "error: the condition of --measure-to, \"%s\", held already when that of --measure-from, "
        "\"%s\", came true",
        to.condition->text, from.condition->text);
  const spinach_trigger *missing = from.waiting ? &from : to.waiting ? &to : NULL;
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
