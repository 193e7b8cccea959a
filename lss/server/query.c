// The table of questions; see query.h.
#include "lss/server/query.h"

#include "lss/base/diagnostics.h"
#include "lss/base/source.h"
#include "lss/front/fmt.h"
#include "lss/server/responses.h"

#include <stdarg.h>
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

// ---- The job -------------------------------------------------------------------------------------------------------

static char *refusal, *warning; // of this job's question

void query_refuse(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_free(refusal);
  refusal = g_strdup_vprintf(format, arguments);
  va_end(arguments);
}

void query_warn(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *before = warning, *text = g_strdup_vprintf(format, arguments);
  warning = before ? g_strdup_printf("%s; %s", before, text) : g_strdup(text);
  va_end(arguments);
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
  if (refusal) json_set_text(result, "error", refusal);
  if (warning) json_set_text(result, "warning", warning);
  return result;
}
