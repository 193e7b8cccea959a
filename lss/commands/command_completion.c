// lss completion bash|zsh: a script that completes command lines in a shell, made from the table of commands.
#include "lss/build/options.h"
#include "lss/commands/commands.h"

#include <stdio.h>
#include <string.h>

// The options that a command's usage and help name.
static char *options_of(const Command *command) {
  g_autofree char *text = g_strconcat(command->usage, " ", command->help, NULL);
  g_autoptr(GRegex) regex = g_regex_new("(?<![\\w-])(--[a-z][a-z-]*|-[A-Za-z])", 0, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  g_autoptr(GString) options = g_string_new("--help");
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (g_regex_match(regex, text, 0, &match); g_match_info_matches(match); g_match_info_next(match, NULL)) {
    char *option = g_match_info_fetch(match, 1);
    const char *name = option;
    if (g_hash_table_add(seen, option)) g_string_append_printf(options, " %s", name);
  }
  return g_string_free(g_steal_pointer(&options), FALSE);
}

static void print_names(void) {
  const Command *command;
  for (guint i = 0; (command = command_at(i)); i++) printf("%s%s", i ? " " : "", command->name);
}

static void print_cases(void) {
  const Command *command;
  for (guint i = 0; (command = command_at(i)); i++) {
    g_autofree char *options = options_of(command);
    printf("    %s) options=\"%s\" ;;\n", command->name, options);
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
         "    doc) compadd -- ${=options} $(lss list 2>/dev/null | awk '/^ /{print $1}') ;;\n"
         "    *)\n"
         "      if [[ ${words[CURRENT]} == -* ]]; then compadd -- ${=options}; else _files -g '*.lss'; fi ;;\n"
         "  esac\n"
         "}\n"
         "compdef _lss lss\n");
}

int command_completion(int argc, char **argv) {
  const char *shell = argc == 2 ? argv[1] : "";
  if (!strcmp(shell, "bash"))
    print_bash();
  else if (!strcmp(shell, "zsh"))
    print_zsh();
  else
    return usage_error(argv[0], "which shell? bash or zsh");
  return 0;
}
