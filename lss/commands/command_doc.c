// lss doc [--markdown | --json] [-I DIR] NAME...: documentation of modules, of machines, or of all types of a file,
// from their declarations.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/base/library.h"
#include "lss/build/options.h"
#include "lss/commands/commands.h"
#include "lss/front/reference.h"

#include <stdio.h>
#include <string.h>

static const OptionSpec own[] = {
    {"--markdown", NULL, "as Markdown, for a reference"},
    {"--json", NULL, "for tools: a line of JSON for each module, machine or type"},
    {0},
};
static const OptionSpec *const tables[] = {own, folder_options, NULL};

static bool doc_option(const char *command, const char *name, const char *value, gpointer data) {
  (void)command, (void)value;
  *(ReferenceStyle *)data = !strcmp(name, "--json") ? REFERENCE_JSON : REFERENCE_MARKDOWN;
  return true;
}

static void unknown_name(const char *name, const GPtrArray *folders) {
  g_autoptr(GPtrArray) names = library_all_names(folders);
  const char *near = diag_suggestion(name, names);
  fprintf(stderr, "lss doc: there is no module \"%s\" on the search path%s%s%s\n", name,
          near ? "; did you mean \"" : "; `lss list` shows what there is", near ? near : "", near ? "\"?" : "");
}

// How a path is shown: library files by their place in the library, so that the reference is the same everywhere.
static const char *shown_path(const char *path) {
  const char *home = library_home();
  if (home && g_str_has_prefix(path, home) && path[strlen(home)] == '/') return path + strlen(home) + 1;
  return g_str_has_prefix(path, "./") ? path + 2 : path;
}

// Where modules that a documented one wraps are looked up: in its file, then on the search path.
typedef struct {
  SourceFile *file;
  const GPtrArray *folders;
} Library;

static const Node *find_module(const char *name, gpointer data) {
  const Library *library = data;
  const Node *here = reference_module(library->file, name);
  g_autofree char *path = here ? NULL : library_find(library->folders, name), *text = NULL;
  gsize length;
  if (!path || !g_file_get_contents(path, &text, &length, NULL)) return here;
  return reference_module(parse_text(path, text, length), name);
}

static SourceFile *read_file(const char *path, char **text) {
  gsize length;
  g_autoptr(GError) error = NULL;
  if (!g_file_get_contents(path, text, &length, &error)) {
    fprintf(stderr, "lss doc: %s\n", error->message);
    return NULL;
  }
  SourceFile *file = parse_text(path, *text, length);
  return file->failed ? NULL : file;
}

// The machine that a file holds, as a module whose parameters have what files that extend it say; NULL when it is no
// machine.  `*file` becomes the one that has its statements.
static Node *machine_of(SourceFile **file, const char *name, const CompileOptions *options) {
  SourceFile *outermost = *file;
  g_autoptr(GPtrArray) chain = g_ptr_array_new(); // the settings of files that extend it, outer ones last
  for (const Node *extends; (extends = file_extends(*file));) {
    g_ptr_array_insert(chain, 0, extends->body);
    g_autoptr(GPtrArray) folders = library_machine_folders(options, (*file)->path);
    g_autofree char *path = library_find(folders, extends->name), *text = NULL;
    if (!path) fprintf(stderr, "lss doc: %s extends %s, which is not found\n", (*file)->path, extends->name);
    SourceFile *base = path ? read_file(path, &text) : NULL;
    if (!base || chain->len > MAX_WRAPS) return NULL;
    *file = base;
  }
  Node *machine = file_machine(outermost, *file, name);
  for (guint i = 0; machine && i < chain->len; i++) machine->body = body_with_settings(machine->body, chain->pdata[i]);
  return machine;
}

static int document(GString *out, const char *name, const GPtrArray *folders, const CompileOptions *options,
                    ReferenceStyle style) {
  g_autofree char *path = g_str_has_suffix(name, ".lss") ? g_strdup(name) : library_find(folders, name);
  if (!path) {
    unknown_name(name, folders);
    return 1;
  }
  g_autofree char *text = NULL;
  SourceFile *file = read_file(path, &text);
  if (!file) return 1;
  const char *about = reference_opening(text);
  const char *shown = shown_path(path);
  Library library = {file, folders};
  const Node *module = g_str_has_suffix(name, ".lss") ? NULL : reference_module(file, name);
  if (module) {
    reference_print(out, module, shown, about, style, find_module, &library);
    return 0;
  }
  bool any = false;
  for (guint i = 0; i < file->nodes->len; i++) {
    const Node *node = file->nodes->pdata[i];
    if (!reference_covers(node)) continue;
    if (any && style != REFERENCE_JSON) g_string_append_c(out, '\n');
    reference_print(out, node, shown, any ? NULL : about, style, find_module, &library);
    any = true;
  }
  g_autofree char *base = g_path_get_basename(path);
  *strrchr(base, '.') = '\0';
  const Node *machine = machine_of(&library.file, base, options);
  if (machine) {
    if (any && style != REFERENCE_JSON) g_string_append_c(out, '\n');
    reference_print(out, machine, shown, any ? NULL : about, style, find_module, &library);
    any = true;
  }
  if (any) return 0;
  fprintf(stderr, "lss doc: %s declares no module, no type and no machine\n", path);
  return 1;
}

// Documentation shows what files declare, with defaults as they are written: no parameter changes it.
static bool sets_parameter(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (g_str_has_prefix(argv[i], "-D")) return true;
  return false;
}

static int doc_command(int argc, char **argv) {
  if (sets_parameter(argc, argv))
    return usage_error(argv[0], "documentation shows declarations, which -D does not change (`lss export M.lss -D "
                                "NAME=VALUE` shows a machine with these parameters)");
  g_auto(Options) options = {0};
  ReferenceStyle style = REFERENCE_TEXT;
  if (!options_parse(tables, argc, argv, &options, doc_option, &style, NULL)) return 2;
  if (!options.machine) return usage_error(argv[0], "give the name of a module");
  g_autoptr(GPtrArray) folders = library_folders(&options.compile, NULL);
  g_ptr_array_insert(options.rest, 0, (gpointer)options.machine);
  g_autoptr(GString) out = g_string_new(NULL);
  int status = 0;
  for (guint i = 0; i < options.rest->len; i++) {
    if (out->len && style != REFERENCE_JSON) g_string_append_c(out, '\n');
    status |= document(out, options.rest->pdata[i], folders, &options.compile, style);
  }
  fputs(out->str, stdout);
  arena_release();
  return status;
}

const Command command_doc = {"doc", doc_command, "NAME|FILE.lss...",
                             "documentation of modules, machines, or all types of a file, from their declarations",
                             tables};
