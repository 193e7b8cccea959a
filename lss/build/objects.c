// Compiles generated units with clang and caches the objects by content.
//
// The key of a unit is the hash of its text, the flags, the compiler and what else that reads.  Under it is stored a
// list of the headers that the unit read when it was compiled last, and of places where it found none; the object's
// name is the hash of the key, the contents of those and what is at these (dependencies.h).
#include "lss/build/objects.h"

#include "lss/base/working.h"
#include "lss/build/cache_trim.h"
#include "lss/build/dependencies.h"
#include "lss/build/search_path.h"
#include "lss/build/tool.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { KEY_LENGTH = 40 };

static const char *level_of(const Toolchain *t, const Unit *unit) {
  return unit->optimisation ? unit->optimisation : t->options->optimisation;
}

// What is not worth optimising is not worth a profile.
static const char *profile_of(const Toolchain *t, const Unit *unit) {
  return unit->optimisation ? NULL : t->options->profile;
}

char *objects_list(const Toolchain *t, const char *key) {
  return g_strdup_printf("%s/%.*s.deps", t->cache.folder, KEY_LENGTH, key);
}

static char *object_path(const Toolchain *t, const char *key) {
  return g_strdup_printf("%s/%s.o", t->cache.folder, key);
}

static void fail(Unit *unit, UnitState state, char *messages) {
  unit->state = state;
  unit->messages = messages;
}

static char *cannot_keep(const Toolchain *t) {
  return g_strdup_printf("cannot write below %s: %s; LSS_CACHE names another place", t->cache.folder,
                         g_strerror(errno));
}

// The object stays in the scratch folder, good for this build but not for the cache; its contents are its name.
static void keep_for_now(Unit *unit, const char *made) {
  g_autofree char *sum = cache_sum_of_file(made, NULL);
  unit->object = g_strdup(made);
  unit->key = g_strndup(sum ? sum : "", KEY_LENGTH);
}

// What checking alone leaves is an empty file, whose seal holds what clang said.
static char *checked_path(const Toolchain *t, const char *key) {
  return g_strdup_printf("%s/%s.check", t->cache.folder, key);
}

static ToolResult run_clang(const Toolchain *t, Unit *unit, bool check, const char *folder) {
  g_autofree char *source = g_strconcat(folder, "/unit.c", NULL), *made = g_strconcat(folder, "/unit.o", NULL),
                  *rule_path = g_strconcat(folder, "/unit.d", NULL),
                  *map = g_strdup_printf("-ffile-prefix-map=%s=.", folder),
                  *what = g_strconcat(check ? "checking " : "compiling ", unit->name, NULL);
  g_autoptr(GPtrArray) arguments = g_ptr_array_new();
  g_auto(GStrv) levels = g_strsplit(level_of(t, unit), " ", -1);
  for (char **level = levels; *level; level++) g_ptr_array_add(arguments, *level);
  for (guint i = 0; i < t->flags->len; i++) g_ptr_array_add(arguments, t->flags->pdata[i]);
  if (profile_of(t, unit)) g_ptr_array_add(arguments, (char *)profile_of(t, unit));
  char *const common[] = {map, "-MD", "-MT", DEPENDENCIES_TARGET, "-MF", rule_path, source};
  for (gsize i = 0; i < G_N_ELEMENTS(common); i++) g_ptr_array_add(arguments, common[i]);
  char *const to_object[] = {"-c", "-o", made};
  for (gsize i = 0; !check && i < G_N_ELEMENTS(to_object); i++) g_ptr_array_add(arguments, to_object[i]);
  if (check) g_ptr_array_add(arguments, "-fsyntax-only");
  return tool_run(t, t->clang, arguments, what, &unit->messages);
}

static void compile(Toolchain *t, Unit *unit, bool check, const char *key) {
  static gint count; // two units may have the same text
  // The object names its source file, which must not differ from build to build.
  g_autofree char *folder = g_strdup_printf("%s/%d", t->cache.scratch, g_atomic_int_add(&count, 1));
  g_autofree char *source = g_strconcat(folder, "/unit.c", NULL), *made = g_strconcat(folder, "/unit.o", NULL),
                  *rule_path = g_strconcat(folder, "/unit.d", NULL),
                  *text = g_strconcat("#line 1 \"generated\"\n", unit->text, NULL);
  if (g_mkdir_with_parents(folder, 0777) || !g_file_set_contents(source, text, -1, NULL) ||
      (check && !g_file_set_contents(made, "", 0, NULL)))
    return fail(unit, UNIT_FAILED, cannot_keep(t));
  ToolResult result = run_clang(t, unit, check, folder);
  if (result != TOOL_FINE) {
    unit->state = result == TOOL_REFUSED ? UNIT_REFUSED : UNIT_FAILED;
    return;
  }
  g_autofree char *rule = NULL;
  g_file_get_contents(rule_path, &rule, NULL, NULL);
  g_autofree char *list_path = objects_list(t, key);
  bool known;
  unit->list = dependencies_list(t, rule ? rule : "", source, text, &known);
  if (!rule || !known || dependencies_changed(t, unit->list)) return keep_for_now(unit, made);
  unit->key = dependencies_name(t, key, unit->list);
  unit->object = check ? checked_path(t, unit->key) : object_path(t, unit->key);
  cache_add_size(t->cache.folder, strlen(unit->list));
  if (!cache_keep(&t->cache, made, unit->object, unit->messages) ||
      !g_file_set_contents(list_path, unit->list, -1, NULL))
    fail(unit, UNIT_FAILED, cannot_keep(t));
}

// Whether the cache has what is wanted of the unit: its object, or of a check only what clang said.
static bool find(Toolchain *t, Unit *unit, bool check, const char *key) {
  g_autofree char *list_path = objects_list(t, key);
  if (!g_file_get_contents(list_path, &unit->list, NULL, NULL)) return false;
  unit->key = dependencies_name(t, key, unit->list);
  unit->object = object_path(t, unit->key);
  g_autofree char *checked = checked_path(t, unit->key);
  if (cache_check(unit->object, &unit->messages) || (check && cache_check(checked, &unit->messages))) {
    cache_touch(list_path);
    return true;
  }
  g_clear_pointer(&unit->key, g_free);
  g_clear_pointer(&unit->object, g_free);
  g_clear_pointer(&unit->list, g_free);
  return false;
}

static void obtain(Toolchain *t, Unit *unit, bool check) {
  unit->state = UNIT_FINE;
  g_clear_pointer(&unit->messages, g_free);
  g_clear_pointer(&unit->object, g_free);
  g_clear_pointer(&unit->key, g_free);
  g_clear_pointer(&unit->list, g_free);
  const SearchPath *search = search_path(t);
  const char *profile = profile_of(t, unit);
  g_autofree char *whole = g_strconcat(level_of(t, unit), profile ? " " : "", profile ? profile : "", "\n",
                                       t->flags_text, search ? search->settings : "", "\n", unit->text, NULL);
  g_autofree char *key = g_compute_checksum_for_string(G_CHECKSUM_SHA256, whole, -1);
  if (!find(t, unit, check, key)) compile(t, unit, check, key);
}

static void obtain_object(gpointer unit, gpointer toolchain) {
  obtain(toolchain, unit, false);
}

static void obtain_check(gpointer unit, gpointer toolchain) {
  obtain(toolchain, unit, true);
}

// What takes longest starts first, so that the others do not wait for it.
static gint longest_first(gconstpointer a, gconstpointer b) {
  const Unit *first = *(Unit *const *)a, *second = *(Unit *const *)b;
  if (!first->optimisation != !second->optimisation) return first->optimisation ? 1 : -1;
  const gsize one = strlen(first->text), other = strlen(second->text);
  return (one < other) - (one > other);
}

typedef struct {
  Toolchain *toolchain;
  GFunc work;
} Batch;

static void do_one(gpointer unit, gpointer data) {
  Batch *batch = data;
  const char *name = ((const Unit *)unit)->name;
  working_part_begin(name);
  batch->work(unit, batch->toolchain);
  working_part_done(name);
}

static UnitState for_all(Toolchain *toolchain, GPtrArray *units, GFunc work) {
  Batch batch = {.toolchain = toolchain, .work = work};
  GThreadPool *pool = g_thread_pool_new(do_one, &batch, (int)g_get_num_processors(), FALSE, NULL);
  g_autoptr(GPtrArray) order = g_ptr_array_new();
  for (guint i = 0; i < units->len; i++) {
    Unit *unit = units->pdata[i];
    if (work == obtain_object || !unit->repeats) g_ptr_array_add(order, unit);
  }
  g_ptr_array_sort(order, longest_first);
  working_begin(work == obtain_object ? "compiling" : "checking", "units", order->len);
  for (guint i = 0; i < order->len; i++) g_thread_pool_push(pool, order->pdata[i], NULL);
  g_thread_pool_free(pool, FALSE, TRUE);
  working_end();
  UnitState worst = UNIT_FINE;
  for (guint i = 0; i < units->len; i++) worst = MAX(worst, ((Unit *)units->pdata[i])->state);
  return worst;
}

UnitState objects_compile(Toolchain *toolchain, GPtrArray *units) {
  return for_all(toolchain, units, obtain_object);
}

UnitState objects_check(Toolchain *toolchain, GPtrArray *units) {
  return for_all(toolchain, units, obtain_check);
}
