// Asks clang's driver how it would call the compiler (-###), and keeps the reply in the cache as long as the files of
// settings are as they were then.
#include "lss/build/search_path.h"

#include "lss/build/tool.h"

#include <stdio.h>
#include <string.h>

#ifndef SPINACH_GLIB_CFLAGS
#define SPINACH_GLIB_CFLAGS ""
#endif

enum { KEY_LENGTH = 40 };

const char *const search_path_glib_flags = SPINACH_GLIB_CFLAGS;

const char *const search_path_variables[] = {"CPATH",
                                             "C_INCLUDE_PATH",
                                             "COMPILER_PATH",
                                             "LIBRARY_PATH",
                                             "CCC_OVERRIDE_OPTIONS",
                                             "CLANG_NO_DEFAULT_CONFIG",
                                             "LLVM_OVERRIDE_PRODUCER",
                                             "SOURCE_DATE_EPOCH",
                                             NULL};

// ---- Keys --------------------------------------------------------------------------------------------------------

// What a flag names that may be a path: "-Ifolder", "-fprofile-use=file", "@file", "file".  "" when there is nothing.
static const char *path_of_flag(const char *flag) {
  static const char *const folders[] = {"-I", "-iquote", "-isystem", "-idirafter", "-include", "-imacros", "@"};
  for (gsize i = 0; i < G_N_ELEMENTS(folders); i++)
    if (g_str_has_prefix(flag, folders[i])) return flag + strlen(folders[i]);
  const char *value = strchr(flag, '=');
  if (g_str_has_prefix(flag, "-D") || g_str_has_prefix(flag, "-U")) return "";
  if (value) return value + 1;
  return *flag == '-' ? "" : flag;
}

static void append_file(GString *text, const char *path) {
  g_autofree char *sum = g_file_test(path, G_FILE_TEST_IS_REGULAR) ? cache_sum_of_file(path, NULL) : NULL;
  if (sum) g_string_append_printf(text, "\n%s %s", path, sum);
}

// Whether the working directory decides what a list of folders means.
static bool is_relative_list(const char *list) {
  g_auto(GStrv) folders = g_strsplit(list, ":", -1);
  for (char **folder = folders; *folder; folder++)
    if (!g_path_is_absolute(*folder)) return true;
  return false;
}

char *search_path_environment(char *const *flags) {
  GString *text = g_string_new(NULL);
  bool relative = false;
  for (; *flags; flags++) {
    const char *path = path_of_flag(*flags);
    g_autofree char *profile = g_build_filename(path, "default.profdata", NULL);
    relative |= *path && !g_path_is_absolute(path);
    relative |= g_str_has_prefix(*flags, "-W") && strchr(*flags, ',');
    append_file(text, path);
    if (*path) append_file(text, profile); // -fprofile-use may name a folder
  }
  for (const char *const *name = search_path_variables; *name; name++) {
    const char *value = g_getenv(*name);
    if (!value) continue;
    g_string_append_printf(text, "\n%s=%s", *name, value);
    relative |= g_str_has_suffix(*name, "PATH") && is_relative_list(value);
  }
  g_autofree char *folder = relative ? g_get_current_dir() : NULL;
  if (folder) g_string_append_printf(text, "\n%s", folder);
  return g_string_free(text, FALSE);
}

// ---- The reply ---------------------------------------------------------------------------------------------------

static SearchPath *path_new(void) {
  SearchPath *path = g_new0(SearchPath, 1);
  path->folders = g_ptr_array_new_with_free_func(g_free);
  path->own = g_ptr_array_new_with_free_func(g_free);
  path->forced = g_ptr_array_new_with_free_func(g_free);
  return path;
}

void search_path_free(SearchPath *path) {
  g_ptr_array_unref(path->folders);
  g_ptr_array_unref(path->own);
  g_ptr_array_unref(path->forced);
  g_free(path->settings);
  g_free(path);
}

// "FILE HASH" of those that are there.
static char *settings_of(const GPtrArray *places) {
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < places->len; i++) append_file(text, places->pdata[i]);
  return g_string_free(text, FALSE);
}

static void add_line(GString *reply, const char *word, const char *path) {
  gsize length = strlen(path);
  while (length > 1 && path[length - 1] == '/') length--;
  g_string_append_printf(reply, "%s %.*s\n", word, (int)length, path);
}

// The names of configuration files that clang looks for in a folder.
static void add_settings(GString *reply, const Toolchain *t, const char *folder, const char *triple) {
  g_autofree char *own = g_path_get_basename(t->clang);
  const char *const names[] = {"clang", own};
  for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
    g_string_append_printf(reply, "setting %s/%s.cfg\n", folder, names[i]);
    g_string_append_printf(reply, "setting %s/%s-%s.cfg\n", folder, triple, names[i]);
  }
  g_string_append_printf(reply, "setting %s/%s.cfg\n", folder, triple);
}

// Whether it is a folder of glib, which is of the system like what that uses.
static bool is_of_glib(const char *folder) {
  g_auto(GStrv) flags = g_strsplit(search_path_glib_flags, " ", -1);
  for (char **flag = flags; *flag; flag++)
    if (g_str_has_prefix(*flag, "-I") && !strcmp(*flag + 2, folder)) return true;
  return false;
}

// The compiler's words: its folders of headers, and the triple that it is called with.
static const char *add_folders(GString *reply, char **words) {
  static const struct {
    const char *option, *word;
  } options[] = {
      {"-internal-isystem", "own"},
      {"-internal-externc-isystem", "own"},
      {"-I", "folder"},
      {"-iquote", "folder"},
      {"-isystem", "folder"},
      {"-c-isystem", "folder"},
      {"-idirafter", "folder"},
      {"-include", "include"},
      {"-imacros", "include"},
  };
  const char *triple = "";
  for (char **word = words; *word; word++) {
    if (!strcmp(*word, "-triple") && word[1]) triple = word[1];
    for (gsize i = 0; i < G_N_ELEMENTS(options); i++) {
      if (!strcmp(*word, options[i].option) && word[1])
        add_line(reply, is_of_glib(word[1]) ? "own" : options[i].word, word[1]);
      else if (g_str_has_prefix(*word, "-I") && i == 2) // -Xclang has it in one word
        add_line(reply, options[i].word, *word + 2);
    }
  }
  return triple;
}

// Lines "own FOLDER", "folder FOLDER", "include FILE", "setting FILE"; NULL when nothing says how the compiler is
// called.
static char *read_reply(const Toolchain *t, const char *said) {
  static const char *const places[] = {
      "InstalledDir: ", "System configuration file directory: ", "User configuration file directory: "};
  g_auto(GStrv) lines = g_strsplit(said, "\n", -1), words = NULL;
  for (char **line = lines; *line && !words; line++)
    if (g_str_has_prefix(*line, " \"") && strstr(*line, "\"-cc1\"")) g_shell_parse_argv(*line, NULL, &words, NULL);
  if (!words) return NULL;
  GString *reply = g_string_new(NULL);
  const char *triple = add_folders(reply, words);
  for (char **line = lines; *line; line++) {
    for (gsize i = 0; i < G_N_ELEMENTS(places); i++)
      if (g_str_has_prefix(*line, places[i])) add_settings(reply, t, *line + strlen(places[i]), triple);
    if (g_str_has_prefix(*line, "Configuration file: ")) add_line(reply, "setting", strchr(*line, '/'));
  }
  return g_string_free(reply, FALSE);
}

// The text is a reply with the settings' contents before it, as one hash on the first line.  NULL when they are
// otherwise now.
static SearchPath *parse(const char *text) {
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_autoptr(GPtrArray) settings = g_ptr_array_new();
  SearchPath *path = path_new();
  for (char **line = lines; *line; line++) {
    char *value = strchr(*line, ' ');
    if (!value) continue;
    *value++ = '\0';
    const bool own = !strcmp(*line, "own");
    if (own || !strcmp(*line, "folder")) g_ptr_array_add(path->folders, g_strdup(value));
    if (own) g_ptr_array_add(path->own, g_strdup(value));
    if (!strcmp(*line, "include")) g_ptr_array_add(path->forced, g_strdup(value));
    if (!strcmp(*line, "setting")) g_ptr_array_add(settings, value);
  }
  path->settings = settings_of(settings);
  g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, path->settings, -1);
  if (lines[0] && !strcmp(lines[0], sum)) return path;
  search_path_free(path);
  return NULL;
}

static SearchPath *ask(Toolchain *t, const char *kept) {
  g_autoptr(GPtrArray) arguments = g_ptr_array_new();
  g_autofree char *said = NULL, *made = g_build_filename(t->cache.scratch, "search", NULL);
  for (guint i = 0; i < t->flags->len; i++) g_ptr_array_add(arguments, t->flags->pdata[i]);
  char *const last[] = {"-v", "-###", "-fsyntax-only", "-x", "c", "/dev/null"};
  for (gsize i = 0; i < G_N_ELEMENTS(last); i++) g_ptr_array_add(arguments, last[i]);
  if (tool_run(t, t->clang, arguments, "asking about headers", &said) != TOOL_FINE) return NULL;
  g_autofree char *reply = read_reply(t, said);
  if (!reply) return NULL;
  // What the settings are is not known before the reply names them.
  g_autoptr(GPtrArray) settings = g_ptr_array_new();
  g_auto(GStrv) lines = g_strsplit(reply, "\n", -1);
  for (char **line = lines; *line; line++)
    if (g_str_has_prefix(*line, "setting ")) g_ptr_array_add(settings, *line + strlen("setting "));
  g_autofree char *now = settings_of(settings), *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, now, -1),
                  *text = g_strconcat(sum, "\n", reply, NULL);
  if (g_file_set_contents(made, text, -1, NULL)) cache_keep(&t->cache, made, kept, NULL);
  return parse(text);
}

const SearchPath *search_path(Toolchain *t) {
  g_mutex_lock(&t->lookup);
  if (!t->search_known) {
    g_autofree char *key = g_compute_checksum_for_string(G_CHECKSUM_SHA256, t->flags_text, -1), *known = NULL,
                    *kept = g_strdup_printf("%s/%.*s.search", t->cache.folder, KEY_LENGTH, key);
    if (cache_check(kept, NULL) && g_file_get_contents(kept, &known, NULL, NULL)) t->search = parse(known);
    if (!t->search) t->search = ask(t, kept);
    t->search_known = true;
  }
  g_mutex_unlock(&t->lookup);
  return t->search;
}

// ---- Files -------------------------------------------------------------------------------------------------------

const char *search_path_below(const char *folder, const char *file) {
  const gsize length = strlen(folder);
  return !strncmp(file, folder, length) && file[length] == '/' ? file + length + 1 : NULL;
}

bool search_path_owns(const SearchPath *path, const char *file) {
  for (guint i = 0; i < path->own->len; i++)
    if (search_path_below(path->own->pdata[i], file)) return true;
  return false;
}

void search_path_add_places(const SearchPath *path, GPtrArray *places, const char *file) {
  for (guint i = 0; i < path->folders->len; i++) {
    const char *name = search_path_below(path->folders->pdata[i], file);
    for (guint k = 0; name && k < path->folders->len; k++)
      if (k != i) g_ptr_array_add(places, g_strdup_printf("%s/%s", (char *)path->folders->pdata[k], name));
  }
}
