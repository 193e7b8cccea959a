// Command lines: the tables of options that the parser takes, --help prints and shells complete, and their parser.
#ifndef LSS_OPTIONS_H
#define LSS_OPTIONS_H

#include "lss/base/compile_options.h"

#include <stdio.h>

typedef struct {
  const char *name;  // "--keep", "-D"; NULL ends a table
  const char *value; // what follows it, as help shows it: "DIR"; NULL for a switch
  const char *help;
} OptionSpec;

// What a command takes: its own tables and those that commands share, ended by NULL.
typedef const OptionSpec *const *OptionTables;
extern const OptionSpec folder_options[];  // -I: of commands that look for modules
extern const OptionSpec machine_options[]; // -D and the bounds of elaboration: of commands that read a machine

typedef struct {
  CompileOptions compile;
  const char *machine; // first positional argument that is no option, or NULL
  GPtrArray *rest;     // const char*: further positional arguments
} Options;

// Called for an option of a command's own tables, with what follows it.  Returns false, having printed a line, when
// that is wrong.
typedef bool (*OptionHandler)(const char *command, const char *name, const char *value, gpointer data);

// Parses argv[1..]; stops at "--".  On a wrong command line prints one line and returns false (exit with status 2).
// `stop`, when not NULL, receives the index after "--", or argc.  The result is filled in and borrowed from argv.
bool options_parse(OptionTables tables, int argc, char **argv, Options *options, OptionHandler handler, gpointer data,
                   int *stop);

// An OptionHandler for commands with one option of their own, which has a value: `data` points to a const char *.
bool option_text(const char *command, const char *name, const char *value, gpointer data);

// A line for each option: its name, what follows it, and what it is for.
void options_print(FILE *out, OptionTables tables);

void options_clear(Options *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

// Prints "lss COMMAND: text" and returns 2, the status of wrong command lines.
int usage_error(const char *command, const char *format, ...) G_GNUC_PRINTF(2, 3);

#endif
