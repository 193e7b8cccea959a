// What readers of programs say of a file that is none for them.
#include "program_private.h"

G_DEFINE_QUARK(program - error, program_error)

gboolean program_refuse(const Program *program, GError **error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_set_error(error, PROGRAM_ERROR, PROGRAM_ERROR_FORMAT, "%s: %s", program->path, text);
  return FALSE;
}
