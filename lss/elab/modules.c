// Modules as values: the module that an expression denotes, the settings that it brings, as in
// `wide_processor(width = 4)`, and whether it fits where it is used.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/base/library.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"
#include "lss/front/expected.h"

#include <string.h>

const char *module_suggestion(const Expr *expr) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  GHashTableIter iter;
  gpointer key, value;
  g_hash_table_iter_init(&iter, compile->globals->names);
  while (g_hash_table_iter_next(&iter, &key, &value))
    if (((Symbol *)value)->node->kind == NODE_MODULE) g_ptr_array_add(names, key);
  g_autoptr(GPtrArray) folders = library_folders(compile->options, expr->location.file);
  g_autoptr(GPtrArray) found = library_all_names(folders);
  for (guint i = 0; i < found->len; i++) g_ptr_array_add(names, found->pdata[i]);
  const char *nearest = diag_suggestion(expr->text, names);
  return nearest ? arena_strdup(nearest) : NULL;
}

static void report_unknown(const Expr *expr) {
  problem(expr->location, "unknown-module", "there is no module `%s`%s%s", expr->text,
          did_you_mean(module_suggestion(expr)), library_missing());
}

Symbol *module_named(const Value *value) {
  return g_hash_table_lookup(compile->globals->names, value->string);
}

Value *module_called(const char *name, Location where) {
  const Symbol *symbol = arena_lookup(compile->globals->names, name);
  if (!symbol) symbol = load_module(name);
  if (!symbol || symbol->kind != SYMBOL_DECLARATION || symbol->node->kind != NODE_MODULE) return NULL;
  Value *value = value_new(VALUE_MODULE, where);
  value->string = symbol->name;
  return value;
}

void take_module_meant(Setting *setting, const Expr *type) {
  if (!setting || !setting->alias || type->kind != EXPR_NAME || strcmp(type->text, "module") != 0) return;
  const Location where = setting->value ? setting->value->location : setting->place;
  Value *module = module_called(setting->alias->name, where);
  if (!module) return;
  setting->alias = NULL;
  setting->value = module;
}

Symbol *module_or_list(Scope *scope, Expr *expr, const Value **value) {
  *value = NULL;
  if (expr->kind == EXPR_NAME) {
    Symbol *symbol = scope_find_module(scope, expr->text);
    if (!symbol || (symbol->kind != SYMBOL_DECLARATION && symbol->kind != SYMBOL_VALUE)) {
      Symbol *loaded = load_module(expr->text);
      if (loaded) symbol = loaded;
    }
    if (!symbol) {
      report_unknown(expr);
      return NULL;
    }
    if (symbol->kind == SYMBOL_DECLARATION && symbol->node->kind == NODE_MODULE) return symbol;
    if (!check_passed_name(symbol, expr->location)) return NULL;
    if (symbol->kind == SYMBOL_DECLARATION) {
      problem(expr->location, "unknown-module", "`%s` is a %s, not a module", expr->text,
              node_kind_name(symbol->node->kind));
      diag_note(symbol->place, "declared here");
      return NULL;
    }
  }
  const Value *found = evaluate(scope, expr);
  if (!found) return NULL;
  const Value *wrong = found->kind == VALUE_MODULE ? NULL : found;
  if (found->kind == VALUE_LIST) {
    wrong = NULL;
    for (guint i = 0; i < found->items->len && !wrong; i++)
      if (((const Value *)found->items->pdata[i])->kind != VALUE_MODULE) wrong = found->items->pdata[i];
  }
  if (wrong) {
    problem(expr->location, "value-type", "a module is expected here, not %s", value_kind_text(wrong));
    return NULL;
  }
  *value = found;
  return found->kind == VALUE_LIST ? NULL : module_named(found);
}

Symbol *module_of(Scope *scope, Expr *expr, const Value **value) {
  Symbol *module = module_or_list(scope, expr, value);
  if (module || !*value) return module;
  problem(expr->location, "value-type", "a module is expected here, not a list of them");
  *value = NULL;
  return NULL;
}

// ---- Settings that a value brings
// ------------------------------------------------------------------------------------

static void add_setting(Value *module, const char *name, Value *value) {
  for (guint i = 0; i < module->names->len; i++) {
    if (strcmp(module->names->pdata[i], name) != 0) continue;
    module->items->pdata[i] = value;
    return;
  }
  g_ptr_array_add(module->names, (gpointer)name);
  g_ptr_array_add(module->items, value);
}

Value *module_with_settings(Scope *scope, Expr *expr) {
  const Value *base;
  const Symbol *module = module_of(scope, expr->left, &base);
  if (!module) return NULL;
  Value *result = value_new(VALUE_MODULE, expr->location);
  result->string = module->name;
  result->names = arena_array();
  result->items = arena_array();
  for (guint i = 0; base && base->items && i < base->items->len; i++)
    add_setting(result, base->names->pdata[i], base->items->pdata[i]);
  bool fine = true;
  for (guint i = 0; i < expr->items->len; i++) {
    const char *name = expr->names->pdata[i];
    const Location place = *(const Location *)expr->places->pdata[i];
    for (guint k = 0; k < i; k++) {
      if (strcmp(expr->names->pdata[k], name) != 0) continue;
      problem(place, "duplicate-name", "`%s` is set twice", name);
      fine = false;
    }
    Value *item = evaluate(scope, expr->items->pdata[i]);
    if (item)
      add_setting(result, name, value_at(item, place)); // where messages about it point
    else
      fine = false;
  }
  return fine ? result : NULL;
}

Value *module_setting(const Value *module, const char *name) {
  return module && module->items ? value_field(module, name) : NULL;
}

void give_setting(Inst *inst, const char *name, Value *value) {
  const Setting *given = find_setting(inst, name);
  if (given && given->by_machine) {
    report_fixed_by_machine(given, value->location);
    return;
  }
  Setting *setting = arena_new(Setting);
  *setting = (Setting){.name = name, .place = value->location, .value = value, .by_module = true};
  g_ptr_array_add(inst->settings, setting);
}

void give_settings(Inst *inst, const Value *module) {
  for (guint i = 0; module && module->items && i < module->items->len; i++)
    give_setting(inst, module->names->pdata[i], module->items->pdata[i]);
}

// ---- Whether a module fits ---------------------------------------------------------------------------------
// One that comes by a value must be of the kind that the body around it expects.  This is found out before it is
// elaborated, as its own errors would say less.

static const Node *find_module(const char *name, gpointer unused) {
  (void)unused;
  const Symbol *symbol = arena_lookup(compile->globals->names, name);
  if (!symbol) symbol = load_module(name);
  return symbol && symbol->node->kind == NODE_MODULE ? symbol->node : NULL;
}

const char *part_of_default(const Node *parameter) {
  const Expr *example = parameter && parameter->kind == NODE_PARAMETER ? parameter->value : NULL;
  if (example && example->kind == EXPR_CALL) example = example->left;
  return example && example->kind == EXPR_NAME ? example->text : NULL;
}

const char *part_suggestion(const char *name, const char *like) {
  const char *kind = like ? strrchr(like, '_') : NULL, *word = strrchr(name, '_');
  if (!kind) return NULL;
  const char *longer = arena_printf("%s%s", name, kind);
  if (find_module(longer, NULL)) return longer;
  const char *other = word ? arena_printf("%.*s%s", (int)(word - name), name, kind) : NULL;
  return other && strcmp(other, name) != 0 && find_module(other, NULL) ? other : NULL;
}

// "; did you mean `fast_processor`?", or "; it must be one like `scalar_processor`", where a parameter chooses the
// module and has a default.
static const char *cure_of(const Node *instance, const GPtrArray *body, const char *name) {
  const Node *parameter = instance->type->kind == EXPR_NAME ? body_declaration(body, instance->type->text) : NULL;
  const char *like = part_of_default(parameter), *meant = part_suggestion(name, like);
  return meant ? did_you_mean(meant) : like ? arena_printf("; it must be one like `%s`", like) : "";
}

static void refuse(const Node *instance, const GPtrArray *body, const Symbol *module, const Value *value,
                   const char *why) {
  const Location where = value->location.file ? value->location : instance->type->location;
  problem(where, "part-unfit", "module `%s` cannot be `%s` here: %s%s", module->name, expr_text(instance->type), why,
          cure_of(instance, body, module->name));
}

static bool check_fits(const Node *instance, const GPtrArray *body, const Symbol *module, const Value *value) {
  g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
  const bool wraps = instance->kind == NODE_WRAPS;
  const bool is_known = body_declares(names, module->node->body, find_module, NULL);
  const Node *clash = wraps ? body_clash(body, instance, module->node, find_module, NULL) : NULL;
  if (clash) {
    const Node *declared = body_declaration(body, clash->name);
    const char *kind = node_kind_name(declared->kind);
    refuse(instance, body, module, value, arena_printf("both have a %s `%s`", kind, clash->name));
    diag_note(declared->place, "`%s` is declared here", clash->name);
    return false;
  }
  MissingName missing;
  if (!is_known || !body_misses(body, instance, names, &missing)) return true;
  refuse(instance, body, module, value, arena_printf("it has no `%s`", missing.name));
  diag_note(missing.place, "`%s` is used here", missing.text);
  return false;
}

bool part_fits(Node *instance, const GPtrArray *body, const Symbol *module, const Value *value) {
  if (instance->fitting == module->node) return true;
  if (!check_fits(instance, body, module, value)) return false;
  instance->fitting = module->node;
  return true;
}
