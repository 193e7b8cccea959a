// Conditions, and how often they came true; see stop_conditions.h.
#include "lss/runtime/debug/stop_conditions.h"

#include "lss/runtime/debug/events.h"
#include "lss/runtime/engine/request.h"
#include "lss/runtime/text/pattern.h"

typedef struct {
  char *text;
  spinach_condition condition;
  GHashTable *sources; // of events: whether they are meant
  bool held;           // a state compared so at the last look
  uint64_t left;       // how often it has to come true until it counts
  GQueue *latest;      // uint64_t*: instants at which it did in the stretch, as many as are left
  char *why;           // when it did last
} Condition;

static GPtrArray *conditions;
static bool backwards;

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

char *stop_conditions_add(const char *text, GPtrArray *wanted) {
  Condition *one = g_new0(Condition, 1);
  one->text = g_strdup(text);
  one->sources = g_hash_table_new(NULL, NULL);
  one->latest = g_queue_new();
  const bool parsed = spinach_condition_parse("break", one->text, &one->condition);
  if (parsed && (is_event(one) || one->condition.kind == SPINACH_AT_STATE)) {
    const spinach_condition *condition = &one->condition;
    if (!is_event(one) || events_are_recorded(condition->pattern, condition->event)) {
      g_ptr_array_add(conditions, one);
      return NULL;
    }
    g_ptr_array_add(wanted, g_strdup_printf("%s.%s", condition->pattern, condition->event));
    condition_free(one);
    return NULL;
  }
  condition_free(one);
  return g_strdup(parsed ? "a break waits for a state or an event: PATH.STATE >= N, event(PATH.EVENT) or marker(N)"
                         : spinach_reported_error());
}

void stop_conditions_clear(void) {
  g_ptr_array_set_size(conditions, 0);
}

bool stop_conditions_any(void) {
  return conditions->len;
}

bool stop_conditions_have_events(void) {
  for (guint i = 0; i < conditions->len; i++)
    if (is_event(conditions->pdata[i])) return true;
  return false;
}

bool stop_conditions_pass(void) {
  for (guint i = 0; i < conditions->len; i++) {
    const Condition *one = conditions->pdata[i];
    if (!is_event(one) && one->condition.place.field->passes) return true;
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
    one->held = !is_event(one) && spinach_condition_compares(&one->condition);
  }
}

static void see(bool back) {
  backwards = back;
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

void stop_conditions_collect(uint64_t before, const GArray *events, GArray *met) {
  for (guint i = 0; i < conditions->len; i++) {
    Condition *one = conditions->pdata[i];
    for (guint k = 0; is_event(one) && k < events->len; k++) {
      const Event *event = &g_array_index(events, Event, k);
      if (means(one, event)) come_true(one, before, event, met);
    }
    if (is_event(one)) continue;
    const bool held = one->held;
    one->held = spinach_condition_compares(&one->condition);
    if (one->held && !held) come_true(one, before, NULL, met);
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
