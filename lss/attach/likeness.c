// Parts of a network that are alike: of those with the same module, the same compile-time settings and the same
// connections, one is elaborated, and the others are ports with nothing behind them.  So a thousand hosts cost as much
// as one.
//
// Settings of run-time parameters may differ.  They are those of the part itself, and those in the values of modules,
// `cards = [card(address = "...")]`, wherever in the part these come to be instances.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"

#include <string.h>

// ---- What is set at run time ---------------------------------------------------------------------------------------

static const Parameter *runtime_parameter(const Inst *inst, const char *name) {
  for (guint i = 0; i < inst->instance->parameters->len; i++) {
    const Parameter *parameter = inst->instance->parameters->pdata[i];
    if (!strcmp(parameter->name, name)) return parameter->runtime ? parameter : NULL;
  }
  return NULL;
}

// A run-time parameter in a part, by its name there.
typedef struct {
  const char *name;
  const Parameter *parameter;
} RuntimeName;

// Whether the parameter takes the value as it takes the known one; else the part is elaborated, and says what is wrong.
static bool is_fit(const Parameter *parameter, const Value *known, const Value *value) {
  const bool number = value->kind == VALUE_INT && known->kind == VALUE_FLOAT;
  if ((value->kind != known->kind && !number) || value->dimension != known->dimension) return false;
  return !(parameter->least && value_order(value, parameter->least) < 0) &&
         !(parameter->most && value_order(value, parameter->most) > 0);
}

// Values that modules brought for run-time parameters of instances in a part, with the names of these in it.
static void find_runtime(const Inst *part, const Inst *inst, GHashTable *names) {
  for (guint i = 0; i < inst->settings->len; i++) {
    const Setting *setting = inst->settings->pdata[i];
    const Parameter *parameter = runtime_parameter(inst, setting->name);
    if (!setting->by_module || !setting->value || !parameter) continue;
    const char *path = inst_path_of(inst, setting->name);
    GPtrArray *all = g_hash_table_lookup(names, setting->value);
    if (!all) g_hash_table_insert(names, setting->value, all = arena_array());
    RuntimeName *name = arena_new(RuntimeName);
    *name = (RuntimeName){path + strlen(part->instance->path) + 1, parameter};
    g_ptr_array_add(all, name);
  }
  for (guint i = 0; i < inst->children->len; i++) find_runtime(part, inst->children->pdata[i], names);
}

static void add_setting(GPtrArray *settings, const char *name, const Value *value) {
  PartSetting *setting = arena_new(PartSetting);
  *setting = (PartSetting){name, value};
  g_ptr_array_add(settings, setting);
}

// Whether two values are the same but for what is set at run time, which is added to `settings`.
static bool values_alike(const Value *known, const Value *value, GHashTable *names, GPtrArray *settings) {
  if (!known || !value) return known == value;
  if (value_equal(known, value)) return true;
  const GPtrArray *all = g_hash_table_lookup(names, known);
  for (guint i = 0; all && i < all->len; i++) {
    const RuntimeName *name = all->pdata[i];
    if (!is_fit(name->parameter, known, value)) return false;
    add_setting(settings, name->name, value);
  }
  if (all) return true;
  const bool lists = known->kind == VALUE_LIST, modules = known->kind == VALUE_MODULE;
  if (known->kind != value->kind || (!lists && !modules) || !known->items || !value->items ||
      known->items->len != value->items->len || (modules && strcmp(known->string, value->string) != 0))
    return false;
  for (guint i = 0; i < known->items->len; i++) {
    if (modules && strcmp(known->names->pdata[i], value->names->pdata[i]) != 0) return false;
    if (!values_alike(known->items->pdata[i], value->items->pdata[i], names, settings)) return false;
  }
  return true;
}

static bool settings_alike(const Inst *known, const Inst *inst, GHashTable *names, GPtrArray *settings) {
  if (known->settings->len != inst->settings->len) return false;
  for (guint i = 0; i < inst->settings->len; i++) {
    const Setting *setting = inst->settings->pdata[i], *other = find_setting(known, setting->name);
    if (!other || other->alias != setting->alias || other->absent != setting->absent || setting->define ||
        other->define)
      return false;
    const Parameter *parameter = other->alias ? NULL : runtime_parameter(known, setting->name);
    if (parameter) {
      if (!setting->value || !other->value || !is_fit(parameter, other->value, setting->value)) return false;
      if (!value_equal(other->value, setting->value)) add_setting(settings, setting->name, setting->value);
    } else if (!values_alike(other->value, setting->value, names, settings)) {
      return false;
    }
  }
  return true;
}

// ---- What is connected ---------------------------------------------------------------------------------------------

static bool uses_alike(const Use *one, const Use *other) {
  if (one->mode != other->mode || one->width != other->width || !one->lanes != !other->lanes) return false;
  for (guint i = 0; one->lanes && i < one->lanes->len; i++)
    if (strcmp(((KeyedLane *)one->lanes->pdata[i])->key, ((KeyedLane *)other->lanes->pdata[i])->key) != 0) return false;
  return true;
}

static bool connections_alike(Inst *known, Inst *inst) {
  const guint count = inst->outer ? inst->outer->len : 0;
  if (count != (known->outer ? known->outer->len : 0)) return false;
  for (guint i = 0; i < count; i++) {
    const Use *use = inst->outer->pdata[i], *other = find_use(known, false, use->port, use->member);
    if (!other || !uses_alike(use, other)) return false;
  }
  return true;
}

// ---- Parts ---------------------------------------------------------------------------------------------------------

// Whether -D names something in the part, which others do not get.
static bool is_defined(const Inst *inst) {
  const GPtrArray *defines = compile->options->defines;
  g_autofree char *prefix = g_strconcat(inst->instance->path, ".", NULL);
  for (guint i = 0; defines && i < defines->len; i++)
    if (g_str_has_prefix(defines->pdata[i], prefix)) return true;
  return false;
}

static bool has_own_body(const Inst *inst) {
  const GPtrArray *bodies = compile->options->bodies;
  return is_defined(inst) ||
         (bodies && g_ptr_array_find_with_equal_func((GPtrArray *)bodies, inst->instance->path, g_str_equal, NULL));
}

static bool is_like(Inst *known, Inst *inst, GPtrArray *settings) {
  const Clock *one = known->clock_value ? known->clock_value->clock : NULL,
              *other = inst->clock_value ? inst->clock_value->clock : NULL;
  if (known->module != inst->module || known->machine != inst->machine || one != other || known->says_name ||
      is_defined(known) || !connections_alike(known, inst))
    return false;
  g_autoptr(GHashTable) names = g_hash_table_new(NULL, NULL);
  find_runtime(known, known, names);
  return settings_alike(known, inst, names, settings);
}

// Stands for a part that is like another one.
static void stand_in(Inst *inst, Inst *known) {
  inst->like = known;
  compile->running = inst;
  g_ptr_array_add(compile->insts, inst);
  for (guint i = 0; i < known->port_list->len; i++) declare_port_like(known->port_list->pdata[i]);
  compile->running = NULL;
}

static void add_in_order(Inst *inst, GHashTable *run, GPtrArray *order) {
  if (!g_hash_table_contains(run, inst)) return;
  g_ptr_array_add(order, inst);
  for (guint i = 0; i < inst->children->len; i++) add_in_order(inst->children->pdata[i], run, order);
}

// As if no body had waited.
static void restore_order(void) {
  g_autoptr(GHashTable) run = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < compile->insts->len; i++) g_hash_table_add(run, compile->insts->pdata[i]);
  GPtrArray *order = arena_array();
  add_in_order(compile->insts->pdata[0], run, order);
  compile->insts = order;
}

void run_parts(void) {
  if (!compile->options->parts || compile->halted) return;
  for (guint i = 0; i < compile->waiting->len && !compile->halted; i++) {
    Inst *inst = compile->waiting->pdata[i];
    Part *part = part_new(inst);
    for (guint k = 0; k < i && !inst->like && !has_own_body(inst); k++) {
      Inst *known = compile->waiting->pdata[k];
      g_ptr_array_set_size(part->settings, 0);
      if (!known->like && is_like(known, inst, part->settings)) stand_in(inst, known);
    }
    if (inst->like) {
      part->like = inst->like->instance;
      continue;
    }
    g_ptr_array_set_size(part->settings, 0);
    compile->in_part = inst;
    inst_run(inst);
    compile->in_part = NULL;
  }
  restore_order();
}
