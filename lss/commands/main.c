// The lss command: dispatches to the subcommand.
#include "emulib/program/standard_streams.h"
#include "lss/base/diagnostics.h"
#include "lss/base/version.h"
#include "lss/base/working.h"
#include "lss/commands/commands.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const Command *const commands[] = {
    &command_build,  &command_run,        &command_check,    &command_list,    &command_doc,
    &command_graph,  &command_fmt,        &command_schedule, &command_explain, &command_export,
    &command_server, &command_completion, &command_cache,    &command_trace,   &command_packets,
};

const Command *command_at(guint index) {
  return index < G_N_ELEMENTS(commands) ? commands[index] : NULL;
}

static void print_usage(FILE *out, const Command *command, const char *options) {
  fprintf(out, "lss %s%s%s%s\n", command->name, options, *command->arguments ? " " : "", command->arguments);
}

static void print_help(const Command *command) {
  const bool any = *command->options != NULL;
  printf("usage: ");
  print_usage(stdout, command, any ? " [OPTIONS]" : "");
  printf("\n%s\n%s", command->help, any ? "\n" : "");
  options_print(stdout, command->options);
}

static void print_overview(FILE *out) {
  fprintf(out, "usage: lss COMMAND ...\n\n");
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
    fprintf(out, "  ");
    print_usage(out, commands[i], "");
    fprintf(out, "      %s\n", commands[i]->help);
  }
  fprintf(out, "\n`lss COMMAND --help` lists a command's options, `lss --version` prints the version.\n");
}

static bool has_help_option(int argc, char **argv) {
  for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
    if (!strcmp(argv[i], "--help")) return true;
  return false;
}

// Output that could not be written is a failure.
static int finish(int status) {
  return standard_streams_flush("lss") || status ? status : 3;
}

int main(int argc, char **argv) {
  standard_streams_open("lss");
  signal(SIGXFSZ, SIG_IGN); // `ulimit -f` is then an error of writing, here and in clang
  if (argc < 2) {
    print_overview(stderr);
    return 2;
  }
  const char *word = argv[1];
  if (!strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h")) {
    print_overview(stdout);
    return finish(0);
  }
  if (!strcmp(word, "--version")) {
    g_autofree char *version = version_text();
    printf("lss %s\n", version);
    return finish(0);
  }
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
    if (!strcmp(word, commands[i]->name)) {
      if (has_help_option(argc, argv)) {
        print_help(commands[i]);
        return finish(0);
      }
      if (commands[i] != &command_server && !working_enable()) return finish(2);
      int status = commands[i]->run(argc - 1, argv + 1);
      working_end();
      diag_flush();
      return finish(status);
    }
    g_ptr_array_add(names, (gpointer)commands[i]->name);
  }
  const char *near = diag_suggestion(word, names);
  fprintf(stderr, "lss: there is no command \"%s\"%s%s%s\n", word,
          near ? "; did you mean \"" : "; `lss help` lists them", near ? near : "", near ? "\"?" : "");
  return 2;
}
