// The commands of a run that goes on by them; see interactive.h.
#include "lss/runtime/commands/interactive.h"

#include "lss/runtime/checkpoint/checkpoint.h"
#include "lss/runtime/commands/completion.h"
#include "lss/runtime/commands/goal.h"
#include "lss/runtime/commands/line_editor.h"
#include "lss/runtime/commands/line_reader.h"
#include "lss/runtime/commands/replies.h"
#include "lss/runtime/cores/cores.h"
#include "lss/runtime/debug/conduct.h"
#include "lss/runtime/debug/debug.h"
#include "lss/runtime/debug/handover.h"
#include "lss/runtime/debug/history.h"
#include "lss/runtime/debug/state_commands.h"
#include "lss/runtime/engine/signals.h"
#include "lss/runtime/link/part.h"
#include "lss/runtime/observe/balance.h"
#include "lss/runtime/observe/print.h"
#include "lss/runtime/observe/trigger.h"
#include "lss/runtime/observe/window.h"
#include "lss/runtime/text/number.h"

#include <unistd.h>

static const spinach_machine *const machine = &spinach_machine_table;
static const spinach_options *given;
static bool handed;      // the command at hand comes from the process whose run this was
static bool quits;       // the user has ended the run
static GPtrArray *lines; // that were read
static char *traced;     // instances, "" when none are

// ---- Commands -------------------------------------------------------------------------------------------------------

// A count of 1 or more; nothing means 1.
static bool read_count(const char *text, uint64_t *count) {
  const char *error;
  *count = 1;
  return !*text || number_read_count(text, 1, UINT64_MAX, count, &error) || spinach_report_error("%s", error);
}

// What is wrong in a command is for its user; what is wrong in the machine is reported as in any run.
static void go(const Goal *goal) {
  if (given->interactive_json) spinach_report_keep(false);
  goal_go(goal);
  if (given->interactive_json) spinach_report_keep(true);
}

static void do_run(const char *words) {
  if (*words)
    spinach_report_error("run takes nothing; until CONDITION stops before the end");
  else {
    const Goal goal = goal_endless();
    go(&goal);
    if (!goal_ended() || given->interactive_json) reply_where();
  }
}

static uint64_t sum(uint64_t so_far, uint64_t count) {
  return count < UINT64_MAX - so_far ? so_far + count : UINT64_MAX;
}

static void do_cycle(const char *words) {
  uint64_t count;
  if (!read_count(words, &count)) return;
  Goal goal = goal_endless();
  goal.cycles = sum(spinach_cycles(given->clock), count);
  go(&goal);
  reply_where();
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
  Goal goal = goal_endless();
  goal.core = core;
  goal.retired = core_get(&core->retired) + (int64_t)count;
  go(&goal);
  reply_where();
}

// Lines that were read, instances that are traced, the descriptor of the replies (-1: they are text), and the mark of
// statistics.
#define SESSION      "(@assi@" WINDOW_TYPE ")"
#define SESSION_READ "(^a&ssi@" WINDOW_TYPE ")"

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
  const int handles[] = {replies_handle(), -1};
  GVariant *session = g_variant_new(SESSION, read, traced ? traced : "", handles[0], spinach_window_pack());
  g_autofree char *why = handover_become(given, words, session, handles);
  history_end();
  spinach_report_error("%s", why);
}

// An event is counted from here on.
static void until_event(const spinach_condition *condition) {
  Goal goal = goal_endless();
  goal.watch = spinach_watch_find(condition->watch);
  if (goal.watch < 0) {
    become("--watch", condition->watch);
    return;
  }
  goal.happened = sum(spinach_watch_count(goal.watch), (uint64_t)condition->count);
  go(&goal);
  if (!condition->relative || spinach_watch_count(goal.watch) < goal.happened) return;
  Goal later = goal_endless();
  later.tick = spinach_ticks(spinach_now_fs() + condition->later);
  go(&later);
}

static void do_until(const char *words) {
  spinach_condition condition;
  if (!spinach_condition_parse("until", words, &condition)) return;
  Goal goal = goal_endless();
  goal.tick = spinach_condition_tick(&condition, condition.count);
  if (condition.kind == SPINACH_AT_STATE) goal.state = &condition;
  if (condition.watch)
    until_event(&condition);
  else if (goal.state || goal.tick != UINT64_MAX)
    go(&goal);
  else
    spinach_report_error("until takes a time, cycles(CLOCK) >= N, PATH.STATE >= N, event(PATH.EVENT, N) or marker(N)");
  spinach_condition_clear(&condition);
  reply_where();
}

static void do_print(const char *words) {
  g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(spinach_place));
  if (!spinach_print_find(words, places)) return;
  reply_places(places);
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

static void do_list(const char *words) {
  reply_states(words);
}

static void do_events(const char *words) {
  reply_events(words);
}

static void do_trace(const char *words) {
  if (*words && !machine->debug) {
    become("--debug", NULL);
    return;
  }
  const bool tracing = spinach_trace_choose(*words ? words : NULL) && *words;
  goal_trace(tracing);
  g_free(traced);
  traced = g_strdup(tracing ? words : "");
}

static void do_checkpoint(const char *words) {
  spinach_options options = *given;
  spinach_part_complete(spinach_next_instant());
  options.checkpoint = words;
  if (*words)
    spinach_checkpoint_write(&options);
  else
    spinach_report_error("checkpoint FILE");
}

static void do_where(const char *words) {
  (void)words;
  reply_where();
}

static void do_registers(const char *words) {
  reply_registers(words);
}

static void do_statistics(const char *words) {
  reply_statistics(words);
}

static void do_connections(const char *words) {
  (void)words;
  reply_connections();
}

static void do_status(const char *words) {
  (void)words;
  reply_status();
}

static void do_quit(const char *words) {
  (void)words;
  quits = true;
  goal_quit();
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
    {"statistics", "[mark|since] [PATTERN]", "statistics so far, or what they counted since the mark", do_statistics,
     AN_INSTANCE},
    {"connections", "", "the items of each connection, with --collect connections", do_connections, NOTHING},
    {"status", "", "the speed, how far the run is, and which ports wait for which", do_status, NOTHING},
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
  reply_open_list();
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
    reply_command(commands[i].name, commands[i].arguments, commands[i].help);
  reply_close_list();
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
  g_autoptr(GVariant) window = NULL;
  g_variant_get(session, SESSION_READ, &read, &instances, NULL, &window);
  spinach_window_unpack(window);
  history_begin(given->history, 1);
  handover_arrive();
  history_end();
  for (const char **line = read; *line; line++) {
    g_ptr_array_add(lines, g_strdup(*line));
    if (!given->interactive_json) line_remember(*line);
  }
  if (*instances) do_trace(instances);
  handed = true;
  carry_out(lines->pdata[lines->len - 1]);
  handed = false;
}

// ---- A person, or a script ------------------------------------------------------------------------------------------

static void talk(GVariant *session) {
  if (session) go_on(session);
  while (!goal_ended() && !spinach_interrupted()) {
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
}

// ---- A program ------------------------------------------------------------------------------------------------------

// An error of the machine ends the process within a command.
static void reply_error(void) {
  replies_fail(spinach_error_text);
}

static void carry_out_line(LineRead how, const GString *line) {
  g_autofree char *words = g_strstrip(g_strndup(line->str, line->len));
  if (how == LINE_IS_LAST) {
    do_quit("");
  } else if (how == LINE_IS_TOO_LONG) {
    spinach_report_error("the line is longer than %d bytes", LONGEST_LINE);
  } else if (memchr(line->str, '\0', line->len)) {
    spinach_report_error("the line holds a zero byte");
  } else if (!*words) {
    spinach_report_error("the line is empty; help lists the commands");
  } else {
    g_ptr_array_add(lines, g_strdup(words));
    carry_out(words);
  }
}

// A run that is over can still be asked what it came to.
static void serve(GVariant *session) {
  g_autoptr(GString) line = g_string_new(NULL);
  spinach_on_leave = reply_error;
  while (!quits && !*spinach_error_text && !spinach_interrupted()) {
    const LineRead how = session ? LINE_IS_READ : line_reader_next(STDIN_FILENO, line);
    if (how == LINE_IS_STOPPED) break;
    replies_begin();
    if (session)
      go_on(session);
    else
      carry_out_line(how, line);
    session = NULL;
    if (!replies_end(goal_ended())) spinach_set_error("a reply could not be written");
  }
}

bool spinach_interactive_open(void) {
  g_autoptr(GVariant) session = handover_session();
  int handle = -1;
  if (session) g_variant_get_child(session, 2, "i", &handle);
  spinach_streams_close_input(
      "standard input has the commands of --interactive=json (name another place, such as pty)");
  return replies_open(handle);
}

const char *spinach_interactive_run(const spinach_options *options) {
  given = options;
  quits = false;
  lines = g_ptr_array_new_with_free_func(g_free);
  goal_begin(options);
  g_autoptr(GVariant) session = handover_session();
  if (options->interactive_json)
    serve(session);
  else
    talk(session);
  g_clear_pointer(&lines, g_ptr_array_unref);
  return goal_ended() ? goal_ended() : run_conduct.begin();
}
