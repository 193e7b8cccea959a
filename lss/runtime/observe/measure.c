// Windows and series of statistics; see measure.h.
#include "lss/runtime/observe/measure.h"

#include "lss/runtime/engine/own_part.h"
#include "lss/runtime/observe/idle_check.h"
#include "lss/runtime/observe/window.h"

static spinach_trigger until, from, to, sample;
static spinach_snapshot *window[2];

static spinach_snapshot *take(const spinach_trigger *trigger, spinach_count goal) {
  if (trigger->condition->kind == SPINACH_AT_TIME) return spinach_snapshot_new(goal, false);
  if (trigger->condition->relative) return spinach_snapshot_new(trigger->fired, false);
  return spinach_snapshot_new(spinach_fs_of(spinach_completed_next()), trigger->condition->kind == SPINACH_AT_END);
}

// Whether two times, or two conditions with times after the same event, come in the wrong order.
static bool are_disordered(const spinach_condition *first, const spinach_condition *last) {
  if (first->kind == SPINACH_AT_TIME && last->kind == SPINACH_AT_TIME) return last->count <= first->count;
  return first->relative && last->relative && !strcmp(first->watch, last->watch) && first->count == last->count &&
         last->later <= first->later;
}

bool spinach_measure_begin(const spinach_options *options) {
  static const spinach_condition start = {.kind = SPINACH_AT_TIME, .text = "0 s"};
  static const spinach_condition end = {.kind = SPINACH_AT_END, .text = "end"};
  const spinach_condition *first = &options->conditions[SPINACH_MEASURE_FROM],
                          *last = &options->conditions[SPINACH_MEASURE_TO];
  spinach_series_begin(options);
  spinach_trigger_start(&until, &options->conditions[SPINACH_UNTIL], false);
  spinach_trigger_start(&sample, &options->conditions[SPINACH_SAMPLE], true);
  if (first->kind || last->kind) {
    spinach_trigger_start(&from, first->kind ? first : &start, false);
    spinach_trigger_start(&to, last->kind ? last : &end, false);
    to.after = &from;
  }
  if (options->sample_window) {
    if (!sample.waiting || !from.waiting)
      return spinach_report_error("--sample-window: it needs --sample, and a window by --measure-from or --measure-to");
    sample.after = &from;
  }
  if (first->kind == SPINACH_AT_END)
    return spinach_report_error("--measure-from: no window begins at the end of the run");
  if (from.waiting && are_disordered(first, last))
    return spinach_report_error("--measure-to %s is not after --measure-from %s", last->text, first->text);
  if (sample.waiting && sample.goal == 0 && spinach_trigger_counts(sample.condition) &&
      sample.condition->kind != SPINACH_AT_END)
    return spinach_report_error("--sample \"%s\": what repeats needs a distance of more than 0",
                                sample.condition->text);
  return true;
}

// ---- In checkpoints

GVariant *spinach_measure_pack(void) {
  GVariantBuilder ends;
  g_variant_builder_init(&ends, G_VARIANT_TYPE("a" SNAPSHOT_TYPE));
  for (int i = 0; i < 2; i++)
    if (window[i]) g_variant_builder_add_value(&ends, spinach_snapshot_pack(window[i]));
  return g_variant_new("(@" TRIGGER_TYPE "@" TRIGGER_TYPE "@" TRIGGER_TYPE "@" TRIGGER_TYPE "@a" SNAPSHOT_TYPE
                       "@" SERIES_TYPE ")",
                       spinach_trigger_pack(&until), spinach_trigger_pack(&from), spinach_trigger_pack(&to),
                       spinach_trigger_pack(&sample), g_variant_builder_end(&ends), spinach_series_pack());
}

static bool refuse(const char *option, const char *text, char *misfit) {
  g_autofree char *why = misfit;
  return spinach_report_error("%s %s: the snapshots in the checkpoint %s", option, text, why);
}

// The ends of the window; false, with a line, if they are not of a build with the same statistics.
static bool unpack_window(GVariant *packed) {
  g_autoptr(GVariant) ends = g_variant_get_child_value(packed, 4);
  for (gsize i = 0; i < g_variant_n_children(ends) && i < G_N_ELEMENTS(window); i++) {
    g_autoptr(GVariant) one = g_variant_get_child_value(ends, i);
    window[i] = spinach_snapshot_unpack(one);
    char *misfit = spinach_snapshot_misfit(window[i]);
    if (misfit) return refuse("--measure-from", from.condition->text, misfit);
  }
  return true;
}

static bool unpack_samples(GVariant *packed) {
  g_autoptr(GVariant) series = g_variant_get_child_value(packed, 5);
  char *misfit = NULL;
  if (spinach_series_unpack(series, &misfit)) return true;
  if (misfit) return refuse("--sample", sample.condition->text, misfit);
  return spinach_report_error("--sample %s: the samples in the checkpoint cannot be written: %s",
                              sample.condition->text, spinach_series_problem());
}

// Whether a condition, the child of what was packed, goes on as it was.
static bool continues(spinach_trigger *trigger, GVariant *packed, gsize child, bool same) {
  g_autoptr(GVariant) before = g_variant_get_child_value(packed, child);
  return same && spinach_trigger_unpack(trigger, before);
}

static bool resume_end(spinach_trigger *trigger, const char *name) {
  if (!trigger->condition || spinach_trigger_resume(trigger)) return true;
  return spinach_report_error("--measure-%s %s: the run goes on at %.15g ns, which is later", name,
                              trigger->condition->text, (double)spinach_now_fs() / 1e6);
}

bool spinach_measure_resume(GVariant *packed, bool same) {
  if (until.condition && !continues(&until, packed, 0, same)) spinach_trigger_resume(&until);
  if (until.condition && until.condition->kind) until.waiting = true; // it may hold still: then the run ends at once
  if (sample.condition && continues(&sample, packed, 3, same)) {
    if (!unpack_samples(packed)) return false;
  } else if (sample.condition) {
    spinach_trigger_resume(&sample);
  }
  const spinach_trigger first = from;
  if (!from.condition || !continues(&from, packed, 1, same) || !continues(&to, packed, 2, same)) {
    from = first;
    return resume_end(&from, "from") && resume_end(&to, "to");
  }
  return unpack_window(packed);
}

// ---- While it runs

static bool add_sample(spinach_count goal) {
  if (spinach_series_add(take(&sample, goal))) return true;
  spinach_set_error("a sample could not be written");
  return false;
}

static const char *look(void) {
  if (from.waiting) {
    if (spinach_trigger_fires(&from)) {
      window[0] = take(&from, from.goal);
      if (sample.after) spinach_trigger_resume(&sample); // what repeats does not catch up
      if (spinach_trigger_fires(&to)) return "the window to measure was over before it began";
    }
  } else if (spinach_trigger_fires(&to)) {
    window[1] = take(&to, to.goal);
  }
  for (spinach_count goal = sample.goal; spinach_trigger_fires(&sample); goal = sample.goal) {
    if (!add_sample(goal)) return spinach_error_text;
    if (spinach_stopping & SPINACH_STOP) break; // a signal came: there may be very many at one instant
  }
  if (sample.after && window[1]) sample.waiting = false;
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

void spinach_measure_advance(const spinach_options *options, struct spinach_slice slice, uint64_t until) {
  const bool endless = is_endless(options);
  until = MIN(until, spinach_triggers_tick(options->until_tick));
  if (!spinach_triggers_step(false) && !spinach_idle_check_active()) {
    spinach_advance_begin(options->clock, options->cycles, until, slice, endless);
    return;
  }
  // What is done in skipped time can neither make true nor false what it does not change.
  const bool skips = !spinach_triggers_step(true) && !spinach_idle_check_active();
  const uint64_t cycles = spinach_cycles(options->clock), most = options->cycles - cycles;
  const uint64_t ahead = MIN(most, slice.in_loops);
  if (ahead < UINT64_MAX - cycles) until = MIN(until, spinach_instant_of(options->clock, cycles + ahead));
  spinach_advance_begin_step(skips ? &until : NULL, endless);
}

bool spinach_measure_end(const char *ended) {
  bool over = from.condition && !from.waiting && !to.waiting && !window[1];
  if (spinach_trigger_looked_at(&to) && to.condition->kind == SPINACH_AT_END) {
    window[1] = take(&to, 0);
    to.waiting = false;
  }
  if (spinach_trigger_looked_at(&sample) && sample.condition->kind == SPINACH_AT_END && !add_sample(0)) return false;
  if (over)
    return spinach_report_error(
        "error: the condition of --measure-to, \"%s\", held already when that of --measure-from, "
        "\"%s\", came true",
        to.condition->text, from.condition->text);
  const spinach_trigger *missing = from.waiting ? &from : to.waiting ? &to : NULL;
  return !missing ||
         spinach_report_error("error: the run ended before the condition of --measure-%s, \"%s\", came true: %s",
                              missing == &from ? "from" : "to", missing->condition->text, ended);
}

void spinach_measure_table(FILE *out) {
  if (!window[0] || !window[1]) return;
  g_autoptr(GString) text = g_string_new("measured ");
  spinach_window_between(window[0], window[1], "", NULL, text);
  fprintf(out, "\n%s", text->str);
}

void spinach_measure_write(Json *json) {
  if (!from.condition) return;
  json_open_member(json, "measured", '{');
  json_key(json, "from");
  spinach_snapshot_write_last(json, window[0], NULL);
  json_key(json, "to");
  spinach_snapshot_write_last(json, window[1], window[0]);
  json_close(json, '}');
}

bool spinach_measure_samples(void) {
  return sample.condition && sample.condition->kind;
}
