// The monitor commands; see monitor.h.
#include "lss/runtime/debug/monitor.h"

#include "lss/runtime/checkpoint/checkpoint.h"
#include "lss/runtime/checkpoint/format.h"
#include "lss/runtime/cores/cores.h"
#include "lss/runtime/debug/change.h"
#include "lss/runtime/debug/conduct.h"
#include "lss/runtime/debug/drain.h"
#include "lss/runtime/debug/frames.h"
#include "lss/runtime/debug/history.h"
#include "lss/runtime/debug/next_pc.h"
#include "lss/runtime/debug/session.h"
#include "lss/runtime/debug/state_commands.h"
#include "lss/runtime/debug/statistics_command.h"
#include "lss/runtime/debug/stop_conditions.h"
#include "lss/runtime/engine/names.h"
#include "lss/runtime/files/confined.h"
#include "lss/runtime/link/part.h"
#include "lss/runtime/observe/device_registers.h"

#include <string.h>

enum { SHOWN = 4096 }; // elements

// ---- print, set -----------------------------------------------------------------------------------------------------

static char *number_text(const struct spinach_type *type, const void *value, bool hexadecimal) {
  if (!hexadecimal || !spinach_is_integer(type)) return spinach_type_text(type, value);
  const uint64_t number = (uint64_t)spinach_integer(type, value);
  return g_strdup_printf("0x%0*" G_GINT64_MODIFIER "x", (int)(2 * type->size),
                         type->size < 8 ? number & ((UINT64_C(1) << 8 * type->size) - 1) : number);
}

static void print_state(GString *out, const char *words) {
  const bool hexadecimal = g_str_has_prefix(words, "/x ");
  g_autofree char *name = g_strstrip(g_strdup(hexadecimal ? words + 3 : words)), *error = NULL;
  spinach_place place;
  if (!spinach_look_up(name, &place, &error)) {
    g_string_append_printf(out, "%s\n", error);
    return;
  }
  for (uint64_t i = 0; i < place.count && i < SHOWN; i++) {
    g_autofree char *text = number_text(place.field->type, spinach_element(&place, i), hexadecimal);
    g_string_append_printf(out, "%s%s", i ? " " : "", text);
  }
  g_string_append(out, place.count > SHOWN ? " ...\n" : "\n");
}

static void set_state(GString *out, const char *words) {
  if (session_is_tied()) {
    g_string_append_printf(out, "%s\n", session_is_tied());
    return;
  }
  g_autofree char *error = state_set(words);
  if (error)
    g_string_append_printf(out, "%s\n", error);
  else
    change_state();
}

// ---- statistics, where, checkpoint ----------------------------------------------------------------------------------

static void print_statistics(GString *out, const char *words) {
  history_mark(); // they are worked out in the state
  g_autofree char *error = statistics_command(words, NULL, out);
  history_back(spinach_next_instant());
  if (error) g_string_append_printf(out, "%s\n", error);
}

static void print_where(GString *out) {
  where_append_time(out);
  g_string_append_printf(out, "; %.1f MB of history\n", (double)history_bytes() / 1e6);
  where_append_cores(out, "", next_pc_of);
}

// Whoever speaks through gdb writes checkpoints below the working folder, and over nothing else.
static void write_checkpoint(GString *out, const char *words) {
  spinach_options options = *run_conduct.options;
  g_autofree char *why = *words ? confined_problem(words, CHECKPOINT_WORD) : NULL;
  if (spinach_part_is_among_others()) {
    g_string_append(out, "all parts write a checkpoint together (--checkpoint of the run)\n");
    return;
  }
  drain_let_go();
  spinach_part_complete(spinach_next_instant());
  options.checkpoint = words;
  if (!*words)
    g_string_append(out, "checkpoint FILE\n");
  else if (why)
    g_string_append_printf(out, "cannot write the checkpoint \"%s\": %s\n", words, why);
  else if (!spinach_checkpoint_write(&options))
    g_string_append_printf(out, "cannot write the checkpoint \"%s\"; the simulator says why\n", words);
}

// ---- stop -----------------------------------------------------------------------------------------------------------

static void break_when(GString *out, const char *words, GPtrArray *wanted) {
  if (!*words) return stop_conditions_clear();
  g_autofree char *error = stop_conditions_add(words, wanted);
  if (error) g_string_append_printf(out, "%s\n", error);
}

// ---- All ------------------------------------------------------------------------------------------------------------

static const char HELP[] =
    "print [/x] PATH.STATE[FIRST..LAST]  a state, or elements of it; /x: in hexadecimal\n"
    "set PATH.STATE = VALUE              changes a state; you cannot go back past the change\n"
    "statistics [PATTERN]                statistics since the start of the run: all, or those of instances or names\n"
    "statistics mark                     begins a window of statistics at this instant\n"
    "statistics since [PATTERN]          what was counted between the mark and this instant\n"
    "registers [PATTERN]                 the stored values of device registers, and the names of their bits\n"
    "where                               the time, and the next instruction of each processor\n"
    "break TIME                          stops at this instant, forwards and backwards: 3.2 ms\n"
    "break CONDITION                     cycles(CLOCK) >= N, PATH.STATE >= N, event(PATH.EVENT), marker(N)\n"
    "break                               removes all breaks of these two kinds\n"
    "frames                              where each frame in the machine is\n"
    "checkpoint FILE                     writes the present state, for --restore\n"
    "help                                this list\n"
    "The simulator's --list names all states and events.  PATTERN: nic.cpu[*].**, frames, mac_*.\n";

char *monitor_command(const char *command, GPtrArray *wanted) {
  g_autofree char *line = g_strstrip(g_strdup(command));
  const gsize length = strcspn(line, " ");
  g_autofree char *verb = g_strndup(line, length);
  const char *words = line + length + strspn(line + length, " ");
  GString *out = g_string_new(NULL);
  if (!strcmp(verb, "print"))
    print_state(out, words);
  else if (!strcmp(verb, "set"))
    set_state(out, words);
  else if (!strcmp(verb, "statistics"))
    print_statistics(out, words);
  else if (!strcmp(verb, "where"))
    print_where(out);
  else if (!strcmp(verb, "registers"))
    spinach_registers_append(out, words);
  else if (!strcmp(verb, "break"))
    break_when(out, words, wanted);
  else if (!strcmp(verb, "frames"))
    frames_print(out, wanted);
  else if (!strcmp(verb, "checkpoint"))
    write_checkpoint(out, words);
  else if (!strcmp(verb, "help"))
    g_string_append(out, HELP);
  else
    g_string_append_printf(
        out,
        "there is no command \"%s\"; there are print, set, statistics, registers, where, break, frames, checkpoint "
        "and help\n",
        verb);
  return g_string_free(out, FALSE);
}
