// What is said of a machine from outside: by files that extend it, `extends host { ... }`, by a netlist of which it is
// a part, and on the command line, -D NAME=VALUE of its own parameters, -D PATH.NAME=VALUE of those of instances
// inside, which nobody else sets.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/base/library.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"
#include "lss/runtime/text/pattern.h"

#include <string.h>

// ---- Files that are machines -------------------------------------------------------------------------------

// Who adds to a machine needs all of it: what a file that extends one says is settings alone.
static bool check_alone(const SourceFile *file, const Node *extends) {
  bool fine = true;
  for (guint i = 0; i < file->nodes->len; i++) {
    const Node *node = file->nodes->pdata[i];
    if (node == extends || node->kind == NODE_IMPORT) continue;
    diag_error(node->location, "misplaced", "a file that extends a machine has settings of it and imports, no %s",
               node_kind_name(node->kind));
    diag_note(extends->location, "`%s` is extended here", extends->name);
    fine = false;
  }
  return fine;
}

void load_extended(SourceFile *file) {
  const Node *extends = file_extends(file);
  if (!extends || !check_alone(file, extends)) return;
  g_autoptr(GPtrArray) folders = library_machine_folders(compile->options, file->path);
  g_autofree char *path = library_find(folders, extends->name);
  if (!path) {
    diag_error(extends->place, "import-missing", "there is no machine %s.lss", extends->name);
    diag_note(NOWHERE, "looked in the folder of this file, the folders of -I and LSS_PATH, and the examples");
    return;
  }
  const int errors = diag_error_count();
  SourceFile *base = load_file(path, extends->place);
  if (!base || diag_error_count() > errors) return;
  if (!file_is_machine(base))
    diag_error(extends->place, "import-missing", "%s is no machine: it has declarations alone", base->path);
  else
    file->base = base;
}

Symbol *declare_machine(SourceFile *file) {
  g_autofree char *base = g_path_get_basename(file->path);
  const char *name = arena_strndup(base, strlen(base) - strlen(".lss"));
  SourceFile *bottom = file;
  while (bottom->base) bottom = bottom->base;
  Node *node = file_machine(file, bottom, name);
  node->location = ((const Node *)file->nodes->pdata[0])->location;
  node->place = (Location){file->path, 1, 1, 1, 1};
  Symbol *symbol = scope_declare(compile->globals, SYMBOL_DECLARATION, name, node->place);
  if (!symbol) return NULL;
  symbol->node = node;
  symbol->file = bottom;
  return symbol;
}

// ---- What files that extend a machine say ------------------------------------------------------------------

// Of one parameter.
typedef struct {
  const Node *node; // NODE_ASSIGN, which fixes it, or NODE_DEFAULT
  Value *value;     // NULL where only a range or a text is said, and after errors
  SourceFile *file;
  bool used;
} Said;

static void say(GPtrArray *all, SourceFile *file, const Node *node) {
  for (guint i = 0; i < all->len; i++) {
    const Said *other = all->pdata[i];
    if (strcmp(other->node->name, node->name) != 0) continue;
    if (other->file == file) {
      problem(node->place, "duplicate-name", "`%s` is set twice", node->name);
      diag_note(other->node->place, "first set here");
      return;
    }
    if (node->kind != NODE_ASSIGN) continue;
    g_autofree char *base = g_path_get_basename(file->path);
    problem(other->node->place, "parameter-fixed", "`%s` is fixed by %s; `default %s = ...;` there would leave it open",
            node->name, base, node->name);
    diag_note(node->place, "fixed here");
    return;
  }
  SourceFile *before = compile->reading;
  compile->reading = file;
  Said *said = arena_new(Said);
  *said = (Said){.node = node, .value = node->value ? evaluate(file_scope(file), node->value) : NULL, .file = file};
  compile->reading = before;
  g_ptr_array_add(all, said);
}

// Outer files come first.
static GPtrArray *all_said(SourceFile *machine) {
  GPtrArray *all = g_hash_table_lookup(compile->machines, machine->path);
  if (all) return all;
  all = arena_array();
  g_hash_table_insert(compile->machines, (gpointer)machine->path, all);
  for (SourceFile *file = machine; file->base; file = file->base) {
    const GPtrArray *settings = file_extends(file)->body;
    for (guint i = 0; i < settings->len; i++) {
      const Node *setting = settings->pdata[i];
      if (setting->optional)
        problem(setting->location, "misplaced", "`optional` is for instances whose module comes by a value");
      else
        say(all, file, setting);
    }
  }
  return all;
}

bool replace_by_machine(SourceFile *machine, Declaration *from) {
  const GPtrArray *all = machine && machine->base ? all_said(machine) : NULL;
  const Node *outermost = NULL;
  for (guint i = all ? all->len : 0; i-- > 0;) { // outer ones take the place of inner ones
    Said *said = all->pdata[i];
    if (strcmp(said->node->name, from->node->name) != 0) continue;
    if (!outermost) from->node = node_copy(from->node);
    said->used = true;
    outermost = said->node;
    if (said->value) from->node->value = expr_of_value(said->value);
    if (said->node->doc) from->node->doc = said->node->doc;
    if (!said->node->range) continue;
    from->node->range = said->node->range;
    from->ranges = compile->globals;
  }
  return outermost && outermost->kind == NODE_ASSIGN;
}

void check_machine_settings(const Inst *inst) {
  if (!inst->machine || !inst->machine->base) return;
  const GPtrArray *all = all_said(inst->machine);
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < inst->instance->parameters->len; i++)
    g_ptr_array_add(names, (gpointer)((const Parameter *)inst->instance->parameters->pdata[i])->name);
  for (guint i = 0; i < all->len; i++) {
    Said *said = all->pdata[i];
    if (said->used) continue;
    said->used = true; // said once, of however many instances
    problem(said->node->place, "unknown-parameter", "the machine has no parameter `%s`%s", said->node->name,
            did_you_mean(diag_suggestion(said->node->name, names)));
  }
}

void report_fixed_by_machine(const Setting *setting, Location place) {
  problem(place, "parameter-fixed", "`%s` is fixed by %s; `default %s = ...;` there would leave it open", setting->name,
          setting->by_machine, setting->name);
  diag_note(setting->place, "fixed here");
}

void take_machine(Inst *inst, SourceFile *file) {
  inst->machine = file;
  if (!inst->instance->doc) inst->instance->doc = file->doc;
  for (SourceFile *base = file; base; base = base->base) {
    inst->file = base;
    if (!inst->instance->doc) inst->instance->doc = base->doc;
  }
  if (!inst->body) inst->body = inst->file->nodes;
  inst->scope->parent = file_scope(inst->file);
  const GPtrArray *all = all_said(file);
  for (guint i = 0; i < all->len; i++) {
    Said *said = all->pdata[i];
    if (said->node->kind != NODE_ASSIGN || !said->value) continue;
    Setting *setting = arena_new(Setting);
    g_autofree char *name = g_path_get_basename(said->file->path);
    *setting = (Setting){
        .name = said->node->name, .place = said->node->place, .value = said->value, .by_machine = arena_strdup(name)};
    said->used = true; // where there is no such parameter, the setting says so
    g_ptr_array_add(inst->settings, setting);
  }
}

// ---- The command line --------------------------------------------------------------------------------------

// A value for instances whose path fits a pattern.
typedef struct {
  const char *pattern, *name;
  Setting *setting;
  bool used;
} PathDefine;

static void add_define(Inst *top, const char *name, const char *text) {
  const char *file = g_intern_string(arena_printf("-D %s", name)), *dot = strrchr(name, '.');
  Setting *setting = dot ? NULL : find_setting(top, name); // the last one of several counts
  Setting *fixed = setting && setting->by_machine ? setting : NULL;
  const bool first = !setting;
  if (first || fixed) setting = arena_new(Setting);
  setting->name = dot ? dot + 1 : name;
  setting->define = arena_strdup(text);
  diag_register_text(file, setting->define);
  setting->place = (Location){file, 1, 1, 1, (int)strlen(setting->define) + 1};
  if (dot) {
    PathDefine *define = arena_new(PathDefine);
    *define = (PathDefine){.pattern = arena_strndup(name, (gsize)(dot - name)), .name = dot + 1, .setting = setting};
    g_ptr_array_add(compile->defines, define);
  } else if (fixed) {
    report_fixed_by_machine(fixed, setting->place);
  } else if (first) {
    g_ptr_array_add(top->settings, setting);
  }
}

void take_defines(Inst *top) {
  const GPtrArray *all = compile->options->defines;
  for (guint i = 0; all && i < all->len; i++) {
    const char *text = all->pdata[i], *equals = strchr(text, '=');
    add_define(top, arena_strndup(text, (gsize)(equals - text)), equals + 1);
  }
}

static void report_fixed(const Inst *inst, const PathDefine *define, const Setting *given) {
  const char *name = define->name;
  if (given->by_wraps)
    problem(define->setting->place, "parameter-fixed", "`%s` of %s is that of the module around it: -D %s=VALUE", name,
            inst_title(inst), inst_path_of(inst->parent, name));
  else
    problem(
        define->setting->place, "parameter-fixed",
        "`%s` of %s is set by the netlist; to set it with -D, declare `parameter %s = VALUE : TYPE;` at the top and "
        "pass it",
        name, inst_title(inst), name);
  diag_note(given->place, given->by_wraps ? "declared here" : "set here");
}

Setting *defined_setting(Inst *inst, const char *name, Setting *given) {
  const PathDefine *last = NULL; // of several the last one counts
  for (guint i = 0; i < compile->defines->len; i++) {
    PathDefine *define = compile->defines->pdata[i];
    if (strcmp(define->name, name) != 0 || !spinach_path_matches(define->pattern, inst->instance->path)) continue;
    define->used = true;
    last = define;
  }
  if (!last || (given && given->define)) return given; // the second: it was asked for before
  if (given) {
    report_fixed(inst, last, given);
    return given;
  }
  Setting *setting = arena_new(Setting);
  *setting = *last->setting;
  g_ptr_array_add(inst->settings, setting);
  return setting;
}

static void report_unused(const PathDefine *define) {
  g_autoptr(GPtrArray) paths = g_ptr_array_new(), names = g_ptr_array_new();
  const Inst *found = NULL;
  for (guint i = 0; i < compile->insts->len && !found; i++) {
    const Inst *inst = compile->insts->pdata[i];
    g_ptr_array_add(paths, (gpointer)inst->instance->path);
    if (spinach_path_matches(define->pattern, inst->instance->path)) found = inst;
  }
  if (!found) {
    problem(define->setting->place, "unknown-parameter", "there is no instance `%s`%s", define->pattern,
            did_you_mean(diag_suggestion(define->pattern, paths)));
    return;
  }
  for (guint i = 0; i < found->instance->parameters->len; i++)
    g_ptr_array_add(names, (gpointer)((const Parameter *)found->instance->parameters->pdata[i])->name);
  problem(define->setting->place, "unknown-parameter", "%s has no parameter `%s`%s", inst_title(found), define->name,
          did_you_mean(diag_suggestion(define->name, names)));
}

void check_defines(void) {
  for (guint i = 0; i < compile->defines->len; i++) {
    const PathDefine *define = compile->defines->pdata[i];
    if (!define->used) report_unused(define);
  }
}
