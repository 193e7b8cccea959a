// lss completion bash|zsh: a script that completes command lines in a shell, made from the table of commands.
#include "lss/commands/commands.h"

#include <stdio.h>
#include <string.h>

static void print_options(const Command *command) {
  printf("--help");
  for (OptionTables table = command->options; *table; table++)
    for (const OptionSpec *option = *table; option->name; option++) printf(" %s", option->name);
}

static void print_names(void) {
  const Command *command;
  for (guint i = 0; (command = command_at(i)); i++) printf("%s%s", i ? " " : "", command->name);
}

static void print_cases(void) {
  const Command *command;
  for (guint i = 0; (command = command_at(i)); i++) {
    printf("    %s) options=\"", command->name);
    print_options(command);
    printf("\" ;;\n");
  }
}

static void print_bash(void) {
  printf("# Completion for lss in bash: . <(lss completion bash)\n"
         "_lss() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} options=\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W \"");
  print_names();
  printf("\" -- \"$word\"))\n"
         "    return\n"
         "  fi\n"
         "  case ${COMP_WORDS[1]} in\n");
  print_cases();
  printf(
      "  esac\n"
      "  case ${COMP_WORDS[1]} in\n"
      "    completion) COMPREPLY=($(compgen -W \"bash zsh\" -- \"$word\")) ;;\n"
      "    explain) COMPREPLY=($(compgen -W \"$(lss explain)\" -- \"$word\")) ;;\n"
      "    trace|packets) COMPREPLY=($(compgen -W \"$options\" -- \"$word\") $(compgen -f -- \"$word\")) ;;\n"
      "    doc) COMPREPLY=($(compgen -W \"$options $(lss list 2>/dev/null | awk '/^ /{print $1}')\" -- \"$word\")) ;;\n"
      "    *)\n"
      "      case $word in\n"
      "        -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
      "        *) COMPREPLY=($(compgen -f -X '!*.lss' -- \"$word\") $(compgen -d -S / -- \"$word\")) ;;\n"
      "      esac ;;\n"
      "  esac\n"
      "}\n"
      "complete -o nospace -o filenames -F _lss lss\n");
}

static void print_zsh(void) {
  printf("#compdef lss\n"
         "# Completion for lss in zsh: . <(lss completion zsh)\n"
         "_lss() {\n"
         "  local options=\n"
         "  if (( CURRENT == 2 )); then\n"
         "    compadd -- ");
  print_names();
  printf("\n"
         "    return\n"
         "  fi\n"
         "  case ${words[2]} in\n");
  print_cases();
  printf("  esac\n"
         "  case ${words[2]} in\n"
         "    completion) compadd -- bash zsh ;;\n"
         "    explain) compadd -- $(lss explain) ;;\n"
         "    trace|packets) compadd -- ${=options}; _files ;;\n"
         "    doc) compadd -- ${=options} $(lss list 2>/dev/null | awk '/^ /{print $1}') ;;\n"
         "    *)\n"
         "      if [[ ${words[CURRENT]} == -* ]]; then compadd -- ${=options}; else _files -g '*.lss'; fi ;;\n"
         "  esac\n"
         "}\n"
         "compdef _lss lss\n");
}

static const OptionSpec *const tables[] = {NULL};

static int completion_command(int argc, char **argv) {
  g_auto(Options) options = {0};
  if (!options_parse(tables, argc, argv, &options, NULL, NULL, NULL)) return 2;
  const char *shell = options.machine && !options.rest->len ? options.machine : "";
  if (!strcmp(shell, "bash"))
    print_bash();
  else if (!strcmp(shell, "zsh"))
    print_zsh();
  else
    return usage_error(argv[0], "which shell? bash or zsh");
  return 0;
}

const Command command_completion = {"completion", completion_command, "bash|zsh",
                                    "a script that completes command lines in a shell", tables};
