// Looking at signals from outside: the line trace, and items that are offered and not taken.  Debug builds keep all
// signals in memory and say where (spinach_machine.observed).
#include "lss/runtime/engine/hooks.h"
#include "lss/runtime/engine/names.h"
#include "lss/runtime/text/pattern.h"

#include <glib.h>

enum { COLUMN_TEXT = 256, MIN_COLUMN = 12 };

static const spinach_machine *const machine = &spinach_machine_table;

typedef struct {
  int32_t instance;
  guint width; // widest text so far
} Column;

static GArray *columns;
static uint64_t lines;
static bool *still; // per connection: it shows what it showed in the line before

bool spinach_trace_choose(const char *patterns) {
  if (!columns) columns = g_array_new(FALSE, TRUE, sizeof(Column));
  g_array_set_size(columns, 0);
  lines = 0;
  spinach_hooks.each_cycle = false;
  if (!patterns) return true;
  g_auto(GStrv) parts = g_strsplit(patterns, ",", -1);
  for (char **part = parts; *part; part++) {
    guint before = columns->len;
    g_autofree char *inside = g_strconcat(*part, ".**", NULL);
    for (uint32_t i = 0; i < machine->instance_count; i++) {
      const spinach_instance *instance = &machine->instances[i];
      if (!instance->layout || !spinach_path_matches(inside, instance->path)) continue;
      Column column = {(int32_t)i, (guint)strlen(instance->path)};
      g_array_append_val(columns, column);
    }
    if (columns->len == before) {
      return spinach_report_error("error: --trace: no instance matches \"%s\"", *part);
    }
  }
  return spinach_hooks.each_cycle = true;
}

static const char *port_name(const char *end) {
  const char *dot = strrchr(end, '.');
  return dot ? dot + 1 : end;
}

static bool is_keyed(const char *end) {
  const char *bracket = strrchr(end, '[');
  return bracket && !g_ascii_isdigit(bracket[1]);
}

// Numbers that a lane with a key shows in every cycle, such as registers, are in a line when they have changed: a
// column has room for what moves.  Notes for each connection whether it stands still.
static void note_still(void) {
  static char **before; // per connection: its value in the line before
  if (!still) still = g_new0(bool, machine->connection_count);
  if (!before) before = g_new0(char *, machine->connection_count);
  for (uint32_t i = 0; i < machine->connection_count; i++) {
    const spinach_observed *o = &machine->observed[i];
    const spinach_connection *c = &machine->connections[i];
    still[i] = false;
    if (!spinach_is_integer(c->type) || !(is_keyed(c->from) || is_keyed(c->to)) ||
        spinach_handshake_of(o) != SPINACH_TRANSFERRED)
      continue;
    char *value = spinach_type_text(c->type, o->data);
    still[i] = !g_strcmp0(before[i], value);
    g_free(before[i]);
    before[i] = value;
  }
}

// "value" when transferred, "value!" when it waits for an ack, "value~" when it is cancelled, "." when there is
// nothing.
static void print_connection(GString *text, uint32_t id) {
  const spinach_observed *o = &machine->observed[id];
  const spinach_connection *c = &machine->connections[id];
  const spinach_handshake handshake = spinach_handshake_of(o);
  if (handshake == SPINACH_NOTHING) {
    g_string_append_c(text, '.');
    return;
  }
  g_autofree char *value = spinach_type_shown(c->type, o->data, port_name(c->from));
  static const char *const marks[] = {[SPINACH_WAITS] = "!", [SPINACH_CANCELLED] = "~", [SPINACH_TRANSFERRED] = ""};
  g_string_append_printf(text, "%.*s%s", COLUMN_TEXT, value, marks[handshake]);
}

static const char *port_of(const char *end, int32_t instance) {
  const char *path = machine->instances[instance].path;
  size_t n = strlen(path);
  return !strncmp(end, path, n) && end[n] == '.' ? end + n + 1 : end;
}

static void print_column(GString *text, int32_t instance) {
  for (uint32_t i = 0; i < machine->connection_count; i++) {
    const spinach_connection *c = &machine->connections[i];
    bool in = c->to_instance == instance, out = c->from_instance == instance;
    if (!in && !out) continue;
    if (still[i] || spinach_handshake_of(&machine->observed[i]) == SPINACH_NOTHING) continue;
    if (text->len) g_string_append_c(text, ' ');
    g_string_append_printf(text, "%s%s", port_of(in ? c->to : c->from, instance), in ? "<" : ">");
    print_connection(text, i);
  }
}

// A line for this instant, unless nothing passed any of the columns.
bool spinach_trace_line(void) {
  if (!machine->observed) return true;
  note_still();
  if (lines++ == 0) {
    fprintf(stderr, "%10s", "cycle");
    for (guint i = 0; i < columns->len; i++) {
      Column *column = &g_array_index(columns, Column, i);
      column->width = MAX(column->width, (guint)MIN_COLUMN);
      fprintf(stderr, " | %-*s", (int)column->width, machine->instances[column->instance].path);
    }
    fputc('\n', stderr);
  }
  g_autoptr(GString) line = g_string_new(NULL), text = g_string_new(NULL);
  bool any = false;
  for (guint i = 0; i < columns->len; i++) {
    Column *column = &g_array_index(columns, Column, i);
    g_string_truncate(text, 0);
    print_column(text, column->instance);
    any |= text->len > 0;
    column->width = MAX(column->width, (guint)text->len);
    g_string_append_printf(line, " | %-*s", (int)column->width, text->len ? text->str : ".");
  }
  const unsigned long long cycle = spinach_cycles(spinach_fastest_clock()) - 1;
  return !any || fprintf(stderr, "%10llu%s\n", cycle, line->str) >= 0;
}

uint32_t spinach_each_wait(spinach_see_wait see, void *data) {
  uint32_t count = 0;
  for (uint32_t i = 0; machine->observed && i < machine->connection_count; i++) {
    const spinach_observed *o = &machine->observed[i];
    const spinach_connection *c = &machine->connections[i];
    const spinach_handshake handshake = spinach_handshake_of(o);
    if (handshake == SPINACH_NOTHING || handshake == SPINACH_TRANSFERRED) continue;
    g_autofree char *value = spinach_type_shown(c->type, o->data, port_name(c->from));
    if (strlen(value) > COLUMN_TEXT) value[COLUMN_TEXT] = '\0';
    see(c, handshake == SPINACH_CANCELLED, value, data);
    count++;
  }
  return count;
}
