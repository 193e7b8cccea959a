// The commands of a run that goes on by them; see interactive.h.
#include "lss/runtime/debug/interactive.h"

#include "lss/runtime/checkpoint/checkpoint.h"
#include "lss/runtime/cores/cores.h"
#include "lss/runtime/debug/completion.h"
#include "lss/runtime/debug/conduct.h"
#include "lss/runtime/debug/debug.h"
#include "lss/runtime/debug/handover.h"
#include "lss/runtime/debug/history.h"
#include "lss/runtime/debug/line_editor.h"
#include "lss/runtime/debug/state_commands.h"
#include "lss/runtime/engine/signals.h"
#include "lss/runtime/observe/balance.h"
#include "lss/runtime/observe/device_registers.h"
#include "lss/runtime/observe/print.h"
#include "lss/runtime/observe/trigger.h"
#include "lss/runtime/text/number.h"
#include "lss/runtime/text/pattern.h"

static const spinach_machine *const machine = &spinach_machine_table;
static const spinach_options *given;
static const char *ended;    // why the run is over; NULL: it is not
static bool tracing, handed; // handed: the command at hand comes from the process whose run this was
static GPtrArray *lines;     // that were read
static char *traced;         // instances, "" when none are

// ---- Going on -------------------------------------------------------------------------------------------------------

// What ends one command that goes on; the cycles are of the clock that bounds the run.
typedef struct {
  uint64_t cycles, tick;          // UINT64_MAX: no bound
  const spinach_condition *state; // that comes true, or NULL
  const Core *core;               // whose instructions are counted, or NULL
  int64_t retired;                // the count to get to
  int watch;                      // of the event that is counted, or -1
  uint64_t happened;              // the count to get to
} Goal;

// Without a bound.
static Goal endless(void) {
  return (Goal){.cycles = UINT64_MAX, .tick = UINT64_MAX, .watch = -1};
}

static bool is_reached(const Goal *goal) {
  return spinach_cycles(given->clock) >= goal->cycles || spinach_time.now >= goal->tick ||
         (goal->state && spinach_condition_compares(goal->state)) ||
         (goal->core && core_get(&goal->core->retired) >= goal->retired) ||
         (goal->watch >= 0 && spinach_watch_count(goal->watch) >= goal->happened);
}

// One instant is stepped, or idle time is skipped up to the goal.
static void bound_instant(struct spinach_advancing *a, const Goal *goal) {
  a->until = MIN(a->until, goal->tick);
  if (goal->cycles < UINT64_MAX) a->until = MIN(a->until, spinach_instant_of(given->clock, goal->cycles));
}

// Idle time is skipped up to the goal, not beyond; a state that may change in it is looked at after each instant.
static void bound(const Goal *goal) {
  struct spinach_advancing *a = &spinach_advancing;
  const bool each = tracing || (goal->state && goal->state->place.field->passes);
  if (each) spinach_advance_each();
  if (a->one_instant) {
    bound_instant(a, goal);
    return;
  }
  if (a->clock == given->clock) a->end = MIN(a->end, goal->cycles);
  if (goal->cycles < UINT64_MAX) a->loops_end = MIN(a->loops_end, a->end);
  a->until = MIN(a->until, goal->tick);
  // A command that stepped single instants may have left a piece that was chosen without this goal.
  a->stop = MIN(a->stop, a->end);
  a->before = MIN(a->before, a->until);
}

// Whether nothing but the bounds of the advance ends a command, so that whole pieces can be run.
static bool is_bounded_by_advance(const Goal *goal) {
  return !goal->state && !goal->core && goal->watch < 0 && !tracing;
}

// The run goes on with its next advance, unless it is over.
static void advance(void) {
  g_autofree char *stuck = run_conduct.stuck();
  if (spinach_advancing.nothing_left)
    ended = SPINACH_NOTHING_LEFT;
  else
    ended = stuck ? run_conduct.end_stuck(stuck) : run_conduct.begin();
}

// To the goal, to the end of the run, or until somebody interrupts it.
static void go(const Goal *goal) {
  const bool whole = is_bounded_by_advance(goal);
  while (!ended && !spinach_take_pause()) {
    if (!spinach_advancing.active) {
      advance();
      if (ended) return;
    }
    bound(goal);
    const uint64_t before = spinach_time.now;
    spinach_advance_step(!whole);
    if (tracing && spinach_time.now != before) spinach_trace_line();
    if (is_reached(goal)) return;
  }
}

static uint32_t last_pc(guint number) {
  return (uint32_t)core_get(&core_of(number)->pc);
}

static void say_where(void) {
  g_autoptr(GString) text = g_string_new(NULL);
  where_append_time(text);
  g_string_append_c(text, '\n');
  where_append_cores(text, "retired ", last_pc);
  fputs(text->str, stdout);
}

// ---- Commands -------------------------------------------------------------------------------------------------------

// A count of 1 or more; nothing means 1.
static bool read_count(const char *text, uint64_t *count) {
  const char *error;
  *count = 1;
  return !*text || number_read_count(text, 1, UINT64_MAX, count, &error) || spinach_report_error("%s", error);
}

static void do_run(const char *words) {
  if (*words)
    spinach_report_error("run takes nothing; until CONDITION stops before the end");
  else {
    const Goal goal = endless();
    go(&goal);
    if (!ended) say_where();
  }
}

static uint64_t sum(uint64_t so_far, uint64_t count) {
  return count < UINT64_MAX - so_far ? so_far + count : UINT64_MAX;
}

static void do_cycle(const char *words) {
  uint64_t count;
  if (!read_count(words, &count)) return;
  Goal goal = endless();
  goal.cycles = sum(spinach_cycles(given->clock), count);
  go(&goal);
  say_where();
}

// "N CORE", both may be left out.
static void do_step(const char *words) {
  g_auto(GStrv) parts = g_strsplit(words, " ", 2);
  uint64_t count = 1, number = 1;
  if (parts[0] && !read_count(parts[0], &count)) return;
  if (parts[0] && parts[1] && !read_count(g_strstrip(parts[1]), &number)) return;
  if (number > spinach_cores()->len) {
    spinach_report_error("there is no processor %" G_GUINT64_FORMAT "; this machine has %u", number,
                         spinach_cores()->len);
    return;
  }
  const Core *core = spinach_cores()->pdata[number - 1];
  Goal goal = endless();
  goal.core = core;
  goal.retired = core_get(&core->retired) + (int64_t)count;
  go(&goal);
  say_where();
}

// The command at hand needs a variant of the simulator, built with this word for `lss build` and its value: that goes
// on with the run, and carries the command out.  Returns only when that cannot be.
static void become(const char *word, const char *value) {
  const char *once = spinach_writes_once(given);
  if (handed || once) {
    spinach_report_error("this needs a simulator that was built with %s%s%s%s%s", word, value ? " " : "",
                         value ? value : "", once ? ": output that is written once would begin again, for " : "",
                         once ? once : "");
    return;
  }
  g_autoptr(GPtrArray) words = g_ptr_array_new();
  g_ptr_array_add(words, (gpointer)word);
  if (value) g_ptr_array_add(words, (gpointer)value);
  fprintf(stderr, "%s: building a variant with %s%s%s\n", spinach_program, word, value ? " " : "", value ? value : "");
  history_begin(given->history, 1);
  GVariant *read = g_variant_new_strv((const char *const *)lines->pdata, lines->len);
  const int none = -1;
  g_autofree char *why = handover_become(given, words, g_variant_new("(@ass)", read, traced ? traced : ""), &none);
  history_end();
  spinach_report_error("%s", why);
}

// An event is counted from here on.
static void until_event(const spinach_condition *condition) {
  Goal goal = endless();
  goal.watch = spinach_watch_find(condition->watch);
  if (goal.watch < 0) {
    become("--watch", condition->watch);
    return;
  }
  goal.happened = sum(spinach_watch_count(goal.watch), (uint64_t)condition->count);
  go(&goal);
}

static void do_until(const char *words) {
  spinach_condition condition;
  if (!spinach_condition_parse("until", words, &condition)) return;
  Goal goal = endless();
  goal.tick = spinach_condition_tick(&condition, condition.count);
  if (condition.kind == SPINACH_AT_STATE) goal.state = &condition;
  if (condition.watch)
    until_event(&condition);
  else if (goal.state || goal.tick != UINT64_MAX)
    go(&goal);
  else
    spinach_report_error("until takes a time, cycles(CLOCK) >= N, PATH.STATE >= N, event(PATH.EVENT, N) or marker(N)");
  spinach_condition_clear(&condition);
  say_where();
}

static void do_print(const char *words) {
  g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(spinach_place));
  if (!spinach_print_find(words, places)) return;
  for (guint i = 0; i < places->len; i++) spinach_print_state(stdout, &g_array_index(places, spinach_place, i));
}

static void do_set(const char *words) {
  g_autofree char *error = state_set(words);
  if (error)
    spinach_report_error("%s", error);
  else {
    spinach_passing->last_progress = spinach_time.now; // somebody works on it
    machine->wake();
    spinach_balance_disturb();
  }
}

// States, or events, of the instances that a pattern matches.
static void list(const char *words, bool events) {
  const char *pattern = *words ? words : "**";
  bool any = false;
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const spinach_layout *layout = machine->instances[i].layout;
    const char *path = machine->instances[i].path;
    if (!layout || !spinach_path_matches(pattern, path)) continue;
    any = true;
    for (uint32_t k = 0; events && k < layout->event_count; k++)
      printf("%s.%s(%s)\n", path, layout->events[k].name, layout->events[k].arguments);
    for (uint32_t k = 0; !events && k < layout->field_count; k++)
      printf("%s.%s : %s\n", path, layout->fields[k].name, layout->fields[k].type->name);
  }
  if (!any) spinach_report_error("no instance matches \"%s\"", pattern);
}

static void do_list(const char *words) {
  list(words, false);
}

static void do_events(const char *words) {
  list(words, true);
}

static void do_trace(const char *words) {
  if (!machine->debug) {
    become("--debug", NULL);
    return;
  }
  tracing = spinach_trace_choose(*words ? words : NULL) && *words;
  g_free(traced);
  traced = g_strdup(tracing ? words : "");
}

static void do_checkpoint(const char *words) {
  spinach_options options = *given;
  options.checkpoint = words;
  if (*words)
    spinach_checkpoint_write(&options);
  else
    spinach_report_error("checkpoint FILE");
}

static void do_where(const char *words) {
  (void)words;
  say_where();
}

static void do_registers(const char *words) {
  g_autoptr(GString) text = g_string_new(NULL);
  spinach_registers_append(text, words);
  fputs(text->str, stdout);
}

static void do_quit(const char *words) {
  (void)words;
  ended = "ended by its user";
}

static void do_help(const char *words);

typedef enum { NOTHING, A_STATE, A_SETTING, A_CONDITION, AN_INSTANCE, A_FILE } Argument; // how it is completed

static const struct {
  const char *name, *arguments, *help;
  void (*act)(const char *words);
  Argument takes;
} commands[] = {
    {"run", "", "goes on to the end of the run", do_run, NOTHING},
    {"until", "CONDITION", "goes on until a time, cycles(CLOCK) >= N, PATH.STATE >= N, event(PATH.EVENT)", do_until,
     A_CONDITION},
    {"cycle", "[N]", "goes on for N cycles of the fastest clock", do_cycle, NOTHING},
    {"step", "[N [CORE]]", "goes on until a processor, the first or CORE, has executed N instructions", do_step,
     NOTHING},
    {"where", "", "the time, and what each processor has executed last", do_where, NOTHING},
    {"print", "NAME", "states: a name, a range a.b[0..63], a pattern a.*", do_print, A_STATE},
    {"registers", "[PATTERN]", "device registers, and what their bits are called", do_registers, NOTHING},
    {"set", "PATH.STATE = VALUE", "changes a state", do_set, A_SETTING},
    {"list", "[PATTERN]", "the states of instances", do_list, AN_INSTANCE},
    {"events", "[PATTERN]", "the events of instances", do_events, AN_INSTANCE},
    {"trace", "[INSTANCES]", "prints a line per instant from now on, or none", do_trace, AN_INSTANCE},
    {"checkpoint", "FILE", "writes the state, for --restore", do_checkpoint, A_FILE},
    {"help", "", "this text", do_help, NOTHING},
    {"quit", "", "ends the run; so does the end of the input", do_quit, NOTHING},
};

static void do_help(const char *words) {
  (void)words;
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
    g_autofree char *left = g_strjoin(" ", commands[i].name, commands[i].arguments, NULL);
    printf("%-24s %s\n", left, commands[i].help);
  }
}

static const char *command_name(uint32_t index) {
  return commands[index].name;
}

static void carry_out(const char *line) {
  spinach_take_pause(); // while no command was at hand
  const gsize length = strcspn(line, " \t");
  g_autofree char *verb = g_strndup(line, length);
  const char *words = line + length + strspn(line + length, " \t");
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
    if (!strcmp(commands[i].name, verb)) {
      commands[i].act(words);
      return;
    }
  const char *near = spinach_nearest(verb, G_N_ELEMENTS(commands), command_name);
  spinach_report_error("there is no command \"%s\"%s%s%s", verb, near ? "; did you mean \"" : "; help lists them",
                       near ? near : "", near ? "\"?" : "");
}

// What a word may become, by the command ahead of it.
static GPtrArray *complete(const char *before, const char *word) {
  g_auto(GStrv) parts = g_strsplit(before + strspn(before, " \t"), " ", 2);
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
    if (!parts[0] || !parts[1]) {
      g_ptr_array_add(names, g_strdup(commands[i].name));
      continue;
    }
    if (strcmp(commands[i].name, parts[0]) != 0 || commands[i].takes == NOTHING) continue;
    g_ptr_array_unref(names);
    char *ahead = g_strstrip(parts[1]), *equals = strchr(ahead, '=');
    if (equals) *equals = '\0';
    switch (commands[i].takes) {
    case A_STATE: return completion_states(word);
    case A_SETTING: return equals ? completion_values(g_strchomp(ahead), equals + 1) : completion_states(word);
    case A_CONDITION: return completion_conditions(ahead, word);
    case AN_INSTANCE: return completion_instances(word);
    default: return NULL;
    }
  }
  return names;
}

// The run comes from a process that was not built for the last line that it read.
static void go_on(GVariant *session) {
  g_autofree const char **read = NULL;
  g_autofree char *instances = NULL;
  g_variant_get(session, "(^a&ss)", &read, &instances);
  history_begin(given->history, 1);
  handover_arrive();
  history_end();
  for (const char **line = read; *line; line++) {
    g_ptr_array_add(lines, g_strdup(*line));
    line_remember(*line);
  }
  if (*instances) do_trace(instances);
  handed = true;
  carry_out(lines->pdata[lines->len - 1]);
  handed = false;
}

const char *spinach_interactive_run(const spinach_options *options) {
  given = options;
  lines = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GVariant) session = handover_session();
  if (session) go_on(session);
  while (!ended && !spinach_interrupted()) {
    char *line = line_read("> ", complete);
    if (!line && spinach_take_pause()) {
      printf("\n"); // what was typed is dropped
    } else if (!line) {
      do_quit("");
    } else if (*g_strstrip(line)) {
      g_ptr_array_add(lines, g_strdup(line));
      carry_out(line);
    }
    free(line);
  }
  return ended ? ended : run_conduct.begin();
}
