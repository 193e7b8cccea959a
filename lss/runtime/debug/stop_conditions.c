// Conditions, and how often they came true; see stop_conditions.h.
#include "lss/runtime/debug/stop_conditions.h"

#include "lss/runtime/debug/events.h"
#include "lss/runtime/debug/history.h"
#include "lss/runtime/debug/state_commands.h"
#include "lss/runtime/engine/request.h"
#include "lss/runtime/text/pattern.h"

typedef struct {
  char *text;
  spinach_condition condition;
  GHashTable *sources; // of events: whether they are meant
  uint64_t tick;       // of a time or cycles: the instant from which on it holds; else UINT64_MAX
  bool held;           // it held at the last look
  uint64_t left;       // how often it has to come true until it counts
  GQueue *latest;      // uint64_t*: instants at which it did in the stretch, as many as are left
  char *why;           // when it did last
} Condition;

static GPtrArray *conditions;
static bool backwards;
static uint64_t search_end; // backwards: the instant at which it began

static void condition_free(Condition *one) {
  spinach_condition_clear(&one->condition);
  g_hash_table_unref(one->sources);
  g_queue_free_full(one->latest, g_free);
  g_free(one->text);
  g_free(one->why);
  g_free(one);
}

void stop_conditions_begin(void) {
  conditions = g_ptr_array_new_with_free_func((GDestroyNotify)condition_free);
}

static bool is_event(const Condition *one) {
  return one->condition.kind == SPINACH_AT_EVENT || one->condition.kind == SPINACH_AT_MARKER;
}

static bool is_timed(const Condition *one) {
  return one->condition.kind == SPINACH_AT_TIME || one->condition.kind == SPINACH_AT_CYCLES;
}

static bool holds(const Condition *one) {
  if (is_timed(one)) return spinach_next_instant() >= one->tick;
  return !is_event(one) && spinach_condition_compares(&one->condition);
}

// ---- What is set ----------------------------------------------------------------------------------------------------

// Whether an instant was stepped at this one or later.
static bool is_past(uint64_t tick) {
  for (uint32_t i = 0; i < spinach_machine_table.clock_count; i++) {
    const uint64_t done = spinach_cycles((int32_t)i);
    if (done && spinach_instant_of((int32_t)i, done - 1) >= tick) return true;
  }
  return false;
}

// Words about an instant that lies in the past, or where the run is; NULL: it comes.  False: the run cannot stop there.
static bool is_reachable(const Condition *one, char **words) {
  *words = NULL;
  if (!is_timed(one) || (one->tick > spinach_next_instant() && one->tick < spinach_last_instant())) return true;
  const bool reachable = one->tick >= history_oldest() && one->tick < spinach_last_instant();
  if (one->tick >= spinach_last_instant()) {
    *words = g_strdup_printf("%s: the simulated time of this machine ends before that", one->text);
  } else if (!reachable) {
    *words = g_strdup_printf("%s is before the start of the history, at %" G_GUINT64_FORMAT
                             " ns: start the run again to stop there (--history SIZE keeps more)",
                             one->text, spinach_ns_of(history_oldest()));
  } else {
    g_autoptr(GString) now = g_string_new(NULL);
    where_append_time(now);
    *words =
        g_strdup_printf(is_past(one->tick) ? "%s is in the past: the run is at %s; reverse-continue goes back there"
                                           : "%s is now: the run is at %s",
                        one->text, now->str);
  }
  return reachable;
}

static Condition *condition_new(const char *text) {
  Condition *one = g_new0(Condition, 1);
  one->text = g_strdup(text);
  one->sources = g_hash_table_new(NULL, NULL);
  one->latest = g_queue_new();
  return one;
}

char *stop_conditions_add(const char *text, GPtrArray *wanted) {
  Condition *one = condition_new(text);
  const spinach_condition *condition = &one->condition;
  char *words = NULL;
  bool fine = false;
  if (!spinach_condition_parse("break", one->text, &one->condition)) {
    words = g_strdup(spinach_reported_error());
  } else if (condition->kind == SPINACH_AT_END) {
    words = g_strdup("gdb stops at the end of the run in any case; a break waits for a time, cycles(CLOCK) >= N, "
                     "PATH.STATE >= N, event(PATH.EVENT) or marker(N)");
  } else if (condition->relative) {
    words = g_strdup("gdb stops at events without + TIME: stop at the event, then break at a time");
  } else if (is_event(one) && !events_are_recorded(condition->pattern, condition->event)) {
    g_ptr_array_add(wanted, g_strdup_printf("%s.%s", condition->pattern, condition->event));
  } else {
    one->tick = spinach_condition_tick(condition, condition->count);
    fine = is_reachable(one, &words);
  }
  if (fine)
    g_ptr_array_add(conditions, one);
  else
    condition_free(one);
  return words;
}

void stop_conditions_clear(void) {
  g_ptr_array_set_size(conditions, 0);
}

bool stop_conditions_any(void) {
  return conditions->len;
}

bool stop_conditions_each_instant(void) {
  for (guint i = 0; i < conditions->len; i++)
    if (!is_timed(conditions->pdata[i])) return true;
  return false;
}

uint64_t stop_conditions_tick(void) {
  uint64_t tick = UINT64_MAX;
  for (guint i = 0; i < conditions->len; i++) {
    const Condition *one = conditions->pdata[i];
    if (one->tick > spinach_next_instant()) tick = MIN(tick, one->tick);
  }
  return tick;
}

bool stop_conditions_have_events(void) {
  for (guint i = 0; i < conditions->len; i++)
    if (is_event(conditions->pdata[i])) return true;
  return false;
}

bool stop_conditions_pass(void) {
  for (guint i = 0; i < conditions->len; i++) {
    const Condition *one = conditions->pdata[i];
    if (one->condition.kind == SPINACH_AT_STATE && one->condition.place.field->passes) return true;
  }
  return false;
}

const char *stop_conditions_text(guint number) {
  return number < conditions->len ? ((Condition *)conditions->pdata[number])->text : NULL;
}

// ---- Coming true ----------------------------------------------------------------------------------------------------

void stop_conditions_look(void) {
  for (guint i = 0; i < conditions->len; i++) {
    Condition *one = conditions->pdata[i];
    one->held = holds(one);
  }
}

static void see(bool back) {
  backwards = back;
  search_end = spinach_next_instant();
  stop_conditions_look();
  for (guint i = 0; i < conditions->len; i++) {
    Condition *one = conditions->pdata[i];
    one->left = is_event(one) ? (uint64_t)one->condition.count : 1;
  }
}

void stop_conditions_see(void) {
  see(false);
}

void stop_conditions_see_backwards(void) {
  see(true);
}

static bool matches(const char *pattern, const TraceSource *source) {
  return source->connection ? spinach_connection_matches(pattern, source->connection)
                            : spinach_path_matches(pattern, source->path);
}

static bool means(Condition *one, const Event *event) {
  const spinach_condition *condition = &one->condition;
  gpointer known;
  int64_t number;
  if (!g_hash_table_lookup_extended(one->sources, event->source, NULL, &known)) {
    known =
        GINT_TO_POINTER(!strcmp(event->source->event, condition->event) && matches(condition->pattern, event->source));
    g_hash_table_insert(one->sources, (gpointer)event->source, known);
  }
  if (!known || !condition->argument) return known;
  return event_number(event, condition->argument, &number) && spinach_condition_holds_for(condition, number);
}

static void explain(Condition *one, const Event *event) {
  g_autofree char *text = event ? event_text(event) : NULL;
  g_free(one->why);
  one->why = text ? g_strdup_printf("%s: %s", one->text, text) : g_strdup(one->text);
}

static void add(const Condition *one, uint64_t instant, GArray *met) {
  const Met stop = {{.kind = STOP_CONDITION, .why = one->why}, instant, 0};
  g_array_append_val(met, stop);
}

// It came true in the instant that began at `before`; `event`: by this.
static void come_true(Condition *one, uint64_t before, const Event *event, GArray *met) {
  if (backwards) {
    g_queue_push_tail(one->latest, g_memdup2(&before, sizeof before));
    if (g_queue_get_length(one->latest) > one->left) g_free(g_queue_pop_head(one->latest));
    explain(one, one->left == 1 ? event : NULL);
  } else if (one->left && --one->left == 0) {
    explain(one, event);
    add(one, before, met);
  }
}

// A state is looked at before it compares so.  A time is stopped at where it has come, from both sides; not again where
// the search began.
static void look(Condition *one, uint64_t before, GArray *met) {
  const bool held = one->held;
  one->held = holds(one);
  if (held || !one->held) return;
  if (!is_timed(one))
    come_true(one, before, NULL, met);
  else if (!backwards || spinach_next_instant() < search_end)
    come_true(one, backwards ? spinach_next_instant() : before, NULL, met);
}

void stop_conditions_collect_times(uint64_t before, GArray *met) {
  for (guint i = 0; i < conditions->len; i++)
    if (is_timed(conditions->pdata[i])) look(conditions->pdata[i], before, met);
}

void stop_conditions_collect(uint64_t before, const GArray *events, GArray *met) {
  for (guint i = 0; i < conditions->len; i++) {
    Condition *one = conditions->pdata[i];
    for (guint k = 0; is_event(one) && k < events->len; k++) {
      const Event *event = &g_array_index(events, Event, k);
      if (means(one, event)) come_true(one, before, event, met);
    }
    if (!is_event(one)) look(one, before, met);
  }
}

void stop_conditions_collect_stretch(GArray *met) {
  for (guint i = 0; i < conditions->len; i++) {
    Condition *one = conditions->pdata[i];
    const guint count = g_queue_get_length(one->latest);
    if (count == one->left)
      add(one, *(const uint64_t *)g_queue_peek_head(one->latest), met);
    else
      one->left -= count;
    g_queue_clear_full(one->latest, g_free);
  }
}
