// What is at a position: its documentation, and where it is declared.
#include "lss/base/arena.h"
#include "lss/base/library.h"
#include "lss/front/reference.h"
#include "lss/server/document.h"
#include "lss/server/names.h"
#include "lss/server/responses.h"

#include <string.h>

enum { SHOWN_LINES = 12 };

// A declaration as it is written, without the most of a long one.
static void print_declaration(GString *out, Location where) {
  g_auto(GStrv) lines = g_strsplit(names_text(where), "\n", -1);
  g_string_append(out, "```lss\n");
  for (int i = 0; lines[i] && i < SHOWN_LINES; i++) g_string_append_printf(out, "%s\n", lines[i]);
  if (g_strv_length(lines) > SHOWN_LINES) g_string_append(out, "...\n");
  g_string_append(out, "```\n");
}

static void print_doc(GString *out, const char *doc) {
  if (doc) g_string_append_printf(out, "\n%s\n", doc);
}

static const char *shown_path(const char *path) {
  const char *family = library_family(path), *base = strrchr(path, '/');
  return family && base ? arena_printf("modules/%s%s", family, base) : base ? base + 1 : path;
}

static void print_node(Names *names, GString *out, const Node *node) {
  if (reference_covers(node)) {
    reference_print(out, node, shown_path(node->location.file), NULL, REFERENCE_MARKDOWN, names_lookup, names);
    return;
  }
  print_declaration(out, node->location);
  print_doc(out, node->doc);
  if ((node->kind != NODE_INSTANCE && node->kind != NODE_WRAPS) || !node->type || node->type->kind != EXPR_NAME) return;
  const Node *module = names_module(names, node->type->text);
  if (module && module->doc) g_string_append_printf(out, "\n`%s`: %s\n", module->name, reference_summary(module->doc));
}

JsonValue *respond_hover(const Query *query) {
  int line, column;
  query_place(query, &line, &column);
  Names *names = names_read(query->path, query->options);
  const Meaning meaning = names_meaning(names, line, column);
  g_autoptr(GString) text = g_string_new(NULL);
  if (meaning.node) print_node(names, text, meaning.node);
  if (meaning.record) print_declaration(text, meaning.record->location);
  if (meaning.file) g_string_append_printf(text, "`%s`\n", shown_path(meaning.file));
  if (!text->len) return NULL;
  JsonValue *result = json_object_new_object(), *contents = json_object_new_object();
  json_set_text(contents, "kind", "markdown");
  json_set_text(contents, "value", text->str);
  json_set(result, "contents", contents);
  json_set(result, "range", range_json(meaning.used));
  return result;
}

JsonValue *respond_definition(const Query *query) {
  int line, column;
  query_place(query, &line, &column);
  Names *names = names_read(query->path, query->options);
  const Meaning meaning = names_meaning(names, line, column);
  const Location where = meaning.node     ? meaning.node->place
                         : meaning.record ? meaning.record->location
                                          : (Location){.file = meaning.file};
  if (!where.file) return NULL;
  g_autofree char *uri = path_uri(where.file);
  JsonValue *result = json_object_new_object();
  json_set_text(result, "uri", uri);
  json_set(result, "range", range_json(where));
  return result;
}
