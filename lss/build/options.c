// Parses the options that all commands share; each command hands in a function for its own.
#include "lss/build/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_MAX_INSTANCES = 100000, DEFAULT_MAX_STEPS = 10000000 };

int usage_error(const char *command, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  fprintf(stderr, "lss %s: %s; `lss help` shows the usage\n", command, text);
  return 2;
}

bool option_value(int argc, char **argv, int *index, const char *name, const char **value) {
  const char *word = argv[*index];
  size_t n = strlen(name);
  if (strncmp(word, name, n) != 0) return false;
  *value = NULL;
  if (word[n] == '\0') {
    if (*index + 1 < argc)
      *value = argv[++*index];
    else
      usage_error(argv[0], "%s needs a value", name);
    return true;
  }
  if (name[1] == '-') {
    if (word[n] != '=') return false;
    *value = word + n + 1;
  } else {
    *value = word + n; // -Dname=value, -Idir
  }
  return true;
}

static bool positive(const char *command, const char *name, const char *text, int *result) {
  char *end;
  errno = 0;
  long value = strtol(text, &end, 0);
  if (errno || *end || value < 1 || value > G_MAXINT) {
    usage_error(command, "%s takes a positive number, not \"%s\"", name, text);
    return false;
  }
  *result = (int)value;
  return true;
}

bool options_parse(int argc, char **argv, Options *options, OptionHandler handler, gpointer data, int *stop) {
  *options = (Options){0};
  options->compile.include_dirs = g_ptr_array_new();
  options->compile.defines = g_ptr_array_new();
  options->compile.collectors = g_ptr_array_new();
  options->compile.watches = g_ptr_array_new();
  options->compile.max_instances = DEFAULT_MAX_INSTANCES;
  options->compile.max_steps = DEFAULT_MAX_STEPS;
  options->rest = g_ptr_array_new();
  if (stop) *stop = argc;
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i], *value;
    if (!strcmp(word, "--")) {
      if (!stop) {
        usage_error(argv[0], "nothing may follow --");
        return false;
      }
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
    if (handler && handler(argc, argv, &i, data)) continue;
    if (!strcmp(word, "--debug")) {
      options->compile.debug = true;
    } else if (option_value(argc, argv, &i, "-D", &value)) {
      if (!value) return false;
      const char *equals = strchr(value, '=');
      if (!equals || equals == value) {
        usage_error(argv[0], "-D takes name=value, not \"%s\"", value);
        return false;
      }
      g_ptr_array_add(options->compile.defines, (gpointer)value);
    } else if (option_value(argc, argv, &i, "-I", &value)) {
      if (!value) return false;
      g_ptr_array_add(options->compile.include_dirs, (gpointer)value);
    } else if (option_value(argc, argv, &i, "--max-instances", &value)) {
      if (!value || !positive(argv[0], "--max-instances", value, &options->compile.max_instances)) return false;
    } else if (option_value(argc, argv, &i, "--max-steps", &value)) {
      if (!value || !positive(argv[0], "--max-steps", value, &options->compile.max_steps)) return false;
    } else {
      if (stop && g_str_has_prefix(word, "--"))
        usage_error(argv[0], "unknown option %s; options of the simulator stand behind --: lss %s M.lss -- %s ...",
                    word, argv[0], word);
      else
        usage_error(argv[0], "unknown option %s", word);
      return false;
    }
  }
  return true;
}

void options_clear(Options *options) {
  g_clear_pointer(&options->compile.include_dirs, g_ptr_array_unref);
  g_clear_pointer(&options->compile.defines, g_ptr_array_unref);
  g_clear_pointer(&options->compile.collectors, g_ptr_array_unref);
  g_clear_pointer(&options->compile.watches, g_ptr_array_unref);
  g_clear_pointer(&options->rest, g_ptr_array_unref);
}
