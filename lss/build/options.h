// The command-line options that all commands share: -D, -I, --max-*, --debug.
#ifndef LSS_OPTIONS_H
#define LSS_OPTIONS_H

#include "lss/base/compile_options.h"

typedef struct {
  CompileOptions compile;
  const char *machine; // first positional argument that is no option, or NULL
  GPtrArray *rest;     // const char*: further positional arguments
} Options;

// Called for an option that is not a shared one.  `argv[*index]` is the option; a handler that takes a value advances
// *index.  Returns false when it does not know the option.
typedef bool (*OptionHandler)(int argc, char **argv, int *index, gpointer data);

// Parses argv[1..]; stops at "--".  On a wrong command line prints one line and returns false (exit with status 2).
// `stop`, when not NULL, receives the index after "--", or argc.  The result is filled in and borrowed from argv.
bool options_parse(int argc, char **argv, Options *options, OptionHandler handler, gpointer data, int *stop);

// Takes the value of the option argv[*index] from "--name=value" or from the next argument, which is then consumed;
// false when the argument is another option.  *value is NULL, and a line printed, when the value is missing.
bool option_value(int argc, char **argv, int *index, const char *name, const char **value);

void options_clear(Options *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

// Prints "lss COMMAND: text" and returns 2, the status of wrong command lines.
int usage_error(const char *command, const char *format, ...) G_GNUC_PRINTF(2, 3);

#endif
