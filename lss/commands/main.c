// The lss command: finds the subcommand and hands over.
#include "lss/base/diagnostics.h"
#include "lss/commands/commands.h"
#include "lss/runtime/text/version.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

// Commands may be missing while a partial compiler is linked (fuzzing, unit tests), hence weak.
#pragma weak command_build
#pragma weak command_run
#pragma weak command_schedule
#pragma weak command_check
#pragma weak command_list
#pragma weak command_doc
#pragma weak command_graph
#pragma weak command_fmt
#pragma weak command_explain
#pragma weak command_export
#pragma weak command_cache
#pragma weak command_server
#pragma weak command_completion

static const Command commands[] = {
    {"build", command_build,
     "M.lss -o SIM [-D n=v] [-I DIR] [--debug] [-O0|-O3] [--sanitize] [--collect connections|X.lss] [--watch EVENT] "
     "[--keep DIR]",
     "compile a machine into a simulator"},
    {"run", command_run, "M.lss [-D n=v] [-- SIMULATOR OPTIONS]", "build if needed, then run"},
    {"check", command_check, "M.lss [--netlist-only]",
     "all diagnostics, no output: those of the netlist and its schedule, then those of the modules' C\n"
     "      --netlist-only  leave the C out, which takes the longest; for editors"},
    {"list", command_list, "[-I DIR]", "modules on the search path, one line each"},
    {"doc", command_doc, "MODULE [--markdown]", "a module's documentation"},
    {"graph", command_graph, "M.lss -o X.svg|X.dot|X.json", "block diagram, one page per level of the hierarchy"},
    {"fmt", command_fmt, "[--check] FILE...", "canonical layout"},
    {"schedule", command_schedule, "M.lss [INSTANCE]", "the order of handlers and why"},
    {"explain", command_explain, "[CHECK]", "what a diagnostic means, with an example and its repair"},
    {"export", command_export, "M.lss -o X.json", "the resolved netlist as JSON"},
    {"server", command_server, "[-I DIR] [-D n=v] [M.lss...]",
     "language server for editors, on standard input and output (docs/editors.md)"},
    {"completion", command_completion, "bash|zsh", "a script that completes command lines in a shell"},
    {"cache", command_cache, "[show | clean] [--limit SIZE]",
     "what is kept of earlier builds: show its place and size, remove it, or bound it\n"
     "      show          (the default) the folder, the sizes, the limit\n"
     "      clean         remove everything; waits for builds at work\n"
     "      --limit SIZE  keep at most SIZE, \"500 MiB\"; what was not used for longest goes first"},
};

const Command *command_at(guint index) {
  return index < G_N_ELEMENTS(commands) ? &commands[index] : NULL;
}

static void print_command(FILE *out, const Command *command) {
  fprintf(out, "  lss %s %s\n      %s\n", command->name, command->usage, command->help);
}

static void print_usage(FILE *out) {
  fprintf(out, "usage: lss COMMAND ...\n\n");
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++) print_command(out, &commands[i]);
  fprintf(out,
          "\nCommands that read a machine also take --max-instances N and --max-steps N, the bounds of elaboration.\n");
}

// What was printed for nobody is a failure.
static int finish(int status) {
  if (!fflush(stdout) && !ferror(stdout)) return status;
  fprintf(stderr, "lss: cannot write to standard output: %s\n", g_strerror(errno));
  return 3;
}

int main(int argc, char **argv) {
  signal(SIGXFSZ, SIG_IGN); // `ulimit -f` is then an error of writing, here and in clang
  if (argc < 2) {
    print_usage(stderr);
    return 2;
  }
  const char *word = argv[1];
  if (!strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h")) {
    print_usage(stdout);
    return finish(0);
  }
  if (!strcmp(word, "--version")) {
    printf("lss %s\n", SPINACH_VERSION);
    return finish(0);
  }
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
    if (!strcmp(word, commands[i].name) && commands[i].run) {
      if (argc > 2 && !strcmp(argv[2], "--help")) {
        print_command(stdout, &commands[i]);
        return finish(0);
      }
      int status = commands[i].run(argc - 1, argv + 1);
      diag_flush();
      return finish(status);
    }
    g_ptr_array_add(names, (gpointer)commands[i].name);
  }
  const char *near = diag_suggestion(word, names);
  fprintf(stderr, "lss: there is no command \"%s\"%s%s%s; `lss help` lists them\n", word,
          near ? "; did you mean \"" : "", near ? near : "", near ? "\"" : "");
  return 2;
}
