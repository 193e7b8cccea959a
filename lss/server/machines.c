// Checking what is edited; see machines.h.
#include "lss/server/machines.h"

#include "lss/base/library.h"
#include "lss/base/source.h"
#include "lss/server/diagnose.h"
#include "lss/server/document.h"
#include "lss/server/job.h"

#include <string.h>

enum {
  DEBOUNCE_MS = 50, // a change waits so long for the next
  IDLE_MS = 500,    // clang waits so long, since it takes all processors
  MOST_JOBS = 2,
  MOST_BESIDE = 40 // machines tried for one module
};

typedef struct {
  char *path;
  bool named;         // by the command line
  bool found;         // beside a module; goes when no open file needs it
  bool searched;      // machines beside it were looked for
  bool stale;         // to be checked
  bool stale_modules; // their C is to be checked
  bool known;         // was checked, so that its files are known
  bool fine, machine;
  GHashTable *files;            // canonical paths that it depends on
  JsonValue *netlist, *modules; // lists of {path, diagnostic}
  Diagnosis diagnosis;
  Job *job;
} Machine;

static const CompileOptions *options;
static GPtrArray *machines;   // Machine*, in the order in which they came
static GHashTable *published; // path -> char*, what was sent to the editor
static guint timer;
static char *edited; // what changed last comes first

static void machine_free(gpointer data) {
  Machine *machine = data;
  if (machine->job) job_cancel(machine->job);
  json_object_put(machine->netlist);
  json_object_put(machine->modules);
  g_hash_table_unref(machine->files);
  g_free(machine->path);
  g_free(machine);
}

static Machine *machine_at(const char *path) {
  for (guint i = 0; machines && i < machines->len; i++) {
    Machine *machine = machines->pdata[i];
    if (!strcmp(machine->path, path)) return machine;
  }
  return NULL;
}

static Machine *machine_add(const char *path) {
  Machine *machine = machine_at(path);
  if (machine) return machine;
  machine = g_new0(Machine, 1);
  machine->path = g_strdup(path);
  machine->stale = true;
  machine->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  machine->diagnosis = (Diagnosis){.path = machine->path, .options = options};
  g_ptr_array_add(machines, machine);
  return machine;
}

static bool uses(const Machine *machine, const char *path) {
  return !strcmp(machine->path, path) || g_hash_table_contains(machine->files, path);
}

// ---- Publishing ----------------------------------------------------------------------------------------------------

// Adds a list of {path, diagnostic} to `all`, path -> list; `seen` holds what is in it already.
static void collect_from(GHashTable *all, GHashTable *seen, JsonValue *list) {
  for (size_t i = 0; list && i < json_object_array_length(list); i++) {
    JsonValue *item = json_object_array_get_idx(list, i);
    if (!g_hash_table_add(seen, g_strdup(json_object_to_json_string(item)))) continue;
    const char *path = json_text(json_at(item, "path", NULL));
    JsonValue *of_path = g_hash_table_lookup(all, path);
    if (!of_path) g_hash_table_insert(all, g_strdup(path), of_path = json_object_new_array());
    json_add(of_path, json_object_get(json_at(item, "diagnostic", NULL)));
  }
}

// What all machines say of each file, without repetitions.
static GHashTable *collect(void) {
  GHashTable *all = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)json_value_put);
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < machines->len; i++) {
    const Machine *machine = machines->pdata[i];
    collect_from(all, seen, machine->netlist);
    collect_from(all, seen, machine->modules);
  }
  return all;
}

// Whether a machine that uses the file is still to say what it thinks of it.
static bool is_pending(const char *path) {
  for (guint i = 0; i < machines->len; i++) {
    const Machine *machine = machines->pdata[i];
    if (uses(machine, path) && (machine->stale || (machine->job && !machine->diagnosis.modules))) return true;
  }
  return false;
}

static void publish_file(const char *path, JsonValue *diagnostics) {
  if (is_pending(path)) return;
  const char *text = json_object_to_json_string(diagnostics);
  const Document *document = document_at(path);
  g_autofree char *published_text = g_strdup_printf("%d %s", document ? document->version : 0, text);
  const char *before = g_hash_table_lookup(published, path);
  if (before && !strcmp(before, published_text)) return;
  g_hash_table_insert(published, g_strdup(path), g_steal_pointer(&published_text));
  g_autofree char *uri = path_uri(path);
  JsonValue *params = json_object_new_object();
  json_set_text(params, "uri", uri);
  if (document) json_set_number(params, "version", document->version);
  json_set(params, "diagnostics", json_object_get(diagnostics));
  send_notification("textDocument/publishDiagnostics", params);
}

// Whether the file is open and was looked at: an editor is notified of an empty list, too.
static bool was_checked(const char *path) {
  const Machine *machine = machine_at(path);
  return machine && machine->known && document_at(path);
}

static void publish(void) {
  g_autoptr(GHashTable) all = collect();
  g_autoptr(JsonValue) nothing = json_object_new_array();
  g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
  GHashTableIter iter;
  gpointer path, list;
  g_hash_table_iter_init(&iter, published);
  while (g_hash_table_iter_next(&iter, &path, NULL))
    if (!g_hash_table_contains(all, path)) g_ptr_array_add(paths, g_strdup(path));
  for (guint i = 0; i < paths->len; i++) publish_file(paths->pdata[i], nothing);
  g_hash_table_iter_init(&iter, all);
  while (g_hash_table_iter_next(&iter, &path, &list)) publish_file(path, list);
  for (guint i = 0; i < machines->len; i++) {
    const Machine *machine = machines->pdata[i];
    if (was_checked(machine->path) && !g_hash_table_contains(all, machine->path)) publish_file(machine->path, nothing);
  }
}

// ---- Which machines ------------------------------------------------------------------------------------------------

// Whether an open file is used by this machine and by none before it.
static bool is_needed(const Machine *wanted) {
  g_autoptr(GList) open = documents();
  for (GList *at = open; at; at = at->next) {
    const char *path = ((Document *)at->data)->path;
    for (guint i = 0; i < machines->len; i++) {
      const Machine *machine = machines->pdata[i];
      if (!machine->machine || !uses(machine, path)) continue;
      if (machine == wanted) return true;
      break;
    }
  }
  return false;
}

static bool is_used_elsewhere(const Machine *module) {
  for (guint i = 0; i < machines->len; i++) {
    const Machine *machine = machines->pdata[i];
    if (machine != module && (!machine->known || machine->machine) && uses(machine, module->path)) return true;
  }
  return false;
}

// A module says little when it is alone: the machines of its folder are tried.
static void search_beside(Machine *module) {
  if (module->searched || module->machine || module->found || is_used_elsewhere(module)) return;
  module->searched = true;
  g_autofree char *folder = g_path_get_dirname(module->path);
  g_autoptr(GPtrArray) names = library_names(folder);
  for (guint i = 0; i < names->len && i < MOST_BESIDE; i++) {
    g_autofree char *file = g_strconcat(names->pdata[i], ".lss", NULL), *path = g_build_filename(folder, file, NULL),
                    *canonical = source_canonical(path);
    if (!machine_at(canonical) && source_exists(canonical)) machine_add(canonical)->found = true;
  }
}

// Whether the result is still wanted.
static bool is_wanted(const Machine *machine) {
  if (machine->named || document_at(machine->path)) return true;
  return machine->found && (!machine->known || is_needed(machine));
}

static void drop_unwanted(void) {
  for (guint i = machines->len; i-- > 0;)
    if (!is_wanted(machines->pdata[i])) g_ptr_array_remove_index(machines, i);
}

// ---- Checking ------------------------------------------------------------------------------------------------------

static void run(void);

static gboolean run_later(gpointer data) {
  (void)data;
  timer = 0;
  run();
  return G_SOURCE_REMOVE;
}

static void schedule_run(guint milliseconds) {
  if (timer) g_source_remove(timer);
  timer = g_timeout_add(milliseconds, run_later, NULL);
}

static void take_files(Machine *machine, JsonValue *files) {
  g_hash_table_remove_all(machine->files);
  for (size_t i = 0; i < json_object_array_length(files); i++)
    g_hash_table_add(machine->files, g_strdup(json_text(json_object_array_get_idx(files, i))));
}

static void replace(JsonValue **slot, JsonValue *value) {
  json_object_put(*slot);
  *slot = json_object_get(value);
}

static JsonValue *crash_of(const Machine *machine) {
  JsonValue *list = json_object_new_array(), *item = json_object_new_object(), *shown = json_object_new_object();
  json_set(shown, "range", range_json(NOWHERE));
  json_set_number(shown, "severity", 1);
  json_set_text(shown, "source", "lss");
  json_set_text(shown, "message", "the compiler ended without a result, which is a defect of it or a lack of memory");
  json_set_text(item, "path", machine->path);
  json_set(item, "diagnostic", shown);
  json_add(list, item);
  return list;
}

static void netlist_done(JsonValue *result, gpointer data) {
  Machine *machine = data;
  machine->job = NULL;
  machine->known = true;
  if (result) {
    machine->fine = json_object_get_boolean(json_at(result, "fine", NULL));
    machine->machine = json_object_get_boolean(json_at(result, "machine", NULL));
    take_files(machine, json_at(result, "files", NULL));
    replace(&machine->netlist, json_at(result, "diagnostics", NULL));
  } else {
    g_autoptr(JsonValue) crash = crash_of(machine);
    machine->fine = false;
    replace(&machine->netlist, crash);
  }
  machine->stale_modules = machine->fine && machine->machine;
  if (!machine->stale_modules) replace(&machine->modules, NULL);
  if (document_at(machine->path)) search_beside(machine);
  drop_unwanted();
  publish();
  schedule_run(0);
}

static void modules_done(JsonValue *result, gpointer data) {
  Machine *machine = data;
  machine->job = NULL;
  if (result) replace(&machine->modules, json_at(result, "diagnostics", NULL));
  publish();
  schedule_run(0);
}

static void start(Machine *machine, bool modules) {
  machine->diagnosis.modules = modules;
  *(modules ? &machine->stale_modules : &machine->stale) = false;
  machine->job = job_start(diagnose_work, &machine->diagnosis, modules ? modules_done : netlist_done, machine);
}

static int jobs_running(void) {
  int count = 0;
  for (guint i = 0; i < machines->len; i++) count += ((Machine *)machines->pdata[i])->job != NULL;
  return count;
}

// The next to be checked: what is edited, then what uses it, then the others.
static Machine *next_stale(void) {
  Machine *best = NULL;
  int best_rank = -1;
  for (guint i = 0; i < machines->len; i++) {
    Machine *machine = machines->pdata[i];
    if (!machine->stale || machine->job) continue;
    const int rank = !edited ? 0 : !strcmp(machine->path, edited) ? 1 : uses(machine, edited) ? 2 : 0;
    if (rank > best_rank) best = machine, best_rank = rank;
  }
  return best;
}

static gint64 last_change;

static void run(void) {
  int running = jobs_running();
  for (Machine *machine; running < MOST_JOBS && (machine = next_stale()); running++) start(machine, false);
  if (running) return;
  const gint64 idle = (g_get_monotonic_time() - last_change) / 1000;
  for (guint i = 0; i < machines->len; i++) {
    Machine *machine = machines->pdata[i];
    if (!machine->stale_modules) continue;
    if (idle < IDLE_MS)
      schedule_run((guint)(IDLE_MS - idle));
    else
      start(machine, true); // one at a time: clang takes all processors
    return;
  }
}

// ---- What the editor does ------------------------------------------------------------------------------------------

static void touch(const char *path) {
  g_free(edited);
  edited = g_strdup(path);
  last_change = g_get_monotonic_time();
  for (guint i = 0; i < machines->len; i++) {
    Machine *machine = machines->pdata[i];
    // What a failed compilation would have read is not known.
    if (machine->known && machine->fine && !uses(machine, path)) continue;
    machine->stale = true;
    if (machine->job) job_cancel(g_steal_pointer(&machine->job));
  }
  schedule_run(DEBOUNCE_MS);
}

static bool is_source(const char *path) {
  return g_str_has_suffix(path, ".lss");
}

void machines_opened(const char *path) {
  if (is_source(path)) machine_add(path);
  touch(path);
}

void machines_changed(const char *path) {
  touch(path);
}

void machines_closed(const char *path) {
  drop_unwanted();
  touch(path);
  publish();
}

void machines_name(const char *path) {
  g_autofree char *canonical = source_canonical(path);
  machine_add(canonical)->named = true;
  schedule_run(DEBOUNCE_MS);
}

void machines_start(const CompileOptions *compile_options) {
  options = compile_options;
  machines = g_ptr_array_new_with_free_func(machine_free);
  published = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

void machines_stop(void) {
  if (timer) g_source_remove(timer);
  timer = 0;
  g_clear_pointer(&machines, g_ptr_array_unref);
  g_clear_pointer(&published, g_hash_table_unref);
  g_clear_pointer(&edited, g_free);
}
