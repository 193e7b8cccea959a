// The compilation: its stages in their order.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/base/library.h"
#include "lss/base/working.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"

#include <string.h>

// The behaviour beside the module's file: x.c, and x.h if there is one.
static LeafModule *leaf_module(Inst *inst) {
  LeafModule *leaf = g_hash_table_lookup(compile->leaf_modules, inst->module->name);
  if (leaf) return leaf;
  Node *node = inst->module->node;
  g_autofree char *folder = g_path_get_dirname(inst->file->path);
  g_autofree char *absolute = g_canonicalize_filename(folder, NULL);
  leaf = arena_new(LeafModule);
  *leaf = (LeafModule){.name = inst->module->name,
                       .lss_file = inst->file->path,
                       .doc = node->doc,
                       .crossing = node->crossing,
                       .location = node->location,
                       .handler_names = arena_array()};
  leaf->c_file = arena_printf("%s/%s.c", absolute, leaf->name);
  const char *header = arena_printf("%s/%s.h", absolute, leaf->name);
  if (g_file_test(header, G_FILE_TEST_IS_REGULAR)) leaf->header_file = header;
  g_hash_table_insert(compile->leaf_modules, (gpointer)leaf->name, leaf);
  return leaf;
}

// Checked last: the author of a new module sees its other errors first.
static void check_c_files(void) {
  for (guint i = 0; i < compile->netlist->leaves->len; i++) {
    LeafModule *leaf = ((Instance *)compile->netlist->leaves->pdata[i])->leaf;
    if (g_file_test(leaf->c_file, G_FILE_TEST_IS_REGULAR)) continue;
    Symbol *symbol = g_hash_table_lookup(compile->globals->names, leaf->name);
    diag_error(symbol->place, "missing-c-file", "module `%s` has behaviour, but there is no %s.c next to its .lss file",
               leaf->name, leaf->name);
  }
}

static void number_instances(void) {
  GPtrArray *instances = compile->netlist->instances;
  g_ptr_array_set_size(instances, 0);
  for (guint i = 0; i < compile->insts->len; i++) {
    Inst *inst = compile->insts->pdata[i];
    inst->instance->id = (int)instances->len;
    g_ptr_array_add(instances, inst->instance);
    if (inst->behaviour && !inst->structure && inst->module) {
      inst->instance->leaf = leaf_module(inst);
      g_ptr_array_add(compile->netlist->leaves, inst->instance);
    }
  }
}

// Handlers of every instance of a module: bodies may declare different ones.
static void collect_handler_names(void) {
  for (guint i = 0; i < compile->insts->len; i++) {
    Inst *inst = compile->insts->pdata[i];
    if (!inst->instance->leaf) continue;
    GPtrArray *names = inst->instance->leaf->handler_names;
    for (guint k = 0; k < inst->behaviours->len; k++) {
      Node *node = inst->behaviours->pdata[k];
      bool known = node->function != FUNCTION_HANDLER;
      for (guint n = 0; n < names->len && !known; n++) known = !strcmp(names->pdata[n], node->name);
      if (!known) g_ptr_array_add(names, (gpointer)node->name);
    }
  }
}

// Declarations without arguments are looked at even when nothing uses them.
static void check_declarations(SourceFile *file) {
  for (guint i = 0; i < file->nodes->len; i++) {
    Node *node = file->nodes->pdata[i];
    Symbol *symbol = node->name ? scope_find(file_scope(file), node->name) : NULL;
    if (!symbol || symbol->node != node) continue;
    bool plain = node->kind == NODE_ENUM || (node_is_family(node) && node->arguments->len == 0);
    if (plain) declared_type(symbol, NULL, node->place);
    if (node->kind == NODE_TYPE) evaluate_term(file_scope(file), node->type);
  }
}

// The collectors of the files of --collect, which are in the top module as if they were written there.
static void add_collectors(Inst *top) {
  const GPtrArray *files = compile->options->collectors;
  if (!files || !files->len) return;
  GPtrArray *body = arena_array();
  for (guint i = 0; i < top->body->len; i++) g_ptr_array_add(body, top->body->pdata[i]);
  for (guint i = 0; i < files->len; i++) {
    SourceFile *file = load_file(files->pdata[i], NOWHERE);
    for (guint k = 0; file && k < file->nodes->len; k++) {
      Node *node = file->nodes->pdata[k];
      if (node->kind == NODE_COLLECTOR)
        g_ptr_array_add(body, node);
      else if (node->kind != NODE_IMPORT)
        problem(node->place, "misplaced", "a file of --collect holds collectors and imports only");
    }
  }
  top->body = body;
}

static bool run_stages(const char *machine_file) {
  int errors = diag_error_count();
  SourceFile *file = load_file(machine_file, NOWHERE);
  if (diag_error_count() > errors) return false;

  Inst *top = inst_new(NULL, NULL, "", (Location){file->path, 0, 0, 0, 0});
  take_machine(top, file);
  take_defines(top);
  add_collectors(top);
  for (; file; file = file->base) check_declarations(file);
  file = top->machine;
  working_begin("elaborating", "instances", 0);
  inst_run(top);
  run_parts();
  number_instances();
  if (diag_error_count() == errors) check_defines();
  if (diag_error_count() > errors) return false;

  join_links();
  if (diag_error_count() == errors) check_elaborated();
  working_begin("inferring types", NULL, 0);
  infer_types(diag_error_count() == errors);
  if (diag_error_count() > errors) return false;

  working_begin("completing the netlist", NULL, 0);
  make_connections();
  assign_clocks();
  expand_behaviour();
  collect_handler_names();
  if (diag_error_count() > errors) return false;
  working_begin("checking the netlist", NULL, 0);
  check_netlist();
  check_pace();
  attach_instrumentation();
  if (diag_error_count() == errors) check_c_files();
  if (compile->insts->len == 1 && diag_error_count() == errors)
    diag_warning((Location){.file = file->path}, "no-behaviour",
                 "nothing is instantiated here, so there is no machine; a module is checked where it is used");
  return diag_error_count() == errors;
}

Netlist *compile_netlist(const char *machine_file, const CompileOptions *options) {
  Compile *state = arena_new(Compile);
  compile = state;
  state->options = options;
  state->netlist = netlist_new(machine_file);
  state->globals = scope_new(NULL, NULL);
  state->globals->names = arena_table();
  state->files = arena_table();
  state->loading = arena_array();
  state->types = arena_table();
  state->type_terms = arena_array();
  state->c_names = arena_table();
  state->scalars = arena_table();
  state->leaf_modules = arena_table();
  state->machines = arena_table();
  state->state_names = arena_table();
  state->event_names = arena_table();
  state->handler_names = arena_table();
  state->nothing = arena_garray(1);
  state->insts = arena_array();
  state->waiting = arena_array();
  state->defines = arena_array();
  state->links = arena_array();
  state->pairs = arena_array();
  state->pending = arena_array();
  state->collectors = arena_array();
  state->collector_names = arena_table();
  state->debugs = arena_array();
  state->derived = arena_array();
  state->balances = arena_array();

  bool fine = run_stages(machine_file);
  working_end();
  if (!fine) {
    netlist_free(state->netlist);
    return NULL;
  }
  state->netlist->top = ((Inst *)state->insts->pdata[0])->instance;
  return state->netlist;
}
