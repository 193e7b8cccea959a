// The grammar of conditions; see condition.h.
#include "lss/runtime/engine/condition.h"

#include "lss/runtime/engine/clocks.h"
#include "lss/runtime/engine/request.h"
#include "lss/runtime/text/number.h"
#include "lss/runtime/text/pattern.h"
#include "lss/runtime/text/quantity.h"

static const spinach_machine *const machine = &spinach_machine_table;

typedef struct {
  const char *option, *text, *at; // at: what was read so far ends there
} Reader;

static bool refuse(const Reader *reader, const char *at, const char *format, ...) G_GNUC_PRINTF(3, 4);
static bool refuse(const Reader *reader, const char *at, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *words = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  return spinach_report_error("%s \"%s\", character %d: %s", reader->option, reader->text, (int)(at - reader->text) + 1,
                              words);
}

static void skip_space(Reader *reader) {
  while (g_ascii_isspace(*reader->at)) reader->at++;
}

static bool take(Reader *reader, const char *word) {
  skip_space(reader);
  if (!g_str_has_prefix(reader->at, word)) return false;
  reader->at += strlen(word);
  return true;
}

static bool expect(Reader *reader, const char *word, const char *why) {
  if (take(reader, word)) return true;
  return refuse(reader, reader->at, "\"%s\" is expected here: %s", word, why);
}

static bool expect_end(Reader *reader) {
  skip_space(reader);
  return !*reader->at || refuse(reader, reader->at, "nothing may follow here%s",
                                *reader->at == '+' ? " (+ TIME follows marker(N) or event(PATH.EVENT) only)" : "");
}

static bool read_whole(Reader *reader, WholeNumber *number) {
  skip_space(reader);
  const char *start = reader->at;
  switch (number_take(&reader->at, number)) {
  case NUMBER_FINE: return true;
  case NUMBER_LARGE: return refuse(reader, start, "this number does not fit in 64 bits");
  default: return refuse(reader, start, "a whole number is expected here");
  }
}

static bool read_number(Reader *reader, int64_t *number) {
  skip_space(reader);
  const char *start = reader->at;
  WholeNumber whole;
  return read_whole(reader, &whole) &&
         (number_signed(&whole, number) || refuse(reader, start, "this number does not fit in 64 bits"));
}

static bool read_count(Reader *reader, spinach_count *count) {
  skip_space(reader);
  const char *start = reader->at;
  WholeNumber whole;
  if (!read_whole(reader, &whole)) return false;
  *count = whole.magnitude;
  return !whole.negative || refuse(reader, start, "a count is not negative");
}

// ---- The forms -----------------------------------------------------------------------------------------------------

static bool read_time(Reader *reader, spinach_condition *condition) {
  const char *error;
  __int128 femtoseconds;
  condition->kind = SPINACH_AT_TIME;
  const char *plus = strchr(reader->at, '+');
  if (plus && strchr(plus, '('))
    return refuse(reader, plus, "the time follows its event: marker(N) + TIME or event(PATH.EVENT) + TIME");
  if (!quantity_read_wide(reader->at, DIM_TIME, QUANTITY_FEMTO, &femtoseconds, &error))
    return spinach_report_error("%s: %s", reader->option, error);
  condition->count = (spinach_count)femtoseconds;
  return femtoseconds >= 0 || refuse(reader, reader->at, "a time is not negative");
}

// "+ 40 ms", after an event.
static bool read_later(Reader *reader, spinach_condition *condition) {
  condition->relative = take(reader, "+");
  if (!condition->relative)
    return !*reader->at || refuse(reader, reader->at, "nothing but + TIME may follow here, such as + 40 ms");
  const char *error;
  __int128 femtoseconds;
  skip_space(reader);
  if (!quantity_read_wide(reader->at, DIM_TIME, QUANTITY_FEMTO, &femtoseconds, &error))
    return refuse(reader, reader->at, "%s", error);
  condition->later = (spinach_count)femtoseconds;
  return femtoseconds >= 0 || refuse(reader, reader->at, "a time is not negative");
}

static const char *clock_name(uint32_t index) {
  uint32_t count;
  const spinach_clock *clocks = spinach_clocks(&count);
  return index < count ? clocks[index].name : "fastest";
}

// Up to `stop`, without the blanks around it.
static char *read_name(Reader *reader, const char *stop) {
  skip_space(reader);
  gsize length = strcspn(reader->at, stop);
  char *name = g_strchomp(g_strndup(reader->at, length));
  reader->at += length;
  return name;
}

static bool read_cycles(Reader *reader, spinach_condition *condition) {
  condition->kind = SPINACH_AT_CYCLES;
  skip_space(reader);
  const char *start = reader->at;
  g_autofree char *name = read_name(reader, ")");
  uint32_t clock_count;
  const spinach_clock *clocks = spinach_clocks(&clock_count);
  for (uint32_t i = 0; i < clock_count; i++)
    if (!strcmp(clocks[i].name, name)) condition->clock = &clocks[i];
  if (!condition->clock && !strcmp(name, "fastest")) condition->clock = &clocks[spinach_fastest_of_clocks()];
  if (!condition->clock) {
    const char *near = spinach_nearest(name, clock_count + 1, clock_name);
    return refuse(reader, start, "there is no clock \"%s\"%s%s%s", name, near ? "; did you mean \"" : "",
                  near ? near : "", near ? "\"?" : "");
  }
  return expect(reader, ")", "a clock's name ends") && expect(reader, ">=", "cycles(CLOCK) >= N") &&
         read_count(reader, &condition->count) && expect_end(reader);
}

static const char *const relations[] = {"==", "!=", "<=", ">=", "<", ">"};

// NULL when there is none.
static const char *read_relation(Reader *reader) {
  for (guint i = 0; i < G_N_ELEMENTS(relations); i++)
    if (take(reader, relations[i])) return relations[i];
  return NULL;
}

static bool read_state(Reader *reader, spinach_condition *condition) {
  condition->kind = SPINACH_AT_STATE;
  const char *start = reader->at;
  g_autofree char *name = read_name(reader, "=!<>"), *error = NULL;
  if (!spinach_look_up(name, &condition->place, &error)) return refuse(reader, start, "%s", error);
  const struct spinach_type *type = condition->place.field->type;
  if (condition->place.count != 1 || !spinach_is_integer(type))
    return refuse(reader, start, "%s is not one whole number; it is %s%s", name, type->name,
                  condition->place.count != 1 ? "[]" : "");
  const char *relation = read_relation(reader);
  if (!relation) return refuse(reader, reader->at, "one of == != < <= > >= is expected here");
  strcpy(condition->relation, relation);
  return read_number(reader, &condition->number) && expect_end(reader);
}

static bool read_end(Reader *reader, spinach_condition *condition) {
  condition->kind = SPINACH_AT_END;
  return expect_end(reader);
}

// ---- Events

const char *const spinach_connection_events[SPINACH_CONNECTION_EVENTS] = {"transferred", "stalled", "cancelled",
                                                                          "idle"};

int spinach_connection_event(const char *name) {
  for (int i = 0; i < SPINACH_CONNECTION_EVENTS; i++)
    if (!strcmp(spinach_connection_events[i], name)) return i;
  return -1;
}

static const char *leaf_name(uint32_t index) {
  return machine->instances[index].layout ? machine->instances[index].path : NULL;
}

static const spinach_layout *searched; // by event_name()
static const char *event_name(uint32_t index) {
  return searched->events[index].name;
}

bool spinach_connection_matches(const char *pattern, const spinach_connection *connection) {
  if (spinach_port_matches(pattern, connection->from, connection->from_lane) ||
      spinach_port_matches(pattern, connection->to, connection->to_lane))
    return true;
  for (uint32_t i = 0; i < connection->passage_count; i++)
    if (spinach_port_matches(pattern, connection->passages[i].port, connection->passages[i].lane)) return true;
  return false;
}

// Whether anything that matches the pattern has the event; else *near is the nearest name.
static bool find_event(const char *pattern, const char *event, bool *any, const char **near) {
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const spinach_layout *layout = machine->instances[i].layout;
    if (!layout || !spinach_path_matches(pattern, machine->instances[i].path)) continue;
    *any = true;
    for (uint32_t k = 0; k < layout->event_count; k++)
      if (!strcmp(layout->events[k].name, event)) return true;
    searched = layout;
    const char *nearest = spinach_nearest(event, layout->event_count, event_name);
    if (nearest) *near = nearest;
  }
  for (uint32_t i = 0; spinach_connection_event(event) >= 0 && i < machine->connection_count; i++)
    if (spinach_connection_matches(pattern, &machine->connections[i])) return true;
  return false;
}

static bool check_event(const Reader *reader, const char *at, const char *name) {
  const char *dot = strrchr(name, '.'), *near = NULL;
  bool any = false;
  if (!dot) return refuse(reader, at, "\"%s\" is no event: write PATH.EVENT (--list shows all)", name);
  g_autofree char *pattern = g_strndup(name, (gsize)(dot - name));
  if (find_event(pattern, dot + 1, &any, &near)) return true;
  if (!any) near = spinach_nearest(pattern, machine->instance_count, leaf_name);
  g_autofree char *hint = near ? g_strdup_printf("; did you mean \"%s\"?", near) : g_strdup("");
  if (!any) return refuse(reader, at, "no instance with behaviour matches \"%s\"%s", pattern, hint);
  return refuse(reader, at, "%s has no event \"%s\"%s", pattern, dot + 1, hint);
}

// Whether an event of this name, of anything that matches the pattern, has the argument.
static bool has_argument(const char *pattern, const char *event, const char *argument) {
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const spinach_layout *layout = machine->instances[i].layout;
    if (!layout || !spinach_path_matches(pattern, machine->instances[i].path)) continue;
    for (uint32_t k = 0; k < layout->event_count; k++) {
      if (strcmp(layout->events[k].name, event) != 0) continue;
      g_auto(GStrv) arguments = g_strsplit(layout->events[k].arguments, ", ", -1); // "uint32 pc"
      for (char **one = arguments; *one; one++) {
        const char *space = strrchr(*one, ' ');
        if (space && !strcmp(space + 1, argument)) return true;
      }
    }
  }
  return false;
}

// "pc == 0x34)", behind the parenthesis: only such events count.
static bool read_argument(Reader *reader, spinach_condition *condition) {
  skip_space(reader);
  const char *start = reader->at;
  g_autofree char *event = condition->watch;
  condition->watch = NULL;
  condition->argument = read_name(reader, "=!<>),");
  if (!has_argument(condition->pattern, condition->event, condition->argument))
    return refuse(reader, start, "the event \"%s\" has no argument \"%s\"", event, condition->argument);
  const char *relation = read_relation(reader);
  if (!relation) return refuse(reader, reader->at, "one of == != < <= > >= is expected here");
  strcpy(condition->relation, relation);
  if (!read_number(reader, &condition->number) || !expect(reader, ")", "event(PATH.EVENT(ARGUMENT == N))"))
    return false;
  condition->watch =
      g_strdup_printf("%s(%s %s %" G_GINT64_FORMAT ")", event, condition->argument, relation, condition->number);
  return true;
}

static bool read_event(Reader *reader, spinach_condition *condition) {
  condition->kind = SPINACH_AT_EVENT;
  condition->count = 1;
  skip_space(reader);
  const char *start = reader->at;
  condition->watch = read_name(reader, ",()");
  if (!check_event(reader, start, condition->watch)) return false;
  const char *dot = strrchr(condition->watch, '.');
  condition->pattern = g_strndup(condition->watch, (gsize)(dot - condition->watch));
  condition->event = g_strdup(dot + 1);
  if (take(reader, "(") && !read_argument(reader, condition)) return false;
  if (take(reader, ",")) {
    skip_space(reader);
    start = reader->at;
    if (!read_count(reader, &condition->count)) return false;
    if (!condition->count) return refuse(reader, start, "the events are counted from 1");
  }
  return expect(reader, ")", "event(PATH.EVENT, N)") && read_later(reader, condition);
}

static bool read_marker(Reader *reader, spinach_condition *condition) {
  condition->kind = SPINACH_AT_MARKER;
  condition->count = 1;
  skip_space(reader);
  const char *start = reader->at, *near;
  spinach_count number;
  if (!read_count(reader, &number)) return false;
  if (number == 0 || number > UINT32_MAX) return refuse(reader, start, "markers have numbers from 1 to 4294967295");
  condition->watch = g_strdup_printf("marker(%u)", (unsigned)number);
  condition->pattern = g_strdup("**");
  condition->event = g_strdup("marker");
  condition->argument = g_strdup("number");
  condition->number = (int64_t)number;
  strcpy(condition->relation, "==");
  bool any;
  if (!find_event("**", "marker", &any, &near))
    return refuse(reader, reader->text, "nothing in this machine emits markers");
  return expect(reader, ")", "marker(N)") && read_later(reader, condition);
}

static const char *const form_names[] = {"cycles", "event", "marker"};
static const char *form_name(uint32_t index) {
  return form_names[index];
}

static bool read_form(Reader *reader, spinach_condition *condition) {
  const char *start = reader->at;
  g_autofree char *name = read_name(reader, "(");
  reader->at++;
  if (!strcmp(name, "cycles")) return read_cycles(reader, condition);
  if (!strcmp(name, "event")) return read_event(reader, condition);
  if (!strcmp(name, "marker")) return read_marker(reader, condition);
  const char *near = spinach_nearest(name, G_N_ELEMENTS(form_names), form_name);
  return refuse(reader, start, "there is no condition \"%s()\"%s%s%s", name, near ? "; did you mean \"" : "",
                near ? near : "", near ? "()\"?" : "");
}

bool spinach_condition_parse(const char *option, const char *text, spinach_condition *condition) {
  *condition = (spinach_condition){.text = text};
  Reader reader = {option, text, text};
  skip_space(&reader);
  if (g_ascii_isdigit(reader.at[*reader.at == '-'])) return read_time(&reader, condition);
  const char *relation = strpbrk(reader.at, "=!<>"), *bracket = strchr(reader.at, '(');
  if (bracket && (!relation || bracket < relation)) return read_form(&reader, condition);
  if (relation) return read_state(&reader, condition);
  if (take(&reader, "end")) return read_end(&reader, condition);
  return refuse(&reader, reader.at,
                "this is no condition; write a time with its unit, cycles(CLOCK) >= N, PATH.STATE >= N, "
                "event(PATH.EVENT, N), marker(N), marker(N) + TIME or end");
}

void spinach_condition_clear(spinach_condition *condition) {
  g_clear_pointer(&condition->watch, g_free);
  g_clear_pointer(&condition->pattern, g_free);
  g_clear_pointer(&condition->event, g_free);
  g_clear_pointer(&condition->argument, g_free);
}

// ---- What they mean

uint64_t spinach_ticks(spinach_count femtoseconds) {
  spinach_count ticks;
  if (__builtin_mul_overflow(femtoseconds, (spinach_count)machine->ticks_per_second, &ticks)) return UINT64_MAX;
  ticks = ticks / QUANTITY_FEMTO + (ticks % QUANTITY_FEMTO != 0);
  return ticks < UINT64_MAX ? (uint64_t)ticks : UINT64_MAX;
}

uint64_t spinach_condition_tick(const spinach_condition *condition, spinach_count count) {
  if (condition->kind == SPINACH_AT_TIME) return spinach_ticks(count);
  if (condition->kind != SPINACH_AT_CYCLES || count > UINT64_MAX) return UINT64_MAX;
  return spinach_instant_after(condition->clock, (uint64_t)count);
}

bool spinach_condition_over(const spinach_condition *condition) {
  if (!condition->count) return false;
  if (condition->kind == SPINACH_AT_CYCLES)
    return spinach_cycles_from(condition->clock, spinach_time.now) > condition->count;
  return condition->kind == SPINACH_AT_TIME && spinach_condition_tick(condition, condition->count) < spinach_time.now;
}

int64_t spinach_condition_value(const spinach_condition *condition) {
  if (condition->place.field->computed) spinach_work_out_statistics(condition->place.instance);
  return spinach_integer(condition->place.field->type, spinach_element(&condition->place, 0));
}

bool spinach_condition_compares(const spinach_condition *condition) {
  return spinach_condition_holds_for(condition, spinach_condition_value(condition));
}

bool spinach_condition_holds_for(const spinach_condition *condition, int64_t value) {
  const int64_t number = condition->number;
  switch (condition->relation[0]) {
  case '=': return value == number;
  case '!': return value != number;
  case '<': return condition->relation[1] ? value <= number : value < number;
  default: return condition->relation[1] ? value >= number : value > number;
  }
}
