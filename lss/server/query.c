// The table of questions; see query.h.
#include "lss/server/query.h"

#include "lss/base/source.h"
#include "lss/front/fmt.h"

#include <string.h>

// The whole document is one edit, when anything changes.
static JsonValue *formatting(const Query *query) {
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
    {"textDocument/formatting", "documentFormattingProvider", false, formatting},
};

const QueryKind *query_kind(const char *method) {
  for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
    if (!strcmp(kinds[i].method, method)) return &kinds[i];
  return NULL;
}

void query_capabilities(JsonValue *capabilities) {
  for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
    json_set(capabilities, kinds[i].capability, json_object_new_boolean(true));
}

JsonValue *query_work(gpointer data) {
  const Query *query = data;
  JsonValue *result = json_object_new_object();
  json_set(result, "result", query->kind->answer(query));
  return result;
}
