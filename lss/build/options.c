// The parser of command lines, and the tables of options that several commands share.
#include "lss/build/options.h"
#include "lss/base/diagnostics.h"
#include "lss/runtime/text/number.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_MAX_INSTANCES 100000
#define DEFAULT_MAX_STEPS     10000000

const OptionSpec folder_options[] = {
    {"-I", "DIR", "look for modules in DIR before the library; may be repeated"},
    {0},
};

const OptionSpec machine_options[] = {
    {"-D", "NAME=VALUE", "set a parameter of the machine, or as PATH.NAME of an instance; may be repeated"},
    {"--max-instances", "N", "at most N instances (" G_STRINGIFY(DEFAULT_MAX_INSTANCES) ")"},
    {"--max-steps", "N", "at most N steps of elaboration (" G_STRINGIFY(DEFAULT_MAX_STEPS) ")"},
    {0},
};

int usage_error(const char *command, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  fprintf(stderr, "lss %s: %s", command, text);
  if (!g_str_has_suffix(text, "?")) fprintf(stderr, "; `lss %s --help` shows the usage", command); // else a suggestion
  fprintf(stderr, "\n");
  return 2;
}

static bool positive(const char *command, const char *name, const char *text, int *result) {
  uint64_t value;
  const char *error;
  if (!number_read_count(text, 1, G_MAXINT, &value, &error)) return !usage_error(command, "%s: %s", name, error);
  *result = (int)value;
  return true;
}

// The option that an argument begins with, and in *value what is attached to it: --name=value, -Dname=value.
static const OptionSpec *find_option(OptionTables tables, const char *word, const char **value) {
  for (; *tables; tables++) {
    for (const OptionSpec *option = *tables; option->name; option++) {
      const size_t n = strlen(option->name);
      const bool is_long = option->name[1] == '-';
      *value = NULL;
      if (strncmp(word, option->name, n) != 0) continue;
      if (word[n] == '\0') return option;
      if (!option->value || (is_long && word[n] != '=')) continue;
      *value = word + n + is_long;
      return option;
    }
  }
  return NULL;
}

static bool is_among(const OptionSpec *option, const OptionSpec *table) {
  for (; table->name; table++)
    if (table == option) return true;
  return false;
}

static bool take_shared(const char *command, const OptionSpec *option, const char *value, CompileOptions *compile) {
  if (!strcmp(option->name, "--max-instances")) return positive(command, option->name, value, &compile->max_instances);
  if (!strcmp(option->name, "--max-steps")) return positive(command, option->name, value, &compile->max_steps);
  const bool define = !strcmp(option->name, "-D");
  const char *equals = strchr(value, '=');
  const bool named = equals && equals > value && *value != '.' && equals[-1] != '.';
  if (define && !named) return !usage_error(command, "-D takes name=value, not \"%s\"", value);
  g_ptr_array_add(define ? compile->defines : compile->include_dirs, (gpointer)value);
  return true;
}

static bool unknown_option(const char *command, const char *word, OptionTables tables, bool runs) {
  if (runs && g_str_has_prefix(word, "--"))
    return !usage_error(command, "unknown option %s; options of the simulator follow --: lss %s M.lss -- %s ...", word,
                        command, word);
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (; *tables; tables++)
    for (const OptionSpec *option = *tables; option->name; option++) g_ptr_array_add(names, (gpointer)option->name);
  const char *near = diag_suggestion(word, names);
  return !usage_error(command, "unknown option %s%s%s%s", word, near ? "; did you mean " : "", near ? near : "",
                      near ? "?" : "");
}

bool options_parse(OptionTables tables, int argc, char **argv, Options *options, OptionHandler handler, gpointer data,
                   int *stop) {
  *options = (Options){0};
  options->compile.include_dirs = g_ptr_array_new();
  options->compile.defines = g_ptr_array_new();
  options->compile.collectors = g_ptr_array_new();
  options->compile.watches = g_ptr_array_new();
  options->compile.records = g_ptr_array_new();
  options->compile.waves = g_ptr_array_new();
  options->compile.max_instances = DEFAULT_MAX_INSTANCES;
  options->compile.max_steps = DEFAULT_MAX_STEPS;
  options->rest = g_ptr_array_new();
  if (stop) *stop = argc;
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i], *value;
    if (!strcmp(word, "--")) {
      if (!stop) return !usage_error(argv[0], "nothing may follow --");
      *stop = i + 1;
      return true;
    }
    if (word[0] != '-' || word[1] == '\0') {
      if (!options->machine)
        options->machine = word;
      else
        g_ptr_array_add(options->rest, argv[i]);
      continue;
    }
    const OptionSpec *option = find_option(tables, word, &value);
    if (!option) return unknown_option(argv[0], word, tables, stop != NULL);
    if (option->value && !value && i + 1 < argc) value = argv[++i];
    if (option->value && !value) return !usage_error(argv[0], "%s needs a value", option->name);
    const bool shared = is_among(option, folder_options) || is_among(option, machine_options);
    if (shared ? !take_shared(argv[0], option, value, &options->compile) : !handler(argv[0], option->name, value, data))
      return false;
  }
  return true;
}

bool option_text(const char *command, const char *name, const char *value, gpointer data) {
  (void)command, (void)name;
  *(const char **)data = value;
  return true;
}

void options_print(FILE *out, OptionTables tables) {
  for (; *tables; tables++) {
    for (const OptionSpec *option = *tables; option->name; option++) {
      g_autofree char *shown = g_strjoin(" ", option->name, option->value, NULL);
      fprintf(out, "  %-20s %s\n", shown, option->help);
    }
  }
}

void options_clear(Options *options) {
  g_clear_pointer(&options->compile.include_dirs, g_ptr_array_unref);
  g_clear_pointer(&options->compile.defines, g_ptr_array_unref);
  g_clear_pointer(&options->compile.collectors, g_ptr_array_unref);
  g_clear_pointer(&options->compile.watches, g_ptr_array_unref);
  g_clear_pointer(&options->compile.records, g_ptr_array_unref);
  g_clear_pointer(&options->compile.waves, g_ptr_array_unref);
  g_clear_pointer(&options->rest, g_ptr_array_unref);
}
