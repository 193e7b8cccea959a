// What a file declares, as an outline.
#include "lss/server/names.h"
#include "lss/server/responses.h"

// The protocol's SymbolKind of a declaration; 0 for what is shown in no outline.
static int symbol_kind(const Node *node) {
  static const int kinds[] = {
      [NODE_MODULE] = 2,    [NODE_STRUCT] = 23,    [NODE_ENUM] = 10,     [NODE_ENUMERATOR] = 22, [NODE_BUNDLE] = 11,
      [NODE_PACKED] = 23,   [NODE_TYPE] = 26,      [NODE_FUNCTION] = 12, [NODE_CONST] = 14,      [NODE_PARAMETER] = 7,
      [NODE_PORT] = 11,     [NODE_USERPOINT] = 12, [NODE_INSTANCE] = 19, [NODE_WRAPS] = 19,      [NODE_FIELD] = 8,
      [NODE_MEMBER] = 8,    [NODE_LOCAL] = 13,     [NODE_STAT] = 8,      [NODE_EVENT] = 24,      [NODE_CLOCK] = 14,
      [NODE_BEHAVIOUR] = 6, [NODE_COLLECTOR] = 5,
  };
  return (gsize)node->kind < G_N_ELEMENTS(kinds) ? kinds[node->kind] : 0;
}

static void add_symbol(const Node *node, gpointer data) {
  const int kind = symbol_kind(node);
  if (!kind || !node->name) return;
  JsonValue *symbol = json_object_new_object();
  json_set_text(symbol, "name", node->name);
  json_set_number(symbol, "kind", kind);
  json_set_text(symbol, "detail", node->type ? expr_text(node->type) : node_kind_name(node->kind));
  json_set(symbol, "range", range_json(node->location));
  json_set(symbol, "selectionRange", range_json(node->place));
  if (node->kind != NODE_FUNCTION && !node_makes_instances(node) && node->body) {
    JsonValue *children = json_object_new_array();
    names_declared(node->body, add_symbol, children);
    json_set(symbol, "children", children);
  }
  json_add(data, symbol);
}

JsonValue *respond_symbols(const Query *query) {
  const Names *names = names_read(query->path, query->options);
  JsonValue *symbols = json_object_new_array();
  if (names->main) names_declared(names->main->nodes, add_symbol, symbols);
  return symbols;
}
