// Instruction sets and programs by name, and numbers.
#include "choose.h"

#include "lss/runtime/text/number.h"

#include <stdio.h>
#include <string.h>

gboolean choose_set(const char *tool, const char *const *sets, const char *name, unsigned *set) {
  if (name == NULL) return TRUE;
  for (unsigned n = 0; sets[n] != NULL; n++)
    if (strcmp(sets[n], name) == 0) return *set = n, TRUE;
  g_autofree char *known = g_strjoinv(", ", (char **)sets);
  fprintf(stderr, "%s: there is no instruction set '%s'; there are %s\n", tool, name, known);
  return FALSE;
}

Program *choose_program(const char *tool, const char *path, gboolean raw, guint16 machine, const char *set) {
  g_autoptr(GError) error = NULL;
  g_autoptr(Program) program = program_open(path, raw ? PROGRAM_RAW : PROGRAM_ELF, &error);
  if (program != NULL && program_machine(program) != machine) program_refuse_machine(program, machine, &error);
  if (error == NULL && program != NULL && program_runs_on(program, set, &error)) {
    if (program_note(program) != NULL) fprintf(stderr, "%s: warning: %s\n", tool, program_note(program));
    return g_steal_pointer(&program);
  }
  fprintf(stderr, "%s: %s\n", tool, error->message);
  return NULL;
}

gboolean choose_number(const char *tool, const char *option, const char *text, uint64_t least, uint64_t most,
                       uint64_t *value) {
  const char *error;
  if (text == NULL || number_read_count(text, least, most, value, &error)) return TRUE;
  fprintf(stderr, "%s: %s: %s\n", tool, option, error);
  return FALSE;
}
