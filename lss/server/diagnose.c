// Checking in a job; see diagnose.h.
#include "lss/server/diagnose.h"

#include "lss/base/diagnostics.h"
#include "lss/base/source.h"
#include "lss/build/build.h"
#include "lss/schedule/schedule.h"
#include "lss/server/document.h"
#include "lss/server/names.h"

#include <string.h>

// DiagnosticSeverity
enum { SEVERITY_ERROR = 1, SEVERITY_WARNING = 2 };

typedef struct {
  const char *path; // of the machine
  JsonValue *diagnostics;
  GHashTable *files; // canonical paths
} Result;

static void add_file(const char *canonical, gpointer data) {
  g_hash_table_add(((Result *)data)->files, g_strdup(canonical));
}

// A place in a file; -D options and what has no place at all are not.
static bool is_place(Location where) {
  return where.file && g_path_is_absolute(where.file);
}

// Notes without a place, and the instance, belong to the message; an editor shows nothing else.
static char *message_of(const Diagnostic *diagnostic) {
  GString *text = g_string_new(diagnostic->text);
  for (guint i = 0; i < diagnostic->notes->len; i++) {
    const Note *note = diagnostic->notes->pdata[i];
    if (!is_place(note->where)) g_string_append_printf(text, "\nnote: %s", note->text);
  }
  if (diagnostic->instance) g_string_append_printf(text, "\nin instance %s", diagnostic->instance);
  return g_string_free(text, FALSE);
}

static JsonValue *related(const GPtrArray *notes) {
  JsonValue *list = json_object_new_array();
  for (guint i = 0; i < notes->len; i++) {
    const Note *note = notes->pdata[i];
    if (!is_place(note->where)) continue;
    g_autofree char *uri = path_uri(note->where.file);
    JsonValue *item = json_object_new_object(), *location = json_object_new_object();
    json_set_text(location, "uri", uri);
    json_set(location, "range", range_json(note->where));
    json_set(item, "location", location);
    json_set_text(item, "message", note->text);
    json_add(list, item);
  }
  return list;
}

static void add_diagnostic(const Diagnostic *diagnostic, gpointer data) {
  Result *result = data;
  // A module or a file of types, open in an editor, is none the worse for being no machine.
  if (diagnostic->warning && !diagnostic->where.line && !strcmp(diagnostic->check, "no-behaviour")) return;
  const bool placed = is_place(diagnostic->where);
  g_autofree char *path = placed ? source_canonical(diagnostic->where.file) : g_strdup(result->path);
  g_autofree char *message = message_of(diagnostic);
  JsonValue *item = json_object_new_object(), *shown = json_object_new_object();
  json_set(shown, "range", range_json(placed ? diagnostic->where : NOWHERE));
  json_set_number(shown, "severity", diagnostic->warning ? SEVERITY_WARNING : SEVERITY_ERROR);
  json_set_text(shown, "code", diagnostic->check);
  json_set_text(shown, "source", "lss");
  json_set_text(shown, "message", message);
  json_set(shown, "relatedInformation", related(diagnostic->notes));
  json_set_text(item, "path", path);
  json_set(item, "diagnostic", shown);
  json_add(result->diagnostics, item);
}

static void add_nothing(const Diagnostic *diagnostic, gpointer data) {
  (void)diagnostic;
  (void)data;
}

static bool schedule_is_fine(Netlist *netlist) {
  ScheduleOptions options = {0};
  g_autoptr(Schedule) schedule = schedule_build(netlist, &options);
  return schedule != NULL;
}

// Has clang look at the modules; what the netlist's check said already is left out.
static void check_modules(const Diagnosis *diagnosis, Netlist *netlist, Result *result) {
  BuildOptions build = {.options = {.compile = *diagnosis->options, .machine = diagnosis->path}};
  diag_set_receiver(add_nothing, NULL);
  diag_flush();
  diag_set_receiver(add_diagnostic, result);
  build_check(&build, netlist);
}

static JsonValue *result_json(const Result *result, bool fine, bool machine) {
  JsonValue *value = json_object_new_object(), *files = json_object_new_array();
  GHashTableIter iter;
  gpointer path;
  g_hash_table_iter_init(&iter, result->files);
  while (g_hash_table_iter_next(&iter, &path, NULL)) json_add(files, json_object_new_string(path));
  json_set(value, "files", files);
  json_set(value, "fine", json_object_new_boolean(fine));
  json_set(value, "machine", json_object_new_boolean(machine));
  json_set(value, "diagnostics", result->diagnostics);
  return value;
}

// Whether a file that could not be compiled was meant to be a machine.
static bool looks_like_machine(const char *path) {
  diag_flush();
  diag_set_receiver(add_nothing, NULL);
  return file_instantiates(path);
}

JsonValue *diagnose_work(gpointer data) {
  const Diagnosis *diagnosis = data;
  Result result = {diagnosis->path, json_object_new_array(),
                   g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
  source_watch(add_file, &result);
  diag_set_receiver(add_diagnostic, &result);
  Netlist *netlist = compile_netlist(diagnosis->path, diagnosis->options);
  const bool machine = netlist ? netlist->instances->len > 1 : looks_like_machine(diagnosis->path);
  bool fine = netlist != NULL;
  if (netlist && machine) {
    g_autoptr(GPtrArray) files = netlist_files(netlist);
    for (guint i = 0; i < files->len; i++) {
      g_autofree char *canonical = source_canonical(files->pdata[i]);
      add_file(canonical, &result);
    }
    if (diagnosis->modules)
      check_modules(diagnosis, netlist, &result);
    else
      fine = schedule_is_fine(netlist);
  }
  diag_flush();
  return result_json(&result, fine, machine);
}
