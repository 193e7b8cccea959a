// The identity of a machine; see identity.h.  What only observes, builds or names a machine is no part of it:
// parameters of hierarchical modules, which act through their leaves, debug views, collectors, derived statistics.
#include "lss/runtime/checkpoint/identity.h"

#include "lss/runtime/engine/own_part.h"
#include "lss/runtime/text/pattern.h"
#include "lss/runtime/text/refusal.h"

#include <string.h>

static const spinach_machine *const machine = &spinach_machine_table;

static GVariant *origins; // NULL: none

// ---- Description
// -----------------------------------------------------------------------------------------------------

static bool is_leafs(const spinach_constant *constant) {
  return constant->instance < 0 || machine->instances[constant->instance].layout;
}

GVariant *identity_describe(void) {
  GVariantBuilder rows;
  g_variant_builder_init(&rows, G_VARIANT_TYPE(IDENTITY_TYPE));
  for (uint32_t i = 0; i < machine->constant_count; i++)
    if (is_leafs(&machine->constants[i]))
      g_variant_builder_add(&rows, "(^ay^ay)", machine->constants[i].name, machine->constants[i].value);
  for (uint32_t i = 0; i < machine->identity_count; i++)
    g_variant_builder_add(&rows, "(^ay^ay)", machine->identity[i].name, machine->identity[i].value);
  for (const spinach_header *header = spinach_headers; header && header->file; header++) {
    g_autofree char *sum = g_strconcat("sha256:", header->sha256, NULL);
    if (header->name) g_variant_builder_add(&rows, "(^ay^ay)", header->name, sum);
  }
  for (uint32_t i = 0; i < machine->connection_count; i++) {
    const spinach_connection *connection = &machine->connections[i];
    g_autofree char *from = g_strdup_printf("%s : %s", connection->from, connection->type->name);
    g_variant_builder_add(&rows, "(^ay^ay)", connection->to, from);
  }
  return g_variant_ref_sink(g_variant_builder_end(&rows));
}

// ---- Comparison
// ------------------------------------------------------------------------------------------------------

static bool matches(const char *pattern, const char *name) {
  return !strcmp(pattern, name) || spinach_path_matches(pattern, name);
}

static bool may_differ(const spinach_options *options, const char *name) {
  for (guint i = 0; i < options->may_differ->len; i++)
    if (matches(options->may_differ->pdata[i], name)) return true;
  return false;
}

static char *shown(const char *value) {
  return *value ? g_strdup_printf("\"%s\"", value) : g_strdup("nothing");
}

static bool is_hash(const char *value) {
  return g_str_has_prefix(value, "sha256:");
}

static bool refuse(GError **error, const char *name, const char *there, const char *here) {
  if ((is_hash(here) && !*there) || (is_hash(there) && !*here))
    return spinach_refuse(error, "it is of another machine: its C reads %s %s (--may-differ %s allows it)", name,
                          *here ? "here, not there" : "there, not here", name);
  if (is_hash(here) && is_hash(there))
    return spinach_refuse(error, "it is of another machine: %s has another content here (--may-differ %s allows it)",
                          name, name);
  g_autofree char *one = shown(here), *other = shown(there);
  return spinach_refuse(error, "it is of another machine: %s is %s here, %s there (--may-differ %s allows it)", name,
                        one, other, name);
}

// One name of both machines; "" is said of that which lacks it.
static bool compare(GVariantBuilder *differences, const spinach_options *options, const char *name, const char *there,
                    const char *here, GError **error) {
  if (!strcmp(there, here)) return true;
  if (!may_differ(options, name)) return refuse(error, name, there, here);
  g_variant_builder_add(differences, "(^ay^ay^ay)", name, there, here);
  return true;
}

// Whether what a name belongs to is here.  A part of a network need not have all that a checkpoint of the whole names.
static bool is_here(const char *name) {
  if (!machine->part) return true;
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const char *path = machine->instances[i].path;
    const gsize length = strlen(path);
    if (machine->instances[i].layout && !spinach_side_of(i) && !strncmp(name, path, length) && name[length] == '.')
      return true;
  }
  return false;
}

static bool compare_all(GVariantBuilder *differences, GVariant *there, GVariant *here, const spinach_options *options,
                        GError **error) {
  g_autoptr(GHashTable) earlier = g_hash_table_new(g_str_hash, g_str_equal);
  GVariantIter iterator;
  const char *name, *value;
  g_variant_iter_init(&iterator, there);
  while (g_variant_iter_next(&iterator, "(^&ay^&ay)", &name, &value))
    g_hash_table_insert(earlier, (gpointer)name, (gpointer)value);
  g_variant_iter_init(&iterator, here);
  while (g_variant_iter_next(&iterator, "(^&ay^&ay)", &name, &value)) {
    const char *was = g_hash_table_lookup(earlier, name);
    if (!compare(differences, options, name, was ? was : "", value, error)) return false;
    g_hash_table_remove(earlier, name);
  }
  g_variant_iter_init(&iterator, there);
  while (g_variant_iter_next(&iterator, "(^&ay^&ay)", &name, &value))
    if (g_hash_table_contains(earlier, name) && is_here(name) && !compare(differences, options, name, value, "", error))
      return false;
  return true;
}

// A pattern that nothing of either machine matches is misspelt.
static bool patterns_match(const spinach_options *options, GVariant *there, GVariant *here, GError **error) {
  if (machine->part) return true; // it may match in another part
  for (guint i = 0; i < options->may_differ->len; i++) {
    bool found = false;
    for (int k = 0; k < 2 && !found; k++) {
      GVariantIter iterator;
      const char *name;
      g_variant_iter_init(&iterator, k ? there : here);
      while (!found && g_variant_iter_next(&iterator, "(^&ay^&ay)", &name, NULL))
        found = matches(options->may_differ->pdata[i], name);
    }
    if (!found)
      return spinach_refuse(error, "--may-differ: no constant, userpoint, connection or file of it matches \"%s\"",
                            (const char *)options->may_differ->pdata[i]);
  }
  return true;
}

GVariant *identity_compare(GVariant *there, const spinach_options *options, GError **error) {
  g_autoptr(GVariant) here = identity_describe();
  GVariantBuilder differences;
  g_variant_builder_init(&differences, G_VARIANT_TYPE(DIFFERENCE_TYPE));
  if (!patterns_match(options, there, here, error) ||
      (!g_variant_equal(here, there) && !compare_all(&differences, there, here, options, error))) {
    g_variant_builder_clear(&differences);
    return NULL;
  }
  return g_variant_ref_sink(g_variant_builder_end(&differences));
}

// ---- Origins
// ---------------------------------------------------------------------------------------------------------

GVariant *identity_origins(void) {
  return origins ? g_variant_ref(origins) : g_variant_ref_sink(g_variant_new(ORIGINS_TYPE, NULL));
}

void identity_set_origins(GVariant *earlier) {
  g_clear_pointer(&origins, g_variant_unref);
  origins = g_variant_ref(earlier);
}

void identity_add_origin(const char *file, const char *sha256, GVariant *differences) {
  GVariantBuilder all;
  g_autoptr(GVariant) earlier = identity_origins();
  g_variant_builder_init(&all, G_VARIANT_TYPE(ORIGINS_TYPE));
  for (gsize i = 0; i < g_variant_n_children(earlier); i++) {
    g_autoptr(GVariant) one = g_variant_get_child_value(earlier, i);
    g_variant_builder_add_value(&all, one);
  }
  g_variant_builder_add(&all, "(^ays@a(ayayay))", file, sha256, differences);
  g_clear_pointer(&origins, g_variant_unref);
  origins = g_variant_ref_sink(g_variant_builder_end(&all));
}
