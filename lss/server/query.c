// The table of questions; see query.h.
#include "lss/server/query.h"

#include "lss/base/diagnostics.h"
#include "lss/base/source.h"
#include "lss/front/fmt.h"
#include "lss/server/responses.h"

#include <string.h>

void query_place(const Query *query, int *line, int *column) {
  g_autofree char *text = source_read(query->path, NULL, NULL);
  const char *all = text ? text : "";
  const gsize offset = position_offset(all, query->position),
              start = position_offset(all, (Position){query->position.line, 0});
  *line = query->position.line + 1;
  *column = (int)(offset - start) + 1;
}

// The whole document is one edit, when anything changes.
JsonValue *respond_formatting(const Query *query) {
  g_autofree char *text = source_read(query->path, NULL, NULL);
  JsonValue *edits = json_object_new_array();
  g_autofree char *formatted = format_lss(text ? text : "");
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
    {"textDocument/hover", "hoverProvider", true, respond_hover},
    {"textDocument/definition", "definitionProvider", true, respond_definition},
    {"textDocument/completion", "completionProvider", true, respond_completion},
    {"textDocument/documentSymbol", "documentSymbolProvider", false, respond_symbols},
    {"textDocument/formatting", "documentFormattingProvider", false, respond_formatting},
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
}

static void ignore(const Diagnostic *diagnostic, gpointer data) {
  (void)diagnostic;
  (void)data;
}

JsonValue *query_work(gpointer data) {
  const Query *query = data;
  diag_set_receiver(ignore, NULL); // errors are the machines' business
  JsonValue *result = json_object_new_object();
  json_set(result, "result", query->kind->respond(query));
  return result;
}
