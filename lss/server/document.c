// Open documents; see document.h.
#include "lss/server/document.h"

#include "lss/base/source.h"

#include <string.h>

static GHashTable *open_documents; // path -> Document*

static void document_free(gpointer data) {
  Document *document = data;
  g_free(document->uri);
  g_free(document->path);
  g_free(document->text);
  g_free(document);
}

static GHashTable *table(void) {
  if (!open_documents) open_documents = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, document_free);
  return open_documents;
}

GList *documents(void) {
  return g_hash_table_get_values(table());
}

Document *document_at(const char *path) {
  return g_hash_table_lookup(table(), path);
}

Document *document_of(const char *uri) {
  g_autofree char *path = uri_path(uri);
  return document_at(path);
}

char *uri_path(const char *uri) {
  g_autofree char *file = g_filename_from_uri(uri, NULL, NULL);
  return source_canonical(file ? file : uri);
}

char *path_uri(const char *path) {
  g_autofree char *canonical = source_canonical(path);
  const Document *document = document_at(canonical);
  return document ? g_strdup(document->uri) : g_filename_to_uri(canonical, NULL, NULL);
}

static void set_text(Document *document, char *text) {
  g_free(document->text);
  document->text = text;
  source_overlay(document->path, text);
}

Document *document_open(const char *uri, int version, const char *text) {
  Document *document = g_new0(Document, 1);
  *document = (Document){.uri = g_strdup(uri), .path = uri_path(uri), .version = version};
  set_text(document, g_strdup(text));
  g_hash_table_replace(table(), document->path, document);
  return document;
}

bool document_change(Document *document, JsonValue *change) {
  const char *text = json_text(json_at(change, "text", NULL));
  JsonValue *range = json_at(change, "range", NULL);
  if (!text) return false;
  if (!range) {
    set_text(document, g_strdup(text));
    return true;
  }
  Position start, end;
  if (!json_position(json_at(range, "start", NULL), &start) || !json_position(json_at(range, "end", NULL), &end))
    return false;
  const gsize from = position_offset(document->text, start), to = position_offset(document->text, end);
  if (to < from) return false;
  set_text(document, g_strdup_printf("%.*s%s%s", (int)from, document->text, text, document->text + to));
  return true;
}

void document_close(Document *document) {
  source_overlay(document->path, NULL);
  g_hash_table_remove(table(), document->path);
}

void documents_clear(void) {
  g_clear_pointer(&open_documents, g_hash_table_unref);
}
