// Windows and series of statistics; see measure.h.
#include "lss/runtime/observe/measure.h"

#include "lss/runtime/observe/idle_check.h"

static spinach_trigger until, from, to, sample;
static spinach_snapshot *window[2];
static GPtrArray *samples; // spinach_snapshot*

static spinach_snapshot *take(const spinach_trigger *trigger, spinach_count goal) {
  if (trigger->condition->kind == SPINACH_AT_TIME) return spinach_snapshot_new(goal, false);
  return spinach_snapshot_new(spinach_now_fs(), trigger->condition->kind == SPINACH_AT_END);
}

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

// ---- In checkpoints

static GVariant *pack_series(GPtrArray *series) {
  GVariantBuilder builder;
  g_variant_builder_init(&builder, G_VARIANT_TYPE("a" SNAPSHOT_TYPE));
  for (guint i = 0; i < series->len; i++)
    g_variant_builder_add_value(&builder, spinach_snapshot_pack(series->pdata[i]));
  return g_variant_builder_end(&builder);
}

GVariant *spinach_measure_pack(void) {
  g_autoptr(GPtrArray) ends = g_ptr_array_new();
  for (int i = 0; i < 2; i++)
    if (window[i]) g_ptr_array_add(ends, window[i]);
  return g_variant_new("(@" TRIGGER_TYPE "@" TRIGGER_TYPE "@" TRIGGER_TYPE "@" TRIGGER_TYPE "@a" SNAPSHOT_TYPE
                       "@a" SNAPSHOT_TYPE ")",
                       spinach_trigger_pack(&until), spinach_trigger_pack(&from), spinach_trigger_pack(&to),
                       spinach_trigger_pack(&sample), pack_series(ends), pack_series(samples));
}

// The snapshots in a child of what was packed; NULL, with a line, if they are not of a build with the same statistics.
static GPtrArray *unpack_series(GVariant *packed, gsize child, const char *option, const char *text) {
  g_autoptr(GVariant) series = g_variant_get_child_value(packed, child);
  GPtrArray *snapshots = g_ptr_array_new();
  for (gsize i = 0; i < g_variant_n_children(series); i++) {
    g_autoptr(GVariant) one = g_variant_get_child_value(series, i);
    spinach_snapshot *snapshot = spinach_snapshot_unpack(one);
    g_autofree char *misfit = spinach_snapshot_misfit(snapshot);
    if (misfit) {
      spinach_report_error("%s %s: the snapshots in the checkpoint %s", option, text, misfit);
      return NULL;
    }
    g_ptr_array_add(snapshots, snapshot);
  }
  return snapshots;
}

// Whether a condition, the child of what was packed, goes on as it was.
static bool goes_on(spinach_trigger *trigger, GVariant *packed, gsize child, bool same) {
  g_autoptr(GVariant) before = g_variant_get_child_value(packed, child);
  return same && spinach_trigger_unpack(trigger, before);
}

static bool resume_end(spinach_trigger *trigger, const char *name) {
  if (!trigger->condition || spinach_trigger_resume(trigger)) return true;
  return spinach_report_error("--measure-%s %s: the run goes on at %.15g ns, which is later", name,
                              trigger->condition->text, (double)spinach_now_fs() / 1e6);
}

bool spinach_measure_resume(GVariant *packed, bool same) {
  if (until.condition && !goes_on(&until, packed, 0, same)) spinach_trigger_resume(&until);
  if (until.condition && until.condition->kind) until.waiting = true; // it may hold still: then the run ends at once
  if (sample.condition && goes_on(&sample, packed, 3, same)) {
    if (!(samples = unpack_series(packed, 5, "--sample", sample.condition->text))) return false;
  } else if (sample.condition) {
    spinach_trigger_resume(&sample);
  }
  const spinach_trigger first = from;
  if (!from.condition || !goes_on(&from, packed, 1, same) || !goes_on(&to, packed, 2, same)) {
    from = first;
    return resume_end(&from, "from") && resume_end(&to, "to");
  }
  g_autoptr(GPtrArray) ends = unpack_series(packed, 4, "--measure-from", from.condition->text);
  if (!ends) return false;
  for (guint i = 0; i < ends->len && i < 2; i++) window[i] = ends->pdata[i];
  return true;
}

// ---- While it runs

static const char *look(void) {
  if (from.waiting) {
    if (spinach_trigger_fires(&from)) {
      window[0] = take(&from, from.goal);
      if (spinach_trigger_fires(&to)) return "the window to measure was over before it began";
    }
  } else if (spinach_trigger_fires(&to)) {
    window[1] = take(&to, to.goal);
  }
  for (spinach_count goal = sample.goal; spinach_trigger_fires(&sample); goal = sample.goal) {
    g_ptr_array_add(samples, take(&sample, goal));
    if (spinach_stopping & SPINACH_STOP) break; // a signal came: there may be very many at one instant
  }
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

void spinach_measure_advance(const spinach_options *options, struct spinach_slice slice) {
  const bool endless = is_endless(options);
  uint64_t until = spinach_triggers_tick(options->until_tick);
  if (!spinach_triggers_step(false) && !spinach_idle_check_active()) {
    spinach_advance_begin(options->clock, options->cycles, until, slice, endless);
    return;
  }
  // What is done in skipped time can neither make true nor false what it does not change.
  const bool skips = !spinach_triggers_step(true) && !spinach_idle_check_active() && !options->interactive;
  const uint64_t cycles = spinach_cycles(options->clock), most = options->cycles - cycles;
  const uint64_t ahead = MIN(most, slice.in_loops);
  if (ahead < UINT64_MAX - cycles) until = MIN(until, spinach_instant_of(options->clock, cycles + ahead));
  spinach_advance_begin_step(skips ? &until : NULL, endless);
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
    spinach_snapshot_write(json, window[0], NULL);
    json_key(json, "to");
    spinach_snapshot_write(json, window[1], window[0]);
    json_close(json, '}');
  }
  if (!sample.condition || !sample.condition->kind) return;
  json_open_member(json, "samples", '[');
  for (guint i = 0; i < samples->len; i++)
    spinach_snapshot_write(json, samples->pdata[i], i ? samples->pdata[i - 1] : NULL);
  json_close(json, ']');
}
