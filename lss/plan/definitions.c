// Whether the C of modules keeps to their declarations: it defines what they declare, declares what it defines, and
// reaches state by the words of its kind.
#include "lss/base/diagnostics.h"
#include "lss/plan/halves.h"
#include "lss/plan/plan.h"
#include "lss/plan/state_words.h"

#include <string.h>

// What stands for a declared function in the C file, as `word` and what is between its parentheses.
static const Hook *find_hook(const ModuleSource *source, const Function *f, const char **word, const char **arguments) {
  static const char *const words[] = {
      [FUNCTION_INIT] = "init",           [FUNCTION_PHASE_START] = "phase_start", [FUNCTION_HANDLER] = "handler",
      [FUNCTION_PHASE_END] = "phase_end", [FUNCTION_NEXT_EVENT] = "next_event",   [FUNCTION_FINISH] = "finish",
      [FUNCTION_RESET] = "handler"};
  *word = words[f->kind];
  if (f->kind == FUNCTION_RESET) {
    *arguments = f->parameter->name;
    return module_source_reset(source, f->parameter->name);
  }
  *arguments = f->kind == FUNCTION_HANDLER       ? f->name
               : strlen(f->name) > strlen(*word) ? f->name + strlen(*word) + 1
                                                 : "";
  return module_source_hook(source, *word, *arguments);
}

static bool check_defined(const Instance *instance, const ModuleSource *source) {
  bool fine = true;
  for (guint i = 0; i < instance->functions->len; i++) {
    const Function *f = instance->functions->pdata[i];
    const char *word, *argument;
    if (f->kind == FUNCTION_ALWAYS || find_hook(source, f, &word, &argument)) continue;
    if (f->kind == FUNCTION_RESET)
      diag_error(f->location, "missing-function",
                 "%s declares handler reset(%s), but %s does not define handler(reset, %s)", instance->module_name,
                 argument, source->file, argument);
    else
      diag_error(f->location, "missing-function", "%s declares %s%s%s, but %s does not define %s(%s)",
                 instance->module_name, word, *argument ? " " : "", argument, source->file, word, argument);
    const int open = fine ? source->open_line : 0; // says it once
    Location brace = {g_intern_string(source->file), open, 1, open, 2};
    if (open) diag_note(brace, "a brace that opens here is not closed");
    fine = false;
  }
  return fine;
}

static bool is_declared(const Instance *instance, const Hook *hook) {
  const bool handles = !strcmp(hook->word, "handler");
  static const char *const undeclared[] = {"skip", "statistics", "awaits", "check_state", NULL};
  if (g_strv_contains(undeclared, hook->word)) return true;
  if (handles && g_ptr_array_find_with_equal_func(instance->leaf->handler_names, hook->argument, g_str_equal, NULL))
    return true;
  if (instance->elsewhere) return true; // the whole crossing was looked at
  g_autofree char *full = handles           ? g_strdup_printf("%s_%s", hook->argument, hook->second)
                          : *hook->argument ? g_strdup_printf("%s_%s", hook->word, hook->argument)
                                            : g_strdup(hook->word);
  for (guint i = 0; i < instance->functions->len; i++) {
    const Function *f = instance->functions->pdata[i];
    if (f->kind != FUNCTION_HANDLER && handles == (f->kind == FUNCTION_RESET) && !strcmp(f->name, full)) return true;
  }
  return false;
}

static bool check_declared(const Instance *instance, const ModuleSource *source) {
  bool fine = true;
  for (guint i = 0; i < source->hooks->len; i++) {
    const Hook *hook = source->hooks->pdata[i];
    if (is_declared(instance, hook)) continue;
    Location at = {g_intern_string(source->file), hook->line, 1, hook->line, (int)strlen(hook->word) + 1};
    diag_error(at, "undeclared-function", "%s(%s%s%s) is not declared by module %s", hook->word, hook->argument,
               *hook->second ? ", " : "", hook->second, instance->module_name);
    diag_note(instance->leaf->location, "the module is declared here");
    fine = false;
  }
  return fine;
}

static bool read_by_code(const Instance *instance, const char *parameter) {
  g_autofree char *form = g_strdup_printf("\\bparam\\s*\\(\\s*%s\\s*\\)", parameter);
  for (guint i = 0; i < instance->userpoints->len; i++) {
    const Userpoint *userpoint = instance->userpoints->pdata[i];
    if (userpoint->code && g_regex_match_simple(form, userpoint->code->string, 0, 0)) return true;
  }
  return false;
}

// What only init reads would change nothing when it is set later.
static bool check_parameters(const Instance *instance, const ModuleSource *source) {
  bool fine = true;
  for (guint i = 0; i < instance->parameters->len; i++) {
    const Parameter *parameter = instance->parameters->pdata[i];
    if (!parameter->runtime || parameter->initial || !module_source_starts_with(source, parameter->name) ||
        read_by_code(instance, parameter->name))
      continue;
    diag_error(parameter->location, "reset-parameter",
               "only init reads `%s`, so that it would change nothing when it is set later: declare `runtime init "
               "parameter` or `handler reset(%s)`",
               parameter->name, parameter->name);
    fine = false;
  }
  return fine;
}

static bool check_cut(const Instance *leaf, const ModuleSource *source) {
  g_autoptr(Halves) halves = halves_find(leaf, source);
  return halves_fine(halves);
}

bool plan_check(const Plan *plan) {
  g_autoptr(GHashTable) checked = g_hash_table_new(NULL, NULL), cut = g_hash_table_new(NULL, NULL);
  bool fine = true;
  for (guint i = 0; i < plan->schedule->clusters->len; i++) {
    const Cluster *cluster = plan->schedule->clusters->pdata[i];
    for (guint k = 0; k < cluster->leaves->len; k++) {
      const Instance *leaf = cluster->leaves->pdata[k];
      const ModuleSource *source = g_hash_table_lookup(plan->sources, leaf->leaf->c_file);
      if (leaf->cut && !leaf->elsewhere && g_hash_table_add(cut, (gpointer)leaf->leaf)) fine &= check_cut(leaf, source);
      if (!g_hash_table_add(checked, (gpointer)leaf->leaf)) continue;
      fine &= check_defined(leaf, source);
      fine &= check_declared(leaf, source);
      fine &= check_parameters(leaf, source);
      fine &= state_words_check(leaf, source);
    }
  }
  return fine;
}
