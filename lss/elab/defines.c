// Values from the command line: -D NAME=VALUE of the machine's own parameters, -D PATH.NAME=VALUE of those of instances
// inside, which nobody else sets.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/elaborate.h"
#include "lss/runtime/text/pattern.h"

#include <string.h>

// A value for instances whose path fits a pattern.
typedef struct {
  const char *pattern, *name;
  Setting *setting;
  bool used;
} PathDefine;

static void add_define(Inst *top, const char *name, const char *text) {
  const char *file = g_intern_string(arena_printf("-D %s", name)), *dot = strrchr(name, '.');
  Setting *setting = dot ? NULL : find_setting(top, name); // the last one of several counts
  const bool first = !setting;
  if (first) setting = arena_new(Setting);
  setting->name = dot ? dot + 1 : name;
  setting->define = arena_strdup(text);
  diag_register_text(file, setting->define);
  setting->place = (Location){file, 1, 1, 1, (int)strlen(setting->define) + 1};
  if (dot) {
    PathDefine *define = arena_new(PathDefine);
    *define = (PathDefine){.pattern = arena_strndup(name, (gsize)(dot - name)), .name = dot + 1, .setting = setting};
    g_ptr_array_add(compile->defines, define);
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
    problem(define->setting->place, "parameter-fixed", "`%s` of %s is set by the netlist", name, inst_title(inst));
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
