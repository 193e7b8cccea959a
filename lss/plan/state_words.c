// The words by which a module reaches its state, by the kind of the field (docs/module_reference.md).  What is no
// behaviour has a name in C that modules do not know, so that what breaks the contract of a kind does not compile; the
// check here says in one line what clang would say in several.
#include "lss/plan/state_words.h"

#include "lss/base/diagnostics.h"

#include <string.h>

static const struct {
  const char *name;
  StateKind kind;
  bool anywhere; // else only where no behaviour comes of what it shows
} words[] = {
    {"self", STATE_BEHAVIOUR, true},       {"count", STATE_COUNTER, true},      {"report", STATE_COUNTER, true},
    {"count_cycles", STATE_COUNTER, true}, {"counted", STATE_COUNTER, false},   {"set_until", STATE_INSTANT, true},
    {"until", STATE_INSTANT, true},        {"within", STATE_INSTANT, true},     {"set_stamp", STATE_STAMP, true},
    {"stamped", STATE_STAMP, true},        {"passed", STATE_STAMP, true},       {"copy_stamp", STATE_STAMP, true},
    {"until_passed", STATE_STAMP, true},   {"elapsed", STATE_STAMP, true},      {"note", STATE_TRACE, true},
    {"load", STATE_MEMORY, true},          {"store", STATE_MEMORY, true},       {"load_span", STATE_MEMORY, true},
    {"store_span", STATE_MEMORY, true},    {"flight_send", STATE_FLIGHT, true}, {"flight_due", STATE_FLIGHT, true},
    {"flight_item", STATE_FLIGHT, true},   {"flight_next", STATE_FLIGHT, true}, {"flight_drop", STATE_FLIGHT, true},
    {"flight_empty", STATE_FLIGHT, true},
};

static bool may_look(const char *function) {
  return !strcmp(function, "init") || !strcmp(function, "statistics") || !strcmp(function, "finish");
}

static const char *const kind_names[STATE_KINDS] = {"field", "instant", "stamp", "statistic",
                                                    "trace", "flight",  "memory"};

static void report_wrong_word(Location at, const StateField *field) {
  const char *name = field->name;
  switch (field->kind) {
  case STATE_COUNTER:
    diag_error(at, "statistic-read",
               "`%s` is a %s: count(%s) and count(%s, n) add to it, report(%s, v) sets it, and in init, "
               "statistics and finish it is counted(%s)",
               name, field->statistic ? "statistic" : "counter", name, name, name, name);
    diag_note(field->location, "make it state if behaviour depends on it, and count it in a statistic as well");
    return;
  case STATE_INSTANT:
    diag_error(at, "state-kind",
               "`%s` is an instant: set_until(%s, k) lets it come in k cycles, and until(%s) says in how many", name,
               name, name);
    break;
  case STATE_STAMP:
    diag_error(at, "state-kind",
               "`%s` is a stamp: set_stamp(%s, k) puts it k after now, and passed(%s, k) says whether it is k ago",
               name, name, name);
    break;
  case STATE_TRACE:
    diag_error(at, "state-kind", "`%s` is a trace: note(%s, v) adds to it, and no behaviour looks at it", name, name);
    break;
  case STATE_FLIGHT:
    diag_error(at, "state-kind",
               "`%s` is a flight: flight_send(%s, ticks, item) adds an item, and flight_due(%s) says whether the first "
               "has arrived, which is flight_item(%s)",
               name, name, name, name);
    break;
  default:
    diag_error(at, "state-kind",
               "`%s` is a memory: load(%s, i) and store(%s, i, v) are its elements, load_span(%s, i, n) and "
               "store_span(%s, i, n) several of them",
               name, name, name, name, name);
  }
  diag_note(field->location, "declared here");
}

bool state_words_check(const Instance *instance, const ModuleSource *source) {
  bool fine = true;
  for (guint i = 0; i < source->uses->len; i++) {
    const FieldUse *use = source->uses->pdata[i];
    const StateField *field = instance_find_state(instance, use->field);
    if (field && field->flight) field = field->flight;
    gsize w = 0;
    while (strcmp(words[w].name, use->word) != 0) w++;
    const StateKind kind = words[w].kind, is = field ? field->kind : STATE_BEHAVIOUR;
    if (kind == is && !strcmp(field ? field->name : use->field, use->field) &&
        (words[w].anywhere || may_look(use->function)))
      continue;
    Location at = {g_intern_string(source->file), use->line, use->column, use->line, use->end_column};
    if (is == STATE_BEHAVIOUR)
      diag_error(at, "unknown-name", "%s has no %s `%s`", instance->module_name, kind_names[kind], use->field);
    else
      report_wrong_word(at, field);
    fine = false;
  }
  return fine;
}

bool is_state_word(const char *word) {
  for (gsize i = 0; i < G_N_ELEMENTS(words); i++)
    if (!strcmp(words[i].name, word)) return true;
  return false;
}
