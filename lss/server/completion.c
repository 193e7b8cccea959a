// What could be written at a position.  What precedes it on its line determines its kind; what there is of
// that kind comes from the tree of the file without that line, since it is hardly ever complete.
#include "lss/base/arena.h"
#include "lss/base/library.h"
#include "lss/base/source.h"
#include "lss/base/units.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"
#include "lss/front/reference.h"
#include "lss/server/names.h"
#include "lss/server/responses.h"

#include <string.h>

// CompletionItemKind
enum {
  ITEM_FUNCTION = 3,
  ITEM_FIELD = 5,
  ITEM_VARIABLE = 6,
  ITEM_CLASS = 7,
  ITEM_INTERFACE = 8,
  ITEM_MODULE = 9,
  ITEM_PROPERTY = 10,
  ITEM_UNIT = 11,
  ITEM_KEYWORD = 14,
  ITEM_FILE = 17,
  ITEM_CONSTANT = 21,
  ITEM_STRUCT = 22
};

typedef struct {
  const Query *query;
  Names *names;
  GPtrArray *around;
  const char *before; // of the line
  JsonValue *items;
  GHashTable *seen; // labels
} Completion;

static void add_item(Completion *c, const char *label, int kind, const char *detail, const char *doc) {
  if (!g_hash_table_add(c->seen, arena_strdup(label))) return;
  JsonValue *item = json_object_new_object();
  json_set_text(item, "label", label);
  json_set_number(item, "kind", kind);
  if (detail) json_set_text(item, "detail", detail);
  if (doc) json_set_text(item, "documentation", doc);
  json_add(c->items, item);
}

static int kind_of(const Node *node) {
  switch (node->kind) {
  case NODE_MODULE: return ITEM_MODULE;
  case NODE_PORT: return ITEM_INTERFACE;
  case NODE_PARAMETER: return ITEM_PROPERTY;
  case NODE_USERPOINT:
  case NODE_FUNCTION: return ITEM_FUNCTION;
  case NODE_STRUCT:
  case NODE_ENUM:
  case NODE_PACKED:
  case NODE_BUNDLE:
  case NODE_TYPE: return ITEM_STRUCT;
  case NODE_CONST:
  case NODE_ENUMERATOR: return ITEM_CONSTANT;
  case NODE_FIELD:
  case NODE_MEMBER: return ITEM_FIELD;
  default: return ITEM_VARIABLE;
  }
}

static void add_node(const Node *node, gpointer data) {
  const char *direction = node->kind != NODE_PORT ? "" : node->output ? "outport " : "inport ";
  const char *detail = node->type ? arena_printf("%s%s", direction, expr_text(node->type)) : node_kind_name(node->kind);
  if (node->name && node->kind != NODE_BEHAVIOUR) add_item(data, node->name, kind_of(node), detail, node->doc);
}

// Ports, instances and values that can be selected; what is set when an instance is made is in its braces.
static void add_selected(const Node *node, gpointer data) {
  if (node->kind != NODE_USERPOINT && node->kind != NODE_STAT && node->kind != NODE_EVENT) add_node(node, data);
}

static void add_setting(const Node *node, gpointer data) {
  if (node_is_settable(node)) add_node(node, data);
}

// ---- Kinds of places -----------------------------------------------------------------------------------------------

static void complete_machines(Completion *c, const char *unused) {
  (void)unused;
  g_autoptr(GPtrArray) folders = library_machine_folders(c->query->options, c->query->path);
  g_autoptr(GPtrArray) names = library_all_names(folders);
  for (guint i = 0; i < names->len; i++) {
    const char *name = names->pdata[i];
    const SourceFile *file = names_file(c->names, name, c->query->path);
    if (file && file != c->names->main && file_is_machine(file)) add_item(c, name, ITEM_FILE, NULL, NULL);
  }
}

static void complete_files(Completion *c, const char *unused) {
  (void)unused;
  g_autoptr(GPtrArray) folders = library_folders(c->query->options, c->query->path);
  for (guint i = 0; i < folders->len; i++) {
    g_autoptr(GPtrArray) names = library_names(folders->pdata[i]);
    for (guint k = 0; k < names->len; k++) add_item(c, names->pdata[k], ITEM_FILE, NULL, NULL);
  }
  complete_machines(c, NULL);
}

static void add_module(gpointer name, gpointer value, gpointer data) {
  (void)name;
  if (((const Node *)value)->kind == NODE_MODULE) add_node(value, data);
}

static void complete_modules(Completion *c, const char *unused) {
  (void)unused;
  g_hash_table_foreach(c->names->globals, add_module, c);
  g_autoptr(GPtrArray) folders = library_folders(c->query->options, c->query->path);
  for (guint i = 0; i < folders->len; i++) {
    g_autoptr(GPtrArray) names = library_names(folders->pdata[i]);
    for (guint k = 0; k < names->len; k++) {
      const Node *module = names_module(c->names, names->pdata[k]);
      if (module && module->kind == NODE_MODULE)
        add_item(c, module->name, ITEM_MODULE, NULL, reference_summary(module->doc));
    }
  }
}

// Whether the line declares behaviour, where the signals of a port are named.
static bool is_behaviour(const char *line) {
  return g_regex_match_simple("^\\s*(partial\\s+)?(handler|phase_start|phase_end|always|next_event)\\b", line, 0, 0);
}

static void complete_members(Completion *c, const char *selected) {
  const Location start = {.file = c->query->path, .line = 1, .column = 1};
  const Expr *expr = parse_expression(selected, strlen(selected), start);
  const Node *node = names_resolve(c->names, c->around, expr);
  if (!node) return;
  names_members(c->names, node, add_selected, c);
  static const char *const signals[] = {"data", "enable", "ack"};
  const bool signal = node->kind == NODE_PORT && is_behaviour(c->before);
  for (guint i = 0; signal && i < G_N_ELEMENTS(signals); i++) add_item(c, signals[i], ITEM_FIELD, "signal", NULL);
  if (node->kind == NODE_PORT && !signal) add_item(c, "width", ITEM_FIELD, "number of lanes", NULL);
}

static void complete_units(Completion *c, const char *unused) {
  (void)unused;
  const UnitOfMeasure *unit;
  for (guint i = 0; (unit = unit_at(i)); i++)
    if (g_ascii_isalpha(*unit->name)) add_item(c, unit->name, ITEM_UNIT, dimension_name(unit->dimension), NULL);
}

static void complete_settings(Completion *c, const char *module) {
  const Node *node = names_module(c->names, module);
  if (node) names_members(c->names, node, add_setting, c);
}

static void add_global(gpointer name, gpointer value, gpointer data) {
  (void)name;
  add_node(value, data);
}

// A word that begins a statement, or a name in an expression or type.
static void complete_words(Completion *c, const char *unused) {
  (void)unused;
  for (guint i = c->around->len; i-- > 0;) {
    const Node *node = c->around->pdata[i];
    const char *variable = node->kind == NODE_FOR_IN ? node->name : node->first ? node->first->name : NULL;
    if (variable) add_item(c, variable, ITEM_VARIABLE, node_kind_name(NODE_VAR), NULL);
    names_declared(node->arguments, add_node, c);
    if (node->kind == NODE_MODULE)
      names_members(c->names, node, add_node, c);
    else if (!node_makes_instances(node))
      names_declared(node->body, add_node, c);
  }
  if (c->names->main && !names_apart(c->around)) names_declared(c->names->main->nodes, add_node, c);
  g_hash_table_foreach(c->names->globals, add_global, c);
  const char *word;
  for (guint i = 0; (word = keyword_at(i)); i++) add_item(c, word, ITEM_KEYWORD, NULL, NULL);
  g_autoptr(GPtrArray) types = g_ptr_array_new(), functions = g_ptr_array_new();
  type_names(types);
  builtin_names(functions);
  for (guint i = 0; i < types->len; i++) add_item(c, types->pdata[i], ITEM_STRUCT, "type", NULL);
  for (guint i = 0; i < functions->len; i++) add_item(c, functions->pdata[i], ITEM_FUNCTION, "built in", NULL);
}

// ---- The place -----------------------------------------------------------------------------------------------------

// The innermost kind first; the group is passed on.
static const struct {
  const char *before;
  void (*complete)(Completion *c, const char *group);
} places[] = {
    {"\\bimport\\s+\\w*$", complete_files},
    {"^\\s*extends\\s+\\w*$", complete_machines},
    {"\\b(?:instance|wraps)\\s+\\w+\\s*(?:\\[[^\\]]*\\])?\\s*:\\s*\\w*$", complete_modules},
    {"([A-Za-z_]\\w*(?:\\[[^\\]]*\\])?(?:\\.\\w+(?:\\[[^\\]]*\\])?)*)\\.\\w*$", complete_members},
    {"(?<![\\w.])[0-9][0-9_.]*\\s*[A-Za-z/]*$", complete_units},
    {"\\b(?:instance|wraps)\\s+\\w+[^:;{]*:\\s*(\\w+)[^{;]*\\{(?:[^{}]*;)?\\s*(?:default\\s+)?\\w*$",
     complete_settings},
};

static void complete(Completion *c) {
  for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
    g_autoptr(GRegex) regex = g_regex_new(places[i].before, 0, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    if (!g_regex_match(regex, c->before, 0, &match)) continue;
    g_autofree char *group = g_match_info_fetch(match, 1);
    places[i].complete(c, group ? group : "");
    return;
  }
  const Node *inner = c->around->len ? c->around->pdata[c->around->len - 1] : NULL;
  const bool braces = inner && node_makes_instances(inner) && inner->type && inner->type->kind == EXPR_NAME;
  if (braces && g_regex_match_simple("^\\s*(?:[^{}]*;)?\\s*(?:default\\s+)?\\w*$", c->before, 0, 0))
    complete_settings(c, inner->type->text);
  else
    complete_words(c, NULL);
}

// Puts spaces in the place of the line of the position, and returns what was before the position.
static char *take_line(const Query *query) {
  g_autofree char *text = source_read(query->path, NULL, NULL);
  if (!text) return g_strdup("");
  char *line = text + position_offset(text, (Position){query->position.line, 0});
  char *before = g_strndup(line, position_offset(text, query->position) - (gsize)(line - text));
  memset(line, ' ', strcspn(line, "\n"));
  g_autofree char *canonical = source_canonical(query->path);
  source_overlay(canonical, text);
  return before;
}

JsonValue *respond_completion(const Query *query) {
  g_autofree char *before = take_line(query);
  Completion completion = {
      .query = query,
      .names = names_read(query->path, query->options),
      .before = before,
      .items = json_object_new_array(),
      .seen = g_hash_table_new(g_str_hash, g_str_equal),
  };
  completion.around = names_around(completion.names, query->position.line + 1, (int)strlen(before) + 1);
  complete(&completion);
  return completion.items;
}
