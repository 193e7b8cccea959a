// Conditions that are waited for; see trigger.h.
#include "lss/runtime/observe/trigger.h"

#include "lss/runtime/engine/clocks.h"

static const spinach_machine *const machine = &spinach_machine_table;

static GPtrArray *all; // spinach_trigger*

// ---- Events

int spinach_watch_find(const char *text) {
  for (int i = 0; text && machine->watches[i]; i++)
    if (!strcmp(machine->watches[i], text)) return i;
  return -1;
}

void spinach_trigger_add_words(const spinach_options *options, GPtrArray *words) {
  for (guint i = 0; i < SPINACH_CONDITIONS; i++) {
    char *watch = options->conditions[i].watch;
    if (!watch || spinach_watch_find(watch) >= 0 || g_ptr_array_find_with_equal_func(words, watch, g_str_equal, NULL))
      continue;
    g_ptr_array_add(words, "--watch");
    g_ptr_array_add(words, watch);
  }
}

uint64_t spinach_watch_count(int watch) {
  return spinach_watches[watch].count ? *spinach_watches[watch].count : 0;
}

// Since the trigger began to count.
static uint64_t happened(const spinach_trigger *trigger) {
  return spinach_watch_count(trigger->watch) - trigger->base;
}

// ---- One of them

bool spinach_trigger_counts(const spinach_condition *condition) {
  return condition->kind != SPINACH_AT_STATE ||
         (condition->place.field->statistic && !strcmp(condition->relation, ">=") && condition->number > 0);
}

// Between two multiples of what repeats.
static spinach_count step_of(const spinach_condition *condition) {
  return condition->kind == SPINACH_AT_STATE ? (spinach_count)condition->number : condition->count;
}

void spinach_trigger_start(spinach_trigger *trigger, const spinach_condition *condition, bool repeats) {
  *trigger = (spinach_trigger){.condition = condition,
                               .waiting = condition->kind != SPINACH_NO_CONDITION,
                               .repeats = repeats,
                               .prolongs = !repeats};
  trigger->watch = spinach_watch_find(condition->watch);
  trigger->goal = step_of(condition);
  if (!all) all = g_ptr_array_new();
  g_ptr_array_add(all, trigger);
}

// Notes events that some time follows, also of conditions that are looked at later.
static void note_events(void) {
  for (guint i = 0; i < all->len; i++) {
    spinach_trigger *trigger = all->pdata[i];
    if (trigger->waiting && trigger->condition->relative && !trigger->due && happened(trigger) >= trigger->goal)
      trigger->due = spinach_now_fs() + trigger->condition->later;
  }
}

// Of a state that only grows; the goal is above 0, and may be more than it holds.
static bool is_reached(const spinach_trigger *trigger) {
  return (__int128)spinach_condition_value(trigger->condition) >= (__int128)trigger->goal;
}

static uint64_t limit = UINT64_MAX; // no time after it has come yet

void spinach_triggers_limit(uint64_t instant) {
  limit = instant;
}

static bool holds(const spinach_trigger *trigger) {
  const spinach_condition *condition = trigger->condition;
  const uint64_t now = MIN(spinach_time.now, limit);
  if (condition->relative) return trigger->due && now >= spinach_ticks(trigger->due);
  switch (condition->kind) {
  case SPINACH_AT_TIME:
  case SPINACH_AT_CYCLES: return now >= spinach_condition_tick(condition, trigger->goal);
  case SPINACH_AT_STATE:
    if (!trigger->repeats || !spinach_trigger_counts(condition)) return spinach_condition_compares(condition);
    return is_reached(trigger);
  case SPINACH_AT_EVENT:
  case SPINACH_AT_MARKER: return happened(trigger) >= trigger->goal;
  default: return false;
  }
}

// The next multiple that was not reached yet.
static void set_next_goal(spinach_trigger *trigger) {
  const spinach_condition *condition = trigger->condition;
  const spinach_count step = step_of(condition);
  trigger->goal += step;
  trigger->due = 0;
  if (condition->kind == SPINACH_AT_STATE)
    trigger->goal = ((spinach_count)spinach_condition_value(condition) / step + 1) * step;
  else if (trigger->watch >= 0)
    trigger->goal = (happened(trigger) / step + 1) * step;
}

bool spinach_trigger_looked_at(const spinach_trigger *trigger) {
  return trigger->waiting && !(trigger->after && trigger->after->waiting);
}

bool spinach_trigger_fires(spinach_trigger *trigger) {
  if (trigger->waiting) note_events();
  if (!spinach_trigger_looked_at(trigger)) return false;
  if (trigger->after && !trigger->begun && trigger->condition->kind == SPINACH_AT_MARKER &&
      !trigger->condition->relative)
    trigger->goal = happened(trigger) + 1;
  trigger->begun = true;
  bool held = trigger->held, now = holds(trigger);
  trigger->fired = trigger->due;
  if (!trigger->repeats) {
    trigger->waiting = !now;
    return now;
  }
  trigger->held = now;
  if (!spinach_trigger_counts(trigger->condition)) return now && !held;
  if (now) set_next_goal(trigger);
  return now;
}

bool spinach_trigger_resume(spinach_trigger *trigger) {
  const spinach_condition *condition = trigger->condition;
  if (trigger->watch >= 0) trigger->base = spinach_watch_count(trigger->watch);
  if (trigger->waiting && trigger->repeats && condition->kind == SPINACH_AT_STATE &&
      spinach_trigger_counts(condition) && is_reached(trigger))
    set_next_goal(trigger);
  if (!trigger->waiting || spinach_condition_tick(condition, trigger->goal) >= spinach_time.now) return true;
  if (trigger->repeats) {
    const spinach_count done =
        condition->kind == SPINACH_AT_TIME ? spinach_now_fs() : spinach_cycles_from(condition->clock, spinach_time.now);
    trigger->goal = done / condition->count * condition->count;
    while (spinach_condition_tick(condition, trigger->goal) < spinach_time.now) trigger->goal += condition->count;
  } else if (trigger->goal > 0) {
    return false;
  } else if (condition->kind == SPINACH_AT_TIME) {
    trigger->goal = spinach_now_fs();
  }
  return true;
}

static const char *text_of(const spinach_trigger *trigger) {
  return trigger->condition && trigger->condition->text ? trigger->condition->text : "";
}

GVariant *spinach_trigger_pack(const spinach_trigger *trigger) {
  return g_variant_new(TRIGGER_TYPE, text_of(trigger), trigger->base, (guint64)(trigger->goal >> 64),
                       (guint64)trigger->goal, trigger->waiting, trigger->held, trigger->begun,
                       (guint64)(trigger->due >> 64), (guint64)trigger->due);
}

bool spinach_trigger_unpack(spinach_trigger *trigger, GVariant *packed) {
  const char *text;
  guint64 base, high, low, due_high, due_low;
  gboolean waiting, held, begun;
  g_variant_get(packed, "(&st(tt)bbb(tt))", &text, &base, &high, &low, &waiting, &held, &begun, &due_high, &due_low);
  if (strcmp(text, text_of(trigger)) != 0) return false;
  trigger->base = base;
  trigger->goal = (spinach_count)high << 64 | low;
  trigger->waiting = waiting;
  trigger->held = held;
  trigger->begun = begun;
  trigger->due = (spinach_count)due_high << 64 | due_low;
  return true;
}

// ---- All of them

static const spinach_trigger *trigger_at(guint index) {
  return all->pdata[index];
}

static guint count(void) {
  return all ? all->len : 0;
}

uint64_t spinach_triggers_tick(uint64_t tick) {
  for (guint i = 0; i < count(); i++) {
    const spinach_trigger *trigger = trigger_at(i);
    if (!spinach_trigger_looked_at(trigger)) continue;
    tick = MIN(tick,
               trigger->due ? spinach_ticks(trigger->due) : spinach_condition_tick(trigger->condition, trigger->goal));
  }
  return tick;
}

void spinach_triggers_again(void) {
  for (guint i = 0; i < count(); i++) {
    spinach_trigger *trigger = all->pdata[i];
    if (!trigger->repeats) trigger->waiting = trigger->condition->kind != SPINACH_NO_CONDITION;
    trigger->due = 0;
  }
}

static bool waits_for_event(const spinach_trigger *trigger) {
  return trigger->condition->relative ? trigger->waiting && !trigger->due : spinach_trigger_looked_at(trigger);
}

void spinach_triggers_arm(void) {
  for (int i = 0; machine->watches[i]; i++) {
    uint64_t goal = UINT64_MAX;
    for (guint k = 0; k < count(); k++)
      if (waits_for_event(trigger_at(k)) && trigger_at(k)->watch == i)
        goal = (uint64_t)MIN(goal, trigger_at(k)->base + trigger_at(k)->goal);
    spinach_watches[i].goal = goal;
  }
}

bool spinach_triggers_step(bool passing) {
  for (guint i = 0; i < count(); i++) {
    const spinach_condition *condition = trigger_at(i)->condition;
    if (!spinach_trigger_looked_at(trigger_at(i)) || condition->kind != SPINACH_AT_STATE) continue;
    if (!passing || condition->place.field->passes) return true;
  }
  return false;
}

bool spinach_triggers_prolong(void) {
  for (guint i = 0; i < count(); i++) {
    const spinach_trigger *trigger = trigger_at(i);
    const spinach_condition_kind kind = trigger->condition->kind;
    const bool comes = kind == SPINACH_AT_TIME || kind == SPINACH_AT_CYCLES || trigger->due;
    if (trigger->waiting && trigger->prolongs && comes) return true;
  }
  return false;
}
