// Names and what they mean.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/base/library.h"
#include "lss/base/source.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"

#include <string.h>

Scope *scope_new(Scope *parent, Inst *owner) {
  Scope *scope = compile->ended;
  if (scope)
    compile->ended = scope->parent;
  else
    scope = arena_new(Scope);
  scope->parent = parent;
  scope->owner = owner;
  scope->function = parent && parent->function;
  return scope;
}

Scope *file_scope(const SourceFile *file) {
  return file && file->own ? file->own : compile->globals;
}

bool report_private(const char *name, Location where) {
  const Symbol *found = NULL;
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init(&iter, compile->files);
  while (*name == '_' && g_hash_table_iter_next(&iter, NULL, &value)) {
    const SourceFile *file = value;
    const Symbol *symbol = file->own ? arena_lookup(file->own->names, name) : NULL;
    if (symbol && (!found || strcmp(file->path, found->file->path) < 0)) found = symbol;
  }
  if (!found) return false;
  g_autofree char *base = g_path_get_basename(found->file->path);
  problem(where, "unknown-name", "`%s` is private to %s: a name that begins with `_` is known in its own file only",
          name, base);
  diag_note(found->place, "declared here");
  return true;
}

void scope_end(Scope *scope) {
  if (scope->kept) return;
  if (scope->names) g_hash_table_remove_all(scope->names);
  scope->parent = compile->ended;
  compile->ended = scope;
}

void scope_keep(Scope *scope) {
  for (; scope && !scope->kept; scope = scope->parent) scope->kept = true;
}

Symbol *scope_declare(Scope *scope, SymbolKind kind, const char *name, Location place) {
  Symbol *other = arena_lookup(scope->names, name);
  if (other) {
    problem(place, "duplicate-name", "`%s` is declared twice", name);
    diag_note(other->place, "first declared here");
    return NULL;
  }
  Symbol *symbol = arena_new(Symbol);
  symbol->kind = kind;
  symbol->name = name;
  symbol->place = place;
  arena_insert(&scope->names, name, symbol);
  return symbol;
}

Symbol *scope_find(Scope *scope, const char *name) {
  for (; scope; scope = scope->parent) {
    Symbol *symbol = arena_lookup(scope->names, name);
    if (symbol && symbol->kind == SYMBOL_PROMISED) keep_promise(symbol);
    if (symbol) return symbol;
  }
  return NULL;
}

static bool can_stand_for_type(const Symbol *symbol) {
  if (symbol->kind == SYMBOL_VALUE) {
    const Value *value = symbol->value;
    if (value && value->kind == VALUE_LIST && value->items->len) value = value->items->pdata[0];
    return !value || value->kind == VALUE_TYPE;
  }
  if (symbol->kind != SYMBOL_DECLARATION) return false;
  switch (symbol->node->kind) {
  case NODE_STRUCT:
  case NODE_ENUM:
  case NODE_PACKED:
  case NODE_TYPE:
  case NODE_BUNDLE: return true;
  default: return false;
  }
}

static bool can_stand_for_module(const Symbol *symbol) {
  if (symbol->kind == SYMBOL_VALUE) return !symbol->value || symbol->value->kind == VALUE_MODULE;
  return symbol->kind == SYMBOL_DECLARATION && symbol->node->kind == NODE_MODULE;
}

static Symbol *find_fitting(Scope *scope, const char *name, bool (*fits)(const Symbol *)) {
  Symbol *nearest = NULL;
  for (; scope; scope = scope->parent) {
    Symbol *symbol = arena_lookup(scope->names, name);
    if (symbol && symbol->kind == SYMBOL_PROMISED) keep_promise(symbol);
    if (symbol && fits(symbol)) return symbol;
    if (!nearest) nearest = symbol;
  }
  return nearest;
}

Symbol *scope_find_type(Scope *scope, const char *name) {
  return find_fitting(scope, name, can_stand_for_type);
}

Symbol *scope_find_module(Scope *scope, const char *name) {
  return find_fitting(scope, name, can_stand_for_module);
}

const char *scope_suggestion(Scope *scope, const char *name) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (; scope; scope = scope->parent) {
    if (!scope->names) continue;
    GHashTableIter iter;
    gpointer key;
    g_hash_table_iter_init(&iter, scope->names);
    while (g_hash_table_iter_next(&iter, &key, NULL)) g_ptr_array_add(names, key);
  }
  type_names(names);
  builtin_names(names);
  return diag_suggestion(name, names);
}

// Whether a file, which is not read in otherwise, declares a name for others.  Most do not even have it in their text.
static bool declares(const char *path, const char *name) {
  gsize length;
  g_autofree char *text = source_read(path, &length, NULL);
  const SourceFile *file = text && strstr(text, name) ? parse_text(path, text, length) : NULL;
  for (guint i = 0; file && i < file->nodes->len; i++) {
    const Node *node = file->nodes->pdata[i];
    if (node->name && node->kind != NODE_IMPORT && !strcmp(node->name, name)) return true;
  }
  return false;
}

const char *unknown_name_cure(const char *name, const char *file, const char *near) {
  g_autoptr(GPtrArray) folders = library_folders(compile->options, file);
  g_autoptr(GPtrArray) names = *name == '_' ? NULL : library_all_names(folders);
  for (guint i = 0; names && i < names->len; i++) {
    const char *types = names->pdata[i];
    g_autofree char *path = g_str_has_suffix(types, "_types") ? library_find(folders, types) : NULL;
    if (path && declares(path, name)) return arena_printf(": `import %s;` declares it", types);
  }
  return did_you_mean(near);
}

static void refuse_c_name(const char *name, Location place, const char *what) {
  problem(place, "reserved-name", "%s cannot be called `%s`: that word has a meaning in C", what, name);
}

bool is_c_word(const char *name) {
  static const char *const taken[] = {"auto",    "break",  "case",     "char",   "const",    "continue", "default",
                                      "do",      "double", "else",     "enum",   "extern",   "float",    "for",
                                      "goto",    "if",     "inline",   "int",    "long",     "register", "restrict",
                                      "return",  "short",  "signed",   "sizeof", "static",   "struct",   "switch",
                                      "typedef", "union",  "unsigned", "void",   "volatile", "while",    "asm",
                                      "typeof",  "bool",   "true",     "false",  "self",     "NULL",     NULL};
  return g_strv_contains(taken, name);
}

void check_c_name(const char *name, Location place, const char *what) {
  if (is_c_word(name)) refuse_c_name(name, place, what);
}

// Types keep their names in C, at file scope.  Members, ports and the like have name spaces of their own.
void check_c_type_name(const char *name, Location place) {
  static const char *const taken[] = {// functions of <stdio.h>, <string.h> and <stdlib.h>, which nearly all modules see
                                      "abort",  "abs",    "atexit", "atoi",   "bcmp",   "bcopy",   "bsearch", "bzero",
                                      "calloc", "div",    "exit",   "ffs",    "free",   "getenv",  "getline", "index",
                                      "labs",   "ldiv",   "malloc", "memchr", "memcmp", "memcpy",  "memmove", "memset",
                                      "perror", "printf", "puts",   "qsort",  "rand",   "random",  "realloc", "remove",
                                      "rename", "rewind", "rindex", "scanf",  "select", "setjmp",  "longjmp", "srand",
                                      "stderr", "stdin",  "stdout", "strlen", "system", "tmpfile", NULL};
  check_c_name(name, place, "a type");
  if (g_strv_contains(taken, name)) refuse_c_name(name, place, "a type");
}
