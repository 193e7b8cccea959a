// A question at work; see query.h.
#include "lss/server/query.h"

#include "lss/base/diagnostics.h"
#include "lss/base/source.h"

#include <stdarg.h>

void query_place(const Query *query, int *line, int *column) {
  g_autofree char *text = source_read(query->path, NULL, NULL);
  const char *all = text ? text : "";
  const gsize offset = position_offset(all, query->position),
              start = position_offset(all, (Position){query->position.line, 0});
  *line = query->position.line + 1;
  *column = (int)(offset - start) + 1;
}

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
