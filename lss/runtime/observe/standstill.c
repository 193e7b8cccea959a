// Whether a run that nothing bounds can still end; see standstill.h.
#include "lss/runtime/observe/standstill.h"

#include "lss/runtime/engine/machine.h"

enum {
  NOTE_AFTER = 5, // seconds on the wall
  SILENT_FOR = 3, // likewise, without progress: of a run in which something is waited for
  MOST_NAMED = 3, // silent instances that a line names
};

static const spinach_machine *const machine = &spinach_machine_table;
static bool counts, looks, notes;
static gint64 began;       // when the run did, on the wall
static bool trying;        // a look found that nothing acts by itself; cycles since then are compared
static uint64_t *since;    // per clock: its cycles when that was found
static uint8_t **before;   // per silent instance: its state then
static GPtrArray *awaited; // char*: what instances say that they wait for

// ---- Whether nothing changes

// The fields that decide what an instance does.
static bool decides(const spinach_field *field) {
  return field->kind != SPINACH_COUNTER && field->kind != SPINACH_TRACE;
}

static bool is_same(const spinach_silent *silent, const uint8_t *was) {
  const spinach_layout *layout = machine->instances[silent->instance].layout;
  const uint8_t *is = spinach_instance_state(silent->instance);
  for (uint32_t i = 0; layout && i < layout->field_count; i++) {
    const spinach_field *field = &layout->fields[i];
    if (decides(field) &&
        memcmp(was + field->offset, is + field->offset, spinach_field_elements(field) * field->type->size) != 0)
      return false;
  }
  return true;
}

static void make_room(void) {
  if (since) return;
  since = g_new0(uint64_t, machine->clock_count);
  before = g_new0(uint8_t *, machine->silent_count);
  for (uint32_t i = 0; i < machine->silent_count; i++) {
    const spinach_layout *layout = machine->instances[machine->silents[i].instance].layout;
    if (layout) before[i] = g_malloc0(layout->size);
  }
}

void spinach_standstill_keep(void) {
  make_room();
  for (uint32_t i = 0; i < machine->silent_count; i++) {
    const int32_t instance = machine->silents[i].instance;
    const spinach_layout *layout = machine->instances[instance].layout;
    if (layout) memcpy(before[i], spinach_instance_state(instance), layout->size);
  }
  for (uint32_t c = 0; c < machine->clock_count; c++) since[c] = spinach_cycles((int32_t)c);
}

bool spinach_standstill_is_same(void) {
  for (uint32_t i = 0; i < machine->silent_count; i++)
    if (!is_same(&machine->silents[i], before[i])) return false;
  return true;
}

static bool all_clocks_ticked(void) {
  for (uint32_t c = 0; c < machine->clock_count; c++)
    if (spinach_cycles((int32_t)c) == since[c]) return false;
  return true;
}

bool spinach_standstill_found(void) {
  if (!looks || spinach_advancing.active || !spinach_advancing.endless) return false;
  const uint64_t cycles = spinach_cycles(spinach_fastest_clock());
  if (trying) {
    trying = spinach_nothing_is_due() && spinach_standstill_is_same();
    return trying && all_clocks_ticked();
  }
  if (!cycles || cycles % STANDSTILL_LOOK) return false;
  trying = spinach_nothing_is_due();
  if (trying) spinach_standstill_keep();
  return false;
}

uint64_t spinach_standstill_distance(void) {
  if (!looks) return UINT64_MAX;
  return trying ? 1 : STANDSTILL_LOOK - spinach_cycles(spinach_fastest_clock()) % STANDSTILL_LOOK;
}

void spinach_standstill_begin(const spinach_options *options) {
  began = g_get_monotonic_time();
  const bool looked_at = !options->unwatched && !spinach_streams_live();
  counts = looked_at;
  const int until = options->conditions[SPINACH_UNTIL].kind;
  notes = looked_at && !options->quiet && (!until || until == SPINACH_AT_END);
  const bool bounded = options->cycles != UINT64_MAX || options->until_tick != UINT64_MAX;
  looks = looked_at && !bounded && machine->silent_count;
  for (uint32_t i = 0; i < machine->silent_count; i++) looks &= !machine->silents[i].timed;
  looks &= !machine->part; // which looks with the others (run/meetings.h)
}

bool spinach_standstill_counts(void) {
  return counts;
}

// ---- What is said of it

static void take(const char *path, const char *text) {
  g_ptr_array_add(awaited, g_strdup_printf("%s %s", path, text));
}

static char *ask(void) {
  awaited = g_ptr_array_new_with_free_func(g_free);
  spinach_on_remark = take;
  for (uint32_t i = 0; i < machine->cluster_count; i++)
    if (machine->clusters[i].awaits) machine->clusters[i].awaits(spinach_cluster_state[i]);
  spinach_on_remark = NULL;
  g_ptr_array_add(awaited, NULL);
  char *text = g_strjoinv("; ", (char **)awaited->pdata);
  g_clear_pointer(&awaited, g_ptr_array_unref);
  return text;
}

// "sum (module running_sum) has no next_event".
static char *silent_text(void) {
  GString *text = g_string_new(NULL);
  for (uint32_t i = 0; i < machine->silent_count && i < MOST_NAMED; i++) {
    const spinach_instance *instance = &machine->instances[machine->silents[i].instance];
    g_string_append_printf(text, "%s%s", i ? ", " : "", instance->path);
    if (instance->layout) g_string_append_printf(text, " (module %s)", instance->layout->module);
  }
  if (machine->silent_count > MOST_NAMED)
    g_string_append_printf(text, " and %u more", machine->silent_count - MOST_NAMED);
  g_string_append(text, machine->silent_count == 1 ? " has no next_event" : " have no next_event");
  return g_string_free(text, FALSE);
}

// Seconds on the wall since the machine has reported progress.
static double silent_for(double now) {
  static uint64_t progress = UINT64_MAX;
  static double seen;
  if (progress != spinach_passing->last_progress) seen = now;
  progress = spinach_passing->last_progress;
  return now - seen;
}

void spinach_standstill_note(void) {
  if (!notes || !spinach_advancing.endless) return;
  const double now = (double)(g_get_monotonic_time() - began) / G_USEC_PER_SEC, silence = silent_for(now);
  if (now < NOTE_AFTER) return;
  g_autofree char *waits = ask(), *silent = silent_text();
  if (*waits && silence < SILENT_FOR) return;
  notes = false;
  spinach_progress_clear();
  fprintf(stderr,
          "%s: note: this run has no bound and goes on until the machine ends it (--cycles N, --time TIME or --until "
          "CONDITION bound it; Ctrl-C ends it)%s%s%s%s%s\n",
          spinach_program, *waits ? "; " : "", waits, machine->silent_count ? "; " : "",
          machine->silent_count ? silent : "",
          machine->silent_count ? ", so that the run does not end when nothing is left to do (docs/module_reference.md)"
                                : "");
}

char *spinach_standstill_error(const spinach_options *options) {
  if (options->unwatched) return NULL;
  g_autofree char *waits = ask(), *silent = silent_text();
  const spinach_condition *until = &options->conditions[SPINACH_UNTIL];
  if (*waits) return g_strdup_printf("nothing is left to do, but %s, which cannot come now", waits);
  if (until->kind && until->kind != SPINACH_AT_END)
    return g_strdup_printf(
        "nothing is left to do, so the condition of --until, \"%s\", cannot come true (--cycles N or "
        "--time TIME bound a run)",
        until->text);
  if (machine->silent_count && !options->quiet)
    fprintf(stderr,
            "%s: note: %s, so that idle time was stepped until a check found that nothing changes any more (declare "
            "next_event: docs/module_reference.md)\n",
            spinach_program, silent);
  return NULL;
}

char *spinach_standstill_stuck_text(uint64_t timeout, uint64_t progress) {
  const double ms = 1e3 / (double)machine->ticks_per_second;
  return g_strdup_printf("no progress for %g ms of simulated time, since %g ms", (double)timeout * ms,
                         (double)progress * ms);
}

char *spinach_standstill_loop_error(uint64_t cycles) {
  g_autofree char *waits = ask();
  return g_strdup_printf("the machine repeats the same %" G_GUINT64_FORMAT
                         " cycles, and no timer or input is due that could end that%s%s (--cycles N or --time TIME "
                         "bound a run; --watchdog off lets it go on)",
                         cycles, *waits ? ": " : "", waits);
}
