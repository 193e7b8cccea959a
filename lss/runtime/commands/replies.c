// The replies to commands; see replies.h.
#include "lss/runtime/commands/replies.h"

#include "lss/runtime/commands/goal.h"
#include "lss/runtime/debug/conduct.h"
#include "lss/runtime/debug/state_commands.h"
#include "lss/runtime/debug/statistics_command.h"
#include "lss/runtime/observe/device_registers.h"
#include "lss/runtime/observe/print.h"
#include "lss/runtime/observe/program_text.h"
#include "lss/runtime/observe/statistics.h"
#include "lss/runtime/text/json.h"
#include "lss/runtime/text/pattern.h"
#include "lss/runtime/text/report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <unistd.h>

static const spinach_machine *const machine = &spinach_machine_table;
static int handle = -1; // descriptor of the lines of JSON; -1: text
static bool replying;   // a command is at hand
static Json result;     // of that

// ---- Lines of JSON --------------------------------------------------------------------------------------------------

bool replies_open(int given) {
  // Where it is only tried whether a variant goes on, there is no such descriptor, and nothing is written.
  handle = given >= 0 ? given : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (handle < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    return spinach_report_error("cannot reply to commands at standard output: %s", g_strerror(errno));
  fcntl(handle, F_SETFD, FD_CLOEXEC);
  return true;
}

int replies_handle(void) {
  return handle;
}

static bool write_all(const char *text, gsize left) {
  while (left) {
    const ssize_t done = write(handle, text, left);
    struct pollfd output = {.fd = handle, .events = POLLOUT};
    if (done < 0 && errno == EAGAIN) poll(&output, 1, -1);
    if (done < 0 && errno != EAGAIN && errno != EINTR) return false;
    text += MAX(done, 0);
    left -= (gsize)MAX(done, 0);
  }
  return true;
}

static bool finish(Json *json) {
  json_close(json, '}');
  g_autofree char *text = json_finish(json);
  return write_all(text, strlen(text));
}

static bool write_error(const char *text) {
  Json json;
  json_start_line(&json);
  json_open(&json, '{');
  json_member_bool(&json, "ok", false);
  json_member(&json, "error", text);
  return finish(&json);
}

static bool write_result(const char *ended, const char *text) {
  Json json;
  json_start_line(&json);
  json_open(&json, '{');
  json_member_bool(&json, "ok", true);
  json_key(&json, "time_fs");
  json_wide(&json, spinach_now_fs());
  json_open_member(&json, "cycles", '{');
  for (uint32_t i = 0; i < machine->clock_count; i++) {
    json_key(&json, machine->clocks[i].name);
    json_uint(&json, spinach_cycles((int32_t)i));
  }
  json_close(&json, '}');
  json_member(&json, "ended", ended);
  json_key(&json, "result");
  json_written(&json, *text ? text : "null");
  return finish(&json);
}

void replies_begin(void) {
  replying = true;
  json_start_line(&result);
  spinach_report_keep(true);
}

// What a command printed to standard output comes ahead of its reply.
static char *take_result(void) {
  fflush(stdout);
  replying = false;
  spinach_report_keep(false);
  return g_strchomp(json_finish(&result));
}

bool replies_end(const char *ended) {
  g_autofree char *text = take_result(), *error = spinach_report_take();
  const char *wrong = *spinach_error_text ? spinach_error_text : error;
  if (wrong ? write_error(wrong) : write_result(ended, text)) return true;
  return spinach_report_error("cannot reply to commands at standard output: %s", g_strerror(errno));
}

void replies_fail(const char *text) {
  if (!replying) return;
  g_free(take_result());
  write_error(text);
}

// ---- The time and the processors ------------------------------------------------------------------------------------

static uint32_t last_pc(guint number) {
  return (uint32_t)core_get(&core_of(number)->pc);
}

static void write_processor(const Core *core) {
  g_autofree char *place = spinach_describe_address(core->context, last_pc(core->number));
  json_open(&result, '{');
  json_member_int(&result, "number", core->number);
  json_member(&result, "path", core->name);
  json_member_int(&result, "pc", last_pc(core->number));
  json_member(&result, "place", place);
  json_close(&result, '}');
}

void reply_where(void) {
  if (handle >= 0) {
    json_open(&result, '[');
    for (guint i = 0; i < spinach_cores()->len; i++) write_processor(spinach_cores()->pdata[i]);
    json_close(&result, ']');
    return;
  }
  g_autoptr(GString) text = g_string_new(NULL);
  where_append_time(text);
  g_string_append_c(text, '\n');
  where_append_cores(text, "retired ", last_pc);
  fputs(text->str, stdout);
}

// ---- States and events ----------------------------------------------------------------------------------------------

static void write_value(const struct spinach_type *type, const void *value) {
  switch (type->kind) {
  case SPINACH_BOOL: json_bool(&result, spinach_integer(type, value) != 0); return;
  case SPINACH_INT: json_int(&result, spinach_integer(type, value)); return;
  case SPINACH_UINT: json_uint(&result, (guint64)spinach_integer(type, value)); return;
  case SPINACH_FLOAT:
    json_real(&result, type->size == sizeof(float) ? (double)*(const float *)value : *(const double *)value);
    return;
  default: break;
  }
  if (type->kind == SPINACH_BITS && spinach_is_integer(type)) {
    json_uint(&result, (guint64)spinach_integer(type, value));
    return;
  }
  g_autofree char *text = spinach_type_text(type, value);
  json_string(&result, text);
}

// One element by itself, several as a list.
static void write_place(const spinach_place *place) {
  g_autofree char *name = spinach_place_name(place);
  json_key(&result, name);
  if (place->count != 1) json_open(&result, '[');
  for (uint64_t k = 0; k < place->count; k++) write_value(place->field->type, spinach_element(place, k));
  if (place->count != 1) json_close(&result, ']');
}

void reply_places(const GArray *places) {
  if (handle >= 0) json_open(&result, '{');
  for (guint i = 0; i < places->len; i++)
    if (handle >= 0)
      write_place(&g_array_index(places, spinach_place, i));
    else
      spinach_print_state(stdout, &g_array_index(places, spinach_place, i));
  if (handle >= 0) json_close(&result, '}');
}

// A row of a list: what something is called, and one thing about it.
static void show_row(const char *path, const char *name, const char *key, const char *text, const char *format) {
  if (handle < 0) {
    printf(format, path, name, text);
    return;
  }
  g_autofree char *full = g_strdup_printf("%s.%s", path, name);
  json_open(&result, '{');
  json_member(&result, "name", full);
  json_member(&result, key, text);
  json_close(&result, '}');
}

static bool show_names(const char *words, void (*show)(const char *path, const spinach_layout *layout)) {
  const char *pattern = *words ? words : "**";
  bool any = false;
  reply_open_list();
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const spinach_instance *instance = &machine->instances[i];
    if (!instance->layout || !spinach_path_matches(pattern, instance->path)) continue;
    any = true;
    show(instance->path, instance->layout);
  }
  reply_close_list();
  return any || spinach_report_error("no instance matches \"%s\"", pattern);
}

static void show_states(const char *path, const spinach_layout *layout) {
  for (uint32_t k = 0; k < layout->field_count; k++)
    show_row(path, layout->fields[k].name, "type", layout->fields[k].type->name, "%s.%s : %s\n");
}

static void show_events(const char *path, const spinach_layout *layout) {
  for (uint32_t k = 0; k < layout->event_count; k++)
    show_row(path, layout->events[k].name, "arguments", layout->events[k].arguments, "%s.%s(%s)\n");
}

bool reply_states(const char *pattern) {
  return show_names(pattern, show_states);
}

bool reply_events(const char *pattern) {
  return show_names(pattern, show_events);
}

// ---- Registers, statistics, and how the run is ----------------------------------------------------------------------

static void write_register(const char *name, uint32_t value, const char *bits, void *data) {
  (void)data;
  json_open(&result, '{');
  json_member(&result, "name", name);
  json_member_int(&result, "value", value);
  json_member(&result, "bits", bits);
  json_close(&result, '}');
}

bool reply_registers(const char *pattern) {
  if (handle >= 0) {
    json_open(&result, '[');
    const bool any = spinach_registers_find(pattern, write_register, NULL);
    json_close(&result, ']');
    g_autofree char *none = any ? NULL : spinach_registers_none(pattern);
    return any || spinach_report_error("%s", none);
  }
  g_autoptr(GString) text = g_string_new(NULL);
  spinach_registers_append(text, pattern);
  fputs(text->str, stdout);
  return true;
}

bool reply_statistics(const char *words) {
  g_autoptr(GString) text = g_string_new(NULL);
  g_autofree char *error = statistics_command(words, handle >= 0 ? &result : NULL, text);
  fputs(text->str, stdout);
  return !error || spinach_report_error("%s", error);
}

bool reply_connections(void) {
  if (!machine->counted)
    return spinach_report_error("connections are not counted%s", " (build the simulator with --collect connections)");
  reply_open_list();
  if (handle >= 0) spinach_connections_entries(&result);
  for (uint32_t i = 0; handle < 0 && i < machine->connection_count; i++) {
    const uint64_t *counts = spinach_connection_counts(i);
    if (!counts) continue;
    printf("%s -> %s: transferred %" PRIu64 ", stalled %" PRIu64 ", cancelled %" PRIu64 ", idle %" PRIu64 "\n",
           machine->connections[i].from, machine->connections[i].to, counts[0], counts[1], counts[2], counts[3]);
  }
  reply_close_list();
  return true;
}

static void write_wait(const spinach_connection *connection, bool accepted, const char *item, void *data) {
  (void)data;
  json_open(&result, '{');
  json_member(&result, "from", connection->from);
  json_member(&result, "to", connection->to);
  json_member(&result, "item", item);
  json_member_bool(&result, "accepted", accepted);
  json_close(&result, '}');
}

// A number that may be unknown, which is negative then.
static void write_known(const char *key, double number) {
  json_key(&result, key);
  if (number >= 0)
    json_real(&result, number);
  else
    json_string(&result, NULL);
}

static void write_status(double speed, double share) {
  json_open(&result, '{');
  write_known("per_second", speed);
  write_known("share", share);
  json_key(&result, "blocked");
  if (machine->debug) {
    json_open(&result, '[');
    spinach_each_wait(write_wait, NULL);
    json_close(&result, ']');
  } else {
    json_string(&result, NULL);
  }
  json_close(&result, '}');
}

void reply_status(void) {
  const double speed = goal_speed(), share = run_conduct.share();
  if (handle >= 0) {
    write_status(speed, share);
    return;
  }
  if (speed >= 0)
    printf("%.2f M cycles/s in the latest command", speed / 1e6);
  else
    printf("nothing was simulated yet");
  if (share >= 0) printf(", %.0f %% of the run", MIN(share, 1.0) * 100);
  printf("\n");
  spinach_print_waits(stdout);
}

// ---- Lists ----------------------------------------------------------------------------------------------------------

void reply_open_list(void) {
  if (handle >= 0) json_open(&result, '[');
}

void reply_command(const char *name, const char *arguments, const char *help) {
  if (handle < 0) {
    g_autofree char *left = g_strjoin(" ", name, arguments, NULL);
    printf("%-34s %s\n", left, help);
    return;
  }
  json_open(&result, '{');
  json_member(&result, "command", name);
  json_member(&result, "arguments", arguments);
  json_member(&result, "help", help);
  json_close(&result, '}');
}

void reply_close_list(void) {
  if (handle >= 0) json_close(&result, ']');
}
