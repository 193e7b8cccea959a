// The tables of parameters: runtime parameters with the places that hold them, compile-time ones for the manifest and,
// with what else makes a machine this one, for checkpoints.
#include "lss/base/library.h"
#include "lss/elab/value.h"
#include "lss/emit/emit.h"

#include <string.h>

typedef struct {
  const Parameter *outermost;
  const Instance *declarer;  // of the outermost
  const Value *least, *most; // what all that share the parameter allow
  GString *targets, *aliases;
  int target_count;
  bool initial; // somebody reads it when the run starts only
} Group;

static void narrow(Group *group, const Parameter *parameter) {
  if (parameter->least && (!group->least || value_order(parameter->least, group->least) > 0))
    group->least = parameter->least;
  if (parameter->most && (!group->most || value_order(parameter->most, group->most) < 0)) group->most = parameter->most;
}

// ", text, least integer, most integer, least real, most real": those that do not apply allow everything.
static void emit_range(GString *table, const Group *group, bool real) {
  const Value *bounds[] = {group->least, group->most};
  const char *everything[] = {"INT64_MIN", "INT64_MAX", "-__DBL_MAX__", "__DBL_MAX__"};
  g_string_append(table, ", ");
  const char *text = value_range_text(group->least, group->most);
  if (text)
    emit_quoted(table, text);
  else
    g_string_append(table, "NULL");
  for (int i = 0; i < 4; i++) {
    g_string_append(table, ", ");
    if (bounds[i % 2] && real == (i >= 2))
      emit_value(table, bounds[i % 2]);
    else
      g_string_append(table, everything[i]);
  }
}

static char *parameter_key(const Instance *instance, const Parameter *parameter) {
  if (parameter->alias_of) return g_strdup(*parameter->alias_of == '.' ? parameter->alias_of + 1 : parameter->alias_of);
  return *instance->path ? g_strdup_printf("%s.%s", instance->path, parameter->name) : g_strdup(parameter->name);
}

static void add_target(const Emitter *emitter, Group *group, const Instance *instance, const Parameter *parameter) {
  g_autofree char *spec = emit_spec_name(emitter, instance);
  g_string_append_printf(group->targets, "{%d, offsetof(%s_state, rt_%s), ", instance->id, spec, parameter->name);
  if (emit_runtime_type(parameter)) {
    g_string_append(group->targets, "0}, ");
  } else {
    const Cluster *cluster = emitter->plan->schedule->cluster_of[instance->id];
    const char *kind = emitter->kind_of[cluster->id]->name;
    const int leaf = plan_leaf_index(cluster, instance);
    g_string_append_printf(group->targets, "offsetof(%s_state, text%d_%s) - offsetof(%s_state, %s)}, ", kind, leaf,
                           parameter->name, kind, emit_leaf(emitter, instance));
  }
  group->target_count++;
}

static Group *group_new(const Instance *declarer, const Parameter *outermost) {
  Group *group = g_new0(Group, 1);
  *group = (Group){
      .outermost = outermost, .declarer = declarer, .targets = g_string_new(NULL), .aliases = g_string_new(NULL)};
  return group;
}

static void group_free(gpointer data) {
  Group *group = data;
  g_string_free(group->targets, TRUE);
  g_string_free(group->aliases, TRUE);
  g_free(group);
}

static void join_group(const Emitter *emitter, Group *group, const Instance *instance, const Parameter *parameter) {
  narrow(group, parameter);
  group->initial |= parameter->initial && instance->leaf;
  if (parameter->alias_of) {
    g_autofree char *own =
        *instance->path ? g_strdup_printf("%s.%s", instance->path, parameter->name) : g_strdup(parameter->name);
    emit_quoted(group->aliases, own);
    g_string_append(group->aliases, ", ");
  }
  if (instance->leaf) add_target(emitter, group, instance, parameter);
}

// "cpu.core (mips_wide_core)": the instance that the outermost name is passed on from, and its module; of an array the
// name alone.  NULL for what a module declares itself.
static char *wrapped_text(const Group *group) {
  const char *of = group->outermost->of;
  if (!of) return NULL;
  const Instance *declarer = group->declarer;
  const char *module = NULL;
  for (guint i = 0; i < declarer->children->len && !module; i++) {
    const Instance *child = declarer->children->pdata[i];
    const gsize length = strlen(of);
    if (!strncmp(child->name, of, length) && (child->name[length] == '\0' || child->name[length] == '['))
      module = child->module_name;
  }
  return g_strdup_printf("%s%s%s (%s)", declarer->path, *declarer->path ? "." : "", of, module);
}

static void emit_group(GString *table, const char *key, const Group *group, guint number) {
  const Parameter *p = group->outermost;
  const char *type = emit_runtime_type(p);
  const char *kind = !type ? "STRING" : !strcmp(type, "bool") ? "BOOL" : !strcmp(type, "double") ? "FLOAT" : "INT";
  g_autofree char *of = wrapped_text(group);
  g_string_append(table, "  {");
  emit_quoted(table, key);
  g_string_append(table, ", ");
  emit_quoted(table, p->type_name);
  g_string_append(table, ", ");
  emit_quoted(table, p->doc);
  g_string_append(table, ", ");
  if (of)
    emit_quoted(table, of);
  else
    g_string_append(table, "NULL");
  g_string_append_printf(table, ", SPINACH_PARAMETER_%s, ", kind);
  g_autoptr(GString) value = g_string_new(NULL);
  if (p->value) emit_value(value, p->value);
  const bool string = !type, real = type && !strcmp(type, "double");
  g_string_append_printf(table, "%s, %s, %s", string || real || !value->len ? "0" : value->str,
                         real && value->len ? value->str : "0", string && value->len ? value->str : "\"\"");
  emit_range(table, group, real);
  g_string_append_printf(table, ", %s, %d, spinach_table_targets_%u, spinach_table_aliases_%u},\n",
                         group->initial ? "true" : "false", group->target_count, number, number);
}

int emit_runtime_parameters(const Emitter *emitter, GString *out) {
  g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GHashTable) groups = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, group_free);
  for (guint i = 0; i < emitter->plan->netlist->instances->len; i++) {
    const Instance *instance = emitter->plan->netlist->instances->pdata[i];
    for (guint k = 0; k < instance->parameters->len; k++) {
      const Parameter *parameter = instance->parameters->pdata[k];
      if (!parameter->runtime) continue;
      g_autofree char *key = parameter_key(instance, parameter);
      Group *group = g_hash_table_lookup(groups, key);
      if (!group) {
        group = group_new(instance, parameter);
        g_hash_table_insert(groups, key, group);
        g_ptr_array_add(keys, g_steal_pointer(&key));
      }
      join_group(emitter, group, instance, parameter);
    }
  }
  g_autoptr(GString) table = g_string_new("static const spinach_parameter spinach_table_parameters[] = {\n");
  for (guint i = 0; i < keys->len; i++) {
    const char *key = keys->pdata[i];
    const Group *group = g_hash_table_lookup(groups, key);
    g_string_append_printf(out, "static const spinach_target spinach_table_targets_%u[] = {%s{-1, 0, 0}};\n", i,
                           group->targets->str);
    g_string_append_printf(out, "static const char *const spinach_table_aliases_%u[] = {%sNULL};\n", i,
                           group->aliases->str);
    emit_group(table, key, group, i);
  }
  g_string_append_printf(out, "%s  {0}\n};\n", table->str);
  return (int)keys->len;
}

static bool is_constant(const Parameter *parameter) {
  return !parameter->runtime && parameter->value && parameter->value->kind <= VALUE_ENUM;
}

int emit_constants(const Emitter *emitter, GString *out) {
  int count = 0;
  g_string_append(out, "static const spinach_constant spinach_table_constants[] = {\n");
  for (guint i = 0; i < emitter->plan->netlist->instances->len; i++) {
    const Instance *instance = emitter->plan->netlist->instances->pdata[i];
    for (guint k = 0; k < instance->parameters->len; k++) {
      const Parameter *p = instance->parameters->pdata[k];
      if (!is_constant(p)) continue;
      g_autoptr(GString) text = g_string_new(NULL);
      if (p->value->kind == VALUE_STRING)
        g_string_append(text, p->value->string);
      else
        emit_value(text, p->value);
      g_autofree char *name = *instance->path ? g_strdup_printf("%s.%s", instance->path, p->name) : g_strdup(p->name);
      g_string_append(out, "  {");
      emit_quoted(out, name);
      g_string_append(out, ", ");
      emit_quoted(out, text->str);
      g_string_append_printf(out, ", %d},\n", instance->id);
      count++;
    }
  }
  g_string_append(out, "  {0}\n};\n");
  return count;
}

// ---- Identity ----------------------------------------------------------------------------------------------------
// What makes a machine this one beyond the state that it has: of its leaves every compile-time parameter, the C of
// their userpoints and their behaviour, and macros that clang is given.  Headers come later
// (lss/build/named_headers.c).  A checkpoint names it, and a run that goes on from there compares
// (lss/runtime/checkpoint/identity.c).  How a machine is built, observed and called is no part of it.

enum { SHOWN = 60 }; // characters of a value that a message can print; of longer ones the hash is kept

static void emit_row(GString *out, const Instance *instance, const char *name, const char *text) {
  g_autofree char *whole = instance && *instance->path ? g_strdup_printf("%s.%s", instance->path, name) : NULL;
  g_autofree char *sum = strlen(text) > SHOWN ? g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1) : NULL;
  g_autofree char *hash = sum ? g_strconcat("sha256:", sum, NULL) : NULL;
  g_string_append(out, "  {");
  emit_quoted(out, whole ? whole : name);
  g_string_append(out, ", ");
  emit_quoted(out, hash ? hash : text);
  g_string_append_printf(out, ", %d},\n", instance ? instance->id : -1);
}

// Those that the table of constants has are not told twice.
static int emit_values(GString *out, const Instance *instance) {
  int count = 0;
  for (guint k = 0; k < instance->parameters->len; k++) {
    const Parameter *p = instance->parameters->pdata[k];
    if (p->runtime || !p->value || is_constant(p)) continue;
    emit_row(out, instance, p->name, value_text(p->value));
    count++;
  }
  for (guint k = 0; k < instance->userpoints->len; k++) {
    const Userpoint *userpoint = instance->userpoints->pdata[k];
    g_autofree char *text = userpoint->code ? g_strstrip(g_strdup(userpoint->code->string)) : g_strdup("");
    emit_row(out, instance, userpoint->name, text);
    count++;
  }
  return count;
}

static int emit_behaviour(GString *out, const char *path, GHashTable *seen) {
  if (!path || !g_hash_table_add(seen, (gpointer)path)) return 0;
  g_autofree char *bytes = NULL, *name = g_path_get_basename(path);
  gsize size;
  if (!g_file_get_contents(path, &bytes, &size, NULL)) return 0;
  g_autofree char *sum = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)bytes, size),
                  *text = g_strconcat("sha256:", sum, NULL);
  emit_row(out, NULL, name, text);
  return 1;
}

int emit_identity(const Emitter *emitter, GString *out) {
  const GPtrArray *leaves = emitter->plan->netlist->leaves;
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  int count = 0;
  g_string_append(out, "static const spinach_constant spinach_table_identity[] = {\n");
  for (guint i = 0; i < leaves->len; i++) count += emit_values(out, leaves->pdata[i]);
  for (guint i = 0; i < leaves->len; i++) {
    const LeafModule *leaf = ((const Instance *)leaves->pdata[i])->leaf;
    count += emit_behaviour(out, leaf->c_file, seen) + emit_behaviour(out, leaf->header_file, seen);
  }
  if (*emitter->macros) {
    emit_row(out, NULL, "LSS_CFLAGS", emitter->macros);
    count++;
  }
  g_string_append(out, "  {0}\n};\n");
  return count;
}
