// Uses of a declaration; see uses.h.
#include "lss/server/uses.h"

#include "lss/base/arena.h"
#include "lss/base/source.h"
#include "lss/server/document.h"
#include "lss/server/responses.h"
#include "lss/server/workspace.h"

#include <string.h>

static bool same_place(Location a, Location b) {
  return a.line == b.line && a.column == b.column && !g_strcmp0(a.file, b.file);
}

bool uses_same(const Node *a, const Node *b) {
  return a && b && a->kind == b->kind && a->place.line && same_place(a->place, b->place);
}

static bool in_word(char c) {
  return g_ascii_isalnum(c) || c == '_';
}

// The next such word from `from` on, which is within `text`; NULL when there is none.
static const char *next_word(const char *text, const char *from, const char *word) {
  const gsize length = strlen(word);
  for (const char *at = strstr(from, word); at; at = strstr(at + 1, word))
    if (!(at > text && in_word(at[-1])) && !in_word(at[length])) return at;
  return NULL;
}

bool uses_has_word(const char *text, const char *word) {
  return next_word(text, text, word) != NULL;
}

// What a word at a place is, as a use of the declaration; false when it means something else.
static bool is_use(Names *names, const Node *target, int line, int column, NameUse *use) {
  const Meaning meaning = names_meaning(names, line, column);
  if (meaning.used.line != line || meaning.used.column != column) return false;
  const bool own = uses_same(meaning.node, target), passed = uses_same(meaning.passed, target);
  const bool open = meaning.open && (node_is_settable(target) || target->kind == NODE_PORT);
  if (!own && !passed && !open) return false;
  const bool declared = own && same_place(meaning.used, target->place);
  *use = (NameUse){.kind = declared           ? USE_DECLARED
                           : own && passed    ? USE_BARE_BOTH
                           : passed           ? USE_BARE_PASSED
                           : !own             ? USE_OPEN
                           : meaning.bare     ? USE_BARE_SET
                           : meaning.selected ? USE_SELECTED
                                              : USE_NAME,
                   .open = open,
                   .where = meaning.used,
                   .names = names};
  return true;
}

static void find_in_file(GPtrArray *uses, Names *names, const char *text, const Node *target) {
  int line = 1;
  const char *start = text; // of the line
  for (const char *at = next_word(text, text, target->name); at; at = next_word(text, at + 1, target->name)) {
    for (const char *end; (end = memchr(start, '\n', (gsize)(at - start))); start = end + 1) line++;
    NameUse use;
    if (!is_use(names, target, line, (int)(at - start) + 1, &use)) continue;
    NameUse *kept = arena_new(NameUse);
    *kept = use;
    g_ptr_array_add(uses, kept);
  }
}

GPtrArray *uses_find(const Query *query, GHashTable *parsed, const GPtrArray *files, const Node *target) {
  GPtrArray *uses = arena_array();
  for (guint i = 0; i < files->len; i++) {
    g_autofree char *text = source_read(files->pdata[i], NULL, NULL);
    if (!text || !uses_has_word(text, target->name)) continue;
    Names *names = names_read_into(parsed, files->pdata[i], query->options);
    if (names->main) find_in_file(uses, names, text, target);
  }
  return uses;
}

JsonValue *respond_uses(const Query *query) {
  int line, column;
  query_place(query, &line, &column);
  GHashTable *parsed = arena_table();
  const Meaning meaning = names_meaning(names_read_into(parsed, query->path, query->options), line, column);
  g_autoptr(GPtrArray) files = meaning.node && meaning.node->name ? workspace_files(query) : NULL;
  if (!files) return NULL;
  const GPtrArray *uses = uses_find(query, parsed, files, meaning.node);
  JsonValue *result = json_object_new_array();
  for (guint i = 0; i < uses->len; i++) {
    const NameUse *use = uses->pdata[i];
    if (use->kind == USE_OPEN || (use->kind == USE_DECLARED && !query->declared)) continue;
    g_autofree char *uri = path_uri(use->where.file);
    JsonValue *one = json_object_new_object();
    json_set_text(one, "uri", uri);
    json_set(one, "range", range_json(use->where));
    json_add(result, one);
  }
  return result;
}
