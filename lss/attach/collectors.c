// Collectors, matched to the instances and connections that they name.
#include "lss/attach/instrument.h"
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"

#include <string.h>

static const char *relative(const Attached *attached, const char *pattern) {
  return *attached->inst->instance->path ? arena_printf("%s.%s", attached->inst->instance->path, pattern) : pattern;
}

// What C calls the collector: a path is made an identifier, with a number since two may become the same.
static const char *c_name_of(const char *name) {
  if (!strpbrk(name, ".[")) return name;
  char *c_name = arena_printf("%s_%u", name, compile->netlist->collectors->len);
  for (char *c = c_name; *c; c++)
    if (!g_ascii_isalnum(*c)) *c = '_';
  return c_name;
}

// `record on PATTERN event NAME`: another event, recorded in the same state.
static Collector *add_event(const Attached *attached, const Collector *collector, const Node *section) {
  Collector *other = arena_new(Collector);
  *other = (Collector){.name = collector->name,
                       .c_name = collector->c_name,
                       .owner = collector->owner,
                       .pattern = relative(attached, section->text),
                       .event = section->type_name,
                       .shared = true,
                       .on_connections = is_connection_event(section->type_name),
                       .of = collector,
                       .record = evaluate(attached->scope, section->value),
                       .instances = arena_array(),
                       .connections = arena_array(),
                       .location = section->location};
  return other;
}

static void read_sections(const Attached *attached, Collector *collector) {
  for (guint i = 0; i < attached->node->body->len; i++) {
    Node *section = attached->node->body->pdata[i];
    if (section->text) continue; // of another event, which comes after what it shares
    struct {
      const char *name;
      Value **slot;
    } known[] = {{"include", &collector->include},
                 {"declare", &collector->declare},
                 {"init", &collector->init},
                 {"record", &collector->record},
                 {"report", &collector->report}};
    Value **slot = NULL;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint k = 0; k < G_N_ELEMENTS(known); k++) {
      g_ptr_array_add(names, (gpointer)known[k].name);
      if (!strcmp(known[k].name, section->name)) slot = known[k].slot;
    }
    if (!slot) {
      problem(section->place, "unknown-name",
              "a collector has no section `%s`, only include, declare, init, record and report%s", section->name,
              did_you_mean(diag_suggestion(section->name, names)));
    } else if (*slot) {
      problem(section->place, "duplicate-name", "the section `%s` is given twice", section->name);
    } else {
      *slot = evaluate(attached->scope, section->value);
    }
  }
}

// What the pattern of a collector, or of a section of it, names.
static void attach_matching(const Attached *attached, const Node *node, Collector *collector) {
  if (collector->on_connections) {
    attach_to_connections(collector);
    if (collector->connections->len == 0)
      problem(node->location, "no-match", "no connection matches \"%s\"", node->text);
  } else {
    g_autoptr(GPtrArray) events = g_ptr_array_new();
    bool any = false;
    attach_to_instances(collector, attached->inst->instance, events, &any);
    if (collector->instances->len == 0 && any)
      problem(node->location, "unknown-name", "no instance that matches \"%s\" has an event `%s`%s", node->text,
              node->type_name, did_you_mean(diag_suggestion(node->type_name, events)));
    else if (!any)
      problem(node->location, "no-match", "no instance with behaviour matches \"%s\"", node->text);
  }
  g_ptr_array_add(compile->netlist->collectors, collector);
}

void attach_collector(const Attached *attached) {
  Node *node = attached->node;
  const char *name = inst_path_of(attached->inst, node->name);
  const Collector *other = g_hash_table_lookup(compile->collector_names, name);
  if (other) {
    problem(node->place, "duplicate-name", "the collector `%s` is declared twice", node->name);
    diag_note(other->location, "first declared here");
    return;
  }
  Collector *collector = arena_new(Collector);
  *collector = (Collector){.name = name,
                           .c_name = c_name_of(name),
                           .owner = attached->inst->instance,
                           .pattern = relative(attached, node->text),
                           .event = node->type_name,
                           .shared = node->shared,
                           .on_connections = is_connection_event(node->type_name),
                           .instances = arena_array(),
                           .connections = arena_array(),
                           .location = node->location};
  g_hash_table_insert(compile->collector_names, (gpointer)name, collector);
  int errors = diag_error_count();
  read_sections(attached, collector);
  bool sections_known = diag_error_count() == errors;
  attach_matching(attached, node, collector);
  if (sections_known && !collector->record && !collector->report)
    problem(node->location, "no-match", "the collector `%s` has neither record nor report", node->name);
  for (guint i = 0; i < node->body->len; i++) {
    const Node *section = node->body->pdata[i];
    if (!section->text) continue;
    if (!collector->shared)
      problem(section->place, "misplaced", "only a shared collector records several events");
    else
      attach_matching(attached, section, add_event(attached, collector, section));
  }
}
