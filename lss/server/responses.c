// The table of questions, and the response to the one that needs nothing but the text.
#include "lss/server/responses.h"

#include "lss/base/source.h"
#include "lss/front/fmt.h"

#include <string.h>

// The whole document is one edit, when anything changes.
JsonValue *respond_formatting(const Query *query) {
  g_autofree char *text = source_read(query->path, NULL, NULL);
  JsonValue *edits = json_object_new_array();
  g_autofree char *formatted = format_lss(text ? text : "", 0);
  if (!text || !strcmp(text, formatted)) return edits;
  JsonValue *edit = json_object_new_object(), *range = json_object_new_object();
  json_set(range, "start", position_json((Position){0, 0}));
  json_set(range, "end", position_json(offset_position(text, strlen(text))));
  json_set(edit, "range", range);
  json_set_text(edit, "newText", formatted);
  json_add(edits, edit);
  return edits;
}

static const QueryKind kinds[] = {
    {"textDocument/hover", "hoverProvider", true, respond_hover, false},
    {"textDocument/definition", "definitionProvider", true, respond_definition, false},
    {"textDocument/references", "referencesProvider", true, respond_uses, false},
    {"textDocument/prepareRename", "renameProvider", true, respond_prepare_rename, false},
    {"textDocument/rename", "renameProvider", true, respond_rename, true},
    {"textDocument/completion", "completionProvider", true, respond_completion, false},
    {"textDocument/documentSymbol", "documentSymbolProvider", false, respond_symbols, false},
    {"textDocument/formatting", "documentFormattingProvider", false, respond_formatting, false},
};

const QueryKind *query_kind(const char *method) {
  for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
    if (!strcmp(kinds[i].method, method)) return &kinds[i];
  return NULL;
}

void query_capabilities(JsonValue *capabilities) {
  for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
    json_set(capabilities, kinds[i].capability, json_object_new_boolean(true));
  JsonValue *completion = json_object_new_object(), *triggers = json_object_new_array();
  json_add(triggers, json_object_new_string("."));
  json_set(completion, "triggerCharacters", triggers);
  json_set(capabilities, "completionProvider", completion);
  JsonValue *rename = json_object_new_object();
  json_set(rename, "prepareProvider", json_object_new_boolean(true));
  json_set(capabilities, "renameProvider", rename);
}
